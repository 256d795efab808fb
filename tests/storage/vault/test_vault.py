import json
import os
import signal
import stat

import polars as pl
import pytest

from anon_core.errors import GuaranteeError, InputError, LimitError
from crowdcover.storage.encryption.encryption import DamagedError, SealedError
from crowdcover.storage.places.credentials import CredentialsError
from crowdcover.storage.places.objects import StoreError
from crowdcover.storage.upkeep.backup import back_up
from crowdcover.storage.vault import build
from crowdcover.storage.vault.dry_run_vault import open_shadow
from crowdcover.storage.vault.endings import read_ending
from crowdcover.storage.vault.failures import StageError, keep_failures
from crowdcover.storage.vault.files import file_sha256, read_json, write_json, write_private
from crowdcover.storage.vault.refusals import BusyError, FolderError
from crowdcover.storage.vault.run import Release, Stored
from crowdcover.storage.vault.vault import BACKUP, LEDGER_KEY, REMOVED, Vault
from tests.flows.processes import FORKS, finish, hold, start

PLAN, SOURCE = "p" * 64, "s" * 64


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def vault(tmp_path):
    return Vault(tmp_path / "vault")


@pytest.fixture
def run(vault):
    return vault.run(PLAN, SOURCE)


class Maker:
    """Write the given text and count the calls."""

    def __init__(self, text="text", **facts):
        self.text, self.facts, self.calls = text, facts, 0

    def __call__(self, folder):
        self.calls += 1
        (folder / "file").write_text(self.text)
        return self.facts


# ---------------------------------------------------------------- stages


def test_a_stage_is_made_once(run):
    make = Maker(shape=[3, 2], seen=5)
    first = run.once("stage", [], make)
    second = run.once("stage", [], make)
    assert make.calls == 1
    assert first == second
    assert first.shape == (3, 2)
    assert first.facts == {"seen": 5}
    assert first.file("file").read_text() == "text"
    assert run.has("stage")
    assert not run.has("other")
    assert {"seconds", "peak_memory_bytes", "files", "version"} <= set(run.stages()["stage"])


def test_a_stage_is_made_again_when_what_it_needs_has_changed(run):
    make = Maker()
    first = run.once("first", [], Maker("one"))
    run.once("second", [first], make)
    run.once("second", [first], make)
    assert make.calls == 1
    changed = Stored(first.path, "another hash")
    run.once("second", [changed], make)
    assert make.calls == 2


def test_other_facts_are_other_inputs(run):
    """A stage that is made again with the same bytes may have found something else."""
    make = Maker()
    run.once("second", [run.once("first", [], Maker("one", seen=5))], make)
    (run.path / "first" / "file").unlink()
    run.once("second", [run.once("first", [], Maker("one", seen=6))], make)
    assert make.calls == 2
    (run.path / "first" / "file").unlink()
    slower = Maker("one", seen=6, steps=[{"number": 1, "seconds": 2.5}])
    run.once("second", [run.once("first", [], slower)], make)
    assert make.calls == 3  # a step more
    (run.path / "first" / "file").unlink()
    faster = Maker("one", seen=6, steps=[{"number": 1, "seconds": 1.5}])
    run.once("second", [run.once("first", [], faster)], make)
    assert make.calls == 3


def test_equal_files_are_equal_inputs(run):
    """If a lost stage is made again with the same bytes, later stages are not repeated."""
    make = Maker()
    run.once("second", [run.once("first", [], Maker("one"))], make)
    (run.path / "first" / "file").unlink()
    run.once("second", [run.once("first", [], Maker("one"))], make)
    assert make.calls == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "file").write_text("other"),
        lambda folder: (folder / "file").unlink(),
        lambda folder: (folder / "stage.json").unlink(),
        lambda folder: (folder / "stage.json").write_text(""),
        lambda folder: (folder / "stage.json").write_text('{"version": '),
        lambda folder: (folder / "stage.json").write_text("[]"),
        lambda folder: (folder / "stage.json").write_text("{}"),
        lambda folder: (folder / "stage.json").write_bytes(b"\xff\xfe"),
        lambda folder: write_json(
            folder / "stage.json", {**read_json(folder / "stage.json"), "files": []}
        ),
        lambda folder: write_json(
            folder / "stage.json", {**read_json(folder / "stage.json"), "shape": None}
        ),
    ],
)
def test_a_damaged_stage_is_noticed_and_made_again(run, spoil):
    make = Maker(shape=[1])
    run.once("stage", [], make)
    spoil(run.path / "stage")
    stored = run.once("stage", [], make)
    assert make.calls == 2
    assert stored.file("file").read_text() == "text"
    assert run.once("stage", [], make) == stored
    assert make.calls == 2


