"""Equivalence classes from plan to audit, and as a checker that others wrote counts them."""

import json
from collections import Counter

import pandas as pd
import pycanon.anonymity as pycanon
import pytest

from anon_core.errors import GuaranteeError
from tests.flows.orders import QUASI, Order
from tests.support.audits import audit_release
from tests.support.releases import manifest, released_rows

AGE = {"role": "quasi", "kind": "numeric", "bins": "none", "range": [0, 120]}


@pytest.mark.long
@pytest.mark.parametrize(
    "anonymizer",
    [{"name": "optimal"}, {"name": "optimal", "method": "initial"}, {"name": "k-member"}],
)
def test_pycanon_agrees_on_k_l_and_t(tmp_path, anonymizer):
    order = Order(tmp_path, anonymizer=anonymizer, publish={"formats": ["csv"]})
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    rows = pd.DataFrame(released_rows(folder))
    protection = manifest(folder)["protection"]
    k = protection["equivalence_classes"]["k"]
    assert pycanon.k_anonymity(rows, QUASI) == k >= 4
    diagnosis = protection["sensitive"]["diagnosis"]
    assert pycanon.l_diversity(rows, QUASI, ["diagnosis"]) == diagnosis["distinct"]
    assert pycanon.t_closeness(rows, QUASI, ["diagnosis"]) == pytest.approx(diagnosis["distance"])
    alone = rows.groupby(QUASI)["diagnosis"].transform("nunique") == 1
    assert diagnosis["uniform"] <= alone.sum()  # known is who fits no row with another value


@pytest.mark.long
def test_a_plan_may_require_identical_rows(tmp_path):
    order = Order(tmp_path, checks={"equivalence_k": 4})
    with pytest.raises(
        GuaranteeError,
        match=r"group of identical rows holds \d+, fewer than checks\.equivalence_k = 4",
    ):
        order.release()
    order.write(anonymizer={"name": "optimal"})
    folder = order.release()
    alike = Counter(tuple(row[name] for name in QUASI) for row in released_rows(folder))
    assert min(alike.values()) >= 4
    stated = [each for each in manifest(folder)["checks"] if each["measure"] == "identical rows"]
    assert [(each["required"], each["found"]) for each in stated] == [(4, min(alike.values()))]


@pytest.mark.long
def test_a_release_by_permissible_range(tmp_path):
    order = Order(tmp_path, columns={"age": AGE}, anonymizer={"name": "optimal"})
    folder = order.release()
    found = audit_release(folder, order.plan)
    assert found.passed
    codebook = json.loads((folder / "codebook.json").read_text())
    assert codebook["attributes"][0]["range"] == [0, 120]
    lost = manifest(folder)["utility"]["gcp_by_width"]
    assert 0 < lost < 3 * 90
    (folder / "codebook.json").write_text(
        json.dumps(
            {**codebook, "attributes": [{**a, "range": [0, 90]} for a in codebook["attributes"]]}
        )
    )
    assert not audit_release(folder, order.plan).passed
