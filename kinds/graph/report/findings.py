"""What an audit of a graph finds, by name: the one source of these sentences and labels."""

from collections.abc import Sequence

from reports.facts import Manifest
from reports.findings import SHARED
from reports.quantities import count, is_number
from reports.verdict import protects_nobody
from reports.words import Check, CheckText

OBFUSCATED = "obfuscated"

FINDINGS = {
    "readable files": "Every data file exists and can be read.",
    "same table in every format": "All formats contain the same edges.",
    "no other column": "Two keys and a probability are the only columns.",
    "no traces in the files": "Headers, footers and the spelling of numbers reveal nothing beside "
    "the edges.",
    "edges ordered by key": "The edges are in the order of their random keys, the lesser key of "
    "each first.",
    "each edge once": "No edge occurs twice or joins a vertex with itself.",
    "keys of 16 hexadecimal digits": "Every key is 16 hexadecimal digits.",
    "probabilities in millionths": "Every probability is a whole number of millionths, above 0 and "
    "up to 1.",
    "one key a vertex": "Every vertex has a key, which is no other vertex's.",
    "known keys": "Every released key belongs to a vertex of the source.",
    "fresh keys": "No key is the name of a vertex of the source.",
    "order tells nothing": "A guess by the source's order is right no more often than chance "
    "explains.",
    "codebook of the source": "The codebook states the number of vertices of the source, and says "
    "nothing else.",
    OBFUSCATED: "All vertices but the exempt ones hide among at least as many as they demand: for "
    "who knows the degree as the plan says, the entropy over the released vertices is at least "
    "log2 k.",
}
ALL = {**FINDINGS, **SHARED}
CHECKS_BETWEEN_STAGES = {
    "ingested": CheckText(
        "The edges as they were read",
        "Before encoding: every edge joins two different vertices, no pair has two edges, every "
        "probability is from 0 to 1, and the names of the vertices are gone.",
    ),
    "encoded": CheckText(
        "The uncertain graph",
        "Before the anonymizer runs: the edges are in order, and there are enough vertices for "
        "every demand.",
    ),
    "audited": CheckText(
        "The guarantees",
        "The auditor recomputes them from the source and from the files to be published. It "
        "counts with code of its own.",
    ),
    "released": CheckText(
        "The graph to be published",
        "The audited graph, checked again: keys, probabilities and vertices below their demand.",
    ),
}


def promise_of(manifest: Manifest) -> Sequence[str]:
    """Names of the findings that the release promises."""
    promise: Sequence[str] = manifest["privacy"]["promise"]
    return promise


def list_promise_checks(manifest: Manifest) -> Sequence[Check]:
    """The count on which the promise depends."""
    privacy = manifest["privacy"]
    if OBFUSCATED not in promise_of(manifest):
        return []
    below, exempt = privacy.get("below"), privacy.get("exempt")
    return [
        Check(
            "Vertices that hide among fewer than they demand",
            "0" if exempt == 0 else f"at most {count(exempt)}",
            count(below),
            is_number(below) and is_number(exempt) and below <= exempt,
            protects_nobody(manifest),
        )
    ]
