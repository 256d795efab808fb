"""`crowdcover vault`: verify, backup, restore, prune and rotate, and killed anywhere."""

import argparse
import errno
import hashlib
import io
import json
import os
import shutil
import signal
import sqlite3
import tarfile
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows import cli
from crowdcover.kinds import kind_called
from crowdcover.storage.approval.approval import (
    Approval,
    Question,
    Request,
    WaitingError,
    current_time,
    format_record_time,
)
from crowdcover.storage.encryption import encryption
from crowdcover.storage.encryption.encryption import DamagedError, SealedError
from crowdcover.storage.encryption.plain_copies import WORK, discard_plain_copies
from crowdcover.storage.ledger.ledger import TABLES, Ledger
from crowdcover.storage.upkeep import backup
from crowdcover.storage.upkeep.backup import back_up, restore_backup
from crowdcover.storage.upkeep.key_rotation import rotate_keys
from crowdcover.storage.upkeep.moved_folders import move_place, move_releases
from crowdcover.storage.upkeep.prune import apply_removals, list_removals
from crowdcover.storage.vault.files import read_json, read_private, remove_folder, write_json
from crowdcover.storage.vault.refusals import BusyError, FolderError
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import Order, data_bytes, people
from tests.flows.processes import command, crowdcover, die_at, run
from tests.postgres import PASSWORD
from tests.support.audits import audit_release

# Fixtures, skipped where no server can be started.
from tests.support.ledgers import of_plan, query
from tests.support.second import INTERSECTED, calm
from tests.support.series import SERIES, registry

NOW = timedelta()


@pytest.fixture(scope="module")
def order(tmp_path_factory):
    """Two releases in a plain vault; the second run of a third source was refused."""
    order = Order(tmp_path_factory.mktemp("plain"))
    order.release()
    order.write_source(people(first=200))
    order.release()
    order.write_source(people(first=400))
    order.write(checks={"min_utility": 0.9999, "drift": "off"})
    with pytest.raises(GuaranteeError):
        order.release()
    order.write(checks={"min_utility": 0.0})
    order.write_source(people())
    return order


@pytest.fixture
def vault(order, tmp_path):
    """A copy of its vault, a day old; the releases stand where they are."""
    shutil.copytree(order.vault, tmp_path / "vault")
    for path in (tmp_path / "vault").rglob("*"):
        os.utime(path, (path.stat().st_mtime - 86_400,) * 2)
    return Vault(tmp_path / "vault")


@pytest.fixture
def keys(tmp_path, monkeypatch):
    """Two key files; nothing is in the environment."""
    (tmp_path / "work").mkdir(mode=0o700)
    monkeypatch.setenv(WORK, str(tmp_path / "work"))
    yield [key_file(tmp_path / f"{name}.key") for name in ("one", "two")]
    discard_plain_copies()


def key_file(path):
    secret, public = encryption.new_key()
    path.write_text(f"# public key: {public}\n{secret}\n")
    path.chmod(0o600)
    return path


def verify(vault, *options):
    done = command("vault", "verify", "--vault", vault.path, "--json", *options)
    assert "Traceback" not in done.err
    return done.code, json.loads(done.out) if done.out else done.err


def content_of(folder):
    """The plain bytes of everything in a vault but locks and the ledger."""
    return {
        path.relative_to(folder).as_posix(): read_private(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.name not in ("lock", "ledger.sqlite", "vault.json")
        and ".lock" not in path.name
    }


def entries(path):
    with closing(sqlite3.connect(path)) as connection:
        return sorted(connection.execute("select * from releases").fetchall())


# ---------------------------------------------------------------- verify


@pytest.mark.long
def test_a_sound_vault(vault, order):
    code, told = verify(vault)
    assert (code, told["damage"]) == (0, [])
    assert told["looked_at"]["runs"] == 3
    assert {each["state"] for each in told["releases"]} == {"present"}
    assert len(told["releases"]) == 2


def released_run(vault):
    return next(run for run in vault.every_run() if run.ever_visible())


def spoil(path, content=b"spoiled"):
    path.write_bytes(content)


DAMAGES = {
    "a file of a stage": (
        lambda vault: spoil(released_run(vault).path / "anonymize" / "matching.parquet"),
        "it is not what the stage wrote",
    ),
    "a file of a stage is gone": (
        lambda vault: (released_run(vault).path / "ingest" / "table.parquet").unlink(),
        "it is missing",
    ),
    "a record of a stage": (
        lambda vault: spoil(released_run(vault).path / "check" / "stage.json"),
        "it cannot be read",
    ),
    "a seed": (lambda vault: spoil(released_run(vault).path / "seed"), "7 bytes, 32 are required"),
    "no seed": (lambda vault: (released_run(vault).path / "seed").unlink(), "it is missing"),
    "the run of another plan": (
        lambda vault: write_json(
            released_run(vault).path / "run.json", {"plan_sha256": "a", "source_sha256": "b"}
        ),
        "it is of another run",
    ),
    "releases.json": (lambda vault: spoil(released_run(vault).path / "releases.json"), "read"),
    "another ledger.key": (
        lambda vault: spoil(vault.path / "ledger.key", bytes(32)),
        "not the key that the ledger was begun with",
    ),
    "another folders.key": (
        lambda vault: spoil(vault.path / "folders.key", bytes(32)),
        "not the mark of this vault's folders.key",
    ),
    "the ledger": (lambda vault: spoil(vault.path / "ledger.sqlite"), "it cannot be read"),
    "no ledger": (lambda vault: (vault.path / "ledger.sqlite").unlink(), "2 releases are not in"),
    "an entry": (
        lambda vault: ask(vault, "delete from releases where version = 'v1'"),
        "it lacks the release",
    ),
    "a run": (
        lambda vault: shutil.rmtree(released_run(vault).path),
        "whose run is not in this vault",
    ),
    "a mode": (lambda vault: (vault.path / "ledger.key").chmod(0o644), "its mode is 644"),
    "an open folder": (lambda vault: vault.runs.chmod(0o755), "its mode is 755"),
    "withdrawn": (lambda vault: series_with(vault, b"half"), "it is truncated"),
    "a link": (lambda vault: link(vault.path / "folders.key"), "it is a link, which no backup"),
    "another account's": (
        lambda vault: os.chown(vault.path / "ledger.key", 4321, -1),
        "it is of uid 4321",
    ),
}
OF_ROOT = {"another account's"}  # only root gives files away


def link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def ask(vault, statement):
    with closing(sqlite3.connect(vault.path / "ledger.sqlite")) as connection, connection:
        connection.execute(statement)


def series_with(vault, content, name="people"):
    folder = vault.path / "series" / name
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700)
    spoil(folder / "withdrawn.bin", content)
    (folder / "withdrawn.bin").chmod(0o600)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [each for each in DAMAGES if not os.getuid() or each not in OF_ROOT]
)
def test_every_damage_is_found_and_nothing_is_written(vault, name):
    work, words = DAMAGES[name]
    work(vault)
    before = {path: path.stat().st_mtime_ns for path in vault.path.rglob("*")}
    code, told = verify(vault)
    assert code == 1
    assert any(words in each["found"] for each in told["damage"]), told["damage"]
    assert all(each["remedy"] for each in told["damage"])
    assert {path: path.stat().st_mtime_ns for path in vault.path.rglob("*")} == before


