"""The texts of a released table, gathered for reports; see `reports.words.Words`."""

from collections.abc import Mapping, Sequence
from typing import Any

from kinds import direct
from kinds.table.report import attackers, facts, promises, risks, roles, value_words
from kinds.table.report import findings as audited
from kinds.table.report import series_words as versions
from kinds.table.report.findings import FINDINGS
from kinds.table.report.glossary import GLOSSARY
from reports import series
from reports.comparison import Compared
from reports.facts import BadFact, Fact, Manifest
from reports.quantities import count, is_number, one_in, percent, printable
from reports.words import Block, Check, ColumnRole, Exposure, PageSection, Risk, Text

__all__ = ["FINDINGS", "WORDS", "TableWords"]

NOTABLE = 0.05  # share of the rows
CONSTANT = 0.9  # share of the people with several records
MOST_COLUMNS = 3  # named in warnings of one sort; a table has the others


class TableWords:
    """The texts of tables; see `reports.words.Words`."""

    glossary = GLOSSARY
    findings = audited.ALL
    checks_between_stages = audited.CHECKS_BETWEEN_STAGES

    def subjects(self, manifest: Manifest) -> str:
        """People, or rows of the source where the plan counts those."""
        return facts.describe_subjects(manifest)

    def demand(self, manifest: Manifest) -> str:
        """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
        return facts.describe_demand(series.with_all_rows(manifest))

    def promise(self, manifest: Manifest) -> str:
        """The promise in plain English."""
        first, whole = promises.describe_no_change(manifest), series.with_all_rows(manifest)
        return (
            f"{first} {promises.describe_promise(whole)}".lstrip()
            + versions.describe_series_promise(manifest)
        )

    def describe_no_change(self, manifest: Manifest) -> str:
        """That no cell is masked."""
        return promises.describe_no_change(manifest)

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

    def not_promised_short(self, manifest: Manifest) -> str:
        """The points of `not_promised` in two sentences."""
        return promises.not_promised_short(manifest)

    def checks(self, manifest: Manifest) -> Sequence[Check]:
        """The counts on which the promise depends; each must be 0."""
        return [*audited.list_promise_checks(manifest), *versions.list_series_checks(manifest)]

    def risks(self, manifest: Manifest) -> Sequence[Risk]:
        """Singling out, linkability, inference; of a version, mostly of its new rows."""
        told = series.briefly_new(manifest)
        return [
            each._replace(question=f"{each.question} ({told}{versions.UNLESS})") if told else each
            for each in risks.list_risks(manifest)
        ]

    def columns(self, manifest: Manifest) -> Sequence[ColumnRole]:
        """Every column of the source with its role."""
        return roles.list_column_roles(manifest)

    def warnings(self, manifest: Manifest) -> Sequence[str]:
        """Rows for people, crowds with one value, values that find rows, attacks that succeed."""
        told = series.briefly_new(manifest)
        of_rows = [
            *_constant_values(manifest),
            *_list_known_values(manifest),
            *_list_identifying_values(manifest),
            *direct.let_through(manifest),
            *value_words.list_rare_value_warnings(manifest),
            *_describe_likelier_rows(manifest),
            *attackers.list_attack_warnings(manifest),
        ]
        return [
            *_rows_for_people(manifest),
            *versions.list_series_warnings(manifest),
            *(f"{each} (Counted: {told}.)" if told else each for each in of_rows),
        ]

    def exposure(self, manifest: Manifest) -> Exposure | None:
        """The sensitive column of which most people's value is known."""
        whom = facts.describe_subjects(manifest) + (
            " with a new row" if series.has_earlier_rows(manifest) else ""
        )
        if exposed := _list_uniform_columns(manifest):
            name, number = exposed[0]
            return Exposure(
                number / manifest["privacy"]["records"],
                f"{_describe_uniform_people(number, manifest, whom)} that shows one value of "
                f"{name}",
            )
        if unmeasured := _least_diverse(manifest):
            return Exposure(
                None, f"some {whom} hide in a crowd that shows one value of {unmeasured[0]}"
            )
        return None

    def missing(self, manifest: Manifest) -> Sequence[str]:
        """Measurements that the manifest of an older release lacks."""
        sections = {
            "protection": "how diverse the sensitive values of the crowds are",
            "attacks": "how often attacks succeed",
        }
        return [what for section, what in sections.items() if not manifest.get(section)]

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """Records, demand, failures, known values, the strongest attack, information kept."""
        privacy, whom = series.with_all_rows(manifest)["privacy"], facts.describe_subjects(manifest)
        low, high = count(privacy["k_min"]), count(privacy["k_max"])
        told = series.briefly_new(manifest)
        new = f"; {told}" if told else ""
        headline = [
            Fact(
                f"{whom}, a published row for each{versions.describe_new_rows(manifest)}",
                count(privacy["records"]),
            ),
            Fact("rows demanded as a crowd (k)", low if low == high else f"{low} to {high}"),
            _without_crowd(manifest),
            *(each._replace(label=f"{each.label}{new}") for each in _most_known(manifest)),
        ]
        if strongest := attackers.find_strongest_attack(attackers.attacks(manifest)):
            label = (
                "average chance of the strongest attack by someone who knows nobody's row; "
                f"by guessing {one_in(strongest.guess)}{new}"
            )
            headline.append(Fact(label, one_in(strongest.success)))
        kept = percent(facts.compute_kept_in_all_rows(manifest))
        return [*headline, Fact("of the information kept", kept)]

    def compared(self, sections: Manifest) -> Sequence[Compared]:
        """Utility, NCP, exact cells, how far crowds exceed k, the strongest attack."""
        kept, beyond = sections["utility"], sections["protection"]["over_protection"]
        visible, exact = kept["suppression"], kept["cells_exact"]
        median, most = beyond["median"], beyond["max"]
        tried = attackers.find_strongest_attack(attackers.attacks(sections))
        chance = None if tried is None else tried.success
        return [
            Compared("utility", "utility", visible, f"{visible:.4f}"),
            Compared("ncp", "NCP", kept["gcp"], percent(kept["gcp"])),
            Compared("cells_exact", "exact cells", exact, percent(exact)),
            Compared("beyond_k", "over k, median", median, count(median)),
            Compared("most_beyond_k", "over k, most", most, count(most)),
            Compared("attack", "strongest attack", chance, one_in(chance)),
        ]

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Crowds, sensitive values in the worst crowd, attacks."""
        blocks = [Block(facts.CROWDS, (), facts.privacy_facts(manifest))]
        if diversity := facts.sensitive_in_crowds(manifest):
            blocks.append(Block(facts.SENSITIVE, facts.SENSITIVE_HEADINGS, diversity))
        blocks += attackers.build_attack_blocks(manifest)
        return [*_of_versions(manifest), *series.of_new(blocks, manifest)]

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """Information kept by the whole table, then by each column."""
        blocks = [Block(facts.UTILITY, (), facts.utility_facts(manifest))]
        if columns := facts.column_shares(manifest):
            blocks.append(Block(facts.COLUMNS, facts.COLUMN_HEADINGS, columns))
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
        from kinds.table.report import pictures  # matplotlib takes a second to import

        return pictures.build_page_sections(manifest, measured, self)


# ---------------------------------------------------------------- warnings


def _rows_for_people(manifest: Manifest) -> list[str]:
    """Where the plan counts rows instead of people."""
    if not manifest.get("rows_are_people"):
        return []
    return [
        "The promise is about rows of the source. A person may have several rows, which may hide "
        "among each other: how many people hide among fewer than k people was not measured. Where "
        "this page speaks of a person, it means the person of one source row."
    ]


def _constant_values(manifest: Manifest) -> list[str]:
    """Carried columns that hardly vary within a person, where people own several records."""
    values = manifest.get("protection", {}).get("constant_values", {})
    constant = [
        f"{count(found['constant'])} of {count(found['people'])} people with several records have "
        f"the same {printable(name)} in all of them: someone who compares the crowds of these "
        "records may learn it."
        for name, found in values.items()
        if found["constant"] > 0 and found["constant"] >= CONSTANT * found["people"]
    ]
    return _shorten_list(constant, "column")


def _list_uniform_columns(manifest: Manifest) -> list[tuple[str, float]]:
    """Sensitive columns with people whose crowd has one value; most people first."""
    sensitive = manifest.get("protection", {}).get("sensitive", {})
    numbers = [(printable(name), crowd.get("uniform")) for name, crowd in sensitive.items()]
    some = [(name, number) for name, number in numbers if is_number(number) and number > 0]
    return sorted(some, key=lambda each: -each[1])


def _list_known_values(manifest: Manifest) -> list[str]:
    """How many hide in a crowd with one sensitive value."""
    whose = [
        f"{_describe_uniform_people(number, manifest, facts.describe_subjects(manifest))} whose "
        "rows all have one "
        f"value of the sensitive column {name}. Someone who knows their quasi-identifiers knows "
        "this value. Someone who knows everyone's may know it of more people."
        for name, number in _list_uniform_columns(manifest)
    ]
    whose += [
        "The least diverse crowd has the same value of the sensitive column "
        f"{name} in all its rows: the value is known for whoever hides there."
        for name in _least_diverse(manifest)
    ]
    return _shorten_list(whose, "sensitive column")


def _describe_uniform_people(number: float, manifest: Manifest, whom: str) -> str:
    """How many hide in a crowd, of all that were counted."""
    records = manifest["privacy"]["records"]
    verb = "hides" if number == 1 else "hide"
    share = percent(number / records)
    return f"{count(number)} of {count(records)} {whom} ({share}) {verb} in a crowd"


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
    finding = [
        f"{count(number)} of {count(records)} rows ({percent(number / records)}) have a value of "
        f"the column {printable(name)} that no other row has: who knows this value of a person "
        "finds the person's row."
        for name, number in sorted(values.items(), key=lambda each: -each[1])
        if number >= NOTABLE * records
    ]
    return _shorten_list(finding, "column")


def _describe_likelier_rows(manifest: Manifest) -> list[str]:
    """How many have a row that an insider finds likelier than 1 in k, if nothing bounds that."""
    promised = facts.promise_of(manifest)
    if audited.EVEN in promised or audited.CLASSES in promised:
        return []
    shares = [
        attack.above.get("1") for attack in attackers.attacks(manifest) if attack.name == "insider"
    ]
    return [
        f"For {percent(share)} of the {facts.describe_subjects(manifest)}, an insider gives one "
        "row a "
        "probability above 1 in k: even seats are not promised."
        for share in shares
        if is_number(share) and share > 0
    ]


def _shorten_list(listed: list[str], what: str) -> list[str]:
    """The first few, and how many more there are."""
    more = len(listed) - MOST_COLUMNS
    if more <= 0:
        return listed
    also = f"The same is true of {more} more {what}{'s' * (more != 1)}; the three risks list all."
    return [*listed[:MOST_COLUMNS], also]


def _of_versions(manifest: Manifest) -> list[Block]:
    """The series, and how often its columns change."""
    columns = versions.column_block(manifest)
    return [*series.build_series_blocks(manifest), *([] if columns is None else [columns])]


def _without_crowd(manifest: Manifest) -> Fact:
    """Whose crowd is too small; where the plan demands none of some, these people."""
    privacy, whom = series.with_all_rows(manifest)["privacy"], facts.describe_subjects(manifest)
    if privacy["k_min"] < 2:
        return Fact(f"{whom} with k = 1, not protected", count(privacy.get("unprotected")))
    if (section := series.series_of(manifest)) is not None:
        below = section.get("below_k")
        label = "rows in any version whose people have a smaller crowd than demanded"
    else:
        below = privacy.get("matchable_below_k")
        label = f"{whom} with a smaller crowd than demanded"
    return (BadFact if below != 0 else Fact)(label, count(below))


def _most_known(manifest: Manifest) -> list[Fact]:
    """The sensitive column of which most people's value is known."""
    sensitive = manifest.get("protection", {}).get("sensitive", {})
    if not any(is_number(crowd.get("uniform")) for crowd in sensitive.values()):
        return []
    name, number = next(iter(_list_uniform_columns(manifest)), ("any sensitive column", 0))
    share = percent(number / manifest["privacy"]["records"])
    label = (
        f"{facts.describe_subjects(manifest)} ({share}) whose crowd has only one value of {name}"
    )
    return [Fact(label, count(number))]


WORDS = TableWords()
