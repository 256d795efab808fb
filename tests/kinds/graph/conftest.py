"""The toy anonymizer of graphs under the default's name, and one published release."""

import pytest

from anon_core.anonymizers import ANONYMIZERS
from tests.contract.alike import Alike
from tests.kinds.graph.orders import GraphOrder


@pytest.fixture(autouse=True)
def _alike(monkeypatch):
    monkeypatch.setitem(ANONYMIZERS, "uncertain_graph", Alike)


@pytest.fixture(scope="session")
def links(tmp_path_factory):
    """A published release that no test may change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ANONYMIZERS, "uncertain_graph", Alike)
        order = GraphOrder(tmp_path_factory.mktemp("links"))
        order.release()
    return order