def test_releases_that_are_gone_or_changed(order, vault, tmp_path):
    shutil.copytree(order.releases, tmp_path / "releases" / "people")
    run = released_run(vault)
    (mark,) = read_json(run.path / "releases.json").values()
    write_json(run.path / "releases.json", {str(tmp_path / "releases" / "people"): mark})
    spoil(tmp_path / "releases" / "people" / mark["version"] / "codebook.json")
    code, told = verify(vault)
    assert code == 1
    assert "changed" in {each["state"] for each in told["releases"]}
    shutil.rmtree(tmp_path / "releases" / "people" / mark["version"])
    _, told = verify(vault)
    assert "gone" in {each["state"] for each in told["releases"]}


def test_what_is_no_vault(tmp_path):
    for step in (["verify"], ["prune"], ["backup", "--to", tmp_path / "b", "--plain"]):
        done = command("vault", *step, "--vault", tmp_path / "none")
        assert done.code == 1
        assert "is no vault; give the folder that publish.vault names" in done.err
    assert command("vault", "verify").code == 2


def steps():
    (choices,) = (
        action
        for action in cli.build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    (found,) = (
        action
        for action in choices.choices["vault"]._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return found.choices


@pytest.mark.parametrize("name", sorted(steps()))
def test_every_step_and_option_stands_on_the_page_of_commands(name):
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text("utf-8")
    page = page[page.index("## `vault`") :] + page[: page.index("## `release`")]
    assert f"crowdcover vault {name}" in page
    options = {each for action in steps()[name]._actions for each in action.option_strings}
    missing = {each for each in options if each.startswith("--") and f"`{each}" not in page}
    assert missing <= {"--help", "--to", "--yes"}
    assert "Example: crowdcover vault " + name in steps()[name].epilog


# ---------------------------------------------------------------- backup and restore


def test_a_plain_vault_is_backed_up_to_somebody(vault, tmp_path, keys):
    refused = command("vault", "backup", "--vault", vault.path, "--to", tmp_path / "b")
    assert refused.code == 1
    assert "give --recipient" in refused.err
    assert not (tmp_path / "b").exists()
    public = keys[0].read_text().split()[3]
    done = command(
        "vault", "backup", "--vault", vault.path, "--to", tmp_path / "b", "--recipient", public
    )
    assert done.code == 0, done.err
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    assert not list(vault.path.glob(".backup"))
    content = (tmp_path / "b").read_bytes()
    assert b"matching" not in content
    assert b"ident" not in content
    again = command("vault", "restore", tmp_path / "b", "--vault", tmp_path / "n")
    assert again.code == 1
    assert "no key is given" in again.err
    again = command(
        "vault", "restore", tmp_path / "b", "--vault", tmp_path / "n", "--identity", keys[0]
    )
    assert again.code == 0, again.err
    before, after = content_of(vault.path), content_of(tmp_path / "n")
    left_out = {name for name in before if "failure" in name or "gates" in name}
    assert {name: before[name] for name in after} == after
    assert set(before) - set(after) - left_out == set()
    assert entries(tmp_path / "n" / "ledger.sqlite") == entries(vault.path / "ledger.sqlite")
    assert verify(Vault(tmp_path / "n"))[0] == 0


def test_a_second_name_is_no_second_backup(vault, tmp_path):
    back_up(vault, tmp_path / "b", plain=True)
    for to in (tmp_path / "b", vault.path / "inside"):
        done = command("vault", "backup", "--vault", vault.path, "--to", to, "--plain")
        assert done.code == 1
        assert "exists or lies in the vault" in done.err
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "file").touch()
    done = command("vault", "restore", tmp_path / "b", "--vault", tmp_path / "n")
    assert done.code == 1
    assert "holds something already" in done.err


@pytest.mark.parametrize("encrypted", [True, False])
def test_truncated_and_altered_backups_write_nothing(vault, tmp_path, keys, encrypted):
    public = keys[0].read_text().split()[3]
    recipients = [public] if encrypted else []
    back_up(vault, tmp_path / "b", recipients, plain=not encrypted)
    held = encryption.keys_in(keys[0], "test")
    content = (tmp_path / "b").read_bytes()
    size = len(content)
    with tarfile.open(tmp_path / "b") if not encrypted else open(os.devnull) as archive:
        ends = [each.offset_data for each in archive] if not encrypted else []
    spoiled = [content[:cut] for cut in (0, 30, size // 3, size // 2, size - 20_000)]
    places = (400, size // 2) if encrypted else (600, *ends[:9], ends[-1])
    spoiled += [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in places]
    for each in spoiled:
        (tmp_path / "s").write_bytes(each)
        with pytest.raises((DamagedError, SealedError)):
            restore_backup(tmp_path / "s", tmp_path / "n", held)
        assert not (tmp_path / "n").exists()
        assert not (tmp_path / ".n.partial").exists()


def archive_of(path, files, *members):
    """An archive whose table of contents names `files`, with these members behind it."""
    about = {"backup_of": "crowdcover vault", "format": 1, "made": "then", "files": files}
    text = json.dumps(about).encode()
    end = json.dumps({"backup.json": hashlib.sha256(text).hexdigest()}).encode()
    with tarfile.open(path, "w") as archive:
        for each, content in (member("backup.json", text), *members, member("end.json", end)):
            archive.addfile(each, io.BytesIO(content))


def member(name, content=b"", kind=tarfile.REGTYPE, leads=""):
    found = tarfile.TarInfo(name)
    found.size, found.type, found.linkname = len(content), kind, leads
    return found, content


def stated(content):
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


@pytest.mark.parametrize(
    ("files", "members"),
    [
        *(
            ({name: stated(b"x")}, [member(name, b"x")])
            for name in ("../out", "/tmp/out", "a/../../out", "a//b", "./a", "", "a/", "a\0b")
        ),
        ({"a": stated(b"")}, [member("a", kind=tarfile.SYMTYPE, leads="/tmp")]),
        ({"a": stated(b"")}, [member("a", kind=tarfile.LNKTYPE, leads="backup.json")]),
        ({"a": stated(b"")}, [member("a", kind=tarfile.DIRTYPE)]),
        ({"a": stated(b"")}, [member("a", kind=tarfile.FIFOTYPE)]),
        ({"a": stated(b"x")}, [member("a", b"x"), member("a", b"x")]),
        ({"a": stated(b"x")}, [member("a", b"x"), member("b", b"x")]),
        ({"a": stated(b"x")}, []),
        ({"a": stated(b"x")}, [member("../a", b"x")]),
        ({"a": stated(b"x")}, [member("a", b"y")]),
        ({"a": {}}, [member("a", b"x")]),
        ("a", []),
    ],
    ids=lambda each: None,
)
def test_what_is_no_backup_writes_nothing(tmp_path, files, members):
    """Paths that lead out, links, devices, files twice, files that the table does not name."""
    (tmp_path / "at").mkdir()
    archive_of(tmp_path / "at" / "s", files, *members)
    with pytest.raises(DamagedError, match="is no whole backup"):
        restore_backup(tmp_path / "at" / "s", tmp_path / "at" / "n")
    assert [path.name for path in (tmp_path / "at").iterdir()] == ["s"]
    assert not (tmp_path / "out").exists()


def test_a_restore_that_is_refused_leaves_nothing(vault, tmp_path, keys, monkeypatch):
    """The backup has a key of its own, and --moved needs the vault's, too."""
    rotate_keys(vault, encryption.keys_in(keys[0], "test"))
    back_up(vault, tmp_path / "b", [keys[1].read_text().split()[3]], plain=False)
    restoring = ["vault", "restore", tmp_path / "b", "--vault", tmp_path / "n"]
    done = command(*restoring, "--identity", keys[1], "--moved", "/a=/b")
    assert done.code == 1
    assert "is encrypted to another key than the one that is given" in done.err
    assert not list(tmp_path.glob("*n*.partial"))
    assert not list(tmp_path.glob(".n*"))
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[0]))
    assert command(*restoring, "--identity", keys[1], "--moved", "/a=/b").code == 0
    assert verify(Vault(tmp_path / "n"))[0] == 0


def test_the_key_of_a_backup_reads_the_vault_in_it(order, vault, tmp_path, keys, monkeypatch):
    rotate_keys(vault, encryption.keys_in(keys[0], "test"))
    back_up(vault, tmp_path / "b", plain=False)
    restoring = ["vault", "restore", tmp_path / "b", "--vault", tmp_path / "n"]
    moving = ["--identity", keys[0], "--moved", f"{order.releases.parent}=/b"]
    done = command(*restoring, *moving)
    assert done.code == 0, done.err
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[0]))
    (release,) = released_run(Vault(tmp_path / "n")).ever_visible()
    assert str(release.folder.parent) == "/b/people"
    assert {folder for _, folder, *_ in entries(tmp_path / "n" / "ledger.sqlite")} == {"/b/people"}


