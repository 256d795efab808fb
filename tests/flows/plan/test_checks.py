"""[checks]: a release's numbers are those of a slow count; one below its limit is refused."""

import json
import math
import random
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from anon_core.errors import GuaranteeError
from anon_core.measures.table.attackers.attacks import SWEEPS
from crowdcover.flows.release import release
from crowdcover.kinds.table.report.words import WORDS
from crowdcover.kinds.table.starter.writing import propose_plan
from crowdcover.reports.verdict import judge_manifest
from crowdcover.storage.source.sources import Source
from tests import naive
from tests.flows.orders import SEED, Order, data_bytes, people
from tests.support.audits import audit_release
from tests.support.releases import HEADER, allowed, attributes, fits, level, manifest, released_rows
from tests.support.starter import decided

CITIES = ("ulm", "bonn", "kiel")
SENSITIVE = {"diagnosis": {"role": "sensitive"}, "note": {"role": "sensitive", "kind": "numeric"}}


def rows_with_numbers():
    """The note is a number that repeats: 0 .. 12, and some are missing."""
    return [
        (*row[:5], "" if number % 11 == 0 else str(number * number % 13), row[6])
        for number, row in enumerate(people())
    ]


def slow(folder, source, name, ordered):
    """Worst crowd of a column by definition, from the CSV file."""
    fit = fits(folder, source)
    texts = [row[name] for row in released_rows(folder)]
    values = sorted(
        set(texts), key=lambda text: (text != "", float(text) if ordered and text else 0, text)
    )
    ranks = [values.index(text) for text in texts]
    crowds = [dict(crowd) for crowd in naive.crowd_values(fit, ranks)]
    counts = [list(crowd.values()) for crowd in crowds]
    whole = [ranks.count(rank) / len(ranks) for rank in range(len(values))]
    shares = [
        [crowd.get(rank, 0) / sum(crowd.values()) for rank in range(len(values))]
        for crowd in crowds
    ]
    distances = [naive.earth_movers_distance(share, whole, ordered) for share in shares]
    odds = [max(naive.recursive_odds(each, l) for each in counts) for l in range(2, 11)]
    return {
        "distinct": min(map(len, counts)),
        "uniform": sum(len(each) == 1 for each in counts),
        "effective": pytest.approx(min(map(naive.entropy_l, counts))),
        "odds": [None if found == np.inf else pytest.approx(found) for found in odds],
        "distance": pytest.approx(max(distances), abs=1e-6),
    }


@pytest.mark.long
@pytest.mark.parametrize("formats", [["parquet", "csv"], ["csv"]])
def test_the_manifest_says_what_a_slow_judge_counts(tmp_path, formats):
    source = rows_with_numbers()
    order = Order(
        tmp_path,
        source,
        columns=SENSITIVE,
        publish={"formats": formats},
        anonymizer={"seats": "matchable"},
    )
    folder = order.release()
    fit = fits(folder, source)
    said = manifest(folder)["protection"]
    assert said["rows_left_out"] == 0
    alike = Counter((row["age"], row["city"], row["smokes"]) for row in released_rows(folder))
    assert said["equivalence_classes"] == {"number": len(alike), "k": min(alike.values())}
    assert said["compatible_pairs"] == fit.sum()
    matchable = naive.matchable(fit).sum(axis=1)
    assert said["matchable_pairs"] == matchable.sum()
    for name, numbers in (("over_protection", matchable - 4), ("records_per_row", fit.sum(axis=0))):
        ranked = sorted(numbers)
        assert said[name] == {"min": ranked[0], "median": ranked[44], "max": ranked[-1]}
    attacks = manifest(folder)["attacks"]
    assert set(attacks) == {"linkage", "tightest row", "partial linkage", "insider"}
    assert {attack["promised"] for attack in attacks.values()} == {0.25}
    assert attacks["linkage"]["success"] == pytest.approx((1 / fit.sum(axis=1)).mean())
    assert attacks["linkage"]["above"] == dict.fromkeys(("1", "1.5", "2", "3"), 0)
    belief = naive.likeliest_matching(fit, SWEEPS).max(axis=1)
    assert attacks["insider"]["success"] == pytest.approx(belief.mean())
    assert attacks["insider"]["above"]["1.5"] == (belief > 1.5 / 4).mean()
    assert max(attacks["partial linkage"]["known"].values()) <= attacks["linkage"]["success"]
    for name in ("diagnosis", "note"):
        times = Counter(row[name] for row in released_rows(folder) if row[name])
        assert said["unique_values"][name] == sum(count == 1 for count in times.values())
    assert said["sensitive"] == {
        "diagnosis": slow(folder, source, "diagnosis", ordered=False),
        "note": slow(folder, source, "note", ordered=True),
    }
    assert audit_release(folder, order.plan).passed


@pytest.mark.long
def test_people_whom_nobody_equals_are_counted(tmp_path):
    ages = {"age": {"role": "quasi", "kind": "numeric", "bins": "none"}}
    folder = Order(tmp_path, columns=ages).release()
    age = attributes(folder)["age"]
    alike = Counter((level(age, str(row[1])), *row[2:4]) for row in people())
    alone = sum(number == 1 for number in alike.values())
    assert manifest(folder)["protection"]["unique_records"] == alone > 0


