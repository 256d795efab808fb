"""What is promised and to whom, what is not, and whether it is kept."""

from typing import NamedTuple

from reports.facts import Manifest, demand
from reports.quantities import count, known

HOLDS, FAILS = "The privacy promise holds", "The privacy promise does not hold"
PROMISED = (
    (
        "A crowd of the demanded size.",
        "For each person the plan demands a crowd of k rows. At least k published rows fit the person: nothing in them "
        "contradicts what can be known of the person.",
    ),
    (
        "Every row of that crowd is possible.",
        "At least k of these rows are matchable: give the person any one of them, and everybody else can still be given a "
        "row each that fits.",
    ),
    (
        "No narrowing down.",
        "So whoever knows all quasi-identifiers of all people, and sees this release alone, cannot rule out so many rows "
        "that fewer than k are left for anybody.",
    ),
    (
        "True rows.",
        "Every published row is true of the person behind it: values are made less exact, never changed.",
    ),
)
NOT_PROMISED = (
    (
        "Different sensitive values within a crowd.",
        "If all rows of a crowd carry the same sensitive value, that value is known of whoever hides in it (no l-diversity "
        "unless the plan's checks asked for it). The worst crowds are listed with the checks.",
    ),
    (
        "Equal odds.",
        "So many rows cannot be ruled out, but some may be likelier than others. Where attacks were tried, they are listed.",
    ),
    (
        "Differential privacy.",
        "The release is one table of rows that are true, only less exact; no noise was added.",
    ),
    (
        "Equivalence classes.",
        "Rows of a crowd are usually written differently. A checker that compares cells as text reports k = 1 "
        "on a correct release of this kind; a checker has to read cells as sets.",
    ),
    (
        "Protection across releases or across rows.",
        "Every source row counts as one person, and another release of the same people can be compared "
        "with this one. Columns that the plan keeps or calls sensitive are published unmasked.",
    ),
)
NOT_PROMISED_SHORT = (
    "Not promised: sensitive values that differ more than is listed (l-diversity), differential privacy, equivalence classes. "
    "A checker that compares cells as text reports k = 1."
)
GLOSSARY = (
    (
        "Plan",
        "what the owner of the data wrote down: which columns are masked and how large a crowd each person needs",
    ),
    (
        "Quasi-identifier",
        "a trait that others may know of a person and that, together with others, could single the person out, such as age "
        "or occupation. These columns are masked, and only these",
    ),
    (
        "Sensitive column",
        "what must not be learnt about a person; published as it is, so its protection is the crowd",
    ),
    ("Masking", "publishing a set of values, an interval or * in place of the exact value"),
    ("Fit", "a row fits a person if each of its cells allows the person's value"),
    ("Crowd", "the published rows that could be a person's; k is the number demanded"),
    (
        "Matchable",
        "a row that the person gets in some complete assignment of all people to all rows in which everyone gets a row that "
        "fits. Rows that fit but are not matchable hide nobody",
    ),
    (
        "Information kept",
        "of a cell: 100 % for an exact value, 0 % for *; in between, the share of the column's other values that are ruled "
        "out. The literature counts what is lost: NCP for a cell or a column, GCP for the table",
    ),
    ("Judge", "the part that checks a release; it shares no code with the part that makes it"),
    (
        "Vault",
        "the locked folder with the secrets of the release, such as who belongs to which row; never published",
    ),
)


class Check(NamedTuple):
    """One line of the verdict: what was counted, what is required, what was found."""

    what: str
    required: str
    found: str
    passed: bool


def holds(manifest: Manifest) -> bool:
    """Whether the promise is kept: every check was made and passed."""
    return all(check.passed for check in checks(manifest))


def verdict(manifest: Manifest) -> str:
    """The verdict in four or five words."""
    return HOLDS if holds(manifest) else FAILS


def promise(manifest: Manifest) -> str:
    """The guarantee, or its failure, in plain words."""
    people = count(manifest["privacy"]["records"])
    if not holds(manifest):
        broken = "; ".join(
            f"{check.what.lower()}, {check.found}" for check in checks(manifest) if not check.passed
        )
        return (
            f"Checks that failed on the {people} people of this release: {broken}. "
            "Do not use this release and do not pass it on."
        )
    return (
        f"Each of the {people} people in this release hides among at least as many published rows as the plan demands "
        f"({demand(manifest)}). Even someone who knows every quasi-identifier of everyone (the traits by which people "
        "could be told apart) cannot narrow a person down to fewer rows."
    )


def checks(manifest: Manifest) -> list[Check]:
    """What the judge counted; a count that is missing has not passed."""
    privacy = manifest["privacy"]
    made = [
        _none_of(privacy.get("below_k"), "People who fit too few rows"),
        _none_of(privacy.get("matchable_below_k"), "People with too few matchable rows"),
        _none_of(privacy.get("untruthful_rows"), "Published rows untrue of their person"),
    ]
    if (other := manifest.get("second_release")) is not None:
        made.append(
            _none_of(
                other.get("below_k"), "People with too few rows left once releases are compared"
            )
        )
    return made


def _none_of(found: object, what: str) -> Check:
    return Check(what, "0", count(found), known(found) and found == 0)
