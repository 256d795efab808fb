"""A run killed at work leaves no half release; the next run goes on and publishes the same."""

import signal

import pytest

from tests.flows.processes import run
from tests.kinds.graph.orders import GraphOrder
from tests.support.audits import audit_release
from tests.support.crashes import release_until

WORK = {
    "ingest reads": ("crowdcover.kinds.graph.pipeline.ingest", "read_source"),
    "ingest digests vertices": ("crowdcover.kinds.graph.pipeline.ingest", "write_identifiers"),
    "encode makes the graph": ("crowdcover.kinds.graph.pipeline.encode", "encode_edges"),
    "anonymize writes": ("crowdcover.kinds.graph.pipeline.write", "write_csv"),
    "check judges": ("crowdcover.kinds.graph.kind", "audit_graph"),
    "publish renders the report": ("crowdcover.tasks.stages.publish", "render_report"),
}
FILES = ("edges.parquet", "edges.csv.gz", "codebook.json")


def release_with_alike(plan, *death):
    """In a process of its own: the toy anonymizer, and a death."""
    from anon_core.anonymizers import ANONYMIZERS
    from tests.contract.alike import Alike

    ANONYMIZERS["uncertain_graph"] = Alike
    release_until(plan, *death)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run with the same secrets publishes when nothing stops it."""
    with pytest.MonkeyPatch.context() as patch:
        from anon_core.anonymizers import ANONYMIZERS
        from tests.contract.alike import Alike

        patch.setitem(ANONYMIZERS, "uncertain_graph", Alike)
        folder = GraphOrder(tmp_path_factory.mktemp("whole")).fix_seed().release()
    return [(folder / name).read_bytes() for name in FILES]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=[] if each == "anonymize writes" else [pytest.mark.slow])
        for each in WORK
    ],
)
def test_killed_at_work(whole, tmp_path, name):
    order = GraphOrder(tmp_path).fix_seed()
    done = run(release_with_alike, str(order.plan), *WORK[name], 0, True)
    assert done.code == -signal.SIGKILL, done.err
    releases = order.folder / "releases" / "links"
    assert not releases.exists() or not list(releases.glob("[!.]*"))
    folder = order.release()
    assert [(folder / each).read_bytes() for each in FILES] == whole
    assert audit_release(folder, order.plan).passed