def test_two_restores_to_one_place(vault, tmp_path):
    back_up(vault, tmp_path / "b", plain=True)
    with backup._open_partial_folder(tmp_path / "n") as aside:
        (aside / "of the first").touch()
        with pytest.raises(BusyError, match="another process restores to"):
            restore_backup(tmp_path / "b", tmp_path / "n")
        assert (aside / "of the first").exists()
        shutil.rmtree(aside)
    restore_backup(tmp_path / "b", tmp_path / "n")


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives folders away")
def test_nothing_is_restored_into_a_folder_of_another_account(vault, tmp_path):
    back_up(vault, tmp_path / "b", plain=True)
    (tmp_path / ".n.partial").mkdir(mode=0o777)
    os.chown(tmp_path / ".n.partial", 4321, -1)
    with pytest.raises(FolderError, match="could not be written"):
        restore_backup(tmp_path / "b", tmp_path / "n")
    assert not list((tmp_path / ".n.partial").iterdir())


def test_a_backup_while_a_run_is_at_work(vault, tmp_path):
    run = released_run(vault)
    (run.path / ".check.partial").mkdir()
    (run.path / "checkpoint").write_bytes(b"half")
    (run.path / "checkpoint.1").write_bytes(b"more")
    with run.hold_lock():
        back_up(vault, tmp_path / "b", plain=True)
    restore_backup(tmp_path / "b", tmp_path / "n")
    assert not list((tmp_path / "n").rglob("*partial*"))
    assert not list((tmp_path / "n").rglob("checkpoint*"))
    assert verify(Vault(tmp_path / "n"))[0] == 0


