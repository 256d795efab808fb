"""The texts of a released graph, gathered for reports; see `reports.words.Words`."""

from collections.abc import Sequence
from typing import Any

from crowdcover.kinds.graph.report import facts, promises
from crowdcover.kinds.graph.report.findings import list_promise_checks
from crowdcover.kinds.words import KindWords, find_strongest_chance
from crowdcover.reports.comparison import Compared
from crowdcover.reports.facts import BadFact, Fact, Manifest, list_facts
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, digits, one_in, percent, points
from crowdcover.reports.words import Block, Exposure, PageSection

MUCH = 0.1  # of a chance


class GraphWords(KindWords):
    """The texts of graphs; see `reports.words.Words`."""

    messages = load_messages("crowdcover.kinds", "crowdcover.kinds.graph")
    number_forms = facts.NUMBER_FORMS
    describe_no_change = staticmethod(promises.describe_no_change)
    describe_promise = staticmethod(promises.describe_promise)
    promised = staticmethod(promises.list_promise_points)
    not_promised = staticmethod(promises.not_promised)
    not_promised_short = staticmethod(promises.not_promised_short)
    checks = staticmethod(list_promise_checks)
    risks = staticmethod(facts.list_risks)

    def warnings(self, manifest: Manifest) -> Sequence[str]:
        """Connections that are not kept; the lines of the three risks say what else to know."""
        change = manifest["utility"]["discrepancy"]
        if change < MUCH:
            return []
        return [self.messages.say("warnings", "discrepancy", discrepancy=change)]

    def exposure(self, manifest: Manifest) -> Exposure | None:
        """Vertices that the plan leaves without the promise and that hide among fewer."""
        privacy = manifest["privacy"]
        if not privacy["below"]:
            return None
        text = self.messages.say("warnings", "exposure", **privacy)
        return Exposure(privacy["below"] / privacy["records"], text)

    def list_unstated(self, manifest: Manifest) -> Sequence[str]:
        """What the manifest of an older release lacks."""
        stated = {
            "no_deviation": "triangles_deviation" in manifest["utility"],
            "no_edges": "edges" in manifest["protection"],
        }
        return [self.messages.say("warnings", name) for name in stated if not stated[name]]

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """Vertices, demand, who is below it, changes."""
        privacy, utility = manifest["privacy"], manifest["utility"]
        numbers = {
            "vertices": count(privacy["records"]),
            "demand": self.describe_range(privacy),
            **({"below": count(privacy["below"])} if privacy["below"] else {}),
            "degree": digits(utility["degree_error"]),
            "discrepancy": points(utility["discrepancy"]),
        }
        bad = {"below"} if privacy["below"] > privacy["exempt"] else ()
        return [
            (BadFact if name in bad else Fact)(
                self.messages.say("headline", name, **privacy), number
            )
            for name, number in numbers.items()
        ]

    def compared(self, sections: Manifest) -> Sequence[Compared]:
        """Changes of degrees and connections, crowds beyond k, the strongest attack."""
        changed, among = sections["utility"], sections["protection"]["hides_among"]
        demanded, below = sections["privacy"]["k_max"], sections["privacy"]["below"]
        numbers = {
            "degree_error": (changed["degree_error"], digits),
            "discrepancy": (changed["discrepancy"], percent),
            "below": (below, count),
            "beyond_k": (among["median"] - demanded, digits),
            "least_beyond_k": (among["least"] - demanded, digits),
            "attack": (find_strongest_chance(facts.attacks(sections)), one_in),
        }
        return self.list_compared(numbers)

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Hiding and attackers."""
        attackers = [attack.row for attack in facts.attacks(manifest)]
        return [
            self.build_block("hiding", list_facts(self.messages, "facts", "hiding", **manifest)),
            self.build_block("attacks", attackers, "attack"),
        ]

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """Edges, degrees, connections and triangles, before and after."""
        changes = list_facts(self.messages, "facts", "changes", **manifest)
        return [
            self.build_block("graph", facts.list_sides(manifest, "graph"), "sides"),
            self.build_block("triangles", facts.list_sides(manifest, "triangles"), "sides"),
            self.build_block("changes", changes),
        ]

    def sections(self, manifest: Manifest, measured: Any) -> Sequence[PageSection]:
        """Sections on checks, attackers, hiding, what is left and how to read a row."""
        from crowdcover.kinds.graph.report import pictures  # matplotlib takes a second to import

        return pictures.build_page_sections(manifest, measured, self)


WORDS = GraphWords()