@pytest.mark.parametrize(
    ("part", "other"), [("CODE_VERSION", "another"), ("hash_packages", lambda *_: "another")]
)
def test_a_stage_of_another_build_is_made_again(run, monkeypatch, part, other):
    make = Maker()
    first = run.once("stage", [], make)
    assert run.once("stage", [], make) == first
    assert make.calls == 1
    monkeypatch.setattr(build, part, other)
    again = run.once("stage", [], make)
    assert make.calls == 2
    assert (again.sha256, again.shape) == (first.sha256, first.shape)  # the hash is no input
    assert run.once("stage", [], make) == again
    assert make.calls == 2


def test_a_stage_of_before_there_were_hashes_is_made_again_but_whole(run):
    make = Maker()
    first = run.once("stage", [], make)
    record = read_json(first.path / "stage.json")
    del record["code"]
    write_json(first.path / "stage.json", record)
    assert run.whole("stage") == first
    run.once("stage", [], make)
    assert make.calls == 2


def test_a_stage_that_fails_leaves_nothing_that_counts(run):
    def fail(folder):
        (folder / "leftover").write_text("half")
        raise InputError("no")

    for _ in range(2):
        with pytest.raises(InputError):
            run.once("stage", [], fail)
        assert not run.has("stage")
        assert run.stages() == {}
    stored = run.once("stage", [], Maker())
    assert set(stored.record["files"]) == {"file"}
    assert not stored.file("leftover").exists()


def test_a_finished_stage_survives_a_failed_second_attempt_of_other_inputs_only_as_gone(run):
    """The stage of the old inputs is removed first: its origin would be unknown."""
    run.once("stage", [], Maker())

    def fail(folder):
        raise InputError("no")

    with pytest.raises(InputError):
        run.once("stage", [Stored(run.path, "new input")], fail)
    assert not run.has("stage")


def test_stages_and_secrets_are_private(run, vault):
    previous = os.umask(0)
    try:
        run.once("stage", [], Maker())
        with run.hold_lock():
            pass
        with vault.lock_publishing():
            pass
        run.mark_released(Release(vault.path / "r" / "v1", {}))
        with pytest.raises(StageError), keep_failures(run.path, "stage"):
            _ = 1 / 0
        fresh = Vault(vault.path.parent / "deep" / "er").run(PLAN, SOURCE)
    finally:
        os.umask(previous)
    for top in (vault.path, fresh.path.parents[1]):
        paths = [top, *top.rglob("*")]
        assert {mode(path) for path in paths if path.is_dir()} == {0o700}
        assert {mode(path) for path in paths if path.is_file()} == {0o600}


def test_stored_stages_are_named_by_their_content(run, vault):
    other = vault.run(PLAN, "t" * 64)
    same = [a.once("stage", [], Maker("text")).sha256 for a in (run, other)]
    assert same[0] == same[1] != run.once("stage2", [], Maker("other")).sha256


# ---------------------------------------------------------------- files