# Names that files and folders of crowdcover have elsewhere in a vault.
ODD_NAMES = ("lock", "parts", "job", "job-logs", "checkpoint", "people.partial", "x.partial-1")


def test_no_name_of_a_series_or_plan_keeps_it_out_of_a_backup(vault, tmp_path):
    (vault.path / "plans").mkdir(mode=0o700, exist_ok=True)
    for name in ODD_NAMES:
        series_with(vault, bytes(32), name)
        write_json(vault.path / "plans" / name, {"name": name})
        remade = vault.path / "series" / name / "parts"
        remade.mkdir(mode=0o700)
        (remade / "2014-01.arrow").touch()
    back_up(vault, tmp_path / "b", plain=True)
    restore_backup(tmp_path / "b", tmp_path / "n")
    series = tmp_path / "n" / "series"
    assert {path.name for path in series.iterdir()} == set(ODD_NAMES)
    for name in ODD_NAMES:
        assert [path.name for path in (series / name).iterdir()] == ["withdrawn.bin"]
        assert read_json(tmp_path / "n" / "plans" / name) == {"name": name}


@pytest.mark.parametrize("again", [False, True], ids=["removed", "made again"])
def test_a_stage_that_goes_while_it_is_backed_up_is_left_out(vault, tmp_path, monkeypatch, again):
    stage = released_run(vault).path / "anonymize"
    shutil.copytree(stage, tmp_path / "same")
    link, linked = backup._link_file, []

    def linking(source, target):
        link(source, target)
        if source.parent == stage and not linked:
            linked.append(source)
            remove_folder(stage)
            if again:
                shutil.copytree(tmp_path / "same", stage)

    monkeypatch.setattr(backup, "_link_file", linking)
    back_up(vault, tmp_path / "b", plain=True)
    assert linked
    restore_backup(tmp_path / "b", tmp_path / "n")
    there = tmp_path / "n" / stage.relative_to(vault.path)
    assert there.parent.is_dir()
    assert not there.exists()
    assert verify(Vault(tmp_path / "n"))[0] == 0


def test_a_file_that_goes_while_its_run_is_backed_up_takes_nothing_along(
    vault, tmp_path, monkeypatch
):
    run = released_run(vault)
    link = backup._link_file

    def linking(source, target):
        if source == run.path / "gates.json":
            source.unlink()
        link(source, target)

    monkeypatch.setattr(backup, "_link_file", linking)
    back_up(vault, tmp_path / "b", plain=True)
    assert not (run.path / "gates.json").exists()
    restore_backup(tmp_path / "b", tmp_path / "n")
    held = {path.name for path in run.path.iterdir()} - {"lock"}
    assert {path.name for path in (tmp_path / "n" / "runs" / run.path.name).iterdir()} == held
    assert verify(Vault(tmp_path / "n"))[0] == 0


@pytest.mark.long
def test_a_kill_leaves_no_stage_half_removed(vault, tmp_path):
    """Neither in the vault nor in a backup of it."""
    stage = released_run(vault).path / "anonymize"
    assert run(removing, str(stage)).code == -signal.SIGKILL
    assert not stage.exists()
    assert list(stage.parent.glob(".*.partial/*"))
    assert verify(vault)[0] == 0
    back_up(vault, tmp_path / "b", plain=True)
    restore_backup(tmp_path / "b", tmp_path / "n")
    assert not list((tmp_path / "n").rglob("*.partial"))
    assert verify(Vault(tmp_path / "n"))[0] == 0
    remove_folder(stage)
    assert not list(stage.parent.glob(".*.partial"))


