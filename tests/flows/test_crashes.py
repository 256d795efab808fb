"""A run killed at any point leaves no half release, and the next run continues from there."""

import json
import logging
import os
import shutil
import signal
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from crowdcover.storage.vault.checkpoint import CheckpointFile
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.tasks.compute.engines import CHECKPOINT
from tests.flows.orders import JUDGES, STAGES, Order, data_bytes
from tests.flows.processes import run
from tests.support.audits import audit_release
from tests.support.crashes import WORK, release_until
from tests.support.releases import several


def renames_of(stage):
    if stage in JUDGES:
        return f"{stage}/verdict.json", f"{stage}/stage.json", stage, f"{stage}'s/index.html"
    return f"{stage}/stage.json", stage


# What a run renames or links into place, in order; without the seed and the checkpoints.
RENAMES = [
    *("plans/kept", "ledger.key", "run.json", "run.json"),
    *(name for stage in STAGES for name in renames_of(stage)),
    *(
        "gates.json",
        "gates.json's/index.html",
        "folders.key",
        ".vault",
        "announced",
        "v1",
        "released",
        "published's/index.html",
    ),
]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def watch_places(before):
    """Call `before(target)` before each rename or link that puts something into place."""
    rename, link = os.rename, os.link

    def renamed(source, target):
        before(Path(target))
        rename(source, target)

    def linked(source, target):
        before(Path(target))
        link(source, target)

    os.rename, os.link = renamed, linked


def release_until_rename(plan, number, checkpoints=False):
    """Run the course and die before its number-th rename of a checkpoint, or else of anything."""
    from crowdcover.flows.release import release

    calls = []

    def count(target):
        if (target.name == CHECKPOINT) == checkpoints:
            if len(calls) == number:
                die()
            calls.append(target)

    watch_places(count)
    release.fn(plan)


def list_renames(plan, path):
    """Run the course and write down what it renames or links into place."""
    from crowdcover.flows.release import release

    with open(path, "w", encoding="utf-8") as handle:

        def note(target):
            if target.name != CHECKPOINT:
                handle.write(f"{target}\n")

        watch_places(note)
        release.fn(plan)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run with the same secrets publishes when nothing stops it."""
    order = Order(tmp_path_factory.mktemp("whole")).fix_seed()
    return data_bytes(order.release())


def entries(order):
    """The ledger's releases: name, version, records, whether it is known to be visible."""
    with closing(sqlite3.connect(order.vault / "ledger.sqlite")) as ledger:
        return ledger.execute("select name, version, records, published from releases").fetchall()


def go_on(order, whole, records=90):
    """After a crash nothing half is visible; finished stages are used, and one release is made."""
    for folder in order.releases.glob("[!.]*"):
        assert folder.name == "v1"
        assert data_bytes(folder) == whole
        assert audit_release(folder, order.plan).passed
    finished = order.stage_times()
    assert order.release() == order.folder_of_v1
    assert {path.name for path in order.releases.iterdir()} == {".vault", "v1"}
    assert data_bytes(order.folder_of_v1) == whole
    assert order.stage_times().items() >= finished.items()
    assert entries(order) == [("people", "v1", records, 1)]
    assert not list(order.run.path.glob(".*"))
    assert not (order.run.path / CHECKPOINT).exists()


@pytest.mark.long
def test_these_are_all_the_renames_of_a_run(tmp_path):
    order = Order(tmp_path).fix_seed()
    (order.run.path / "run.json").unlink()
    assert run(list_renames, str(order.plan), str(tmp_path / "renames")).code == 0
    noted = [Path(line) for line in (tmp_path / "renames").read_text().splitlines()]
    assert len(noted) == len(RENAMES)
    for path, name in zip(noted, RENAMES, strict=True):
        last = name.rpartition("/")[2]
        if name == "plans/kept":  # named by its hash
            assert path.parent.name == "plans"
            continue
        assert path.name == {"announced": "releases.json", "released": "releases.json"}.get(
            last, last
        )


# The files of a stage are alike: those of two are enough.
POINTS = [
    number
    for number, name in enumerate(RENAMES)
    if not name.endswith((".json", ".html"))
    or name.startswith(("ingest", "validate-ingested"))
    or "/" not in name
]


@pytest.mark.slow
@pytest.mark.parametrize("number", POINTS, ids=[f"before {RENAMES[number]}" for number in POINTS])
def test_killed_before_something_is_in_place(whole, tmp_path, number):
    order = Order(tmp_path).fix_seed()
    (order.run.path / "run.json").unlink()
    assert run(release_until_rename, str(order.plan), number).code == -signal.SIGKILL
    visible = number > RENAMES.index("v1")
    assert order.versions == ["v1"] * visible
    go_on(order, whole)


