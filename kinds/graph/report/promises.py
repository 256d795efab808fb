"""What a released graph promises and what it does not, in plain words."""

from collections.abc import Mapping, Sequence

from kinds.graph.report.findings import OBFUSCATED, promise_of
from reports.facts import Manifest, describe_levels
from reports.quantities import count, percent
from reports.verdict import protects_nobody
from reports.words import Text

KNOWN: Mapping[str, str] = {
    "ceiling": "the expected degree of a vertex, rounded up",
    "mode": "the likeliest degree of a vertex",
    "distribution": "how likely each degree of a vertex is",
}
FINER: Mapping[str, str] = {
    "ceiling": "the expected degree with its decimals, or how likely each degree is",
    "mode": "the expected degree, or how likely each degree is",
}
NOT_PROMISED: Sequence[Text] = (
    (
        "At most 1 in k.",
        "Uncertainty is measured over all vertices that may be the one that is looked for. One of "
        "them may be much likelier than 1 in k. The section on hiding counts such cases.",
    ),
    (
        "Protection against knowledge of edges.",
        "Someone who knows neighbours of a vertex, some of its edges, or how its neighbours are "
        "joined may find it. So may someone who knows a probability that the release leaves as it "
        "is.",
    ),
    (
        "Protection against those who see what was changed.",
        "Degrees hide vertices as long as changed edges look like the others. If the source has no "
        "small probability, or certain edges only, added edges stand out in the release. Someone "
        "who drops them is left with nearly the source. The section on attackers tries some rules.",
    ),
    (
        "True edges.",
        "A released edge may be absent from the source, an edge of the source may be missing, and "
        "probabilities differ. No single edge is evidence.",
    ),
    (
        "Secret edges.",
        "No edge is hidden on purpose. Whoever finds two vertices sees how likely their edge is in "
        "the release.",
    ),
    (
        "Groups.",
        "Vertices that belong together stay together in the release. A group may be found where no "
        "single vertex is.",
    ),
    (
        "Protection across releases.",
        "Another release of the same vertices can be compared with this one.",
    ),
    (
        "Differential privacy.",
        "Probabilities are changed as much as hiding by degree needs, not by random noise of a "
        "stated strength.",
    ),
)
EVERYBODY = "k = 1: the plan demands no other vertex"


def describe_no_change(manifest: Manifest) -> str:
    """That no edge was changed; empty where one was, and where older releases do not tell."""
    utility = manifest["utility"]
    if utility.get("same_edges") != 1 or not utility["edges_released"]:
        return ""
    edges = f"all {count(utility['edges_released'])} edges"
    why = (
        ""
        if protects_nobody(manifest)
        else " The vertices hide by their degree in the source already, as far as the plan demands."
    )
    return (
        f"Nothing was hidden: {edges} of the release have the probability of the source, and no "
        f"edge is missing.{why}"
    )


def describe_promise(manifest: Manifest) -> str:
    """The promise as a paragraph; it says who is left out and how far the release is off."""
    privacy = manifest["privacy"]
    number = count(privacy["records"])
    if protects_nobody(manifest):
        return (
            f"The plan demands nothing for any of the {number} vertices in this release: "
            f"{EVERYBODY}. Someone who knows the degree of a vertex may find it."
        )
    text = (
        f"This release is a graph of {number} vertices under random keys; up to "
        f"{percent(manifest['protection']['unchanged'])} of its edges have the probability of the "
        f"source.{_describe_obfuscation(manifest)}"
    )
    if privacy["k_min"] < 2:
        text += f" {count(privacy['unprotected'])} of these vertices are not protected: {EVERYBODY}"
        text += " for them."
    return f"{text} {describe_degree_error(manifest)}"


def _describe_obfuscation(manifest: Manifest) -> str:
    """What is promised and to whom not; nothing where nothing is promised."""
    if OBFUSCATED not in promise_of(manifest):
        return ""
    return f" {_describe_uncertainty(manifest)}{left_out(manifest)}"


def _describe_uncertainty(manifest: Manifest) -> str:
    who = KNOWN[manifest["privacy"]["knows"]]
    return (
        f"Someone who knows {who}, and nothing else of it, and looks for the vertex by the "
        "released probabilities stays at least as uncertain as about a choice among k equally "
        f"likely vertices ({describe_demand(manifest)})."
    )


def left_out(manifest: Manifest) -> str:
    """How many vertices the promise leaves out; nothing if it is about all."""
    privacy = manifest["privacy"]
    if not privacy["exempt"]:
        return ""
    return (
        f" The plan leaves up to {count(privacy['exempt'])} of the {count(privacy['records'])} "
        f"vertices out of this promise; {count(privacy['below'])} of them hide among fewer."
    )


def describe_demand(manifest: Manifest) -> str:
    """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100`."""
    return describe_levels(manifest, "everyone", "vertex")


def describe_degree_error(manifest: Manifest) -> str:
    """How far expected degrees are off."""
    utility = manifest["utility"]
    return (
        f"The expected degree of a vertex, {utility['degree']:.2f} on average, differs from the "
        f"source's by {utility['degree_error']:.2f} on average."
    )


def list_promise_points(manifest: Manifest) -> Sequence[Text]:
    """The points of the promise."""
    if OBFUSCATED not in promise_of(manifest):
        return []
    return [
        ("Hidden by degree.", _describe_uncertainty(manifest)),
        (
            "How that is counted.",
            "From the release, such a person works out how likely each vertex is the one. These "
            "chances have an entropy of at least log2 k: that of k equal chances.",
        ),
        (
            "Random keys.",
            "Keys and the order of edges say nothing about the source: keys were drawn by lot, and "
            "edges are in their order.",
        ),
    ]


def not_promised(manifest: Manifest) -> Sequence[Text]:
    """What no finding of the promise covers."""
    privacy, points = manifest["privacy"], []
    if privacy["exempt"]:
        share = privacy["exempt"] / privacy["records"]
        left = (
            f"Up to {count(privacy['exempt'])} vertices ({percent(share)}) may hide among fewer "
            f"than k; {count(privacy['below'])} of {count(privacy['records'])} do in this release. "
            "Someone may find them by their degree alone. Those of the greatest degree are often "
            "among them."
        )
        points.append(("The vertices left out.", left))
    if privacy["knows"] in FINER:
        finer = f"Someone who knows {FINER[privacy['knows']]}, may learn more."
        points.append(("Finer knowledge of a degree.", finer))
    return [*points, *NOT_PROMISED]


def not_promised_short(manifest: Manifest) -> str:
    """The points of `not_promised` in a sentence."""
    left = "anything for the vertices left out; " if manifest["privacy"]["exempt"] else ""
    return (
        f"Not promised: {left}anything against someone who knows neighbours or edges; that no "
        "vertex is likelier than 1 in k; that any edge is true; differential privacy."
    )
