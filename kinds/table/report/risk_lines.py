"""The three risks of a table in a line each: can somebody be picked out, linked, known.

A line has the number of people of whom that is true and the limit that it is held against. `risks`
lists all figures.
"""

from typing import Any, NamedTuple

from anon_core.measures.requirements import is_limit_reached
from crowdcover.kinds.table.report import attackers
from crowdcover.kinds.table.report.facts import count_owners, describe_subjects, promise_of
from crowdcover.kinds.table.report.findings import CLASSES, EVEN, shows_exchange
from crowdcover.kinds.table.report.roles import list_columns_by_role
from crowdcover.reports import series
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import is_number, percent, printable
from crowdcover.reports.risk_lines import build_risk_line, say_people
from crowdcover.reports.verdict import count_unprotected
from crowdcover.reports.words import ABOVE, NO_LIMIT, NOT_MEASURED, WITHIN, RiskLine

NOTABLE = 0.05  # share of the rows
UNIFORM = "uniform crowds"
_MEANS = ("attack success", "marketer risk")  # limits of what attacks reach on average
_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")


class _Count(NamedTuple):
    """How many of how many, and the message that says of what."""

    form: str
    number: int | None
    records: int
    figures: dict[str, Any]

    @property
    def share(self) -> float:
        """Their share; what was not counted may be everybody."""
        return 1.0 if self.number is None else self.number / self.records


def build_table_lines(manifest: Manifest) -> list[RiskLine]:
    """Picked out, linked, learnt; each by what is true of most people."""
    return [_describe_picked(manifest), _describe_linked(manifest), _describe_learnt(manifest)]


def list_uniform_columns(manifest: Manifest) -> list[tuple[str, int]]:
    """Sensitive columns with people whose crowd has one value; most people first."""
    sensitive = manifest.get("protection", {}).get("sensitive", {})
    numbers = [(printable(name), crowd.get("uniform")) for name, crowd in sensitive.items()]
    some = [(name, int(number)) for name, number in numbers if is_number(number) and number > 0]
    return sorted(some, key=lambda each: -each[1])


# ---------------------------------------------------------------- picked out


def _describe_picked(manifest: Manifest) -> RiskLine:
    """Of how many a row is named with a chance above the promise, or among too few rows."""
    found = _count_picked(manifest)
    alone = _count_alone(manifest)
    counted = _find_largest(alone, [found])
    strongest = attackers.find_strongest_attack(attackers.attacks(manifest))
    line = _build_line(
        "picked",
        counted,
        manifest,
        mean=None if strongest is None else strongest.success,
        limits=_find_mean_limits(manifest),
        aside=_say("aside", manifest),
    )
    return _add_alone(line, counted, alone, manifest)._replace(warns=found.form == "likelier")


def _count_picked(manifest: Manifest) -> _Count:
    """People with a row that is too likely, or with too few rows: by what is promised."""
    privacy, promised = manifest["privacy"], promise_of(manifest)
    records, section = privacy["records"], series.series_of(manifest)
    if section is not None:
        return _build_count("narrow", section.get("below_k"), section.get("rows") or records)
    if EVEN in promised:
        return _build_count("even", privacy.get("likelier_than_k"), records)
    if CLASSES in promised:
        return _build_count("classes", privacy.get("classes_below_k"), records)
    below = privacy.get("matchable_below_k")
    if is_number(below) and below != 0:  # a broken promise comes before what no promise is about
        return _build_count("narrow", below, records)
    insider = [each for each in attackers.attacks(manifest) if each.name == "insider"]
    share = insider[0].above.get("1") if insider else None
    if is_number(share) and share > 0:
        return _build_count("likelier", round(share * records), records)
    return _build_count("narrow", below, records)


def _count_alone(manifest: Manifest) -> _Count | None:
    """People with k = 1, where there are any: no promise is about them."""
    whole = series.with_all_rows(manifest)
    if count_unprotected(whole) == 0:
        return None
    return _build_count("alone", count_unprotected(whole), whole["privacy"]["records"])


def _find_largest(alone: _Count | None, others: list[_Count]) -> _Count:
    """What is true of most people; of equal ones the first, and people with k = 1 before all."""
    counts = others if alone is None else [alone, *others]
    return max(counts, key=lambda each: each.share)


# ---------------------------------------------------------------- linked


def _describe_linked(manifest: Manifest) -> RiskLine:
    """Of how many the row is found by other data: names, a value, another release, a version."""
    links = _list_links(manifest)
    # Of equal ones joining names comes before other links: it is what the promise is about.
    alone = _count_alone(manifest)
    counted = _find_largest(alone, links)
    notable = [each for each in links if each.form == "unique" and each.share >= NOTABLE]
    more = len(notable) - (counted.form == "unique")
    linkage = [each for each in attackers.attacks(manifest) if each.name == "linkage"]
    line = _build_line(
        "linked",
        counted,
        manifest,
        mean=linkage[0].success if linkage and counted.form == "list" else None,
        limits=_find_mean_limits(manifest, "linkage"),
    )
    if more > 0:
        also = _say("more_unique", manifest, form=counted.form, others=more, share=NOTABLE)
        line = line._replace(finding=f"{line.finding} {also}")
    return _add_alone(line, counted, alone, manifest)._replace(warns=bool(notable))


