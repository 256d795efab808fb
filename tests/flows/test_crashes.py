"""A run that is killed at any point leaves no half release behind, and the next one goes on from there."""

import os
import signal
from pathlib import Path

import pytest

from flows.audit import audit_release
from tasks.storage import SecondReleaseError
from tests.flows.orders import Order, data_bytes
from tests.flows.processes import run

# What a run renames into place, in order (the seed lies there already).
STAGES = ("ingest", "validate-ingested", "binarize", "validate-binarized", "anonymize", "check")
RENAMES = [
    "run.json",
    *(name for stage in STAGES for name in (f"{stage}/stage.json", stage)),
    *("manifest.json", "announced", "v1", "released"),
]

# Where work is under way: module, name, how many calls are let through, and whether the call is still made.
WORK = {
    "ingest reads": ("tasks.ingest", "read_order", 0, True),
    "ingest has read": ("tasks.ingest", "fingerprint", 0, False),
    "validate judges the source": ("tasks.validate", "_ingested", 0, True),
    "binarize encodes": ("tasks.binarize", "encoded", 0, True),
    "validate judges the bits": ("tasks.validate", "_binarized", 0, True),
    "anonymize has ended its second iteration": ("tasks.progress", "log", 1, True),
    "anonymize draws the matching": ("tasks.anonymize", "random_matching", 0, False),
    "anonymize writes": ("tasks.anonymize", "write_csv", 0, True),
    "check judges": ("tasks.check", "audit_rows", 0, True),
    "check asks Great Expectations": ("tasks.check", "_great_expectations", 0, True),
    "publish copies": ("shutil", "copyfile", 1, True),
    "publish renders the report": ("tasks.publish", "_write_report", 0, True),
    "publish has published": ("tasks.publish", "announce", 0, False),
}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def release_until(plan, module, name, passes, called):
    """Run the flow and die at a call of module.name, after it was made or instead of it."""
    import importlib

    from flows.release import release

    holder = importlib.import_module(module)
    work = getattr(holder, name)
    calls = []

    def last(*arguments, **options):
        calls.append(name)
        if len(calls) <= passes:
            return work(*arguments, **options)
        if called:
            work(*arguments, **options)
        return die()

    setattr(holder, name, last)
    release(plan)


def release_until_rename(plan, number):
    """Run the flow and die just before it renames something into place for the number-th time."""
    from flows.release import release

    rename = os.rename
    calls = []

    def last(source, target):
        if len(calls) == number:
            die()
        calls.append(target)
        rename(source, target)

    os.rename = last
    release(plan)


def list_renames(plan, path):
    """Run the flow and write down what it renames into place."""
    from flows.release import release

    rename = os.rename
    with open(path, "w", encoding="utf-8") as handle:

        def noted(source, target):
            handle.write(f"{target}\n")
            rename(source, target)

        os.rename = noted
        release(plan)


@pytest.fixture(scope="module")
def whole(server, tmp_path_factory):
    """What a run with the same secrets publishes when nothing stops it."""
    order = Order(tmp_path_factory.mktemp("whole")).fix_seed()
    return data_bytes(order.release())


def go_on(order, whole):
    """After a crash: nothing half is visible, what was finished is taken, and one whole release comes of it."""
    for folder in order.releases.glob("[!.]*"):
        assert folder.name == "v1"
        assert data_bytes(folder) == whole
        assert audit_release(folder, order.plan).holds
    finished = order.stage_times()
    assert order.release() == order.folder_of_v1
    assert [path.name for path in order.releases.iterdir()] == ["v1"]
    assert data_bytes(order.folder_of_v1) == whole
    assert order.stage_times().items() >= finished.items()
    assert not list(order.run.path.glob(".*"))


def test_these_are_all_the_renames_of_a_run(server, tmp_path):
    order = Order(tmp_path).fix_seed()
    (order.run.path / "run.json").unlink()
    assert run(list_renames, str(order.plan), str(tmp_path / "renames")).code == 0
    noted = [Path(line) for line in (tmp_path / "renames").read_text().splitlines()]
    assert len(noted) == len(RENAMES)
    for path, name in zip(noted, RENAMES, strict=True):
        last = name.rpartition("/")[2]
        assert path.name == {"announced": "releases.json", "released": "releases.json"}.get(last, last)


POINTS = [number for number, name in enumerate(RENAMES) if not name.endswith("/stage.json") or name.startswith("ingest")]


@pytest.mark.parametrize("number", POINTS, ids=[f"before {RENAMES[number]}" for number in POINTS])
def test_killed_before_something_is_in_place(whole, tmp_path, number):
    order = Order(tmp_path).fix_seed()
    (order.run.path / "run.json").unlink()
    assert run(release_until_rename, str(order.plan), number).code == -signal.SIGKILL
    visible = RENAMES[number] == "released"
    assert order.versions == ["v1"] * visible
    go_on(order, whole)


@pytest.mark.parametrize("point", WORK.values(), ids=WORK.keys())
def test_killed_at_work(whole, tmp_path, point):
    order = Order(tmp_path).fix_seed()
    assert run(release_until, str(order.plan), *point).code == -signal.SIGKILL
    assert order.versions == ["v1"] * (point[1] == "announce")
    go_on(order, whole)


def test_killed_again_and_again(whole, tmp_path):
    order = Order(tmp_path).fix_seed()
    for number in (2, 3, 5, 1, 4):
        assert run(release_until_rename, str(order.plan), number).code == -signal.SIGKILL
        assert order.versions == []
    go_on(order, whole)


def test_a_run_that_was_killed_before_it_published_does_not_block_another_plan(server, tmp_path):
    order = Order(tmp_path)
    before_v1 = RENAMES.index("v1") + 1  # the seed is renamed into place, too
    assert run(release_until_rename, str(order.plan), before_v1).code == -signal.SIGKILL
    assert order.versions == []
    order.write(privacy={"k": 5})
    assert order.release() == order.folder_of_v1
    order.write(privacy={"k": 4})
    with pytest.raises(SecondReleaseError):
        order.release()


def test_a_run_that_was_killed_just_after_it_published_blocks_another_plan(server, tmp_path):
    order = Order(tmp_path)
    assert run(release_until, str(order.plan), *WORK["publish has published"]).code == -signal.SIGKILL
    order.write(privacy={"k": 5})
    with pytest.raises(SecondReleaseError):
        order.release()
