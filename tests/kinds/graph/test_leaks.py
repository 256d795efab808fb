"""No vertex leaves the vault by name: terminal, Prefect, files."""

import polars as pl
import pytest

from tests.conftest import HOME
from tests.flows.orders import database_texts
from tests.flows.processes import command
from tests.kinds.graph.orders import GraphOrder, edges

pytestmark = pytest.mark.slow  # runs that log everything

MARKER, CHANCE = b"Pnode", b"718293546"
FINE = {"privacy": {"k": 3}, "checks": {"drift": "off"}}
SECRET = [("Pnode990Q", "Pnode991Q", f"0.{CHANCE.decode()}")]
SCENARIOS = {
    "published": (0, {}, []),
    "vertices beside it": (0, {"source": {"vertices": "all.csv"}}, []),
    "refused loops": (3, {}, [("Pnode001Q", "Pnode001Q", "0.5")]),
    "refused repetitions": (3, {}, [*SECRET, *SECRET]),
    "refused numbers": (3, {}, [("Pnode001Q", "Pnode990Q", f"{CHANCE.decode()}x")]),
    "refused chances": (3, {}, [("Pnode001Q", "Pnode990Q", f"{CHANCE.decode()}.5")]),
    "refused directions": (3, {}, [*SECRET, ("Pnode991Q", "Pnode990Q", "0.2")]),
    "refused plan": (2, {"columns": {"u": "Pnode001Q"}}, []),
    "refused by a limit": (4, {"checks": {"max_discrepancy": 0.0}}, []),
    "refused demands": (2, {"privacy": {"k": 43}}, []),
}


def marked(content):
    return [marker for marker in (MARKER, CHANCE) if marker in content]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("name", SCENARIOS)
def test_names_stay_in_the_vault(tmp_path, name):
    code, sections, more = SCENARIOS[name]
    rows = [*edges(), *(more or SECRET)]
    order = GraphOrder(tmp_path, rows, **{**FINE, **sections})
    pl.DataFrame({"vertex": ["Pnode777Q", "Pnode001Q"]}).write_csv(tmp_path / "all.csv")
    done = command("release", order.plan)
    assert done.code == code, done.err
    if name != "refused plan":  # it names what the plan itself names
        assert marked((done.out + done.err).encode()) == []
    own = (order.source, order.plan, tmp_path / "all.csv")
    found = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and order.vault not in path.parents and path not in own
    ]
    assert bool(found) == (code == 0)
    for path in found:
        assert MARKER not in path.read_bytes(), path.name
    for path in order.vault.rglob("*"):
        if path.name in ("index.html", "verdict.json", "gates.json"):
            assert marked(path.read_bytes()) == [], path.name


@pytest.mark.usefixtures("server")
def test_prefect_knows_no_name(tmp_path):
    order = GraphOrder(tmp_path, **FINE)
    assert command("release", order.plan).code == 0
    (database,) = HOME.rglob("prefect.db")
    assert not any(marked(text) for text in database_texts(database))
