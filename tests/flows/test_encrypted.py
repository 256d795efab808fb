"""Releases with an encrypted vault: the same bytes, and nothing readable in the vault."""

import os
import shutil
import signal
import sqlite3
from contextlib import closing

import pytest

from anon_core.errors import AnonymityError, GuaranteeError
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.partitions import backfill_partitions
from crowdcover.storage.approval.approval import WaitingError
from crowdcover.storage.encryption import encryption
from crowdcover.storage.encryption.encryption import SealedError
from crowdcover.storage.encryption.plain_copies import WORK, discard_plain_copies
from crowdcover.storage.vault.files import read_private
from crowdcover.storage.vault.vault import LEDGER
from tests.anon_core.engines.mpi.mpirun import MPIRUN
from tests.flows.orders import Order, data_bytes, database_texts, people
from tests.flows.processes import command, run
from tests.kinds.graph.orders import GraphOrder
from tests.kinds.matrix.orders import MatrixOrder
from tests.support.audits import audit_release
from tests.support.crashes import release_until
from tests.support.series import SERIES, registry
from tests.support.visits import RANGE, visited, visits

PUBLIC = {"vault.json", LEDGER, "lock"}
SHORTEST = 6  # a shorter cell may be in any bytes


@pytest.fixture
def key(monkeypatch, tmp_path):
    """A key in the environment, and a folder for plain copies that is empty at the end."""
    secret, public = encryption.new_key()
    monkeypatch.setenv(encryption.KEY, secret)
    (tmp_path / "work").mkdir(mode=0o700)
    monkeypatch.setenv(WORK, str(tmp_path / "work"))
    yield public
    discard_plain_copies()
    assert not list((tmp_path / "work").iterdir())


def secrets_of(vault, rows):
    """What must not be readable: identifiers and other cells, seeds, keys, the matching's keys."""
    cells = {str(cell) for row in rows for cell in row if len(str(cell)) >= SHORTEST}
    keys = [read_private(path) for path in vault.glob("*.key")]
    seeds = [read_private(path) for path in vault.glob("runs/*/seed")]
    assert keys
    assert seeds
    return [each.encode() for each in cells] + keys + seeds


def assert_unreadable(vault, rows):
    """Every file of the vault is encrypted, and holds nothing of what must not be read."""
    secrets, files = secrets_of(vault, rows), [p for p in vault.rglob("*") if p.is_file()]
    assert len(files) > 10
    for path in files:
        content = path.read_bytes()
        assert path.name in PUBLIC or content.startswith(encryption.HEADER), path
        assert path.stat().st_mode & 0o777 == 0o600, path
        leaks = [each for each in secrets if each in content or each.hex().encode() in content]
        assert not leaks, path
    told = b"\n".join(database_texts(vault / LEDGER))
    assert not [each for each in secrets if each in told or each.hex().encode() in told]


@pytest.mark.long
def test_the_same_bytes_with_and_without_encryption(key, tmp_path, monkeypatch):
    sealed = Order(tmp_path / "sealed").fix_seed()
    sealed.release()
    assert_unreadable(sealed.vault, people())
    assert encryption.Seal.read(sealed.vault).recipient == key
    assert audit_release(sealed.folder_of_v1, sealed.plan).passed
    monkeypatch.delenv(encryption.KEY)
    with pytest.raises(SealedError, match=r"no key is given; set CROWDCOVER_VAULT_KEY_FILE"):
        sealed.release()
    plain = Order(tmp_path / "plain").fix_seed()
    plain.release()
    assert data_bytes(plain.folder_of_v1) == data_bytes(sealed.folder_of_v1)
    assert not (plain.vault / "vault.json").exists()
    assert b"ident-" not in (plain.vault / LEDGER).read_bytes()
    with pytest.raises(AssertionError):  # the search finds what a plain vault holds
        assert_unreadable(plain.vault, people())


@pytest.mark.slow
def test_a_refused_release_leaves_nothing_readable(key, tmp_path):
    order = Order(tmp_path / "o", checks={"min_utility": 0.9999})
    with pytest.raises(GuaranteeError):
        order.release()
    assert not (order.vault / "folders.key").exists()  # nothing was published
    assert_unreadable(order.vault, people())


@pytest.mark.slow
def test_a_failure_leaves_its_traceback_encrypted(key, tmp_path, monkeypatch):
    order = Order(tmp_path / "o")

    def fail(*_, **__):
        raise ValueError("ident-00001")

    with monkeypatch.context() as patch:
        patch.setattr("crowdcover.tasks.stages.identify.write_people", fail)
        with pytest.raises(AnonymityError):
            order.release()
    (failure,) = order.vault.glob("runs/*/failure-*.txt")
    assert b"ident-00001" in read_private(failure)
    assert_unreadable(order.vault, people())