def removing(stage):
    """Run in a process of its own: killed when one of the files is gone."""
    die_at("os", "unlink", 0, True)
    remove_folder(Path(stage))


@pytest.mark.slow
def test_backups_while_versions_are_made(tmp_path):
    """Backups are made all the time while a series goes on; each of them is sound."""
    order = registry(tmp_path / "o", series=SERIES)
    order.release()
    done, made = threading.Event(), []

    def make_backups():
        while not done.is_set():
            to = tmp_path / f"b{len(made)}"
            back_up(Vault(order.vault), to, plain=True)
            made.append(to)

    worker = threading.Thread(target=make_backups)
    worker.start()
    try:
        for first in (3, 6):
            order.write_source([*people(60)[first:], *people(9, draws=first, first=100 * first)])
            order.release()
    finally:
        done.set()
        worker.join()
    assert len(made) > 10
    for number, to in enumerate(made):
        vault = Vault(tmp_path / f"n{number}")
        restore_backup(to, vault.path)
        damage = [each for each in verify(vault)[1]["damage"] if "mark" not in each["found"]]
        assert damage == []
        shutil.rmtree(vault.path)


@pytest.mark.slow
def test_a_shared_ledger_is_compared_too(uri, tmp_path):
    order = Order(tmp_path / "o", publish=of_plan(uri))
    order.release()
    done = command("vault", "verify", "--plan", order.plan)
    assert done.code == 0, done.out
    query(uri, "delete from releases", autocommit=True)
    done = command("vault", "verify", "--plan", order.plan, "--json")
    assert done.code == 1
    assert "it lacks the release" in done.out
    assert PASSWORD not in done.out + done.err
    order.write(checks={"min_utility": 0.9999})
    with pytest.raises(GuaranteeError):
        order.release()
    assert command("vault", "prune", "--plan", order.plan, "--keep", "1s").code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_an_empty_machine(tmp_path, keys, monkeypatch):
    """Another folder, another HOME, no old vault: audit, the next version, the same release."""
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[0]))
    order = registry(tmp_path / "old", series=SERIES)
    order.release()
    order.write_source([*people(60)[3:], *people(9, draws=5, first=500)])
    order.release()
    done = command("vault", "backup", "--plan", order.plan, "--to", tmp_path / "b.age")
    assert done.code == 0, done.err
    shutil.rmtree(order.vault)
    discard_plain_copies()
    (tmp_path / "new" / "home").mkdir(parents=True)
    environment = {
        "HOME": str(tmp_path / "new" / "home"),
        encryption.KEY_FILE: str(keys[0]),
        WORK: str(tmp_path / "work"),
    }
    shutil.move(order.releases.parent, tmp_path / "new" / "releases")
    moved = f"{order.releases.parent}={tmp_path / 'new' / 'releases'}"
    for name in ("people.toml", "people.csv"):
        shutil.copy(order.folder / name, tmp_path / "new" / name)
    plan = tmp_path / "new" / "people.toml"
    releases = tmp_path / "new" / "releases" / "people"

    def there(*arguments):
        done = crowdcover(*arguments, environment=environment)
        assert done.code == 0, done.err
        return done.out if "--json" in arguments else done.last_line

    restored = ["--vault", tmp_path / "new" / "vault", "--moved", moved]
    there("vault", "restore", tmp_path / "b.age", *restored)
    assert "present" in there("vault", "verify", "--plan", plan, "--json")
    for version in ("v1", "v2"):
        there("audit", releases / version, "--plan", plan, "--quiet")
    assert there("release", plan, "--quiet") == str(releases / "v2")
    order.write_source([*people(60)[6:], *people(9, draws=6, first=700)])
    shutil.copy(order.source, tmp_path / "new" / "people.csv")
    assert there("release", plan, "--quiet") == str(releases / "v3")
    there("audit", releases / "v3", "--plan", plan, "--quiet")


# ---------------------------------------------------------------- prune


def test_what_is_pruned(vault, order, tmp_path):
    refused = next(run for run in vault.every_run() if not run.ever_visible())
    asked = list_removals(vault, timedelta(days=30))
    assert asked == []
    dry = command("vault", "prune", "--vault", vault.path, "--keep", "12h", "--dry-run", "--json")
    assert json.loads(dry.out)["dry_run"]
    assert refused.path.exists()
    done = json.loads(
        command("vault", "prune", "--vault", vault.path, "--keep", "12h", "--json").out
    )
    assert {**done, "dry_run": True} == json.loads(dry.out)
    assert done["bytes"] > 0
    assert not refused.path.exists()
    assert not list(vault.path.rglob("docs"))
    assert not (vault.path / ".removed").exists()
    kept = {path.parent.name for path in vault.path.glob("runs/*/*/stage.json")}
    assert {"ingest", "binarize", "anonymize", "identify", "check"} <= kept
    assert verify(vault)[0] == 0
    assert list_removals(vault, NOW) == []


def test_a_run_at_work_is_left_alone(vault):
    refused = next(run for run in vault.every_run() if not run.ever_visible())
    with refused.hold_lock():
        apply_removals(vault, NOW, lambda _: None)
    assert refused.path.exists()


