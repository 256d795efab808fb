"""Pages without plots where no test looks at them, and ledgers in a cluster of PostgreSQL."""

import os

import pytest

from tests.postgres import PASSWORD, USER, missing, running
from tests.support.checked import _refusals_are_checked  # noqa: F401 - a fixture of all tests here
from tests.support.ledgers import query
from tests.support.targets import Database

PLOTS = (
    "crowd_plots.utility_plot", "crowd_plots.crowd_plot", "crowd_plots.ratio_plot",
    "bars._column_plot", "bars.attack_plot",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _without_plots(monkeypatch):
    """Leave out the plots of a page, which take a third of a small release.

    Fixtures of a module or session and processes of their own draw them: `released` has all plots,
    and tests/reports looks at each.
    """
    for name in PLOTS:
        monkeypatch.setattr(f"crowdcover.kinds.table.report.{name}", lambda *_: "<svg></svg>")


@pytest.fixture(scope="session")
def postgres():
    """The host and port of a cluster that asks for a password; skipped without its programs."""
    if reason := missing():
        pytest.skip(reason)
    pytest.importorskip(
        "adbc_driver_postgresql",
        reason="the driver is not installed: pip install 'crowdcover[postgres]'",
    )
    with running() as cluster:
        yield cluster.host, cluster.port


@pytest.fixture
def uri(postgres):
    """The URI of an empty database."""
    host, port = postgres
    address = f"postgresql://{USER}:{PASSWORD}@{host}:{port}"
    name = f"ledger{os.urandom(4).hex()}"
    query(f"{address}/postgres", f"create database {name}", autocommit=True)
    return f"{address}/{name}"


@pytest.fixture(params=["postgresql", "duckdb"])
def database(request, tmp_path, monkeypatch):
    """An empty database of each kind that releases are loaded into."""
    if request.param == "duckdb":
        pytest.importorskip("duckdb", reason="not installed: pip install 'crowdcover[duckdb]'")
        return Database(f"duckdb:///{tmp_path}/target.duckdb")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return Database(request.getfixturevalue("uri"))
