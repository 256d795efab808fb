"""What a plan states about an uncertain graph, and the unit of probabilities."""

from typing import Literal

ONE = 1_000_000_000
"""The probability 1. Probabilities are whole billionths: sums are exact in any order."""

Knowledge = Literal["ceiling", "mode", "distribution"]
"""What an adversary knows of a vertex, from the private graph.

"ceiling": its expected degree, rounded up. "mode": its likeliest degree, the smallest of them.
"distribution": how likely each degree is.
"""
