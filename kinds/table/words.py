"""Texts of a released table: promise, glossary, findings and tables of numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from kinds.table import attackers, facts, value_words
from reports.facts import Fact, Manifest
from reports.quantities import count, known, one_in, percent, printable
from reports.words import Block, Check, CheckText, PageSection, Text

COMPATIBLE, MATCHABLE, TRUTHFUL = "compatible crowds", "matchable crowds", "truthful rows"
CLASSES, EVEN = "equivalence classes", "even seats"
NOTABLE = 0.05  # share of the rows
BEFORE_PROMISES = (
    COMPATIBLE,
    MATCHABLE,
    TRUTHFUL,
)  # promise of releases whose manifest states none

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
            "Someone who knows all quasi-identifiers of all people, and sees only this release, "
            "cannot narrow any person down to fewer than k rows.",
        ),
    ),
    TRUTHFUL: (
        (
            "True rows.",
            "Every published row is true of the person behind it: masked values are less exact.",
        ),
    ),
    EVEN: (
        (
            "No row is likelier than 1 in k.",
            "Who sits in which row was drawn by lot, so that for each person no row had a chance "
            "above 1/k. Someone who knows all quasi-identifiers of all people, the plan, the "
            "program and these chances, but nothing of who sits where, names the person's row with "
            "at most that chance. Someone who also knows the rows of some other people may do "
            "better.",
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
            "compared with this one. Kept and sensitive columns are published unmasked.",
        ),
    ),
)
FINDINGS = {
    "readable files": "Every data file exists and can be read.",
    "same table in every format": "All formats contain the same table.",
    "codebook of the source": "The published codebook is the one computed from the source.",
    "no other column": "Key, quasi-identifiers, sensitive and kept columns are the only columns.",
    "no traces in the files": "Headers and footers of the files reveal nothing beside the rows.",
    "rows ordered by key": "The rows are in the order of their random keys.",
    "keys of 16 hexadecimal digits": "Every key is 16 hexadecimal digits.",
    "order tells nothing": "A guess by the source's order is right no more often than by chance.",
    "one row a record": "There are as many rows as people, and every key occurs once.",
    "known keys": "Every person has one row.",
    "levels of enough people": "Each group of numbers is held by enough people, and no bound of an "
    "interval is the value of fewer.",
    "readable cells": "Every published cell can be read with the codebook.",
    TRUTHFUL: "Every row is true of its person: masked values are less exact.",
    "missing values hidden": "No cell says that a value is missing where the plan hides that.",
    COMPATIBLE: "Every person has at least as many rows that fit as demanded.",
    MATCHABLE: "Every person has at least as many matchable rows as demanded: with each of them, "
    "everyone else can still get a row that fits.",
    EVEN: "When it was drawn by lot who sits where, no person had a chance above 1/k of any row.",
    CLASSES: "Every row has the same text as at least as many rows as its person demands.",
}
CHECKS_BETWEEN_STAGES = {
    "ingested": CheckText(
        "The table as it was read",
        "Before coding: the columns are those that the plan names, no identifier is among them, "
        "and their values are of the kind that the plan states.",
    ),
    "binarized": CheckText(
        "The coded records",
        "Before the anonymizer runs: the bits of every record decode to a level of each column, "
        "and a table of this size can meet every demand.",
    ),
    "audited": CheckText(
        "The guarantees",
        "The auditor recomputes them from the source and from the files to be published. It reads "
        "and counts with code of its own.",
    ),
    "released": CheckText(
        "The rows to be published",
        "The audited rows, checked again one by one: keys, cells, crowds and truth.",
    ),
}
GLOSSARY = (
    (
        "Plan",
        "the file in which the owner of the data states which columns are masked and how large a "
        "crowd each person needs",
    ),
    (
        "Quasi-identifier",
        "a trait that others may know of a person and that, together with others, could single the "
        "person out, such as age or occupation. These columns are masked, and only these",
    ),
    (
        "Sensitive column",
        "information that must not become known about a person; published unmasked, so only the "
        "crowd protects it",
    ),
    ("Masking", "publishing a set of values, an interval or * in place of the exact value"),
    ("Fit", "a row fits a person if each of its cells allows the person's value"),
    ("Crowd", "the published rows that could belong to a person; k is the demanded number"),
    (
        "Matchable",
        "a row that the person gets in some complete assignment of all people to all rows in which "
        "everyone gets a row that fits. A row that fits but is not matchable does not protect",
    ),
    (
        "Information kept",
        "of a cell: 100 % for one value or one group, 0 % for *; in between, the share of the "
        "column's other values that are ruled out. The literature counts what is lost: NCP for a "
        "cell or a column, GCP for the table",
    ),
    (
        "Auditor",
        "the part of the program that checks a release; it encodes, reads and counts with code of "
        "its own",
    ),
    (
        "Vault",
        "the locked folder with the secrets of the release, such as who belongs to which row; "
        "never published",
    ),
)


class TableWords:
    """The texts of tables; see `reports.words.Words`."""

    glossary = GLOSSARY
    findings = FINDINGS
    checks_between_stages = CHECKS_BETWEEN_STAGES

    def demand(self, manifest: Manifest) -> str:
        """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
        return facts.demand(manifest)

    def promise(self, manifest: Manifest) -> str:
        """The promise in plain English."""
        people, demand = count(manifest["privacy"]["records"]), facts.demand(manifest)
        rows = (
            "published rows with the same text"
            if CLASSES in _promise(manifest)
            else "published rows"
        )
        return (
            f"Each of the {people} people in this release hides among at least as many {rows} as "
            f"the plan demands ({demand}). Even someone who knows every quasi-identifier of "
            "everyone (the traits by which people could be told apart) cannot narrow a person down "
            "to fewer rows from this release alone"
            + (
                ", and names a person's row with a chance of at most 1 in k."
                if EVEN in _promise(manifest)
                else "."
            )
        )

    def promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points of the promise, one or more for each of its findings."""
        texts = [text for finding in _promise(manifest) for text in PROMISED.get(finding, ())]
        return texts + value_words.grouped(manifest)

    def not_promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points that no finding of the promise covers."""
        promise = _promise(manifest)
        return [text for finding, text in NOT_PROMISED if finding not in promise]

    def not_promised_short(self, manifest: Manifest) -> str:
        """The points of `not_promised` in two sentences."""
        short = "Not promised: different sensitive values within a crowd (l-diversity), "
        if CLASSES in _promise(manifest):
            return short + "differential privacy."
        return (
            short + "differential privacy, equivalence classes. A tool that compares cells as "
            "text may report k = 1."
        )

    def checks(self, manifest: Manifest) -> Sequence[Check]:
        """The counts on which the promise depends; each must be 0."""
        privacy, promise = manifest["privacy"], _promise(manifest)
        counted = {
            COMPATIBLE: ("below_k", "People with too few rows that fit"),
            MATCHABLE: ("matchable_below_k", "People with too few matchable rows"),
            EVEN: ("likelier_than_k", "People with a row likelier than 1 in k"),
            CLASSES: ("classes_below_k", "People whose row has too few identical rows"),
            TRUTHFUL: ("untruthful_rows", "Published rows untrue of their person"),
        }
        checks = [
            none_of(privacy.get(key), what)
            for finding, (key, what) in counted.items()
            if finding in promise
        ]
        if (other := manifest.get("second_release")) is not None:
            what = "People with too few rows left once releases are compared"
            checks.append(none_of(other.get("below_k"), what))
        return checks

    def risks(self, manifest: Manifest) -> Sequence[str]:
        """Crowds with one sensitive value, and attacks that succeed more often than guessing."""
        risks, records = [], manifest["privacy"]["records"]
        for name, crowd in manifest.get("protection", {}).get("sensitive", {}).items():
            if known(number := crowd.get("uniform")) and number > 0:
                risks.append(
                    f"{count(number)} of {count(records)} people ({percent(number / records)}) "
                    "hide in a crowd whose rows all have one value of the sensitive column "
                    f"{printable(name)}: who knows their quasi-identifiers knows this value."
                )
            elif crowd.get("distinct") == 1:
                risks.append(
                    "The least diverse crowd has the same value of the sensitive column "
                    f"{printable(name)} in all its rows: the value is known for whoever hides "
                    "there."
                )
        return (
            risks
            + value_words.named(manifest)
            + _found_by_value(manifest)
            + attackers.risks(manifest)
        )

    def missing(self, manifest: Manifest) -> Sequence[str]:
        """Measurements that the manifest of an older release lacks."""
        sections = {
            "protection": "how diverse the sensitive values of the crowds are",
            "attacks": "how often attacks succeed",
        }
        return [what for section, what in sections.items() if not manifest.get(section)]

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """People, demand, failures, the strongest attack, information kept."""
        privacy = manifest["privacy"]
        low, high = count(privacy["k_min"]), count(privacy["k_max"])
        headline = [
            Fact("people, one row each", count(privacy["records"])),
            Fact("rows demanded as a crowd (k)", low if low == high else f"{low} to {high}"),
            Fact(
                "people with a smaller crowd than demanded",
                count(privacy.get("matchable_below_k")),
            ),
        ]
        if strongest := attackers.strongest(attackers.attacks(manifest)):
            label = f"chance of the strongest attack; by guessing {one_in(strongest.guess)}"
            headline.append(Fact(label, one_in(strongest.success)))
        kept = percent(facts.kept_information(manifest))
        return [*headline, Fact("of the information kept", kept)]

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Crowds, sensitive values in the worst crowd, attacks."""
        blocks = [Block(facts.CROWDS, (), facts.privacy_facts(manifest))]
        if diversity := facts.sensitive_in_crowds(manifest):
            blocks.append(Block(facts.SENSITIVE, facts.SENSITIVE_HEADINGS, diversity))
        return blocks + attackers.blocks(manifest)

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """Information kept by the whole table, then by each column."""
        blocks = [Block(facts.UTILITY, (), facts.utility_facts(manifest))]
        if columns := facts.column_shares(manifest):
            blocks.append(Block(facts.COLUMNS, facts.COLUMN_HEADINGS, columns))
        return blocks

    def kept_step(self, steps: Sequence[Mapping[str, Any]]) -> int | None:
        """The step marked as published; in older releases the best by weighted utility."""
        marked = [place for place, step in enumerate(steps) if step.get("published")]
        if marked or not steps or "utility" not in steps[0]:
            return marked[0] if marked else None
        reached = [step.get("weighted_utility", step["utility"]) for step in steps]
        return reached.index(max(reached))

    def sections(self, manifest: Manifest, measured: Any) -> Sequence[PageSection]:
        """Sections on checks, attacks, crowds, columns and cells."""
        from kinds.table import pictures  # matplotlib takes a second to import

        return pictures.sections(manifest, measured, self)


def _promise(manifest: Manifest) -> Sequence[str]:
    promise: Sequence[str] = manifest["privacy"].get("promise", BEFORE_PROMISES)
    return promise


def _found_by_value(manifest: Manifest) -> list[str]:
    """Carried columns whose values find many rows."""
    records = manifest["privacy"]["records"]
    values = manifest.get("protection", {}).get("unique_values", {})
    return [
        f"{count(number)} of {count(records)} rows ({percent(number / records)}) have a value of "
        f"the column {printable(name)} that no other row has: who knows this value of a person "
        "finds the person's row."
        for name, number in values.items()
        if number >= NOTABLE * records
    ]


def none_of(number: object, what: str) -> Check:
    """A check that a count is 0; a missing count fails."""
    return Check(what, "0", count(number), known(number) and number == 0)


WORDS = TableWords()
