"""The columns of released edges, as catalogues tell of them."""

from collections.abc import Mapping, Sequence

from kinds.graph.layout import P, U, V
from reports.catalogue.described import Field, Type

ABOUT = {
    U: ("vertex", "random key of one end of the edge, the lesser"),
    V: ("vertex", "random key of the other end"),
    P: ("probability", "probability that the edge exists, in millionths; 0 if it is not listed"),
}


def describe_fields(types: Mapping[str, Type]) -> tuple[Sequence[Field], Sequence[str]]:
    """Both ends and the probability."""
    return [Field(name, types[name], *ABOUT[name]) for name in (U, V, P)], [U, V]
