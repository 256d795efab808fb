"""The texts of a released table, gathered for reports; see `reports.words.Words`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from crowdcover.kinds import direct
from crowdcover.kinds.table.report import attackers, facts, promises, risks, roles, value_words
from crowdcover.kinds.table.report import series_words as versions
from crowdcover.kinds.table.report.findings import CLASSES, EVEN, list_promise_checks
from crowdcover.kinds.words import KindWords
from crowdcover.reports import series
from crowdcover.reports.comparison import Compared
from crowdcover.reports.facts import BadFact, Fact, Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, digits, is_number, one_in, percent, printable
from crowdcover.reports.words import Block, Check, Exposure, PageSection, Risk, Text

__all__ = ["WORDS", "TableWords"]

NOTABLE = 0.05  # share of the rows
_CONSTANT = 0.9  # share of the people with several records
MOST_COLUMNS = 3  # named in warnings of one sort; a table has the others
_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")


class TableWords(KindWords):
    """The texts of tables; see `reports.words.Words`."""

    messages = _MESSAGES
    number_forms: ClassVar = {
        **dict.fromkeys(("suppression", "cells_exact", "cells_of_one_value", "gcp"), percent),
        "features": count,
        "gcp_by_width": digits,  # a sum over all cells, no share
    }
    checked = ("ingested", "binarized", "audited", "released")
    describe_no_change = staticmethod(promises.describe_no_change)
    not_promised_short = staticmethod(promises.not_promised_short)
    subjects = staticmethod(facts.describe_subjects)
    columns = staticmethod(roles.list_column_roles)

    @property
    def findings(self) -> Mapping[str, str]:
        """What must hold, by name of the finding, of a release and of a series."""
        return {**super().findings, **_MESSAGES.name_entries("findings_of_series")}

    def demand(self, manifest: Manifest) -> str:
        """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
        return facts.describe_table_demand(series.with_all_rows(manifest))

    def promise(self, manifest: Manifest) -> str:
        """The promise in plain English, of a version over all versions so far."""
        no_change = promises.describe_no_change(manifest)
        promise = promises.describe_promise(series.with_all_rows(manifest))
        return f"{no_change} {promise}".lstrip() + versions.describe_series_promise(manifest)

    def promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points of the promise, one or more for each of its findings."""
        return [
            *promises.list_promise_points(manifest),
            *versions.list_series_promise_points(manifest),
            *value_words.describe_number_groups(manifest),
        ]

    def not_promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points that no finding of the promise covers."""
        return [*promises.not_promised(manifest), *direct.describe_direct_search(manifest)]

    def checks(self, manifest: Manifest) -> Sequence[Check]:
        """The counts on which the promise depends; each must be 0."""
        return [*list_promise_checks(manifest), *versions.list_series_checks(manifest)]

    def risks(self, manifest: Manifest) -> Sequence[Risk]:
        """Singling out, linkability, inference; of a version, mostly of its new rows."""
        new = series.briefly_new(manifest)
        return [
            each._replace(question=versions.limit_to_new(each.question, new)) if new else each
            for each in risks.list_risks(manifest)
        ]

    def warnings(self, manifest: Manifest) -> Sequence[str]:
        """Rows for people, crowds with one value, values that find rows, attacks that succeed."""
        new = series.briefly_new(manifest)
        of_rows = [
            *_constant_values(manifest),
            *_list_known_values(manifest),
            *_list_identifying_values(manifest),
            *direct.let_through(manifest),
            *value_words.list_rare_value_warnings(manifest),
            *_describe_likelier_rows(manifest),
            *attackers.list_attack_warnings(manifest),
        ]
        if new:
            of_rows = [
                _MESSAGES.say("warnings", "of_new", warning=each, new=new) for each in of_rows
            ]
        rows_for_people = manifest.get("rows_are_people")
        return [
            *([_MESSAGES.say("warnings", "rows_are_people")] if rows_for_people else []),
            *versions.list_series_warnings(manifest),
            *of_rows,
        ]

    def exposure(self, manifest: Manifest) -> Exposure | None:
        """The sensitive column of which most people's value is known."""
        whom = facts.describe_subjects(manifest)
        if series.has_earlier_rows(manifest):
            whom = _MESSAGES.say("hidden", "with_new_row", whom=whom)
        if exposed := _list_uniform_columns(manifest):
            name, number = exposed[0]
            who = _describe_uniform_people(number, manifest, whom)
            text = _MESSAGES.say("hidden", "exposure", who=who, name=name)
            return Exposure(number / manifest["privacy"]["records"], text)
        if unmeasured := _least_diverse(manifest):
            text = _MESSAGES.say("hidden", "exposure_uncounted", whom=whom, name=unmeasured[0])
            return Exposure(None, text)
        return None

    def list_unstated(self, manifest: Manifest) -> Sequence[str]:
        """Measurements that the manifest of an older release lacks."""
        sections = _MESSAGES.name_entries("missing").items()
        return [what for section, what in sections if not manifest.get(section)]

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """Records, demand, failures, known values, the strongest attack, information kept."""
        privacy = series.with_all_rows(manifest)["privacy"]
        rows = versions.describe_new_rows(manifest)
        return [
            Fact(_label_headline("records", manifest, rows=rows), count(privacy["records"])),
            Fact(_MESSAGES.say("headline", "demand"), self.describe_range(privacy)),
            _without_crowd(manifest),
            *_most_known(manifest),
            *_find_strongest_attack(manifest),
            Fact(
                _MESSAGES.say("headline", "kept"), percent(facts.compute_kept_in_all_rows(manifest))
            ),
        ]

    def compared(self, sections: Manifest) -> Sequence[Compared]:
        """Utility, NCP, exact cells, how far crowds exceed k, the strongest attack.

        With sensitive columns also the share of the people whose crowd shows one value of one.
        """
        kept, beyond = sections["utility"], sections["protection"]["over_protection"]
        tried = attackers.find_strongest_attack(attackers.attacks(sections))
        uniform = [number for _, number in _list_uniform_columns(sections)]
        share = max(uniform, default=0) / sections["privacy"]["records"]
        sensitive = sections["protection"].get("sensitive")
        return self.list_compared(
            {
                "utility": (kept["suppression"], "{:.4f}".format),
                "ncp": (kept["gcp"], percent),
                "cells_exact": (kept["cells_exact"], percent),
                "beyond_k": (beyond["median"], count),
                "most_beyond_k": (beyond["max"], count),
                **({"uniform": (share, percent)} if sensitive else {}),
                "attack": (None if tried is None else tried.success, one_in),
            }
        )

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Crowds, sensitive values in the worst crowd, attacks."""
        sensitive = facts.build_sensitive_block(manifest)
        blocks = [
            facts.build_crowd_block(manifest),
            *([sensitive] if sensitive.rows else []),
            *attackers.build_attack_blocks(manifest),
        ]
        columns = versions.column_block(manifest)
        return [
            *series.build_series_blocks(manifest),
            *([] if columns is None else [columns]),
            *series.of_new(blocks, manifest),
        ]

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """Information kept by the whole table, then by each column."""
        columns = facts.build_column_block(manifest)
        nodes = facts.build_hierarchy_block(manifest)
        more = [block for block in (columns, nodes) if block.rows]
        blocks = [facts.build_utility_block(manifest), *more]
        return series.of_new(blocks, manifest)

    def find_published_step(self, steps: Sequence[Mapping[str, Any]]) -> int | None:
        """The step marked as published; in older releases the best by weighted utility."""
        marked = [place for place, step in enumerate(steps) if step.get("published")]
        if marked or not steps or "utility" not in steps[0]:
            return marked[0] if marked else None
        reached = [step.get("weighted_utility", step["utility"]) for step in steps]
        return reached.index(max(reached))

    def sections(self, manifest: Manifest, measured: Any) -> Sequence[PageSection]:
        """Sections on checks, attacks, crowds, columns and cells."""
        from crowdcover.kinds.table.report import pictures  # matplotlib takes a second to import

        return pictures.build_page_sections(manifest, measured, self)


# ---------------------------------------------------------------- warnings


def _constant_values(manifest: Manifest) -> list[str]:
    """Carried columns that hardly vary within a person, where people own several records."""
    values = manifest.get("protection", {}).get("constant_values", {})
    constant = [
        _MESSAGES.say("warnings", "constant", name=name, **found)
        for name, found in values.items()
        if found["constant"] > 0 and found["constant"] >= _CONSTANT * found["people"]
    ]
    return _shorten_list(constant, "column")


def _list_uniform_columns(manifest: Manifest) -> list[tuple[str, float]]:
    """Sensitive columns with people whose crowd has one value; most people first."""
    sensitive = manifest.get("protection", {}).get("sensitive", {})
    numbers = [(printable(name), crowd.get("uniform")) for name, crowd in sensitive.items()]
    some = [(name, number) for name, number in numbers if is_number(number) and number > 0]
    return sorted(some, key=lambda each: -each[1])


def _list_known_values(manifest: Manifest) -> list[str]:
    """How many hide in a crowd with one sensitive value: one warning for all columns."""
    whom = facts.describe_subjects(manifest)
    whose = [
        _MESSAGES.say("warnings", "least_diverse", name=name) for name in _least_diverse(manifest)
    ]
    if listed := _list_uniform_columns(manifest):
        (name, number), *others = listed
        records = manifest["privacy"]["records"]
        who = _describe_uniform_people(number, manifest, whom)
        also = [
            _MESSAGES.say("warnings", "uniform_other", name=name, number=number, records=records)
            for name, number in others[: MOST_COLUMNS - 1]
        ]
        more = len(others) - len(also)
        figures = {"who": who, "name": name, "others": also, "more": more}
        whose.insert(0, _MESSAGES.say("warnings", "uniform", **figures))
    return _shorten_list(whose, "sensitive column")


def _describe_uniform_people(number: float, manifest: Manifest, whom: str) -> str:
    """How many hide in a crowd, of all that were counted."""
    records = manifest["privacy"]["records"]
    return _MESSAGES.say("hidden", "people", number=number, records=records, whom=whom)


def _least_diverse(manifest: Manifest) -> list[str]:
    """Sensitive columns with a crowd of one value, in older releases that do not count whose."""
    sensitive = manifest.get("protection", {}).get("sensitive", {})
    return [
        printable(name)
        for name, crowd in sensitive.items()
        if crowd.get("distinct") == 1 and not is_number(crowd.get("uniform"))
    ]


def _list_identifying_values(manifest: Manifest) -> list[str]:
    """Carried columns whose values find many rows."""
    records = manifest["privacy"]["records"]
    values = manifest.get("protection", {}).get("unique_values", {})
    columns = manifest.get("columns", {})
    finding = [
        _MESSAGES.say(
            "warnings",
            "identifying",
            number=number,
            records=records,
            name=name,
            numeric=columns.get(name, {}).get("kind") == "numeric",
            date=columns.get(name, {}).get("kind") == "date",
        )
        for name, number in sorted(values.items(), key=lambda each: -each[1])
        if number >= NOTABLE * records
    ]
    return _shorten_list(finding, "column")


def _describe_likelier_rows(manifest: Manifest) -> list[str]:
    """How many have a row that an insider finds likelier than 1 in k, if nothing bounds that."""
    promised, whom = facts.promise_of(manifest), facts.describe_subjects(manifest)
    if EVEN in promised or CLASSES in promised:
        return []
    shares = [
        attack.above.get("1") for attack in attackers.attacks(manifest) if attack.name == "insider"
    ]
    return [
        _MESSAGES.say("warnings", "likelier", share=share, whom=whom)
        for share in shares
        if is_number(share) and share > 0
    ]


def _shorten_list(listed: list[str], what: str) -> list[str]:
    """The first few, and how many more there are."""
    more = len(listed) - MOST_COLUMNS
    if more <= 0:
        return listed
    return [*listed[:MOST_COLUMNS], _MESSAGES.say("warnings", "more", more=more, what=what)]


# ---------------------------------------------------------------- headline


def _label_headline(name: str, manifest: Manifest, /, **figures: Any) -> str:
    new, whom = series.briefly_new(manifest), facts.describe_subjects(manifest)
    return _MESSAGES.say("headline", name, whom=whom, new=f"; {new}" if new else "", **figures)


def _without_crowd(manifest: Manifest) -> Fact:
    """Whose crowd is too small; where the plan demands none of some, these people."""
    privacy, section = series.with_all_rows(manifest)["privacy"], series.series_of(manifest)
    if privacy["k_min"] < 2:
        return Fact(_label_headline("alone", manifest), count(privacy.get("unprotected")))
    if section is not None:
        name, below = "below_in_series", section.get("below_k")
    else:
        name, below = "below", privacy.get("matchable_below_k")
    return (BadFact if below != 0 else Fact)(_label_headline(name, manifest), count(below))


def _most_known(manifest: Manifest) -> Iterator[Fact]:
    """The sensitive column of which most people's value is known."""
    sensitive = manifest.get("protection", {}).get("sensitive", {})
    # Older manifests do not count these people; 0 would then be a false comfort.
    if any(is_number(crowd.get("uniform")) for crowd in sensitive.values()):
        anyone = (_MESSAGES.say("headline", "any_column"), 0)
        name, number = next(iter(_list_uniform_columns(manifest)), anyone)
        share = number / manifest["privacy"]["records"]
        yield Fact(_label_headline("known", manifest, name=name, share=share), count(number))


def _find_strongest_attack(manifest: Manifest) -> Iterator[Fact]:
    if strongest := attackers.find_strongest_attack(attackers.attacks(manifest)):
        label = _label_headline("attack", manifest, guess=strongest.guess)
        yield Fact(label, one_in(strongest.success))


WORDS = TableWords()
