"""The toy anonymizer of matrices under the default's name, and one published release."""

import pytest

from anon_core.anonymizers import ANONYMIZERS
from tests.contract.runs import Runs
from tests.kinds.matrix.orders import MatrixOrder


@pytest.fixture(autouse=True)
def _runs(monkeypatch):
    monkeypatch.setitem(ANONYMIZERS, "smooth", Runs)


@pytest.fixture(scope="session")
def likes(tmp_path_factory):
    """A published release that no test may change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ANONYMIZERS, "smooth", Runs)
        order = MatrixOrder(tmp_path_factory.mktemp("likes"))
        order.release()
    return order
