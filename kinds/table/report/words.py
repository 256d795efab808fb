"""The texts of a released table, gathered for reports; see `reports.words.Words`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from crowdcover.kinds import direct
from crowdcover.kinds.table.report import attackers, facts, promises, risks, roles, value_words
from crowdcover.kinds.table.report import series_words as versions
from crowdcover.kinds.table.report.findings import list_promise_checks
from crowdcover.kinds.table.report.risk_lines import list_uniform_columns
from crowdcover.kinds.words import KindWords
from crowdcover.reports import series
from crowdcover.reports.comparison import Compared
from crowdcover.reports.facts import BadFact, Fact, Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, digits, is_number, one_in, percent, printable
from crowdcover.reports.words import Block, Check, Exposure, PageSection, Risk, Text

__all__ = ["WORDS", "TableWords"]

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
        """What the lines of the three risks do not say: rows for people, rare values, attacks."""
        new = series.briefly_new(manifest)
        of_rows = [
            *_constant_values(manifest),
            *direct.let_through(manifest),
            *value_words.list_rare_value_warnings(manifest),
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
        if exposed := list_uniform_columns(manifest):
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
        """Records, demand, crowds that are too small, information kept."""
        privacy = series.with_all_rows(manifest)["privacy"]
        rows = versions.describe_new_rows(manifest)
        return [
            Fact(_label_headline("records", manifest, rows=rows), count(privacy["records"])),
            Fact(_MESSAGES.say("headline", "demand"), self.describe_range(privacy)),
            *_list_short_crowds(manifest),
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
        uniform = [number for _, number in list_uniform_columns(sections)]
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


def _describe_uniform_people(number: float, manifest: Manifest, whom: str) -> str:
    """How many fit only rows of one value, of all that were counted."""
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


def _list_short_crowds(manifest: Manifest) -> Iterator[Fact]:
    """People with a crowd that is smaller than demanded, where there are any or nobody counted."""
    section = series.series_of(manifest)
    if section is not None:
        name, below = "below_in_series", section.get("below_k")
    else:
        name, below = "below", manifest["privacy"].get("matchable_below_k")
    if below != 0:
        yield BadFact(_label_headline(name, manifest), count(below))


WORDS = TableWords()
