"""Second releases of the same people."""

from crowdcover.storage.vault.files import read_json
from tests.flows.orders import Order
from tests.support.audits import audit_release

INTERSECTED = "crowds after intersection"


def order_of(folder, rows=None, **sections):
    """What tells people apart in these tables has drifted on purpose."""
    return Order(folder, rows, **{"checks": {"drift": "off"}, **sections})


def aged(rows):
    """The same people some years later: nobody's quasi-identifiers are what they were."""
    return [(row[0], row[1] + 3, "trier", *row[3:]) for row in rows]


def calm(rows):
    """Rows that carry what does not tell people apart."""
    return [(*row[:4], "ill", "note", row[6]) for row in rows]


def section(folder):
    return read_json(folder / "manifest.json").get("second_release")


def findings(folder, order):
    return {finding.guarantee: finding for finding in audit_release(folder, order.plan).findings}
