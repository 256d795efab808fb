"""What a released table promises and what it does not, in plain words.

The promise follows from the findings that the manifest names. Each sentence says what the attacker
knows: without that, none of them would be true.
"""

from collections.abc import Mapping, Sequence

from kinds.table.report import series_words as versions
from kinds.table.report.facts import count_owners, describe_demand, describe_subjects, promise_of
from kinds.table.report.findings import CLASSES, COMPATIBLE, EVEN, MATCHABLE, TRUTHFUL
from reports import series
from reports.facts import Manifest
from reports.quantities import count, is_number, printable
from reports.verdict import protects_nobody
from reports.words import Text

PROMISED: Mapping[str, Sequence[Text]] = {
    COMPATIBLE: (
        (
            "A crowd of the demanded size.",
            "The plan demands a crowd of k rows for each person. At least k published rows fit the "
            "person: no cell in them contradicts the person's quasi-identifiers.",
        ),
    ),
    MATCHABLE: (
        (
            "Every row of that crowd is possible.",
            "At least k of these rows are matchable: if the person gets one of them, everyone else "
            "can still get a row of their own that fits.",
        ),
        (
            "No narrowing down.",
            "Someone who knows all quasi-identifiers of all people, and otherwise sees only this "
            "release, cannot narrow any person down to fewer than k rows.",
        ),
    ),
    TRUTHFUL: (
        (
            "True rows.",
            "Every published row is true of the source row behind it: masked values are less "
            "exact.",
        ),
    ),
    EVEN: (
        (
            "No row is likelier than 1 in k.",
            "Who sits in which row was drawn by lot, so that for each person no row had a chance "
            "above 1/k. Someone who knows all quasi-identifiers of all people, the plan, the "
            "program and these chances, but nothing else, names the person's row with at most that "
            "chance. The list of what is not promised says who may do better.",
        ),
    ),
    CLASSES: (
        (
            "Identical rows.",
            "At least k rows, the person's own included, have the same text in all "
            "quasi-identifiers: k-anonymity in the strict sense.",
        ),
    ),
}
# Where records exchange rows after the lot, its chances hold for the lot only.
BY_LOT: Text = (
    "By the lot, no row is likelier than 1 in k.",
    "Who sits in which row was drawn by lot, so that for each person no row had a chance above "
    "1/k. Some records exchanged rows afterwards. A single chance may be greater now.",
)
# Each with the finding that would promise it.
NOT_PROMISED: Sequence[tuple[str, Text]] = (
    (
        "l-diversity",
        (
            "Different sensitive values within a crowd.",
            "If all rows of a crowd have the same sensitive value, that value is known for the "
            "person (no l-diversity, unless the checks of the plan require it).",
        ),
    ),
    (
        EVEN,
        (
            "Equal odds.",
            "None of the k rows can be ruled out, but some may be more likely than others. The "
            "section on attacks shows what was tried.",
        ),
    ),
    (
        "hidden carried values",
        (
            "Protection from those who know more.",
            "Kept and sensitive columns are published unmasked. Someone who knows such a value of "
            "a person, or which rows other people sit in, may find the person's row.",
        ),
    ),
    (
        "differential privacy",
        (
            "Differential privacy.",
            "The release is a table of true rows with less exact values; no noise was added.",
        ),
    ),
    (
        CLASSES,
        (
            "Equivalence classes.",
            "Rows of a crowd usually have different texts. A tool that compares cells as text may "
            "report k = 1 for a correct release; it has to read cells as sets of values.",
        ),
    ),
    (
        "series",
        (
            "Protection across releases or across rows.",
            "Every source row counts as one person, and another release of the same people can be "
            "compared with this one.",
        ),
    ),
)

# Where the plan says which source rows are of one person.
OF_PEOPLE: Text = (
    "Crowds of people.",
    "Wherever this page counts a crowd of k rows, these are rows of at least k different people. "
    "When the lot was drawn, no person had a chance above 1/k of any row, with all records "
    "together. Some records then exchanged rows, so that every crowd has k people. The chances on "
    "this page are those of the lot.",
)
CROWDS_OF_PEOPLE: Text = ("Crowds of people.", f"{OF_PEOPLE[1].partition('. ')[0]}.")
# Where the plan names a column of which crowds shall show different values.
MIXED: Text = (
    "Crowds of different values.",
    "After the lot was drawn, some people exchanged rows, so that fewer crowds show one value of "
    "{column} only. The chances on this page are those of the lot.",
)
ACROSS_RECORDS: Text = (
    "Protection across releases or across the records of one person.",
    "Another release of the same people can be compared with this one. Someone who knows which "
    "records are of one person can compare their crowds: a value that is the same in all of them "
    "may then be known.",
)