@pytest.mark.slow
def test_an_approval_is_asked_and_given_in_an_encrypted_vault(key, tmp_path):
    order = Order(tmp_path / "o", publish={"approval": "required"})
    with pytest.raises(WaitingError) as told:
        order.release()
    page = f"runs/{order.run.path.name}/approval.html"
    assert f"crowdcover vault read {page} --vault {order.vault}" in str(told.value)
    read = command("vault", "read", page, "--vault", order.vault, "--output", tmp_path / "page")
    assert read.code == 0, read.err
    assert b"<html" in (tmp_path / "page").read_bytes()
    assert_unreadable(order.vault, people())
    done = command("approve", order.run.path.name, "--vault", order.vault, "--by", "Ada")
    assert done.code == 0, done.err
    order.release()
    assert_unreadable(order.vault, people())
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.slow
def test_versions_of_a_series_in_an_encrypted_vault(key, tmp_path, monkeypatch):
    order = registry(tmp_path / "o", series=SERIES)
    order.release()
    assert_unreadable(order.vault, people(60))
    second = [*people(60)[3:], *people(9, draws=5, first=500)]
    order.write_source(second)
    folder = order.release()
    assert folder.name == "v2"
    assert_unreadable(order.vault, [*people(60), *second])
    assert audit_release(folder, order.plan).passed
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.slow
def test_a_backfill_in_an_encrypted_vault(key, tmp_path, monkeypatch):
    order = visited(tmp_path / "o")
    plan = ReleasePlan.load(order.plan)
    seen = []

    def made(named):
        assert_no_plain_rows(order)
        seen.append(named)
        return tmp_path / release_plan(ReleasePlan.load(order.plan, named)).folder

    folders = [folder for _, folder in backfill_partitions(plan, RANGE, made)]
    assert len(seen) == 5
    assert audit_release(folders[-1], order.plan).passed
    assert_unreadable(order.vault, visits())


def assert_no_plain_rows(order):
    parts = list(order.vault.glob("series/*/parts/*.arrow"))
    assert parts
    assert all(path.read_bytes().startswith(encryption.HEADER) for path in parts)


@pytest.mark.slow
def test_rows_of_a_query_lie_beside_an_encrypted_vault(key, tmp_path, monkeypatch):
    """The snapshot has no name, but blocks on the disk of its folder."""
    order = Order(tmp_path / "o")
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        frame = [tuple(map(str, row)) for row in people()]
        connection.execute("create table people (ssn, age, city, smokes, diagnosis, note, junk)")
        connection.executemany("insert into people values (?, ?, ?, ?, ?, ?, ?)", frame)
        connection.commit()
    order.document["source"] = {
        "uri": f"sqlite:///{tmp_path / 'people.db'}",
        "query": "select ssn, cast(age as int) as age, city, smokes, diagnosis, note, junk"
        " from people",
    }
    order.write()
    places = []
    from crowdcover.storage.source import reading

    kept = reading.Reading.keep
    monkeypatch.setattr(
        reading.Reading, "keep", lambda self, folder: (places.append(folder), kept(self, folder))
    )
    order.release()
    assert places
    assert all(place.is_relative_to(tmp_path / "work") for place in places)
    assert_unreadable(order.vault, people())


@pytest.mark.slow
@pytest.mark.parametrize("kind", [MatrixOrder, GraphOrder])
def test_other_kinds_in_an_encrypted_vault(key, tmp_path, kind):
    order = kind(tmp_path / "o")
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert not [
        path
        for path in order.vault.rglob("*")
        if path.is_file()
        and path.name not in PUBLIC
        and not path.read_bytes().startswith(encryption.HEADER)
    ]
    assert command("vault", "verify", "--vault", order.vault).code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("server")
@pytest.mark.skipif(not MPIRUN.exists(), reason="mpirun is not installed beside this Python")
def test_batch_jobs_leave_nothing_behind_in_an_encrypted_vault(key, tmp_path):
    """They have no key: their folder is plain while they run, and is gone afterwards."""
    ranks = {"launcher": "mpirun", "tasks_per_node": 2}
    order = Order(tmp_path / "o", compute={"engine": "mpi", "cluster": ranks}).fix_seed()
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert not (order.run.path / "job").exists()
    logs = [path.read_bytes() for path in (order.run.path / "job-logs").iterdir()]
    assert set(logs) == {b""}
    shutil.rmtree(order.run.path / "job-logs")
    assert_unreadable(order.vault, people())


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_the_key_in_a_secret_block_of_prefect(key, tmp_path, monkeypatch):
    from prefect.blocks.system import Secret

    secret = os.environ[encryption.KEY]
    Secret(value=secret).save("vault-key", overwrite=True)
    monkeypatch.delenv(encryption.KEY)
    monkeypatch.setenv(encryption.KEY_BLOCK, "vault-key")
    order = Order(tmp_path / "o")
    order.release()
    assert encryption.Seal.read(order.vault).recipient == key
    assert audit_release(order.folder_of_v1, order.plan).passed
    monkeypatch.setenv(encryption.KEY_BLOCK, "another")
    with pytest.raises(SealedError, match="cannot be loaded"):
        order.release()