def _list_links(manifest: Manifest) -> list[_Count]:
    privacy, section = manifest["privacy"], series.series_of(manifest)
    records = privacy["records"]
    if section is None:
        listed = [_build_count("list", privacy.get("below_k"), records)]
    else:
        listed = [_build_count("list", section.get("below_k"), section.get("rows") or records)]
        if section.get("constant") and section.get("records_ever"):
            linked, ever = section.get("linked_below_k"), section["records_ever"]
            listed.append(_build_count("versions", linked, ever, names=section["constant"]))
    if (other := manifest.get("second_release")) is not None:
        listed.append(_build_count("other", other.get("below_k"), other.get("people") or records))
    columns = manifest.get("columns", {})
    for name, number in manifest.get("protection", {}).get("unique_values", {}).items():
        kind = columns.get(name, {}).get("kind")
        listed.append(_build_count("unique", number, records, name=name, kind=kind))
    return listed


# ---------------------------------------------------------------- learnt


def _describe_learnt(manifest: Manifest) -> RiskLine:
    """Of how many a sensitive value is known, since all rows that fit show the same."""
    kept, records = list_columns_by_role(manifest, "keep"), manifest["privacy"]["records"]
    if not (manifest.get("protection") or {}).get("sensitive"):
        form = "unnamed" if manifest.get("columns") else "unmeasured"
        change = _say("change_of_learnt", manifest, form=form)
        text = _say("unlearnt", manifest, form=form, kept=kept)
        return build_risk_line("learnt", "", text, NO_LIMIT, change=change)
    name, number = _find_most_known(manifest)
    limit = _find_uniform_limit(manifest, name)
    if number is None:
        result = NOT_MEASURED
    elif limit is None:
        result = NO_LIMIT
    else:
        result = WITHIN if is_limit_reached("at most", number / records, limit) else ABOVE
    others = max(len(list_uniform_columns(manifest)) - 1, 0)
    return build_risk_line(
        "learnt",
        say_people(number, records, describe_subjects(manifest)),
        _say("uniform", manifest, number=number, name=name, others=others, kept=kept),
        result,
        limit=_say("limit_of_uniform", manifest, limit=None if limit is None else percent(limit)),
        change=_say("change_of_learnt", manifest, form="uniform", number=number, limit=limit),
        warns=number is None or number > 0,
    )


def _find_most_known(manifest: Manifest) -> tuple[str, int | None]:
    """The sensitive column of which most people's value is known; None where nobody counted."""
    if listed := list_uniform_columns(manifest):
        return listed[0]
    sensitive = manifest["protection"]["sensitive"].items()
    for name, crowd in sensitive:
        if not is_number(crowd.get("uniform")):
            return printable(name), None
    return printable(next(iter(sensitive))[0]), 0


def _find_uniform_limit(manifest: Manifest, name: str) -> float | None:
    """The plan's limit of the people whose value of a column is known."""
    for asked in manifest.get("checks", []):
        if asked["measure"] == UNIFORM and printable(asked["about"]) == name:
            return float(asked["required"])
    return None


# ---------------------------------------------------------------- words


def _build_count(form: str, number: Any, records: int, **figures: Any) -> _Count:
    return _Count(form, int(number) if is_number(number) else None, int(records), figures)


def _build_line(
    name: str,
    counted: _Count,
    manifest: Manifest,
    *,
    mean: float | None,
    limits: list[float],
    aside: str = "",
) -> RiskLine:
    """The line of people who are picked out or linked, with what attacks reach on average."""
    free = counted.form in ("unique", "likelier", "versions")  # what no promise is about
    mean = mean if is_number(mean) else None
    # Of a limit on the mean there is something to say only where the mean stands in the line.
    limit = min(limits) if limits and mean is not None and not free else None
    result = WITHIN if counted.number == 0 else ABOVE
    if limit is not None and mean is not None and mean > limit:
        result = ABOVE
    if counted.number is None:
        result = NOT_MEASURED
    elif free:
        result = NO_LIMIT
    figures = {"number": counted.number, "mean": mean, "question": name, **counted.figures}
    return build_risk_line(
        name,
        say_people(counted.number, counted.records, describe_subjects(manifest)),
        _say(counted.form, manifest, **figures),
        result,
        limit=_say("limit_of_alone" if counted.form == "alone" else "limit", manifest, mean=limit),
        change=_say("change", manifest, form=counted.form, **figures),
        aside=aside,
    )


def _add_alone(
    line: RiskLine, counted: _Count, alone: _Count | None, manifest: Manifest
) -> RiskLine:
    """The line, with the people of k = 1 where it counts others."""
    if alone is None or counted is alone:
        return line
    people = say_people(alone.number, alone.records, describe_subjects(manifest))
    also = _say("alone_as_well", manifest, people=people, number=alone.number)
    return line._replace(finding=f"{line.finding} {also}")


def _find_mean_limits(manifest: Manifest, about: str = "") -> list[float]:
    """The plan's limits of what attacks reach on average, of one attack or of all."""
    return [
        float(asked["required"])
        for asked in manifest.get("checks", [])
        if asked["measure"] in _MEANS and about in ("", asked["about"] or "linkage")
    ]


def _say(message: str, manifest: Manifest, /, **figures: Any) -> str:
    whole = series.with_all_rows(manifest)["privacy"]
    terms: dict[str, Any] = {
        "low": whole["k_min"],
        "high": whole["k_max"],
        "new": series.briefly_new(manifest),
        "series": series.series_of(manifest) is not None,
        "rows": describe_subjects(manifest) != _MESSAGES.say("whom", "people"),
        "exchanged": shows_exchange(manifest),
        "mixes": EVEN in promise_of(manifest) and not shows_exchange(manifest),
        "diverse": count_owners(manifest) is None and series.series_of(manifest) is None,
        "mean": None,
        "kind": None,
    }
    return _MESSAGES.say("risk_lines", message, **{**terms, **figures})
