"""A run killed at work leaves no half release; the next run goes on and publishes the same."""

import signal

import pytest

from tests.flows.processes import run
from tests.kinds.matrix.orders import MatrixOrder
from tests.support.audits import audit_release
from tests.support.crashes import release_until

WORK = {
    "ingest reads": ("crowdcover.kinds.matrix.pipeline.ingest", "read_source"),
    "ingest digests users": ("crowdcover.kinds.matrix.pipeline.ingest", "write_identifiers"),
    "encode numbers": ("crowdcover.kinds.matrix.pipeline.encode", "encode_entries"),
    "anonymize writes": ("crowdcover.kinds.matrix.pipeline.write", "write_csv"),
    "check judges": ("crowdcover.kinds.matrix.kind", "audit_matrix"),
    "publish renders the report": ("crowdcover.tasks.stages.publish", "render_report"),
}
FILES = ("rows.parquet", "rows.csv.gz", "codebook.json")


def release_with_runs(plan, *death):
    """In a process of its own: the toy anonymizer, and a death."""
    from anon_core.anonymizers import ANONYMIZERS
    from tests.contract.runs import Runs

    ANONYMIZERS["smooth"] = Runs
    release_until(plan, *death)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run with the same secrets publishes when nothing stops it."""
    with pytest.MonkeyPatch.context() as patch:
        from anon_core.anonymizers import ANONYMIZERS
        from tests.contract.runs import Runs

        patch.setitem(ANONYMIZERS, "smooth", Runs)
        folder = MatrixOrder(tmp_path_factory.mktemp("whole")).fix_seed().release()
    return [(folder / name).read_bytes() for name in FILES]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=[] if each == "anonymize writes" else [pytest.mark.slow])
        for each in WORK
    ],
)
def test_killed_at_work(whole, tmp_path, name):
    order = MatrixOrder(tmp_path).fix_seed()
    done = run(release_with_runs, str(order.plan), *WORK[name], 0, True)
    assert done.code == -signal.SIGKILL, done.err
    releases = order.folder / "releases" / "likes"
    assert not releases.exists() or not list(releases.glob("[!.]*"))
    folder = order.release()
    assert [(folder / each).read_bytes() for each in FILES] == whole
    assert audit_release(folder, order.plan).passed
