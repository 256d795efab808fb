"""No single person's value in codebook and cells, from plan to audit, and older releases."""

import json
from math import floor

import polars as pl
import pytest

from crowdcover.flows.plan.plan import ReleasePlan
from tests.flows.orders import RARE, Order, people
from tests.reports.browsed import Page
from tests.support.audits import audit_release
from tests.support.releases import attributes, manifest

ENOUGH = "levels of enough people"
OLDER = "not promised: the release is older than this promise"
AGE = {"role": "quasi", "kind": "numeric"}
CITY = {"role": "quasi", "kind": "categorical"}


def findings(order):
    """The findings of an audit of the first release, by name."""
    audit = audit_release(order.folder_of_v1, order.plan)
    return {finding.guarantee: finding for finding in audit.findings}, audit.passed


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    columns = {"city": {**CITY, "rare": "pool"}, "age": {**AGE, "bins": {"edges": [19, 40, 78]}}}
    order = Order(tmp_path_factory.mktemp("values"), columns=columns, privacy={"k": 6})
    order.release()
    return order


@pytest.mark.long
def test_a_group_is_published_as_an_interval(released):
    """On main its cells held the medians of groups, values of single persons."""
    age = attributes(released.folder_of_v1)["age"]
    assert age["labels"] == ["..40", "40.."]
    assert sum(person[1] <= 19 for person in people()) < 6 > sum(p[1] > 78 for p in people())
    assert set(released.rows()["age"].unique()) <= {"..40", "40..", "*"}
    assert findings(released)[0][ENOUGH].detail == (
        "fewer than 6 people hold 0 of 6 groups, outermost numbers and pooled levels, and 0 of 1 "
        "cuts are the value of so few"
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("bins", "numbers", "cuts"),
    [
        ({"edges": [7.5]}, [8, *range(9, 60), *range(-40, 8)], [7.5]),
        ({"quantiles": 2}, [n for n in range(50) for _ in range(2)], [24.5]),
        ({"quantiles": 2}, [n for n in range(50) for _ in range(2 + 9 * (n == 24))], [24.0]),
    ],
    ids=["an edge of the plan", "too few have any number there", "enough people have one"],
)
def test_whole_bounds_lie_beside_a_cut_and_may_be_one_persons(tmp_path, bins, numbers, cuts):
    """docs/guarantees.md: a cut is nobody's, that of K people, or the plan's; bounds are beside."""
    rows = [(row[0], age, *row[2:]) for row, age in zip(people(len(numbers)), numbers, strict=True)]
    order = Order(tmp_path, rows, columns={"age": {**AGE, "bins": bins}}, privacy={"k": 6})
    folder = order.release()
    age = attributes(folder)["age"]
    assert age["inner_edges"] == cuts
    assert age["bounds"] == [[None, floor(cuts[0])], [floor(cuts[0]) + 1, None]]
    assert numbers.count(cuts[0]) in (0, 11)
    assert numbers.count(floor(cuts[0]) + 1) in (1, 2)  # fewer than k have that bound
    cells = pl.read_parquet(folder / "data.parquet", glob=False)["age"].drop_nulls().struct
    shown = {*cells.field("lo"), *cells.field("hi")} - {None}
    assert shown <= {floor(cuts[0]), floor(cuts[0]) + 1}
    assert findings(order)[1]


def test_a_rare_category_shares_a_level(released):
    city = attributes(released.folder_of_v1)["city"]
    assert (city["labels"][-1], city["has_other"]) == ("(other)", True)
    for path in released.folder_of_v1.iterdir():
        assert RARE.encode() not in path.read_bytes()


def test_an_interval_is_no_exact_value(released):
    kept = manifest(released.folder_of_v1)["utility"]
    age = kept["per_column"]["age"]
    assert (age["one_value"], age["carry"]) == (0, "bounds")
    assert age["exact"] > 0
    assert kept["cells_of_one_value"] < kept["cells_exact"]
    page = Page((released.folder_of_v1 / "report.html").read_text(encoding="utf-8")).text
    assert "Intervals of numbers (age)." in page
    assert "median of" not in page


