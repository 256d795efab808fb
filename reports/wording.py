"""The one source of words and numbers for the page, the markdown and the terminal.

Everything is read from a release's manifest. A number that the manifest lacks is never taken for a good one.
"""

import math
import numbers
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

Manifest = Mapping[str, Any]

NOT_STATED = "not stated"

NOT_PROMISED = (
    (
        "Different sensitive values within a crowd.",
        "If all rows of a crowd carry the same sensitive value, that value is known (no l-diversity unless the plan's "
        "checks asked for it). The least diverse crowds are listed with the checks.",
    ),
    (
        "Equal odds.",
        "No row of a crowd can be ruled out, but some rows may be likelier than others.",
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
        "Every source row counts as one person, and a second release of the same people can be compared "
        "with this one. Columns that the plan keeps or calls sensitive are published unmasked.",
    ),
)
NOT_PROMISED_SHORT = (
    "Not promised: sensitive values that differ more than is listed (l-diversity), differential privacy, equivalence classes. "
    "A checker that compares cells as text reports k = 1."
)


class Check(NamedTuple):
    """One line of the verdict: what was counted, what is required, what was found."""

    what: str
    required: str
    found: str
    passed: bool


class Fact(NamedTuple):
    """A number with its name and its meaning in plain words."""

    label: str
    value: str
    meaning: str = ""


class CrowdTold(NamedTuple):
    """What the worst crowds tell of one sensitive column, in words for a table."""

    name: str
    distinct: str
    effective: str
    distance: str


class ColumnLoss(NamedTuple):
    """What masking left of one quasi-identifier."""

    name: str
    exact: float
    ncp: float


# ---------------------------------------------------------------- numbers


def count(number: Any) -> str:
    """An integer with thousands separated."""
    return f"{int(number):,}" if _known(number) else NOT_STATED


def percent(share: Any) -> str:
    """A share in percent; what is not all never reads 100 %, what is not nothing never 0 %."""
    if not _known(share):
        return NOT_STATED
    text = f"{100 * share:.1f} %"
    if share > 0 and text == "0.0 %":
        return "< 0.1 %"
    return "> 99.9 %" if share < 1 and text == "100.0 %" else text


def utility(share: Any) -> str:
    """A utility as the literature writes it: three digits, and never 1.000 unless nothing is hidden."""
    if not _known(share):
        return NOT_STATED
    return f"{min(share, 0.999) if share < 1 else share:.3f}"