# Those that differ most; the others are killed with the slow suites.
FEW = {
    "ingest reads",
    "anonymize has ended its second iteration",
    "check judges",
    "publish has announced",
    "publish has confirmed",
}
KILLED = [
    pytest.param(point, id=name, marks=() if name in FEW else pytest.mark.slow)
    for name, point in WORK.items()
]


@pytest.mark.long
@pytest.mark.parametrize("point", KILLED)
def test_killed_at_work(whole, tmp_path, point):
    order = Order(tmp_path).fix_seed()
    assert run(release_until, str(order.plan), *point).code == -signal.SIGKILL
    assert order.versions == ["v1"] * (
        point[:2]
        in {
            ("crowdcover.tasks.stages.publish", "announce_release"),
            ("crowdcover.storage.ledger.ledger.Ledger", "confirm"),
        }
    )
    go_on(order, whole)


@pytest.mark.slow
def test_killed_again_and_again(whole, tmp_path):
    order = Order(tmp_path).fix_seed()
    for number in (2, 3, 5, 1, 4):
        assert run(release_until_rename, str(order.plan), number).code == -signal.SIGKILL
        assert order.versions == []
    go_on(order, whole)


@pytest.mark.long
def test_a_run_that_was_killed_before_it_published_does_not_block_another_plan(tmp_path):
    order = Order(tmp_path)
    before_v1 = RENAMES.index("v1") + 1  # the seed is renamed into place, too
    assert run(release_until_rename, str(order.plan), before_v1).code == -signal.SIGKILL
    assert order.versions == []
    order.write(privacy={"k": 5})
    assert order.release() == order.folder_of_v1
    order.write(privacy={"k": 4})
    with pytest.raises(SecondReleaseError):
        order.release()


@pytest.mark.long
def test_a_run_that_was_killed_just_after_it_published_blocks_another_plan(tmp_path):
    order = Order(tmp_path)
    assert (
        run(release_until, str(order.plan), *WORK["publish has published"]).code == -signal.SIGKILL
    )
    order.write(privacy={"k": 5})
    with pytest.raises(SecondReleaseError):
        order.release()


# ---------------- killed while seats are made even, and while people exchange rows

OF_PEOPLE = {"privacy": {"person": "ssn", "k": 3}}
SEATING = {
    "a flow has shared the rows": ("anon_core.seating.even", "fill_row_shares", 0, True),
    "shares are exchanged": ("anon_core.seating.even", "swap_shares", 0, False),
    "the lot is drawn": ("anon_core.seating.matching", "draw_by_holders", 0, True),
    "people have exchanged rows": ("anon_core.seating.matching", "reseat_people", 0, True),
    "the law is written": (
        "crowdcover.kinds.table.pipeline.write",
        "write_parquet_of_batches",
        0,
        True,
    ),
    "the auditor counts people": ("anon_core.measures.table.crowds", "count_people", 0, True),
}


@pytest.fixture(scope="module")
def whole_of_people(tmp_path_factory):
    """What a run whose crowds are of people publishes and promises, and the law of its seats."""
    order = Order(tmp_path_factory.mktemp("whole"), several(), **OF_PEOPLE).fix_seed()
    return data_bytes(order.release()), *promised(order)


def promised(order):
    """What the manifest says of privacy, and the bytes of the law."""
    manifest = json.loads((order.folder_of_v1 / "manifest.json").read_text())
    law = order.run.path / "anonymize" / "law.parquet"
    return manifest["privacy"], manifest["attacks"], law.read_bytes()


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(
            point, id=name, marks=() if name == "people have exchanged rows" else pytest.mark.slow
        )
        for name, point in SEATING.items()
    ],
)
def test_killed_while_people_are_seated(whole_of_people, tmp_path, point):
    order = Order(tmp_path, several(), **OF_PEOPLE).fix_seed()
    assert run(release_until, str(order.plan), *point).code == -signal.SIGKILL
    assert order.versions == []
    go_on(order, whole_of_people[0], 120)
    assert promised(order) == whole_of_people[1:]


# ---------------- killed within a long run of the anonymizer

LONG = {
    "anonymizer": {"name": "adaptive", "schedule": "fixed", "max_iterations": 8, "patience": 99}
}
SEARCH = ("anon_core.anonymizers.adaptive.grouping", "nearest_neighbours")


@pytest.fixture(scope="module")
def long_whole(tmp_path_factory):
    """What an undisturbed long run with the same secrets publishes, and its iterations' figures."""
    order = Order(tmp_path_factory.mktemp("long"), **LONG).fix_seed()
    folder = order.release()
    return data_bytes(folder), reached(folder)


def iterations_of(folder):
    return json.loads((folder / "manifest.json").read_text())["iterations"]


