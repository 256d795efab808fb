"""`crowdcover release --dry-run`: the refusals of a release, and nothing left behind."""

import json
import os
import re
import shutil
import signal
import stat
import tempfile

import pytest

from anon_core.errors import AnonymityError, InputError
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.rehearsing import APPROVED, MADE, STANDS, UNCHANGED, rehearse_release
from crowdcover.storage.approval.signing_keys import new_key as create_key
from crowdcover.storage.approval.signing_keys import public_of, read_key
from crowdcover.storage.encryption.encryption import KEY, new_key
from crowdcover.storage.encryption.plain_copies import WORK, discard_plain_copies
from crowdcover.storage.ledger.transaction import open_ledger_transaction
from crowdcover.storage.vault.dry_run_vault import KEPT, PREFIX, open_shadow, private_folder
from crowdcover.storage.vault.files import find_readable_path, write_private
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import HEADER, Order, people
from tests.flows.processes import command, crowdcover
from tests.support.approvals import waits
from tests.support.databases import in_a_database

# Fixtures, skipped where no server can be started.
from tests.support.ledgers import of_plan, query
from tests.support.releases import tree
from tests.support.second import aged
from tests.support.series import months, registry


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where a shadow lies; nothing of it may stay."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.glob(f"{PREFIX}*")) == []


def rehearse(order, *changes):
    """Rehearse; the folder of vault, releases and source is the same before and after."""
    before = tree(order.folder)
    try:
        return rehearse_release(ReleasePlan.load(order.plan, changes))
    finally:
        assert tree(order.folder) == before


def refused(work):
    with pytest.raises(AnonymityError) as caught:
        work()
    return caught.type, KEPT.sub("", str(caught.value))


def test_a_first_release(tmp_path):
    order = Order(tmp_path / "a")
    found = rehearse(order)
    assert found.outcome == MADE
    assert found.counts == {
        "rows": 90, "columns": 7, "records": 90, "attributes": 3,
        "features": found.counts["features"], "k_mean": 4.0, "k_min": 4, "k_max": 4,
    }  # fmt: skip
    assert {name: stated["role"] for name, stated in found.columns.items()} == {
        "ssn": "identifier", "age": "quasi", "city": "quasi", "smokes": "quasi",
        "diagnosis": "sensitive", "note": "keep", "junk": "drop",
    }  # fmt: skip
    assert 0 < found.memory["anonymizer"] < found.memory["allowed"] == 4 * 2**30
    assert not order.vault.exists()
    assert not order.releases.exists()


@pytest.mark.long
def test_a_release_that_stands(tmp_path):
    order = Order(tmp_path / "a")
    order.release()
    assert rehearse(order).outcome == STANDS


@pytest.mark.long
def test_it_tells_what_the_release_is_made_of(tmp_path):
    order = Order(tmp_path / "a")
    found = rehearse(order)
    manifest = json.loads((order.release() / "manifest.json").read_text("utf-8"))
    assert found.columns == manifest["columns"]
    assert found.counts["records"] == manifest["privacy"]["records"]
    assert found.counts["features"] == manifest["utility"]["features"]
    assert found.counts["rows"] == manifest["source"]["rows"]


def before_nothing(order):
    pass


def before_release(order):
    order.release()


def before_aged(order):
    order.release()
    order.write_source(aged(people()))


def before_drift(order):
    order.write(columns={"diagnosis": {"role": "drop"}, "note": {"role": "drop"}})
    order.write(publish={"allow_second_release": True})
    order.release()
    order.write_source(people(40))


def before_foreign(order):
    order.release()
    shutil.rmtree(order.vault)


def before_open(order):
    order.vault.mkdir(mode=0o755)
    (order.vault / "letters.txt").write_text("not a vault")


def before_short(order):
    order.write_source(people(3))


def before_wrong(order):
    order.write_source([(*row[:1], "old", *row[2:]) for row in people()])


