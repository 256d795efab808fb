"""The texts of a released graph, gathered for reports; see `reports.words.Words`."""

from collections.abc import Mapping, Sequence
from typing import Any

from kinds.graph.report import facts, promises
from kinds.graph.report import findings as audited
from kinds.graph.report.glossary import GLOSSARY
from reports.comparison import Compared
from reports.facts import BadFact, Fact, Manifest
from reports.quantities import count, digits, one_in, percent, printable
from reports.words import Block, Check, ColumnRole, Exposure, PageSection, Risk, Text

SHOWN = {
    "identifier": ("end of an edge", "nothing: each vertex has a random key"),
    "probability": ("probability", "a probability for each released edge, often a changed one"),
}
MUCH = 0.1  # of a chance


class GraphWords:
    """The texts of graphs; see `reports.words.Words`."""

    glossary = GLOSSARY
    findings = audited.ALL
    checks_between_stages = audited.CHECKS_BETWEEN_STAGES

    def subjects(self, manifest: Manifest) -> str:  # noqa: ARG002 - of the protocol
        """Each vertex has a key."""
        return "vertices"

    def demand(self, manifest: Manifest) -> str:
        """The demanded levels, as `k = 10 for everyone`."""
        return promises.describe_demand(manifest)

    def promise(self, manifest: Manifest) -> str:
        """The promise in plain English, with who is left out."""
        first = promises.describe_no_change(manifest)
        return f"{first} {promises.describe_promise(manifest)}".lstrip()

    def describe_no_change(self, manifest: Manifest) -> str:
        """That no edge was changed."""
        return promises.describe_no_change(manifest)

    def promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points of the promise."""
        return promises.list_promise_points(manifest)

    def not_promised(self, manifest: Manifest) -> Sequence[Text]:
        """The points that no finding of the promise covers."""
        return promises.not_promised(manifest)

    def not_promised_short(self, manifest: Manifest) -> str:
        """The points of `not_promised` in a sentence."""
        return promises.not_promised_short(manifest)

    def checks(self, manifest: Manifest) -> Sequence[Check]:
        """The count on which the promise depends."""
        return audited.list_promise_checks(manifest)

    def risks(self, manifest: Manifest) -> Sequence[Risk]:
        """Singling out, linkability, inference."""
        return facts.list_risks(manifest)

    def columns(self, manifest: Manifest) -> Sequence[ColumnRole]:
        """The columns that were read, with their roles."""
        return [
            ColumnRole(printable(name), *SHOWN[stated["role"]])
            for name, stated in manifest.get("columns", {}).items()
        ]

    def warnings(self, manifest: Manifest) -> Sequence[str]:
        """Vertices that are left out, and probabilities that stay as they are."""
        privacy, listed = manifest["privacy"], []
        if privacy["exempt"]:
            listed.append(
                f"The plan leaves up to {count(privacy['exempt'])} of "
                f"{count(privacy['records'])} vertices without the promise; "
                f"{count(privacy['below'])} hide among fewer than they demand."
            )
        if share := manifest["protection"]["unchanged"]:
            listed.append(
                f"Up to {percent(share)} of the released edges have the probability of the source. "
                "Who knows such a probability may find the edge, and both of its ends."
            )
        if (change := manifest["utility"]["discrepancy"]) >= MUCH:
            listed.append(
                "Whether two vertices are connected is not kept well: that chance changes by "
                f"{100 * change:.1f} percentage points on average."
            )
        return listed

    def exposure(self, manifest: Manifest) -> Exposure | None:
        """Vertices that the plan leaves without the promise and that hide among fewer."""
        below, records = manifest["privacy"]["below"], manifest["privacy"]["records"]
        if not below:
            return None
        hides, demands = ("hides", "it demands") if below == 1 else ("hide", "they demand")
        return Exposure(
            below / records,
            f"{count(below)} of {count(records)} vertices ({percent(below / records)}) {hides} "
            f"among fewer than {demands}",
        )

    def missing(self, manifest: Manifest) -> Sequence[str]:
        """What the manifest of an older release lacks."""
        stated = "triangles_deviation" in manifest["utility"]
        return [] if stated else ["how much the number of triangles varies"]

    def headline(self, manifest: Manifest) -> Sequence[Fact]:
        """Vertices, demand, who is below it, the strongest attacker, changes."""
        privacy, utility = manifest["privacy"], manifest["utility"]
        low, high = count(privacy["k_min"]), count(privacy["k_max"])
        best = max(facts.attacks(manifest), key=lambda attack: attack.success)
        of_below = BadFact if privacy["below"] > privacy["exempt"] else Fact
        return [
            Fact("vertices, a random key for each", count(privacy["records"])),
            Fact("to hide among, as demanded (k)", low if low == high else f"{low} to {high}"),
            of_below("vertices that hide among fewer", count(privacy["below"])),
            Fact(
                f"average chance of a right guess for who knows {best.name}", one_in(best.success)
            ),
            Fact("average change of an expected degree", digits(utility["degree_error"])),
            Fact(
                "percentage points: average change of the chance that two vertices are connected",
                f"{100 * utility['discrepancy']:.1f}",
            ),
        ]

    def compared(self, sections: Manifest) -> Sequence[Compared]:
        """Changes of degrees and connections, crowds beyond k, the strongest attack."""
        changed, among = sections["utility"], sections["protection"]["hides_among"]
        demanded = sections["privacy"]["k_max"]
        least, median = among["least"] - demanded, among["median"] - demanded
        chance = max((attack.success for attack in facts.attacks(sections)), default=None)
        below = sections["privacy"]["below"]
        error, moved = changed["degree_error"], changed["discrepancy"]
        return [
            Compared("degree_error", "change of a degree", error, digits(error)),
            Compared("discrepancy", "change of a connection", moved, percent(moved)),
            Compared("below", "vertices below k", below, count(below)),
            Compared("beyond_k", "over k, median", median, digits(median)),
            Compared("least_beyond_k", "over k, least", least, digits(least)),
            Compared("attack", "strongest attack", chance, one_in(chance)),
        ]

    def protection(self, manifest: Manifest) -> Sequence[Block]:
        """Hiding and attackers."""
        rows = [attack.row for attack in facts.attacks(manifest)]
        return [
            Block(facts.HIDING, (), facts.hiding_facts(manifest)),
            Block(facts.ATTACKS, facts.ATTACK_HEADINGS, rows),
        ]

    def utility(self, manifest: Manifest) -> Sequence[Block]:
        """Edges, degrees, connections and triangles, before and after."""
        return [
            Block(facts.KEPT, facts.SIDE_HEADINGS, facts.sides(manifest)),
            Block(facts.TRIANGLES, facts.SIDE_HEADINGS, facts.triangle_sides(manifest)),
            Block(facts.CHANGED, (), facts.change_facts(manifest)),
        ]

    def find_published_step(self, steps: Sequence[Mapping[str, Any]]) -> int | None:
        """The step marked as published."""
        return next((place for place, step in enumerate(steps) if step.get("published")), None)

    def sections(self, manifest: Manifest, measured: Any) -> Sequence[PageSection]:
        """Sections on checks, attackers, hiding, what is left and how to read a row."""
        from kinds.graph.report import pictures  # matplotlib takes a second to import

        return pictures.build_page_sections(manifest, measured, self)


WORDS = GraphWords()
