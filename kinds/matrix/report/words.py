"""The texts of a released matrix, gathered for reports; see `reports.words.Words`."""

from collections.abc import Mapping, Sequence
from typing import Any

from kinds import direct
from kinds.matrix.report import facts, promises
from kinds.matrix.report import findings as audited
from kinds.matrix.report.glossary import GLOSSARY
from reports.comparison import Compared
from reports.facts import BadFact, Fact, Manifest
from reports.quantities import count, one_in, percent, printable
from reports.words import Block, Check, ColumnRole, Exposure, PageSection, Risk, Text

SHOWN = {
    "identifier": ("user", "nothing: each row has a random key"),
    "quasi": ("item", "items that at least one released row has, by name"),
}
KEYED = "items that at least one released row has, under fresh keys"
LITTLE = 0.5  # of the entries


class MatrixWords:
    """The texts of matrices; see `reports.words.Words`."""

    glossary = GLOSSARY
    findings = audited.ALL
    checks_between_stages = audited.CHECKS_BETWEEN_STAGES

    def subjects(self, manifest: Manifest) -> str:  # noqa: ARG002 - of the protocol
        """Each user has a row."""
        return "users"

    def demand(self, manifest: Manifest) -> str:
        """The demanded levels, as `k = 10 for everyone`."""
        return promises.describe_demand(manifest)

    def promise(self, manifest: Manifest) -> str:
        """The promise in plain English, with how many entries are false."""
        first = promises.describe_no_change(manifest)
        return f"{first} {promises.describe_promise(manifest)}".lstrip()

    def describe_no_change(self, manifest: Manifest) -> str:
        """That no entry was left out or added."""
        return promises.describe_no_change(manifest)

    def promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points of the promise, one or more for each of its findings."""
        return promises.list_promise_points(manifest)

    def not_promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points that no finding of the promise covers."""
        return [*promises.not_promised(manifest), *direct.describe_direct_search(manifest)]

    def not_promised_short(self, manifest: Manifest) -> str:
        """The points of `not_promised` in two sentences."""
        return promises.not_promised_short(manifest)

    def checks(self, manifest: Manifest) -> Sequence[Check]:
        """The counts on which the promise depends; each must be 0."""
        return audited.list_promise_checks(manifest)

    def risks(self, manifest: Manifest) -> Sequence[Risk]:
        """Singling out, linkability, inference."""
        return facts.list_risks(manifest)

    def columns(self, manifest: Manifest) -> Sequence[ColumnRole]:
        """The columns that were read, with their roles."""
        listed = []
        for name, stated in manifest.get("columns", {}).items():
            role, shown = SHOWN[stated["role"]]
            shown = KEYED if role == "item" and manifest.get("keyed") else shown
            listed.append(ColumnRole(printable(name), role, shown))
        return listed

    def warnings(self, manifest: Manifest) -> Sequence[str]:
        """Items that are people or that a whole class has, and a release that keeps little."""
        protection, utility = manifest["protection"], manifest["utility"]
        listed = [promises.AS_ITEMS[1]] if manifest.get("keyed") else []
        if share := protection["unanimous_rows"]:
            listed.append(
                f"Up to {percent(share)} of the users have an item that their whole class has: who "
                "knows that a user is in the class knows the item."
            )
        if utility["jaccard"] < LITTLE:
            listed.append(
                "Less than half of what is in source or release is in both: the Jaccard similarity "
                f"is {percent(utility['jaccard'])}."
            )
        return [*listed, *direct.let_through(manifest)]

    def exposure(self, manifest: Manifest) -> Exposure | None:
        """Users with an item that their whole class has."""
        share, records = manifest["protection"]["unanimous_rows"], manifest["privacy"]["records"]
        if not share:
            return None
        number = int(share * records + 1e-9)  # the share is rounded up
        return Exposure(
            share,
            f"up to {count(number)} of {count(records)} users ({percent(share)}) have an item that "
            "their whole class has",
        )

    def missing(self, manifest: Manifest) -> Sequence[str]:  # noqa: ARG002 - of the protocol
        """Nothing: every release of a matrix states all numbers."""
        return []

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """Users, demand, classes, the strongest attacker, false entries, similarity."""
        privacy, utility = manifest["privacy"], manifest["utility"]
        low, high = count(privacy["k_min"]), count(privacy["k_max"])
        least = count(manifest["protection"]["classes"]["least"])
        of_least = BadFact if privacy.get("classes_below_k", 0) > 0 else Fact
        headline = [
            Fact("users, a released row for each", count(privacy["records"])),
            Fact("equal rows demanded (k)", low if low == high else f"{low} to {high}"),
            of_least("users in the smallest class", least),
        ]
        if tried := facts.attacks(manifest):
            best = max(tried, key=lambda attack: attack.success)
            label = f"average chance to find a user's row by {best.name}; 0 where no row shows them"
            headline.append(Fact(label, one_in(best.success)))
        return [
            *headline,
            Fact("of the released entries are false, at most", percent(utility["false"])),
            Fact("Jaccard similarity with the source", percent(utility["jaccard"])),
        ]

    def compared(self, sections: Manifest) -> Sequence[Compared]:
        """Similarity, false and missing entries, how far classes exceed k, the strongest attack."""
        kept, classes = sections["utility"], sections["protection"]["classes"]
        demanded = sections["privacy"]["k_max"]
        beyond, most = classes["median"] - demanded, classes["greatest"] - demanded
        chance = max((attack.success for attack in facts.attacks(sections)), default=None)
        return [
            Compared("jaccard", "Jaccard similarity", kept["jaccard"], percent(kept["jaccard"])),
            Compared("false", "false entries", kept["false"], percent(kept["false"])),
            Compared("missing", "missing entries", kept["suppressed"], percent(kept["suppressed"])),
            Compared("beyond_k", "over k, median", beyond, count(beyond)),
            Compared("most_beyond_k", "over k, most", most, count(most)),
            Compared("attack", "strongest attack", chance, one_in(chance)),
        ]

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Classes and attackers."""
        rows = [attack.row for attack in facts.attacks(manifest)]
        return [
            Block(facts.CLASSES, (), facts.class_facts(manifest)),
            Block(facts.ATTACKS, facts.ATTACK_HEADINGS, rows),
        ]

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """Entries kept, missing and false."""
        return [Block(facts.KEPT, (), facts.entry_facts(manifest))]

    def find_published_step(self, steps: Sequence[Mapping[str, Any]]) -> int | None:
        """The step marked as published."""
        return next((place for place, step in enumerate(steps) if step.get("published")), None)

    def sections(self, manifest: Manifest, measured: Any) -> Sequence[PageSection]:
        """Sections on checks, attacks, classes, entries and how to read a row."""
        from kinds.matrix.report import pictures  # matplotlib takes a second to import

        return pictures.build_page_sections(manifest, measured, self)


WORDS = MatrixWords()