# ---------------------------------------------------------------- killed


def sealed_until(plan, secret, work, *point):
    os.environ.update({encryption.KEY: secret, WORK: work})
    release_until(plan, *point)


POINTS = {
    "a stage is half made": (
        "crowdcover.kinds.table.pipeline.write",
        "write_csv_of_batches",
        0,
        True,
    ),
    "a stage enters the vault": ("crowdcover.storage.vault.run", "move_into_vault", 3, False),
    "a stage has entered": ("crowdcover.storage.vault.run", "move_into_vault", 3, True),
    "the release is copied": ("shutil", "copyfile", 1, True),
}


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_killed_with_plain_copies(key, tmp_path, point, monkeypatch):
    """The next command removes what a killed process left outside, and goes on."""
    order = Order(tmp_path / "o").fix_seed()
    secret, work = os.environ[encryption.KEY], os.environ[WORK]
    killed = run(sealed_until, str(order.plan), secret, work, *POINTS[point])
    assert killed.code == -signal.SIGKILL, killed.err
    assert list((tmp_path / "work").iterdir())
    order.release()
    discard_plain_copies()
    assert not list((tmp_path / "work").iterdir())
    assert not list(order.run.path.glob(".*"))
    assert_unreadable(order.vault, people())
    assert audit_release(order.folder_of_v1, order.plan).passed


# ---------------------------------------------------------------- damaged


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """An encrypted vault with two releases, and its key."""
    folder = tmp_path_factory.mktemp("sealed")
    secret, _ = encryption.new_key()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(encryption.KEY, secret)
        order = Order(folder / "o", publish={"allow_second_release": True})
        order.release()
        order.write_source(people(first=200))
        order.release()
        yield order, secret
        discard_plain_copies()


@pytest.fixture
def copied(sealed, tmp_path, monkeypatch):
    """A copy of that vault, and a plan that names it."""
    order, secret = sealed
    monkeypatch.setenv(encryption.KEY, secret)
    shutil.copytree(order.vault, tmp_path / "vault")
    return order, tmp_path / "vault"


def verdict(order, vault, *arguments):
    done = command(*arguments, "--plan", order.plan, "--set", f"publish.vault={vault}", "--quiet")
    assert "Traceback" not in done.err + done.out
    return done


@pytest.mark.slow
@pytest.mark.parametrize("name", ["seed", "run.json", "anonymize/matching.parquet", "ledger.key"])
@pytest.mark.parametrize("how", ["truncated", "altered", "swapped"])
def test_damaged_files_are_refused_and_found(copied, name, how):
    order, vault = copied
    first, second = sorted(path.parent for path in vault.glob("runs/*/run.json"))
    path = vault / name if name == "ledger.key" else first / name
    content = path.read_bytes()
    if how == "truncated":
        path.write_bytes(content[:-7])
    elif how == "altered":
        path.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
    else:  # another file of the same vault is a valid file
        other = vault / "folders.key" if name == "ledger.key" else second / name
        path.write_bytes(other.read_bytes())
    found = verdict(order, vault, "vault", "verify")
    assert found.code == 1, found.out
    assert "restore it from a backup" in found.out or "restore the run" in found.out


@pytest.mark.slow
def test_another_key_is_refused_by_every_command(copied, monkeypatch):
    order, vault = copied
    monkeypatch.setenv(encryption.KEY, encryption.new_key()[0])
    for arguments in (
        ("release", order.plan, "--set", f"publish.vault={vault}", "--quiet"),
        ("audit", order.folder_of_v1, "--plan", order.plan, "--set", f"publish.vault={vault}"),
        ("vault", "verify", "--vault", vault),
        ("vault", "prune", "--vault", vault),
        ("vault", "read", "ledger.key", "--vault", vault),
    ):
        done = command(*arguments)
        assert done.code == 1, arguments
        assert "key" in done.err
        assert "Traceback" not in done.err
        assert "unforeseen" not in done.err


@pytest.mark.slow
def test_a_vault_without_its_seal_is_refused(copied):
    order, vault = copied
    (vault / "vault.json").unlink()
    done = command("release", order.plan, "--set", f"publish.vault={vault}", "--quiet")
    assert done.code == 1
    assert "its vault.json is gone; restore vault.json from a backup" in done.err
