"""A version of a series, killed anywhere: nothing half is visible, and the next run goes on."""

import itertools
import signal

import pytest

from crowdcover.storage.series.series import Series
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import data_bytes, people
from tests.flows.processes import run
from tests.support.audits import audit_release
from tests.support.crashes import release_until
from tests.support.series import SERIES, frame, registry, series_of

SEED = bytes(range(100, 132))  # of the second version
SECOND = [*people(60)[3:], *people(9, draws=5, first=500)]

# Points of work: module, name, calls that pass, and whether the last call is made before death.
WORK = {
    "nothing is split": ("crowdcover.kinds.table.series.versions", "divide_version", 0, False),
    "the source is split": ("crowdcover.kinds.table.series.versions", "divide_version", 0, True),
    "the run is not noted": ("crowdcover.storage.series.series.Series", "record", 0, False),
    "the run is noted": ("crowdcover.storage.series.series.Series", "record", 0, True),
    "the batch is drawn": ("crowdcover.kinds.table.pipeline.write", "random_matching", 0, True),
    "the batch is checked": ("crowdcover.kinds.table.kind", "audit_rows", 0, True),
    "the version is half written": (
        "crowdcover.kinds.table.series.assembling",
        "write_csv",
        0,
        True,
    ),
    "the version is laid together": (
        "crowdcover.kinds.table.series.versions",
        "assemble_version",
        0,
        True,
    ),
    "the version is audited": ("crowdcover.kinds.table.judge.versions", "of_crowds", 0, True),
    "the ledger knows": ("crowdcover.storage.ledger.ledger.Ledger", "announce", 0, True),
    "the folder is copied": ("shutil", "copyfile", 3, True),
    "the ledger is not told": ("crowdcover.storage.ledger.ledger.Ledger", "confirm", 0, False),
    "values are not forgotten": (
        "crowdcover.storage.series.series.Series",
        "forget_values",
        1,
        False,
    ),
    "a part of the values is forgotten": (
        "crowdcover.storage.series.series",
        "write_json",
        1,
        False,
    ),
}
PUBLISHED = {
    "the ledger is not told",
    "values are not forgotten",
    "a part of the values is forgotten",
}
FEW = {"values are not forgotten"}


def second_until(plan, *point):
    secret_streams.new_seed = lambda: SEED
    release_until(plan, *point)


def begun(folder):
    """An order with one version, made of the same secrets each time, and the next source."""
    order = registry(folder, series=SERIES)
    seeds = (bytes([number]) * 32 for number in itertools.count(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret_streams, "new_seed", lambda: next(seeds))
        order.release()
    order.write_source(SECOND)
    return order


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The second version if nothing stops it: its bytes and its counts."""
    order = begun(tmp_path_factory.mktemp("whole"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret_streams, "new_seed", lambda: SEED)
        folder = order.release()
    return data_bytes(folder), series_of(folder)


KILLED = [
    pytest.param(name, id=name, marks=() if name in FEW else pytest.mark.slow) for name in WORK
]


@pytest.mark.long
@pytest.mark.parametrize("point", KILLED)
def test_killed_while_a_version_is_made(whole, tmp_path, point, monkeypatch):
    order = begun(tmp_path)
    before = data_bytes(order.folder_of_v1)
    assert run(second_until, str(order.plan), *WORK[point]).code == -signal.SIGKILL
    assert order.versions == ["v1", "v2"][: 1 + (point in PUBLISHED)]
    monkeypatch.setattr(secret_streams, "new_seed", lambda: SEED)
    second = order.release()
    assert (data_bytes(second), series_of(second)) == whole
    assert data_bytes(order.folder_of_v1) == before
    for folder in (order.folder_of_v1, second):
        assert audit_release(folder, order.plan).passed
    versions = Series(Vault(order.vault), "people").versions()
    assert [version.number for version in versions] == [1, 2]
    held = {path.parent.name for path in versions[0].run.path.glob("*/stage.json")}
    assert held == {"identify"}
    assert not list(order.vault.rglob("*.partial"))
    assert set(frame(second)["since"]) == {1, 2}