def describe_no_change(manifest: Manifest) -> str:
    """That no cell is masked, in any row of a version; empty where one is."""
    kept = series.series_of(manifest) or manifest["utility"]
    if kept.get("cells_exact") != 1:
        return ""
    rows = f"{count(series.with_all_rows(manifest)['privacy']['records'])} rows"
    why = (
        ""
        if protects_nobody(series.with_all_rows(manifest))
        else " Enough rows are alike in the source already."
    )
    return (
        f"Nothing was hidden: no cell of a quasi-identifier is masked in the {rows}. Each shows "
        f"the value of the source, or the group of values that the plan puts it in.{why}"
    )


def describe_promise(manifest: Manifest) -> str:
    """The promise as a paragraph; people with k = 1 come first, as those without it."""
    privacy, whom = manifest["privacy"], describe_subjects(manifest)
    records, none = privacy["records"], privacy.get("unprotected")
    if protects_nobody(manifest):
        return (
            f"The plan demands no crowd for any of the {count(records)} {whom} in this release: "
            "k = 1. Someone who knows a person's quasi-identifiers may find the person's row and "
            "everything in it."
        )
    if privacy["k_min"] > 1:
        people = count_owners(manifest)
        whose = "" if people is None else f" of {count(people)} people"
        each = f"Each of the {count(records)} {whom}{whose} in this release"
        return f"{each} {_describe_hiding(manifest, describe_demand(manifest))}"
    who, others = f"Some {whom}", f"Each of the other {whom}"
    if is_number(none) and none > 0:
        who = f"{count(none)} of the {count(records)} {whom} in this release"
        others = f"Each of the other {count(records - none)}"
    above = f"k from 2 to {count(privacy['k_max'])}"
    verb, them, they = ("has", "it", "it is") if none == 1 else ("have", "them", "they are")
    return (
        f"{who} {verb} k = 1: the plan demands no crowd for {them}, and {they} not protected. "
        f"{others} {_describe_hiding(manifest, above)}"
    )


def _describe_hiding(manifest: Manifest, demanded: str) -> str:
    """The rest of the sentence about those who are protected."""
    promised = promise_of(manifest)
    rows = "published rows with the same text" if CLASSES in promised else "published rows"
    if count_owners(manifest) is not None:
        rows = "published rows of different people"
    crowd = f"hides among at least as many {rows} as the plan demands ({demanded})."
    if MATCHABLE not in promised:
        return crowd
    one, its = "a person", "a person's row"
    if manifest.get("rows_are_people"):
        one, its = "a source row", "its published row"
    if count_owners(manifest) is not None:
        one, its = "a source row", "one of a person's rows"
    if count_owners(manifest) is not None or "mixed" in manifest:
        its += ", by the lot that was drawn,"
    odds = (
        f", and names {its} with a chance of at most 1 in k."
        if EVEN in promised
        else ". Some of these rows may be likelier than others."
    )
    return (
        f"{crowd} Someone who knows every quasi-identifier of everyone (the traits by which people "
        "could be told apart), but nothing else about anyone, cannot narrow "
        f"{one} down to fewer rows{odds}"
    )


def list_promise_points(manifest: Manifest) -> Sequence[Text]:
    """The points of the promise, one or more for each of its findings."""
    texts = [text for finding in promise_of(manifest) for text in PROMISED.get(finding, ())]
    if count_owners(manifest) is not None or "mixed" in manifest:
        texts = [BY_LOT if text in PROMISED[EVEN] else text for text in texts]
    if "mixed" in manifest:
        title, text = MIXED
        texts.append((title, text.format(column=printable(manifest["mixed"]))))
    if count_owners(manifest) is not None:
        texts.append(OF_PEOPLE if EVEN in promise_of(manifest) else CROWDS_OF_PEOPLE)
    return texts


def not_promised(manifest: Manifest) -> Sequence[Text]:
    """The points that no finding of the promise covers."""
    findings = promise_of(manifest)
    texts = [text for finding, text in NOT_PROMISED if finding not in findings]
    if series.series_of(manifest) is not None:
        return [*texts[:-1], *versions.not_promised(manifest)]
    return texts if count_owners(manifest) is None else [*texts[:-1], ACROSS_RECORDS]


def not_promised_short(manifest: Manifest) -> str:
    """The points of `not_promised` in two sentences."""
    short = (
        "Not promised: different sensitive values within a crowd (l-diversity), protection from "
        "someone who knows more than quasi-identifiers, differential privacy"
    )
    if series.series_of(manifest) is not None:
        short += ", protection from someone who connects the rows of a person over versions"
    if CLASSES in promise_of(manifest):
        return f"{short}."
    return f"{short}, equivalence classes. A tool that compares cells as text may report k = 1."