def reached(folder):
    """The iterations of a release without the time that they took."""
    return [
        {name: value for name, value in each.items() if name != "seconds"}
        for each in iterations_of(folder)
    ]


def searches_until_the_end(order, long_whole, monkeypatch, caplog):
    """Continue after a crash; return the iterations made, and what the log says of older ones."""
    import anon_core.anonymizers.adaptive.grouping as module

    search, calls = module.nearest_neighbours, []

    def counted(*arguments, **options):
        calls.append(1)
        return search(*arguments, **options)

    monkeypatch.setattr(module, "nearest_neighbours", counted)
    with caplog.at_level(logging.INFO, "crowdcover"):
        go_on(order, long_whole[0])
    assert reached(order.folder_of_v1) == long_whole[1]
    lines = [record.getMessage() for record in caplog.records if record.name == "crowdcover"]
    made = [int(line.split()[1]) for line in lines if line.startswith("iteration ")]
    assert made == list(range(9 - len(calls), 9))
    return len(calls), [line for line in lines if line.startswith("continuing")]


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 5, 8])
def test_killed_within_an_iteration_goes_on_with_that_iteration(
    long_whole, tmp_path, monkeypatch, caplog, number
):
    order = Order(tmp_path, **LONG).fix_seed()
    assert run(release_until, str(order.plan), *SEARCH, number - 1, True).code == -signal.SIGKILL
    kept = order.run.path / CHECKPOINT
    assert kept.exists() == (number > 1)
    assert number == 1 or stat.S_IMODE(kept.stat().st_mode) == 0o600
    made, said = searches_until_the_end(order, long_whole, monkeypatch, caplog)
    assert made == 9 - number
    assert said == [f"continuing after iteration {number - 1} of at most 8"] * (number > 1)


@pytest.mark.slow
def test_killed_while_an_iteration_is_being_kept_makes_that_one_again(
    long_whole, tmp_path, monkeypatch, caplog
):
    order = Order(tmp_path, **LONG).fix_seed()
    assert run(release_until_rename, str(order.plan), 4, True).code == -signal.SIGKILL
    assert (order.run.path / f".{CHECKPOINT}.partial").exists()
    made, said = searches_until_the_end(order, long_whole, monkeypatch, caplog)
    assert (made, said) == (4, ["continuing after iteration 4 of at most 8"])


@pytest.mark.slow
def test_killed_again_and_again_within_iterations(long_whole, tmp_path, monkeypatch, caplog):
    order = Order(tmp_path, **LONG).fix_seed()
    for passes in (2, 0, 3):  # in iterations 3, 3 and 6
        assert run(release_until, str(order.plan), *SEARCH, passes, True).code == -signal.SIGKILL
    assert searches_until_the_end(order, long_whole, monkeypatch, caplog)[0] == 3


@pytest.mark.slow
def test_killed_after_the_last_iteration_makes_none_again(
    long_whole, tmp_path, monkeypatch, caplog
):
    order = Order(tmp_path, **LONG).fix_seed()
    assert (
        run(release_until, str(order.plan), *WORK["anonymize draws the matching"]).code
        == -signal.SIGKILL
    )
    made, said = searches_until_the_end(order, long_whole, monkeypatch, caplog)
    assert (made, said) == (0, ["continuing after iteration 8 of at most 8"])


@pytest.mark.long
def test_seconds_of_a_killed_process_are_told(long_whole, tmp_path):
    order = Order(tmp_path, **LONG).fix_seed()
    assert run(release_until, str(order.plan), *SEARCH, 4, True).code == -signal.SIGKILL
    record = json.loads((order.run.path / CHECKPOINT).read_bytes().split(b"\n")[1])
    _, seconds = CheckpointFile(order.run.path / CHECKPOINT, record["inputs"]).load()
    assert len(seconds) == 4
    assert [each["seconds"] for each in iterations_of(order.release())][:4] == seconds


@pytest.mark.long
def test_a_damaged_checkpoint_is_as_good_as_none(long_whole, tmp_path, monkeypatch, caplog):
    order = Order(tmp_path, **LONG).fix_seed()
    assert run(release_until, str(order.plan), *SEARCH, 4, True).code == -signal.SIGKILL
    kept = order.run.path / CHECKPOINT
    kept.write_bytes(kept.read_bytes()[:-9])
    assert searches_until_the_end(order, long_whole, monkeypatch, caplog) == (8, [])


def test_a_checkpoint_that_was_left_behind_goes_when_the_stage_is_found(tmp_path):
    """Killed between the stage's last rename and the end of its checkpoint."""
    order = Order(tmp_path)
    shutil.rmtree(order.release())
    (order.run.path / CHECKPOINT).touch()
    order.release()
    assert not (order.run.path / CHECKPOINT).exists()