def before_file(order):
    order.releases.parent.write_text("no folder")


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "changes", "code"),
    [
        (before_nothing, ["privacy.k=91"], 2),
        (before_nothing, ["privacy.k={column='city'}"], 3),
        (before_nothing, ["compute.memory=1KiB"], 2),
        (before_nothing, ["compute.threads=4096"], 2),
        (before_nothing, ["privacy.k={by='city', levels={ulm=7, bonn=16}, default=13}"], 2),
        (before_nothing, ["source.path=gone.csv"], 3),
        (before_nothing, ["columns.city.missing=refuse"], 3),
        (before_nothing, ["publish.vault={here}/people.csv/vault"], 1),
        (before_nothing, ["publish.vault={here}/people.csv"], 1),
        (before_short, [], 2),
        (before_wrong, [], 3),
        (before_release, ["privacy.k=5"], 2),
        (before_aged, ["checks.drift=off"], 2),
        (before_drift, [], 4),
        (before_foreign, [], 1),
        (before_open, [], 1),
        (before_nothing, ["publish.approval=required", "publish.reports={here}/people.csv"], 1),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_it_refuses_what_a_release_refuses(tmp_path, before, changes, code):
    from crowdcover.flows.outcome import exit_code

    order = Order(tmp_path / "a")
    before(order)
    changes = [change.replace("{here}", str(order.folder)) for change in changes]
    kind, words = refused(lambda: rehearse(order, *changes))
    assert (kind, words) == refused(lambda: release_plan(ReleasePlan.load(order.plan, changes)))
    assert exit_code(kind("")) == code
    assert PREFIX not in words


@pytest.mark.slow
def test_prefect_learns_nothing(tmp_path):
    """No server answers at the address, and none is asked or started."""
    order, home = Order(tmp_path / "a"), tmp_path / "prefect"
    nobody = {"PREFECT_API_URL": "http://127.0.0.1:9/api", "PREFECT_HOME": str(home)}
    for arguments in (("release", order.plan, "--dry-run"), ("try", order.plan, "--quiet")):
        told = crowdcover(*arguments, environment=nobody)
        assert (told.code, told.err) == (0, "")
    assert [path for path in home.rglob("*") if path.suffix == ".db"] == []
    assert not order.vault.exists()


def test_a_folder_that_cannot_be_written_is_refused_early(tmp_path):
    order = Order(tmp_path / "a")
    before_file(order)
    _, words = refused(lambda: rehearse(order))
    assert words.startswith("nothing could be published in ")
    assert words.endswith("correct publish.path and run again")


@pytest.mark.long
def test_a_decision_that_waits_in_the_copy_is_taken_up(tmp_path, monkeypatch):
    """The rows of a query may have moved on since: an approved run reads them no more."""
    monkeypatch.setattr("crowdcover.storage.approval.identity.account_of_process", lambda: "carol")
    key = tmp_path / "ada.key"
    create_key(key)
    approvers = {"ada@example.org": public_of(read_key(key))}
    publish = {"approval": "required", "approvers": approvers, "reports": "reports"}
    order = in_a_database(tmp_path / "a")
    order.write(publish=publish)
    waits(order)
    assert rehearse(order).outcome == MADE
    (copy,) = (order.folder / "reports" / "people").iterdir()
    assert command("sign", copy, "--decision", "approve", "--key", key).code == 0
    assert rehearse(order).outcome == APPROVED


def test_an_unforeseen_error_tells_no_value(tmp_path, monkeypatch):
    order = Order(tmp_path / "a")
    monkeypatch.setattr("crowdcover.flows.rehearsing.encode", lambda *_: 1 / 0)
    _, words = refused(lambda: rehearse(order))
    assert words == "stage release failed with ZeroDivisionError"


@pytest.mark.slow
def test_versions_of_a_series(tmp_path):
    first, second, *_ = months(2)
    order = registry(tmp_path / "a", first)
    assert rehearse(order).outcome == MADE
    order.release()
    assert rehearse(order).outcome == UNCHANGED
    order.write_source(second)
    found = rehearse(order)
    assert found.outcome == MADE
    version = order.release()
    manifest = json.loads((version / "manifest.json").read_text("utf-8"))
    assert found.counts["records"] == manifest["privacy"]["records"] < len(second)
    assert found.counts["rows"] == manifest["source"]["rows"]


@pytest.mark.long
def test_stages_that_are_finished_are_not_repeated(tmp_path, monkeypatch):
    order = Order(tmp_path / "a")
    order.release()
    shutil.rmtree(order.releases)
    (order.run.path / "releases.json").unlink()
    monkeypatch.setattr(
        "crowdcover.kinds.table.kind.ingest_source", lambda *_: pytest.fail("read again")
    )
    assert rehearse(order).outcome == MADE


def test_a_shadow_takes_writes_in_place_of_the_vault(tmp_path):
    order = Order(tmp_path / "a")
    order.release()
    before = tree(order.vault)
    with open_shadow(Vault(order.vault)) as like:
        for path in sorted(like.path.rglob("*"), reverse=True):
            if path.is_dir():
                (path / "more").write_bytes(b"more")
            else:
                path.unlink()
        assert stat.S_IMODE(like.path.parent.stat().st_mode) == 0o700
    assert tree(order.vault) == before


def test_what_a_killed_rehearsal_left_goes_with_the_next(tmp_path, temporary, monkeypatch):
    """Links to the vault, and plain copies of its files if it is encrypted."""
    (tmp_path / "work").mkdir(mode=0o700)
    monkeypatch.setenv(WORK, str(tmp_path / "work"))
    monkeypatch.setenv(KEY, new_key()[0])
    vault = Vault(tmp_path / "vault").open()
    write_private(vault.runs / "secret", b"cells of people")
    process = os.fork()
    if not process:
        with open_shadow(vault) as like:
            assert find_readable_path(like.runs / "secret").read_bytes() == b"cells of people"
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
    assert len(list(temporary.iterdir())) == len(list((tmp_path / "work").iterdir())) == 1
    with open_shadow(vault) as like:
        find_readable_path(like.runs / "secret")
        (lives,) = temporary.iterdir()
        with private_folder():
            assert lives.exists()
    assert not [*temporary.iterdir(), *(tmp_path / "work").iterdir()]
    assert find_readable_path(vault.runs / "secret").read_bytes() == b"cells of people"
    discard_plain_copies()


def test_a_refusal_names_the_vault_and_no_page_of_it(tmp_path):
    vault = Vault(tmp_path / "vault").open()
    with pytest.raises(InputError) as caught, open_shadow(vault) as like:
        raise InputError(f"{like.path} is wrong; every result lies in the vault: x/docs/a.html")
    assert str(caught.value) == f"{vault.path} is wrong"
    assert re.search(PREFIX, str(caught.value)) is None


def test_a_transaction_that_is_not_lasting_leaves_the_database(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with open_ledger_transaction(path, None) as ask:
        ask("create table t (a text)")
    with open_ledger_transaction(path, None, lasting=False) as ask:
        ask("insert into t values ($1)", "x")
        assert ask("select a from t") == [("x",)]
    with open_ledger_transaction(path, None) as ask:
        assert ask("select a from t") == []


@pytest.mark.long
def test_the_command_tells_people_and_programs(tmp_path):
    order = Order(tmp_path / "a")
    told = crowdcover("release", order.plan, "--dry-run")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(f"{MADE}; nothing was published, nothing was stored\n")
    assert re.search(r"^  identifier +ssn$", told.out, re.MULTILINE)
    document = json.loads(crowdcover("release", order.plan, "--dry-run", "--json").out)
    assert (document["name"], document["outcome"]) == ("people", MADE)
    assert document["counts"]["records"] == 90
    low, high = document["estimate"]["seconds_range"]
    assert 0 < low < document["estimate"]["processor_seconds"] < high
    assert not order.vault.exists()
    for text in (told.out, json.dumps(document)):
        assert not any(cell in text for row in people() for cell in row[4:])


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--json"], "--json belongs to --dry-run"),
        (["--dry-run", "--backfill", "2014-01..2014-02"], "--dry-run takes one version"),
        (["--dry-run", "--partition", "2014-01"], "source.partition"),
        (["--dry-run", "--set", "columns.age.role=kuasi"], "columns.age.role must be"),
    ],
)
def test_wrong_arguments(tmp_path, arguments, said):
    order = Order(tmp_path / "a")
    refusal = crowdcover("release", order.plan, *arguments)
    assert (refusal.code, refusal.out) == (2, "")
    assert said in refusal.err
    assert refusal.err.count("\n") == 1
    assert not order.vault.exists()


@pytest.mark.long
def test_a_source_that_lacks_columns_is_refused_as_by_a_release(tmp_path):
    order = Order(tmp_path / "a")
    order.source.write_text(",".join(HEADER[1:]) + "\n" + "1,a,b,c,d,e\n" * 9)
    one = crowdcover("release", order.plan, "--dry-run")
    two = crowdcover("release", order.plan)
    assert (one.code, one.err) == (two.code, two.err)
    assert one.code == 2


@pytest.mark.slow
def test_a_shared_ledger_learns_nothing(uri, tmp_path):
    order = Order(tmp_path / "a", publish=of_plan(uri))
    assert rehearse(order).outcome == MADE
    tables = "select tablename from pg_tables where schemaname = 'public'"
    assert query(uri, tables) == []
    order.release()
    entries = "select run, folder, version, published from releases"
    before = query(uri, entries)
    order.write_source(aged(people()))
    kind, words = refused(lambda: rehearse(order, "checks.drift=off"))
    assert kind is SecondReleaseError
    assert words.startswith("90 people of this source were released already (people v1)")
    assert query(uri, entries) == before