@pytest.mark.long
def test_chances_of_regulators_are_those_of_a_slow_count(tmp_path):
    """And what only a limit asks for is measured when the limit comes, by the audit, too."""
    order = Order(tmp_path).fix_seed()
    plain = manifest(order.release())["protection"]["reidentification"]
    fit = fits(order.folder_of_v1, people())
    assert plain == {"prosecutor_highest": 1 / fit.sum(axis=1).min()}
    few = {"all_m": {"m": 2, "k": 2}, "max_journalist": {"chance": 1.0, "population": 450}}
    order.write(checks=few)
    assert audit_release(order.folder_of_v1, order.plan).passed
    shutil.rmtree(order.releases)
    shutil.rmtree(order.vault)
    order.fix_seed()
    folder = order.release()
    told = manifest(folder)["protection"]["reidentification"]
    assert told["prosecutor_highest"] == plain["prosecutor_highest"]
    # A fifth of the people is drawn: 1/F of F people, a negative binomial from f rows on.
    rows, share = fit.sum(axis=1), 90 / 450
    chances = [
        math.fsum(
            math.comb(of - 1, f - 1) * share**f * (1 - share) ** (of - f) / of
            for of in range(f, 1000)
        )
        for f in rows.tolist()
    ]
    assert told["population"] == 450
    assert told["journalist_highest"] == pytest.approx(max(chances))
    assert told["journalist"] == pytest.approx(sum(chances) / len(chances))
    book, released = attributes(folder), released_rows(folder)
    by_two = {}
    for pair in combinations(("age", "city", "smokes"), 2):
        allows = [
            [
                all(
                    level(book[c], person[HEADER.index(c)]) in allowed(book[c], row[c])
                    for c in pair
                )
                for row in released
            ]
            for person in people()
        ]
        by_two[pair] = int(np.sum(allows, axis=1).min())
    assert told["known"]["rows"] == min(by_two.values())
    assert by_two[tuple(told["known"]["columns"])] == told["known"]["rows"]
    assert audit_release(folder, order.plan).passed
    for others in ({}, {"all_m": {"m": 1, "k": 2}}):  # limits that were changed later
        order.write(checks=others)
        assert audit_release(folder, order.plan).passed


