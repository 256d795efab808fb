"""Crowds of different values from plan to audit: [privacy] mix."""

import pytest

from anon_core.seating.reseating import mix_values
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.table.pipeline import write
from crowdcover.kinds.table.report.words import WORDS
from crowdcover.storage.vault.files import read_json
from tests import naive
from tests.flows.orders import Order, people
from tests.support.audits import audit_release
from tests.support.masked import unpack

ILLNESS = {"ulm": "flu", "bonn": "cold", "kiel": "mumps"}


def ill(records=300):
    """The city tells the illness of most people."""
    return [
        (*row[:4], "gout" if place % 12 == 0 else ILLNESS.get(row[2], "rash"), *row[5:])
        for place, row in enumerate(people(records))
    ]


@pytest.mark.long
def test_fewer_crowds_show_one_value_and_the_audit_holds(tmp_path, monkeypatch):
    uniform = []

    def watched(table, hidden, holders, seat, value, draw):
        after = mix_values(table, hidden, holders, seat, value, draw)
        x, stars = (unpack(bits, table.codebook.features) for bits in (table.bits, hidden))
        fit = naive.compatible(x, x, stars)
        uniform.extend(naive.uniform(fit, each, value) for each in (seat, after))
        return after

    monkeypatch.setattr(write, "mix_values", watched)
    order = Order(tmp_path, ill(), privacy={"mix": "diagnosis"})
    order.release()
    drawn, exchanged = uniform
    assert drawn - exchanged >= 10
    assert all(finding.passed for finding in audit_release(order.folder_of_v1, order.plan).findings)
    manifest = read_json(order.folder_of_v1 / "manifest.json")
    assert manifest["protection"]["sensitive"]["diagnosis"]["uniform"] == exchanged
    assert manifest["mixed"] == "diagnosis"
    assert "fewer crowds show one value of diagnosis only" in str(WORDS.promised(manifest))
    odds = "names a person's row, by the draw, with a chance of at most 1 in k"
    assert odds in WORDS.promise(manifest)


@pytest.mark.parametrize(
    ("privacy", "message"),
    [
        ({"mix": "nobody"}, "that \\[columns\\] does not"),
        ({"mix": "city"}, "has role = 'quasi'"),
        ({"mix": "diagnosis", "person": "ssn"}, "state one"),
    ],
)
def test_a_wrong_plan_is_refused(tmp_path, privacy, message):
    with pytest.raises(PlanError, match=message):
        ReleasePlan.load(Order(tmp_path, privacy=privacy).plan)