def seconds(duration: Any) -> str:
    """A duration as a person says it."""
    if not _known(duration):
        return NOT_STATED
    if duration < 99.5:
        return f"{duration:.2f} s" if duration < 9.95 else f"{duration:.1f} s"
    minutes, rest = divmod(round(duration), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def size(number_of_bytes: Any) -> str:
    """Bytes in binary units."""
    if not _known(number_of_bytes):
        return NOT_STATED
    amount, unit = float(number_of_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1000:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"


def printable(text: Any) -> str:
    """Text from outside without control or direction characters, which could rewrite a terminal or a page."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(text))


def _known(number: Any) -> bool:
    return isinstance(number, numbers.Real) and math.isfinite(number)


# ---------------------------------------------------------------- the guarantee


def title(manifest: Manifest) -> str:
    """Name and version of the release."""
    return printable(f"{manifest['name']} {manifest['version']}")


def holds(manifest: Manifest) -> bool:
    """Whether the promise is kept: every check was made and passed."""
    return all(check.passed for check in checks(manifest))


def verdict(manifest: Manifest) -> str:
    """The verdict in four or five words."""
    return "The privacy promise holds" if holds(manifest) else "The privacy promise does not hold"


def demand(manifest: Manifest) -> str:
    """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
    low, high = manifest["privacy"]["k_min"], manifest["privacy"]["k_max"]
    if low == high:
        return f"k = {count(low)} for everyone"
    return f"k from {count(low)} to {count(high)}, each person's own"


def promise(manifest: Manifest) -> str:
    """The guarantee, or its failure, in plain words."""
    if not holds(manifest):
        broken = "; ".join(f"{check.what.lower()}, {check.found}" for check in checks(manifest) if not check.passed)
        return (
            f"Checks that failed on the {count(manifest['privacy']['records'])} people of this release: {broken}. "
            "Do not use this release and do not pass it on."
        )
    return (
        f"Each of the {count(manifest['privacy']['records'])} people in this release has a crowd of at least as many "
        f"published rows as that person demanded ({demand(manifest)}). Every row of the crowd fits the person and can "
        "be theirs in some complete assignment of all people to all rows, so even someone who knows every "
        "quasi-identifier of everyone cannot narrow a person down to fewer rows."
    )


def checks(manifest: Manifest) -> list[Check]:
    """What the judge counted; a count that is missing has not passed."""
    return [
        _none_of(manifest, "below_k", "People who fit too few rows"),
        _none_of(manifest, "matchable_below_k", "People with too few matchable rows"),
        _none_of(manifest, "untruthful_rows", "Published rows untrue of their person"),
    ]


def _none_of(manifest: Manifest, key: str, what: str) -> Check:
    found = manifest["privacy"].get(key)
    return Check(what, "0", count(found), _known(found) and found == 0)


def privacy_facts(manifest: Manifest) -> list[Fact]:
    """Who is protected, and how tightly."""
    privacy = manifest["privacy"]
    return [
        Fact("People", count(privacy["records"]), "one published row each"),
        Fact("Smallest demand", count(privacy["k_min"]), "lowest k of any person"),
        Fact("Largest demand", count(privacy["k_max"]), "highest k of any person"),
        Fact(
            "Smallest margin",
            count(privacy.get("compatible_min_margin")),
            "rows that the tightest crowd has beyond its demand",
        ),
    ]


def protection_facts(manifest: Manifest) -> list[Fact]:
    """What is measured beside the promise; nothing of a release that was made before it was measured."""
    found = manifest.get("protection")
    if not found:
        return []
    beyond, alike = found.get("over_protection", {}), found.get("equivalence_classes", {})
    return [
        Fact("Over-protection", count(beyond.get("median")), "matchable rows beyond the demand, of the median person"),
        Fact(
            "Unique people", count(found.get("unique_records")), "whose quasi-identifiers as coded nobody shares in the source"
        ),
        Fact("Rows left out", count(found.get("rows_left_out")), "source rows that the plan's rules leave out"),
        Fact("Rows written alike", count(alike.get("k")), "smallest equivalence class: k in the strict sense, not promised"),
    ]


TOLD_HEADINGS = ("Sensitive column", "Distinct values", "By entropy", "Distance (t)")


def told(manifest: Manifest) -> list[CrowdTold]:
    """The least diverse crowd of each sensitive column, and the one farthest from the whole table."""
    return [
        CrowdTold(
            printable(name), count(found.get("distinct")), _digits(found.get("effective")), _digits(found.get("distance"))
        )
        for name, found in manifest.get("protection", {}).get("sensitive", {}).items()
    ]


def _digits(number: Any) -> str:
    return f"{number:.2f}" if _known(number) else NOT_STATED


# ---------------------------------------------------------------- utility and the run


def utility_facts(manifest: Manifest) -> list[Fact]:
    """What is left of the data after masking."""
    found = manifest["utility"]
    return [
        Fact("Utility", utility(found.get("suppression")), "share of all bits that stay visible (1 = nothing hidden)"),
        Fact("Exact cells", percent(found.get("cells_exact")), "quasi-identifier cells published unmasked"),
        Fact("Mean loss (GCP)", percent(found.get("gcp")), "0 % = every cell exact, 100 % = every cell *"),
        Fact("Features", count(found.get("features")), "bits that each person's quasi-identifiers are coded in"),
    ]


def columns(manifest: Manifest) -> list[ColumnLoss]:
    """The quasi-identifiers, the one that lost most first."""
    losses = [
        ColumnLoss(printable(name), _share(entry.get("exact")), _share(entry.get("ncp")))
        for name, entry in manifest["utility"].get("per_column", {}).items()
    ]
    return sorted(losses, key=lambda loss: -loss.ncp if _known(loss.ncp) else 1.0)


def _share(found: Any) -> float:
    return float(found) if _known(found) else math.nan


def kept_iteration(iterations: Sequence[Mapping[str, Any]]) -> int:
    """Index of the published iteration: the first of highest weighted utility."""
    reached = [entry.get("weighted_utility", entry["utility"]) for entry in iterations]
    return reached.index(max(reached))


def release_facts(manifest: Manifest) -> list[Fact]:
    """What was released, from what, and by which method."""
    source = manifest["source"]
    settings = dict(manifest["anonymizer"])
    method = printable(settings.pop("name", NOT_STATED))
    chosen = ", ".join(f"{key} = {value}" for key, value in settings.items())
    return [
        Fact("Release", printable(manifest["name"])),
        Fact("Version", printable(manifest["version"])),
        Fact("Created", created(manifest)),
        Fact("Published rows", count(manifest["privacy"]["records"])),
        Fact("Source", f"{count(source['rows'])} rows, {count(source['columns'])} columns"),
        Fact("Demanded crowd", demand(manifest)),
        Fact("Method", f"{method} ({printable(chosen)})" if chosen else method),
        Fact("Made by", printable(f"crowdcover {manifest['crowdcover']}")),
    ]


def created(manifest: Manifest) -> str:
    """The moment of the release in UTC, to the minute."""
    try:
        moment = datetime.fromisoformat(manifest["created"])
    except (KeyError, TypeError, ValueError):
        return NOT_STATED
    if moment.tzinfo is None:
        return f"{moment:%Y-%m-%d %H:%M}"
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def timings(manifest: Manifest) -> list[Fact]:
    """Seconds by stage with their sum, then the memory peak."""
    stages = manifest.get("timings", {})
    rows = [Fact(printable(stage).capitalize(), seconds(duration)) for stage, duration in stages.items()]
    if len(rows) > 1:
        rows.append(Fact("All stages", seconds(sum(stages.values()))))
    if "peak_memory_bytes" in manifest:
        rows.append(Fact("Peak memory", size(manifest["peak_memory_bytes"])))
    return rows