REFUSED = {
    "distinct": (
        {"l_diversity": {"column": "diagnosis", "l": 6}},
        r"column 'diagnosis': a crowd has \d distinct values?, at least l = 6",
    ),
    "entropy": (
        {"l_diversity": [{"column": "diagnosis", "l": 5, "kind": "entropy"}]},
        "values by entropy, at least l = 5 are required",
    ),
    "recursive": (
        {"l_diversity": {"column": "diagnosis", "l": 6, "kind": "recursive", "c": 2.0}},
        "the most common value of a crowd leads without limit, less than c = 2.0 is required "
        "with l = 6",
    ),
    "t": (
        {"t_closeness": {"column": "diagnosis", "t": 0.0}},
        r"a crowd has distance 0\.\d+ from the whole table, above t = 0",
    ),
    "an attack": (
        {"max_attack_success": 0.01},
        r"the attack 'linkage' names the right row with a chance of 0\.\d+ on average, above "
        r"checks\.max_attack_success",
    ),
    "a prosecutor": (
        {"max_prosecutor": 0.09},
        r"is right with a chance of 0\.\d+, above checks\.max_prosecutor = 0\.09",
    ),
    "a marketer": (
        {"max_marketer": 0.01},
        r"are right with a chance of 0\.\d+ on average, above checks\.max_marketer = 0\.01",
    ),
    "a column": (
        {"columns": {"age": 0.999}},
        r"column 'age' keeps 0\.\d+ of its information, below checks\.columns = 0\.999",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize(("checks", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_falls_short_is_refused_and_easing_the_check_recomputes_nothing(
    tmp_path, checks, words
):
    order = Order(
        tmp_path, checks=checks
    ).fix_seed()  # what a crowd tells depends on who sits where
    with pytest.raises(GuaranteeError, match=f"publication refused; .*{words}"):
        order.release()
    assert not order.releases.exists()
    times = order.stage_times()
    assert times.pop("require")
    plain = json.loads(json.dumps(order.document))
    plain.pop("checks")
    order.document = plain
    order.write()
    folder = order.release()
    assert order.stage_times() == times
    files = data_bytes(folder)
    order.write(checks=checks)
    with pytest.raises(
        GuaranteeError,
        match=rf"v1 was published before and stays as it is; .*{words}.*ease \[checks\]",
    ):
        order.release()
    found = audit_release(folder, order.plan)
    assert [finding.guarantee for finding in found.findings if not finding.passed] == [
        "checks of the plan"
    ]
    assert data_bytes(folder) == files
    assert order.versions == ["v1"]


@pytest.mark.long
def test_what_a_release_reaches_is_not_refused(released_once):
    order = released_once(Order, seed=SEED)
    folder = order.folder_of_v1
    measured = manifest(folder)
    told = measured["protection"]["sensitive"]["diagnosis"]
    order.write(
        checks={
            "min_utility": measured["utility"]["suppression"],
            "columns": {"age": 1 - measured["utility"]["per_column"]["age"]["ncp"]},
            "l_diversity": [
                {"column": "diagnosis", "l": max(2, told["distinct"])},
                {"column": "diagnosis", "l": 2, "kind": "recursive", "c": told["odds"][0] + 0.01},
            ],
            "t_closeness": {"column": "diagnosis", "t": told["distance"]},
            "max_row_loss": 0,
            "max_attack_success": max(attack["success"] for attack in measured["attacks"].values()),
        }
    )
    assert told["distinct"] >= 2
    assert order.release() == folder
    found = audit_release(folder, order.plan)
    assert found.passed
    assert "checks of the plan" in [finding.guarantee for finding in found.findings]
    shutil.rmtree(folder)
    assert order.release() == folder


@pytest.mark.long
def test_rows_that_the_plan_leaves_out_are_counted(tmp_path):
    city = {"city": {"role": "quasi", "kind": "categorical", "missing": "drop"}}
    order = Order(tmp_path, columns=city, checks={"max_row_loss": 0.1})
    missing = sum(row[2] == "" for row in people())
    with pytest.raises(
        GuaranteeError,
        match=rf"{missing} of 90 source rows are left out, more than checks\.max_row_loss = 0\.1",
    ):
        order.release()
    order.write(checks={"max_row_loss": missing / 90})
    assert manifest(order.release())["protection"]["rows_left_out"] == missing
    assert audit_release(order.folder_of_v1, order.plan).passed


@pytest.mark.long
def test_the_page_in_the_vault_says_what_was_refused_and_then_what_was_published(tmp_path):
    order = Order(tmp_path, checks={"max_row_loss": 0, "min_utility": 0.999})
    with pytest.raises(
        GuaranteeError, match=r"utility 0\.\d+ is below .*: [0-9a-f]{16}/docs/index\.html$"
    ):
        order.release()
    page = order.run.path / "docs" / "index.html"
    refused = page.read_text()
    assert "Refused: the plan&#39;s own limits" in refused
    assert "At least 0.999 of all bits stay visible." in refused
    assert "1 of 2 expectations of" in refused
    order.write(checks={"min_utility": 0.1})
    utility = manifest(order.release())["utility"]["suppression"]
    passed = page.read_text()
    assert "Every check was passed" in passed
    assert f"{utility:.4f}" in passed
    assert "people v1" in passed
    assert "0.999" not in passed
    page.unlink()
    order.release()
    assert page.read_text() == passed


@pytest.mark.long
def test_where_great_expectations_breaks_the_checks_are_not_reached(tmp_path, monkeypatch):
    from crowdcover.validations import run

    def held(suite, columns):
        if suite.name == "required":
            raise ValueError("rare-Atlantis")
        return sound(suite, columns)

    sound = run._find_passed
    monkeypatch.setattr(run, "_find_passed", held)
    order = Order(tmp_path, checks={"min_utility": 0.1})
    words = (
        "publication refused; required: 0 of 1 expectations hold; failed: "
        "expect_utility_to_be_at_least; every result"
    )
    with pytest.raises(GuaranteeError, match=words):
        order.release()
    assert not order.releases.exists()
    monkeypatch.undo()
    assert order.release() == order.folder_of_v1


@pytest.mark.long
def test_a_starter_plan_is_refused_and_the_refusal_tells_the_cure(tmp_path):
    """Two of three have the commonest value, so that many crowds of 5 show no other."""
    rows = ["hours,city,illness"]  # an age would get decades, and larger crowds
    chance = random.Random(5)
    for _ in range(300):
        ill = "none" if chance.random() < 2 / 3 else f"illness {chance.randrange(3)}"
        rows.append(f"{chance.randint(18, 80)},{chance.choice(CITIES)},{ill}")
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    plan = tmp_path / "plan.toml"
    text = decided(propose_plan(Source(path=tmp_path / "people.csv")))
    plan.write_text(text)
    words = (
        r"column 'illness': (\d+) of 300 people \([\d.]+ %\) fit only rows that show one value, "
        r"more than checks\.max_uniform = 0\.05 allows; raise k, set privacy\.mix to the column"
    )
    with pytest.raises(GuaranteeError, match=words):
        release.fn(str(plan))
    assert not (tmp_path / "releases" / "people").exists()
    cured = text.replace("# mix = ", "mix = ").replace("k = 5  ", "k = 10  ")
    plan.write_text(cured)
    found = manifest(Path(release.fn(str(plan))))
    limited = {each["measure"]: each["found"] for each in found["checks"]}
    assert limited["uniform crowds"] <= 0.05
    assert limited["attack success"] <= 0.1
    assert judge_manifest(found, WORDS).tone in ("holds", "warns", "some")
