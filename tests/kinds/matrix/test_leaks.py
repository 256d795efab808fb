"""No user and no item leaves the vault but in the codebook: terminal, Prefect, files."""

import pytest

from tests.conftest import HOME
from tests.flows.orders import database_texts
from tests.flows.processes import command
from tests.kinds.matrix.orders import MatrixOrder, entries

pytestmark = pytest.mark.slow  # runs that log everything

MARKERS = (b"Pperson", b"Pitem")
BAD = [*entries(), *entries()[:9], ("Pperson001Q", "Pperson001Q")]
SCENARIOS = {
    "published": (0, {}, entries()),
    "an item that no row shows": (0, {}, [*entries(), ("Pperson001Q", "Pitem999Q")]),
    "items are people": (0, {"columns": {"keyed": True}}, entries()),
    "refused entries": (3, {}, BAD),
    "refused names": (3, {"source": {"repeated": "merge"}}, BAD),
    "refused plan": (2, {"columns": {"user": "Pperson001Q"}}, entries()),
    "refused by a limit": (4, {"checks": {"min_utility": 1.0}}, entries()),
    "refused demands": (2, {"privacy": {"k": 61}}, entries()),
}


def marked(content):
    return [marker for marker in MARKERS if marker in content]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("name", SCENARIOS)
def test_names_stay_in_the_vault(tmp_path, name):
    code, sections, pairs = SCENARIOS[name]
    order = MatrixOrder(tmp_path, pairs, **sections)
    done = command("release", order.plan)
    assert done.code == code, done.err
    if name != "refused plan":  # it names what the plan itself names
        assert marked((done.out + done.err).encode()) == []
    found = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file()
        and order.vault not in path.parents
        and path not in (order.source, order.plan)
    ]
    assert bool(found) == (code == 0)
    for path in found:
        may = [b"Pitem"] if path.name == "codebook.json" and "keyed" not in str(sections) else []
        assert marked(path.read_bytes()) == may, path.name
        if may:
            assert b"Pitem999Q" not in path.read_bytes()
    for path in order.vault.rglob("*"):
        if path.name in ("index.html", "verdict.json", "gates.json"):
            assert marked(path.read_bytes()) == [], path.name


@pytest.mark.usefixtures("server")
def test_prefect_knows_no_name(tmp_path):
    order = MatrixOrder(tmp_path)
    assert command("release", order.plan).code == 0
    (database,) = HOME.rglob("prefect.db")
    assert not any(marked(text) for text in database_texts(database))