def test_a_run_is_pruned_once_nobody_can_decide_it_any_more(tmp_path):
    vault = Vault(tmp_path / "vault")
    run = vault.run("p" * 64, "s" * 64)
    question = Question({}, str(tmp_path / "v1"), "", {})
    Approval.of(run).ask(Request.of(question, "", timedelta(days=7)))
    assert list_removals(vault, NOW) == []
    Approval.of(run).amend(until=format_record_time(current_time()))
    assert [each.path for each in list_removals(vault, NOW)] == [run.path]


@pytest.mark.parametrize("name", ["approval.json", "releases.json"])
def test_a_damaged_run_is_left_alone_and_others_are_pruned(vault, name):
    refused = next(run for run in vault.every_run() if not run.ever_visible())
    damaged = released_run(vault)
    spoil(damaged.path / name)
    before = content_of(damaged.path)
    removed = apply_removals(vault, NOW, lambda _: None)
    assert refused.path in {each.path for each in removed}
    assert content_of(damaged.path) == before


def test_a_wrong_duration(vault):
    done = command("vault", "prune", "--vault", vault.path, "--keep", "long")
    assert done.code == 2
    assert "--keep must be a duration such as 30d" in done.err


@pytest.mark.slow
def test_decisions_outlast_a_prune(tmp_path):
    """Who waits goes on to wait, and what was rejected is refused again."""
    order = Order(tmp_path, publish={"approval": "required"})
    with pytest.raises(WaitingError):
        order.release()
    vault = Vault(order.vault)
    assert not [each for each in list_removals(vault, NOW) if each.run is not None]
    done = command("reject", order.run.path.name, "--vault", order.vault, "--by", "Ada")
    assert done.code == 0, done.err
    removed = apply_removals(vault, NOW, lambda _: None)
    assert {each.why for each in removed} == {"of a rejected run"}
    assert not order.run.has("ingest")
    with pytest.raises(GuaranteeError, match="was rejected by Ada"):
        order.release()


@pytest.mark.slow
def test_later_intersections_are_as_without_a_prune(tmp_path):
    """Of two vaults with the same secrets, one is pruned before the second release."""
    sections = {"checks": {"drift": "off"}, "publish": {"allow_second_release": True}}
    found = []
    for name in ("pruned", "whole"):
        order = Order(tmp_path / name, calm(people()), **sections).fix_seed()
        order.release()
        if name == "pruned":
            order.write(checks={"min_utility": 0.9999})
            with pytest.raises(GuaranteeError):
                order.release()
            order.write(checks={"min_utility": 0.0})
            vault = Vault(order.vault)
            assert apply_removals(vault, NOW, Ledger(vault, kind_called("table").remade).drop)
        order.write_source(calm(people()[:70]))
        order.fix_seed(bytes(range(1, 33)))
        second = order.release()
        audit = audit_release(second, order.plan)
        assert audit.passed
        (crowds,) = [each for each in audit.findings if each.guarantee == INTERSECTED]
        beside = read_json(second / "manifest.json")["second_release"]
        found.append((data_bytes(second), crowds, beside))
        order.write_source(calm(people()))
        assert audit_release(order.folder_of_v1, order.plan).passed
    assert found[0] == found[1]


# ---------------------------------------------------------------- rotate


def rotated(vault, key, *options):
    return command("vault", "rotate", "--vault", vault.path, "--to", key, *options)


def test_plain_to_a_key_to_another_and_back(vault, order, keys, monkeypatch):
    plain = content_of(vault.path)
    times = {path: path.stat().st_mtime_ns for path in vault.path.rglob("seed")}
    assert rotated(vault, keys[0]).code == 0
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[0]))
    first = {path: path.read_bytes() for path in vault.path.rglob("*.json")}
    assert content_of(vault.path) == plain
    assert verify(vault)[0] == 0
    assert verify(vault)[1]["encrypted"]
    assert rotated(vault, keys[1]).code == 0
    assert command("vault", "verify", "--vault", vault.path).code == 1
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[1]))
    assert content_of(vault.path) == plain
    assert all(path.read_bytes() != content for path, content in first.items())
    done = rotated(vault, keys[1], "--json")
    assert json.loads(done.out)["written"] == 0
    refused = command("vault", "rotate", "--vault", vault.path, "--to-plain")
    assert refused.code == 2
    assert "add --yes" in refused.err
    done = command("vault", "rotate", "--vault", vault.path, "--to-plain", "--yes")
    assert done.code == 0, done.err
    monkeypatch.delenv(encryption.KEY_FILE)
    assert content_of(vault.path) == plain
    assert not (vault.path / "vault.json").exists()
    assert {path: path.stat().st_mtime_ns for path in vault.path.rglob("seed")} == times
    assert verify(vault)[0] == 0


def test_no_name_of_a_series_or_plan_keeps_it_from_a_rotation(vault, keys, monkeypatch):
    (vault.path / "plans").mkdir(mode=0o700, exist_ok=True)
    for name in ODD_NAMES:
        series_with(vault, bytes(32), name)
        write_json(vault.path / "plans" / name, {"name": name})
    before = content_of(vault.path)
    rotate_keys(vault, encryption.keys_in(keys[0], "test"))
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[0]))
    written = [vault.path / "series" / name / "withdrawn.bin" for name in ODD_NAMES]
    written += [vault.path / "plans" / name for name in ODD_NAMES]
    assert all(encryption.is_encrypted(path) for path in written)
    assert content_of(vault.path).items() >= before.items()
    assert verify(vault)[1]["damage"] == []
    spoil(vault.path / "plans" / "x.partial-1")
    assert "it is not encrypted" in {each["found"] for each in verify(vault)[1]["damage"]}


