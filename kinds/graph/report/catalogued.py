"""The columns of released edges, as catalogues tell of them."""

from collections.abc import Mapping, Sequence

from crowdcover.kinds.graph.layout import P, U, V
from crowdcover.reports.catalogue.described import Field, Type
from crowdcover.reports.messages import load_messages

ROLES = {U: "vertex", V: "vertex", P: "probability"}


def describe_fields(types: Mapping[str, Type]) -> tuple[Sequence[Field], Sequence[str]]:
    """Both ends and the probability."""
    about = load_messages("crowdcover.kinds", "crowdcover.kinds.graph").name_entries(
        "catalogue_columns"
    )
    return [Field(name, types[name], role, about[name]) for name, role in ROLES.items()], [U, V]
