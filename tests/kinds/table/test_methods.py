"""Plans whose method cannot do what they ask are refused before the source is read."""

import pytest

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from tests.flows.orders import Order

OF_TABLES = [name for name, maker in ANONYMIZERS.items() if maker.kind == "table"]
COUNT_ROWS = [name for name in OF_TABLES if name not in ("adaptive", "local-search")]
PERSON, MIX = {"person": "ssn"}, {"mix": "diagnosis"}
DRAWN = {"k": {"uniform": [2, 4]}}


@pytest.fixture
def refused(tmp_path):
    """Why a plan is refused, though there is no source; None if it is not."""

    def why(**sections):
        order = Order(tmp_path, **sections)
        order.source.unlink()
        try:
            ReleasePlan.load(order.plan)
        except PlanError as refusal:
            return str(refusal)
        return None

    return why


@pytest.mark.parametrize("name", COUNT_ROWS)
def test_methods_that_count_rows_refuse_people(refused, name):
    wrong = refused(privacy=PERSON, anonymizer={"name": name})
    assert "choose anonymizer.name = 'local-search'" in wrong
    assert refused(privacy={"rows_are_people": True}, anonymizer={"name": name}) is None


def test_the_default_method_takes_people_with_even_seats_only(refused):
    assert refused(privacy=PERSON) is None
    assert refused(privacy={**PERSON, "k": {"by": "smokes", "levels": {}, "default": 3}}) is None
    even = "crowds of people need even seats"
    assert even in refused(privacy=PERSON, anonymizer={"seats": "matchable"})
    assert even in refused(privacy={**PERSON, **DRAWN})
    assert even in refused(privacy={**PERSON, "k": {"column": "junk"}})


@pytest.mark.parametrize("name", OF_TABLES)
def test_crowds_are_mixed_where_seats_are_even(refused, name):
    assert (refused(privacy=MIX, anonymizer={"name": name}) is None) == (name != "k-member")


def test_crowds_are_not_mixed_without_even_seats(refused):
    for sections in (
        {"privacy": MIX, "anonymizer": {"seats": "matchable"}},
        {"privacy": {**MIX, **DRAWN}},
    ):
        assert "choose a method with even seats" in refused(**sections)


@pytest.mark.parametrize(
    ("settings", "k", "words"),
    [
        ({"name": "optimal", "boundary": 13}, 4, "boundary = 13 carries more than the 12 records"),
        ({"name": "optimal", "boundary": 12}, 4, None),
        ({"name": "optimal", "part": 15, "accept": 3}, 4, "part = 15 has no room for 3 classes"),
        ({"name": "optimal", "part": 16, "accept": 3}, 4, None),
        ({"name": "optimal"}, 2**16 + 1, "even seats need k of at most 65,536, not 65,537"),
        ({"name": "freeform"}, 1025, "k = 1025 needs as many rounds"),
        ({"name": "adaptive"}, 2**16 + 1, "even seats need k of at most 65,536, not 65,537"),
        ({"name": "adaptive"}, 1500, None),
        ({"name": "adaptive", "seats": "matchable"}, 2**16 + 1, None),
        ({"name": "k-member"}, 1025, None),
    ],
)
def test_one_k_that_the_settings_do_not_fit(refused, settings, k, words):
    wrong = refused(privacy={"k": k}, anonymizer=settings)
    assert wrong is None if words is None else words in wrong


@pytest.mark.parametrize("k", [{"column": "junk"}, {"uniform": [2, 40]}])
def test_a_k_that_only_the_table_tells_is_not_judged_by_the_plan(refused, k):
    assert refused(privacy={"k": k}, anonymizer={"name": "optimal", "boundary": 40}) is None


def test_a_limit_on_sensitive_columns_needs_one(refused):
    limit = {"max_uniform": 0.1}
    assert refused(checks=limit) is None
    wrong = refused(checks=limit, columns={"diagnosis": {"role": "keep"}})
    assert "no column has role = 'sensitive'" in wrong
