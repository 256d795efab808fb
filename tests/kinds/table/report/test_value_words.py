"""What the report says of groups of numbers and of rare values."""

from crowdcover.kinds.table.report import facts
from crowdcover.kinds.table.report.words import WORDS
from tests.reports.samples import manifest


def release(**columns):
    """A manifest of today with these columns."""
    document = manifest(records=1200, k=(5, 10))
    whole = {"exact": 0.5, "one_value": 0.25, "ncp": 0.125}
    document["utility"]["per_column"] = {
        name: {**whole, **({"carry": carry} if carry else {})} for name, carry in columns.items()
    }
    document["utility"]["cells_of_one_value"] = 0.25
    return document


def said(document):
    return dict(WORDS.promised(document))


def test_intervals_and_medians_are_told_apart():
    texts = said(release(age="bounds", pay="median", hours="bounds", city=None))
    assert texts["Intervals of numbers (age, hours)."] == (
        "A cell shows a group of numbers that at least 10 people hold. Groups are cut at numbers "
        "of the plan, numbers that nobody has, or numbers that at least 10 people have. Of whole "
        "numbers and dates, data.parquet shows the first and the last one of a group, which a "
        "single person may have."
    )
    assert "It may be the person's own number" in texts["Medians (pay)."]
    plain = said(release(city=None))
    assert not any("Medians" in title or "Intervals" in title for title in plain)


def test_a_release_of_0_1_0_is_said_to_hold_medians():
    texts = said(manifest())
    assert texts["Groups."] == "A grouped number is published as the median of its group."


def test_an_interval_is_not_called_an_exact_value():
    """On main a group counted as an exact cell."""
    rows = facts.build_utility_block(release(age="bounds")).rows
    found = {fact.label: fact.value for fact in rows}
    assert (found["Unmasked cells"], found["Exact cells"]) == ("55.1 %", "25.0 %")
    before = {fact.label: fact.value for fact in facts.build_utility_block(manifest()).rows}
    assert before["Unmasked cells"] == "55.1 %"
    assert "Exact cells" not in before


def test_rare_values_are_named_with_their_number():
    document = release(city=None)
    document["protection"]["rare_levels"] = {"city": 12, "job": 1, "age": 0}
    (warning,) = (text for text in WORDS.warnings(document) if "codebook names" in text)
    assert warning == (
        "The codebook names values that fewer than 10 people have: 12 of city, 1 of job. It tells "
        "that somebody has them. If the plan states rare = 'pool' for a column, such values are "
        "published as one."
    )
    assert not any("codebook names" in text for text in WORDS.warnings(manifest()))