def test_write_private_replaces_at_once(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o644)
    (tmp_path / ".file.partial").write_text("left by a crash")
    write_private(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_json_comes_back_as_it_went(tmp_path):
    document = {"words": "grün €", "numbers": [1, 2.5, None], "deep": {"a": True}}
    write_json(tmp_path / "file.json", document)
    assert read_json(tmp_path / "file.json") == document
    assert "grün" in (tmp_path / "file.json").read_text(encoding="utf-8")


def test_file_sha256_is_that_of_the_bytes(tmp_path):
    (tmp_path / "empty").touch()
    assert (
        file_sha256(tmp_path / "empty")
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )


# ---------------------------------------------------------------- vault


def test_the_same_plan_and_source_find_the_same_run(vault):
    run = vault.run(PLAN, SOURCE)
    assert vault.run(PLAN, SOURCE) == run == vault.find(PLAN, SOURCE)
    assert vault.run(PLAN, SOURCE).seed == run.seed
    assert (run.plan_sha256, run.source_sha256) == (PLAN, SOURCE)


def test_other_plans_sources_and_vaults_have_other_secrets(vault, tmp_path):
    seeds = [
        vault.run(PLAN, SOURCE).seed,
        vault.run("q" * 64, SOURCE).seed,
        vault.run(PLAN, "t" * 64).seed,
        Vault(tmp_path / "second").run(PLAN, SOURCE).seed,
    ]
    assert len(set(seeds)) == 4


def test_find_makes_nothing(vault):
    assert vault.find(PLAN, SOURCE) is None
    assert not vault.path.exists()


def test_a_vault_of_ours_that_stands_open_is_closed(vault):
    (vault.path / "plans").mkdir(parents=True, mode=0o755)
    vault.path.chmod(0o755)
    vault.open()
    assert mode(vault.path) == 0o700


def test_a_vault_that_was_backed_up_and_pruned_is_closed_too(vault, tmp_path):
    vault.open()
    back_up(vault, tmp_path / "backup", plain=True)
    for name in (BACKUP, REMOVED):
        (vault.path / name).mkdir()
    (vault.path / f".{LEDGER_KEY}.0123.partial").touch()
    vault.path.chmod(0o755)
    with open_shadow(vault):
        pass
    assert mode(vault.path) == 0o755
    vault.open()
    assert mode(vault.path) == 0o700


def test_a_folder_of_others_is_neither_used_nor_closed(tmp_path):
    (tmp_path / ".letters.partial").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(FolderError, match="is no vault and open to others"):
        Vault(tmp_path).run(PLAN, SOURCE)
    with (
        pytest.raises(FolderError, match="is no vault and open to others"),
        open_shadow(Vault(tmp_path)),
    ):
        pass
    assert mode(tmp_path) == 0o755
    assert [path.name for path in tmp_path.iterdir()] == [".letters.partial"]


def test_a_closed_folder_may_hold_other_things(tmp_path):
    (tmp_path / "letters.txt").touch()
    tmp_path.chmod(0o700)
    assert Vault(tmp_path).run(PLAN, SOURCE).seed


def test_a_vault_that_cannot_be_made_is_refused_in_words(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FolderError, match=r"publish\.vault .* cannot be used"):
            Vault(path).open()


# ---------------------------------------------------------------- releases


def publish(run, folder, *, visible=True, published=True):
    release = Release(folder, {"manifest.json": "0" * 64})
    if visible:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "manifest.json").write_text(run.path.name)
        release = Release(
            folder, {"manifest.json": file_sha256(folder / "manifest.json")}, published
        )
    run.mark_released(Release(folder, release.files, published))


def test_a_run_remembers_its_releases_by_folder(run, tmp_path):
    assert run.released(tmp_path / "a") is None
    publish(run, tmp_path / "a" / "v1")
    publish(run, tmp_path / "b" / "v3", visible=False, published=False)
    release = run.released(tmp_path / "a")
    assert release.folder == tmp_path / "a" / "v1"
    assert release.published
    assert release.stands()
    assert not run.released(tmp_path / "b").published
    assert not run.released(tmp_path / "b").stands()
    (tmp_path / "a" / "v1" / "manifest.json").write_text("somebody else's")
    assert not run.released(tmp_path / "a").stands()


def test_what_was_visible_is_not_forgotten_when_it_is_about_to_be_published_again(run, tmp_path):
    publish(run, tmp_path / "r" / "v1")
    publish(run, tmp_path / "r" / "v1", visible=False, published=False)
    assert [release.folder for release in run.ever_visible()] == [tmp_path / "r" / "v1"]