def test_a_damaged_file_stops_a_rotation_before_it_begins(vault, keys, monkeypatch):
    """Else some files were under the new key, the next call failed in the same way, and so on."""
    rotate_keys(vault, encryption.keys_in(keys[0], "test"))
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[0]))
    path = max(vault.path.rglob("*.parquet"))
    whole = path.read_bytes()
    spoil(path, whole[:-1])
    before = {each: each.stat().st_mtime_ns for each in vault.path.rglob("*") if each.is_file()}
    done = rotated(vault, keys[1])
    assert done.code == 1
    assert f"{path} is truncated or was altered; restore it from a backup" in done.err
    after = {each: each.stat().st_mtime_ns for each in vault.path.rglob("*") if each.is_file()}
    assert {each: after.get(each) for each in before} == before
    assert vault.open().every_run()
    spoil(path, whole)
    assert rotated(vault, keys[1]).code == 0


def test_nothing_plain_stays_in_a_vault_that_is_encrypted(vault, keys, monkeypatch):
    """A backup and a prune that were killed left links to plain files, and files."""
    assert killed(Backing(vault.path, keys[0].parent / "b"), "tarfile.TarFile", "addfile", 7, True)
    assert list((vault.path / ".backup").rglob("seed"))
    (vault.path / ".removed").mkdir(mode=0o700)
    (vault.path / ".removed" / "seed").write_bytes(bytes(32))
    rotate_keys(vault, encryption.keys_in(keys[0], "test"))
    plain = {
        path.relative_to(vault.path).as_posix()
        for path in vault.path.rglob("*")
        if path.is_file() and path.stat().st_size and not encryption.is_encrypted(path)
    }
    assert plain == {"vault.json", "ledger.sqlite"}
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[0]))
    with backup.backups_held(vault), pytest.raises(BusyError, match="another backup"):
        rotate_keys(vault, encryption.keys_in(keys[1], "test"))


@pytest.mark.parametrize("gone", [(), ("ledger.key", "folders.key")], ids=str)
def test_an_encrypted_vault_never_counts_as_plain(vault, keys, gone):
    """Whoever removes vault.json would have the next run write plain secrets."""
    rotate_keys(vault, encryption.keys_in(keys[0], "test"))
    for name in ("vault.json", *gone):
        (vault.path / name).unlink()
    with pytest.raises(SealedError, match=r"vault.json is gone; restore vault.json from a backup"):
        vault.open()


def test_a_vault_at_work_is_not_rotated(vault, keys):
    run = released_run(vault)
    with run.hold_lock():
        done = rotated(vault, keys[0])
    assert done.code == 1
    assert "another process is at work" in done.err
    assert not (vault.path / "vault.json").exists()


def test_a_full_disk_and_a_closed_one_are_named(vault, keys, monkeypatch):
    to = keys[0].parent / "b"
    for number, words in ((errno.ENOSPC, "is full"), (errno.EACCES, "cannot be written")):

        def fails(*_, number=number):
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patch:
            patch.setattr("os.rename", fails)
            for done in (
                rotated(vault, keys[0]),
                command("vault", "prune", "--vault", vault.path, "--keep", "1s"),
                command(
                    "vault",
                    "backup",
                    "--vault",
                    vault.path,
                    "--plain",
                    "--to",
                    keys[0].parent / "b",
                ),
            ):
                assert done.code == 1
                assert words in done.err or "could not be written" in done.err, done.err
                assert "unforeseen" not in done.err
    assert not to.exists()


def test_places_that_moved():
    for text, expected in (
        ("/a/releases/people", "/b/people"),
        ("/a/releases", "/b"),
        ("/a/releases-2/people", "/a/releases-2/people"),
        ("s3://x/a", "s3://x/a"),
    ):
        assert move_place(text, [("/a/releases", "/b")]) == expected
    assert move_place("s3://x/a/people", [("s3://x/a", "s3://y")]) == "s3://y/people"
    # Folders that change places, and the innermost of folders in each other.
    assert move_place("/a/x", [("/a", "/b"), ("/b", "/a")]) == "/b/x"
    assert move_place("/a/c/x", [("/a", "/b"), ("/a/c", "/d")]) == "/d/x"


def test_folders_that_moved_into_each_other_stay_two(tmp_path):
    vault = Vault(tmp_path / "vault").open()
    with closing(sqlite3.connect(vault.path / "ledger.sqlite")) as connection, connection:
        for table in TABLES:
            connection.execute(table)
        connection.executemany(
            "insert into releases values ('run', ?, 'x', ?, '', '', 1, 1, '')",
            [("/a/x", "v1"), ("/a/b/x", "v2")],
        )
    move_releases(vault, [("/a", "/a/b")])
    moved = [entry[1:4] for entry in entries(vault.path / "ledger.sqlite")]
    assert moved == [("/a/b/b/x", "x", "v2"), ("/a/b/x", "x", "v1")]


# ---------------------------------------------------------------- killed


def until(work, *point):
    die_at(*point)
    work()


def killed(work, *point):
    ended = run(until, work, *point)
    assert ended.code in (-signal.SIGKILL, 0), ended.err
    return ended.code != 0