@pytest.mark.long
def test_the_log_tells_how_many_levels_joined(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr("crowdcover.tasks.stages.encode.log_line", said.append)
    columns = {"city": {**CITY, "rare": "pool"}, "age": {**AGE, "bins": {"edges": [19, 40, 78]}}}
    Order(tmp_path, columns=columns, privacy={"k": 6}).release()
    assert said[1:] == [
        "column 'age': 2 groups joined a neighbour, since fewer than 6 people held some of them; "
        "2 levels are left",
        "column 'city': 2 values share a level, since fewer than 6 people held some of them; "
        f"{len(attributes(tmp_path / 'releases' / 'people' / 'v1')['city']['labels'])} levels are "
        "left",
    ]


def test_the_extremes_are_nobodys(tmp_path):
    """On main the codebook told the age of the youngest and of the oldest person."""
    order = Order(tmp_path, columns={"age": {**AGE, "bins": "none"}}, privacy={"k": 5})
    age = attributes(order.release())["age"]
    low, high = age["values"][0], age["values"][-1]
    assert (low[0], high[1]) == (None, None)
    ages = [person[1] for person in people()]
    assert sum(each < low[1] for each in ages) >= 5 <= sum(each > high[0] for each in ages)
    rare = manifest(order.folder_of_v1)["protection"]["rare_levels"]
    few = sum(ages.count(each) < 5 for each in set(ages) if low[1] < each < high[0])
    assert rare["age"] == few > 0
    page = Page((order.folder_of_v1 / "report.html").read_text(encoding="utf-8")).text
    assert f"names values that fewer than 5 people have: {few} of age" in page


# ---------------------------------------------------------------- older releases


@pytest.mark.long
@pytest.mark.parametrize("bins", ["deciles", "none"])
def test_what_was_released_before_keeps_its_bytes_and_its_promise(tmp_path, bins):
    """Medians and extremes stay as they are. The audit says what the release is older than."""
    order = Order(tmp_path, columns={"age": {**AGE, "bins": bins}})
    folder = order.release_as_before()
    assert ("medians" in attributes(folder)["age"]) == (bins == "deciles")
    assert order.release() == folder
    assert order.versions == ["v1"]
    found, passed = findings(order)
    assert passed
    assert not found[ENOUGH].required
    assert found[ENOUGH].detail == OLDER


@pytest.mark.long
def test_a_manifest_of_0_1_0_lacks_numbers_and_passes(tmp_path):
    from crowdcover.kinds.table.judge.before import select_comparable_numbers

    order = Order(tmp_path)
    today = json.loads((order.release() / "manifest.json").read_text())
    before = json.loads(json.dumps(today))
    del before["utility"]["cells_of_one_value"], before["protection"]["rare_levels"]
    del before["utility"]["gcp_by_width"], before["utility"]["least_gcp"]
    for column in before["utility"]["per_column"].values():
        for name in set(column) - {"exact", "ncp"}:
            del column[name]
    sections = {name: today[name] for name in ("privacy", "utility", "protection", "attacks")}
    assert select_comparable_numbers(today, sections) == sections
    compared = select_comparable_numbers(before, sections)
    assert compared == {name: before[name] for name in sections}


def test_what_a_plan_states_is_no_older_plan(tmp_path):
    """A plan that asks for bounds or medians is not taken for one of 0.1.0."""

    def plan(**how):
        return ReleasePlan.load(Order(tmp_path, columns={"age": {**AGE, **how}}).plan)

    before = plan().earlier[-1].sha256
    assert plan().sha256 == plan(carry="bounds").sha256 != before
    stated = [plan(carry="bounds"), plan(carry="median")]
    stated += [plan(bins="none", rare="pool"), plan(bins="none", rare="publish")]
    stated += [plan(range=[0, 120]), plan(range=[0, 100])]
    assert len({each.sha256 for each in stated}) == 6
    assert before not in {each.sha256 for plan in stated for each in plan.earlier}
    assert plan().earlier[-1].data.quasi[0].spec.carry == "median"
    assert plan().data.quasi[0].spec.carry == "bounds"
    assert plan().earlier[-1].earlier[-1].sha256 == before


def test_a_plan_without_numbers_keeps_its_hash(tmp_path):
    columns = {"age": {"role": "drop"}}
    plan = ReleasePlan.load(
        Order(tmp_path, columns=columns, anonymizer={"name": "adaptive", "seats": "matchable"}).plan
    )
    assert plan.earlier[-1].sha256 == plan.sha256


@pytest.mark.long
def test_groups_count_people_where_people_own_several_records(tmp_path):
    """Ten rows of one person are one person: their number is no group of its own."""
    rows = [(f"ident-{at // 10:05d}", 90 if at < 10 else at % 40, *row[2:]) for at, row in
            enumerate(people())]  # fmt: skip
    columns = {"age": {**AGE, "bins": {"edges": [20, 80]}}}
    order = Order(tmp_path, rows, columns=columns, privacy={"k": 2, "person": "ssn"})
    assert attributes(order.release())["age"]["labels"] == ["..20", "20.."]
    found, passed = findings(order)
    assert passed
    assert found[ENOUGH].detail.startswith("fewer than 2 people hold 0 of 2 groups")
