"""The texts of a released matrix, gathered for reports; see `reports.words.Words`."""

from collections.abc import Sequence
from typing import Any, ClassVar

from crowdcover.kinds import direct
from crowdcover.kinds.matrix.report import facts, promises
from crowdcover.kinds.matrix.report.findings import list_promise_checks
from crowdcover.kinds.words import KindWords, find_strongest_chance
from crowdcover.reports.comparison import Compared
from crowdcover.reports.facts import BadFact, Fact, Manifest, list_facts
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, count_share, one_in, percent
from crowdcover.reports.words import Block, ColumnRole, Exposure, PageSection, Text

_LITTLE = 0.5  # of the entries


class MatrixWords(KindWords):
    """The texts of matrices; see `reports.words.Words`."""

    messages = load_messages("crowdcover.kinds", "crowdcover.kinds.matrix")
    number_forms: ClassVar = {
        **dict.fromkeys(("jaccard", "suppressed", "created", "false"), percent),
        **dict.fromkeys(("entries", "entries_released", "items", "items_released"), count),
    }
    describe_no_change = staticmethod(promises.describe_no_change)
    describe_promise = staticmethod(promises.describe_promise)
    promised = staticmethod(promises.list_promise_points)
    not_promised_short = staticmethod(promises.not_promised_short)
    checks = staticmethod(list_promise_checks)
    risks = staticmethod(facts.list_risks)

    def not_promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points that no finding of the promise covers."""
        return [*promises.not_promised(manifest), *direct.describe_direct_search(manifest)]

    def columns(self, manifest: Manifest) -> Sequence[ColumnRole]:
        """The columns that were read; items that are people are under fresh keys."""
        listed = super().columns(manifest)
        if not manifest.get("keyed"):
            return listed
        keyed = self.messages.list_texts("columns", "keyed")[0]
        return [ColumnRole(each.name, *keyed) if each.role == keyed[0] else each for each in listed]

    def warnings(self, manifest: Manifest) -> Sequence[str]:
        """Items that are people, and a release that keeps little."""
        jaccard = manifest["utility"]["jaccard"]
        holds = {"people": manifest.get("keyed"), "jaccard": jaccard < _LITTLE}
        listed = [
            self.messages.say("warnings", name, jaccard=jaccard) for name in holds if holds[name]
        ]
        return [*listed, *direct.let_through(manifest)]

    def exposure(self, manifest: Manifest) -> Exposure | None:
        """Users with an item that their whole class has."""
        share, records = manifest["protection"]["unanimous_rows"], manifest["privacy"]["records"]
        if not share:
            return None
        figures = {
            "number": count_share(share, records),
            "records": records,
        }
        return Exposure(share, self.messages.say("warnings", "exposure", **figures))

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """Users, demand, classes, false entries, similarity."""
        privacy, utility = manifest["privacy"], manifest["utility"]
        least = manifest["protection"]["classes"]["least"]
        numbers = {
            "users": count(privacy["records"]),
            "demand": self.describe_range(privacy),
            "least": count(least),
            "false": percent(utility["false"]),
            "jaccard": percent(utility["jaccard"]),
        }
        bad = {"least"} if privacy.get("classes_below_k", 0) > 0 else ()
        return [
            (BadFact if name in bad else Fact)(self.messages.say("headline", name), number)
            for name, number in numbers.items()
        ]

    def compared(self, sections: Manifest) -> Sequence[Compared]:
        """Similarity, false and missing entries, how far classes exceed k, the strongest attack."""
        kept, classes = sections["utility"], sections["protection"]["classes"]
        demanded = sections["privacy"]["k_max"]
        return self.list_compared({
            "jaccard": (kept["jaccard"], percent),
            "false": (kept["false"], percent),
            "missing": (kept["suppressed"], percent),
            "beyond_k": (classes["median"] - demanded, count),
            "most_beyond_k": (classes["greatest"] - demanded, count),
            "attack": (find_strongest_chance(facts.attacks(sections)), one_in),
        })  # fmt: skip

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Classes and attackers."""
        attackers = [attack.row for attack in facts.attacks(manifest)]
        return [
            self.build_block("classes", list_facts(self.messages, "facts", "classes", **manifest)),
            self.build_block("attacks", attackers, "attack"),
        ]

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """Entries kept, missing and false."""
        entries = list_facts(self.messages, "facts", "entries", **manifest)
        return [self.build_block("entries", entries)]

    def sections(self, manifest: Manifest, measured: Any) -> Sequence[PageSection]:
        """Sections on checks, attacks, classes, entries and how to read a row."""
        from crowdcover.kinds.matrix.report import pictures  # matplotlib takes a second to import

        return pictures.build_page_sections(manifest, measured, self)


WORDS = MatrixWords()