# ---------------------------------------------------------------- locks


def test_a_second_process_on_the_same_run_is_refused(run, vault):
    ready, done = FORKS.Event(), FORKS.Event()
    process, files = start(hold, run, ready, done)
    assert ready.wait(60)
    with (
        pytest.raises(BusyError, match="another process is at work on this plan and source"),
        run.hold_lock(),
    ):
        pass
    with vault.run("q" * 64, SOURCE).hold_lock():
        pass  # another run is free
    done.set()
    assert finish(process, files).code == 0
    with run.hold_lock():
        pass


def test_a_lock_dies_with_its_process(run):
    ready, done = FORKS.Event(), FORKS.Event()
    process, files = start(hold, run, ready, done)
    assert ready.wait(60)
    os.kill(process.pid, signal.SIGKILL)
    assert finish(process, files).code == -signal.SIGKILL
    with run.hold_lock():
        pass


# ---------------------------------------------------------------- failures


def fail(error):
    def work():
        raise error

    return work


def chain(error):
    """An exception, its causes and its contexts."""
    found = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def test_an_unforeseen_failure_tells_no_value(run):
    with pytest.raises(StageError) as caught, keep_failures(run.path, "ingest"):
        fail(ValueError("cell of Mrs Miller"))()
    assert chain(caught.value) == [caught.value]
    assert str(caught.value) == (
        "stage ingest failed with ValueError; its traceback is in the vault: "
        f"{run.path.name}/failure-ingest.txt"
    )
    kept = run.path / "failure-ingest.txt"
    assert "cell of Mrs Miller" in kept.read_text()
    assert mode(kept) == 0o600


def test_a_panic_of_polars_is_a_failure_like_any_other(run):
    with (
        pytest.raises(StageError, match="stage ingest failed with PanicException") as caught,
        keep_failures(run.path, "ingest"),
    ):
        fail(pl.exceptions.PanicException("cell of Mrs Miller"))()
    assert chain(caught.value) == [caught.value]


def test_a_refusal_passes_without_what_caused_it(run):
    def work():
        try:
            raise ValueError("cell of Mrs Miller")
        except ValueError as error:
            raise GuaranteeError("3 of 9 rows are wrong") from error

    with (
        pytest.raises(GuaranteeError, match="3 of 9 rows are wrong") as caught,
        keep_failures(run.path, "check"),
    ):
        work()
    assert chain(caught.value) == [caught.value]
    assert not (run.path / "failure-check.txt").exists()


def test_a_vault_that_is_full_does_not_let_a_value_out(tmp_path):
    with (
        pytest.raises(StageError, match="could not be kept in the vault") as caught,
        keep_failures(tmp_path / "gone", "ingest"),
    ):
        fail(ValueError("cell of Mrs Miller"))()
    assert "Miller" not in str(caught.value)
    assert chain(caught.value) == [caught.value]


@pytest.mark.parametrize(
    ("error", "refuses"),
    [
        (SealedError("no key is given"), False),
        (DamagedError("is truncated"), False),
        (StoreError("the store does not answer"), False),
        (CredentialsError("no password"), False),
        (LimitError("choose another method"), True),
        (GuaranteeError("k is broken"), True),
        (InputError("no such column"), True),
    ],
    ids=lambda each: type(each).__name__,
)
def test_only_what_refuses_plan_source_or_result_is_a_refusal(run, error, refuses):
    with pytest.raises(type(error)), keep_failures(run.path, "ingest"):
        fail(error)()
    assert read_ending(run).is_refusal == refuses


def test_an_interruption_is_no_failure(run):
    with pytest.raises(KeyboardInterrupt), keep_failures(run.path, "ingest"):
        fail(KeyboardInterrupt())()
    assert not (run.path / "failure-ingest.txt").exists()


def test_what_is_kept_is_json_that_people_can_read(run):
    run.once("stage", [], Maker())
    text = (run.path / "stage" / "stage.json").read_text()
    assert json.loads(text)["files"]
    assert text.count("\n") > 5