class Backing:
    def __init__(self, vault, to):
        self.vault, self.to = vault, to

    def __call__(self):
        back_up(Vault(self.vault), self.to, plain=True)


class Restoring(Backing):
    def __call__(self):
        restore_backup(self.to, self.vault)


class Pruning(Backing):
    def __call__(self):
        vault = Vault(self.vault)
        apply_removals(vault, NOW, Ledger(vault, kind_called("table").remade).drop)


class Rotating(Backing):
    """`to` are the environment's key and the new one."""

    def __call__(self):
        before, new = self.to
        os.environ[WORK] = str(Path(self.vault).parent / "work")
        if before:
            os.environ[encryption.KEY_FILE] = str(before)
        rotate_keys(Vault(self.vault), encryption.keys_in(new, "test"))


STEPS = [
    *(("os", "link", passes, True) for passes in (0, 5, 20)),
    ("sqlite3", "connect", 0, False),
    ("crowdcover.storage.upkeep.backup", "build_table_of_contents", 0, True),
    ("tarfile.TarFile", "addfile", 7, True),
    ("os", "rename", 0, False),
    ("os", "rename", 0, True),
]


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_a_backup_killed_anywhere(vault, tmp_path, step):
    work = Backing(vault.path, tmp_path / "b")
    assert killed(work, *step)
    if (tmp_path / "b").exists():
        restore_backup(tmp_path / "b", tmp_path / "n")
        assert verify(Vault(tmp_path / "n"))[0] == 0
    assert verify(vault)[0] == 0
    back_up(vault, tmp_path / "b2", plain=True)
    restore_backup(tmp_path / "b2", tmp_path / "n2")
    assert verify(Vault(tmp_path / "n2"))[0] == 0
    assert not (vault.path / ".backup").exists()
    assert content_of(tmp_path / "n2").keys() <= content_of(vault.path).keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        ("crowdcover.storage.upkeep.archive", "_copy_member", 3, True),
        ("crowdcover.storage.upkeep.archive", "_copy_member", 60, True),
        ("crowdcover.storage.upkeep.archive", "_copy_member", 90, True),
        ("crowdcover.storage.upkeep.backup", "flush_folder", 2, True),
        ("os", "rename", 0, False),
        ("os", "rename", 0, True),
    ],
    ids=str,
)
def test_a_restore_killed_anywhere(vault, tmp_path, step):
    back_up(vault, tmp_path / "b", plain=True)
    assert killed(Restoring(tmp_path / "n", tmp_path / "b"), *step)
    if not (tmp_path / "n").exists():
        restore_backup(tmp_path / "b", tmp_path / "n")
    assert not (tmp_path / ".n.partial").exists()
    assert verify(Vault(tmp_path / "n"))[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        *(("os", "rename", passes, made) for passes in range(3) for made in (False, True)),
        ("crowdcover.storage.ledger.ledger.Ledger", "drop", 0, True),
        ("shutil", "rmtree", 0, False),
        ("shutil", "rmtree", 0, True),
    ],
    ids=str,
)
def test_a_prune_killed_anywhere(vault, tmp_path, step):
    work = Pruning(vault.path, None)
    assert killed(work, *step)
    assert verify(vault)[0] == 0
    work()
    assert verify(vault)[0] == 0
    assert list_removals(vault, NOW) == []
    assert not (vault.path / ".removed").exists()


@pytest.mark.slow
@pytest.mark.parametrize("passes", [0, 1, 2, 7, 30, 40, 41])
@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("first", [False, True], ids=["another key", "the first key"])
def test_a_rotation_killed_anywhere(vault, tmp_path, keys, monkeypatch, passes, made, first):
    """Both keys read every file at every moment; the next call ends it."""
    plain = content_of(vault.path)
    before = None if first else keys[0]
    if before:
        rotate_keys(vault, encryption.keys_in(before, "test"))
    work = Rotating(vault.path, (before, keys[1]))
    ended = killed(work, "os", "rename", passes, made)
    assert ended
    both = tmp_path / "both.key"
    both.write_text("".join(path.read_text() for path in keys))
    both.chmod(0o600)
    monkeypatch.setenv(encryption.KEY_FILE, str(both))
    assert {n: c for n, c in content_of(vault.path).items() if "partial" not in n} == plain
    if before:
        monkeypatch.setenv(encryption.KEY_FILE, str(before))
    else:
        monkeypatch.delenv(encryption.KEY_FILE)
    rotate_keys(vault, encryption.keys_in(keys[1], "test"))
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[1]))
    assert content_of(vault.path) == plain
    assert verify(vault)[0] == 0, verify(vault)[1]


@pytest.mark.slow
def test_a_stopped_rotation_takes_no_third_key(vault, tmp_path, keys, monkeypatch):
    rotate_keys(vault, encryption.keys_in(keys[0], "test"))
    assert killed(Rotating(vault.path, (keys[0], keys[1])), "os", "rename", 9, True)
    monkeypatch.setenv(encryption.KEY_FILE, str(keys[0]))
    third = key_file(tmp_path / "three.key")
    done = rotated(vault, third)
    assert done.code == 1
    assert "a rotation to it was stopped; give this key by --to to end it first" in done.err
    done = command("vault", "verify", "--vault", vault.path)
    assert "that was stopped before its end; run crowdcover vault rotate again" in done.err
    assert rotated(vault, keys[1]).code == 0
