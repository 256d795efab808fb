"""The columns of a released matrix, as catalogues tell of them."""

from collections.abc import Mapping, Sequence

from crowdcover.kinds.matrix.layout import ITEMS, KEY
from crowdcover.reports.catalogue.described import Field, Type
from crowdcover.reports.messages import load_messages


def describe_fields(form: str, types: Mapping[str, Type]) -> tuple[Sequence[Field], Sequence[str]]:
    """The key of a row and its items."""
    about = load_messages("crowdcover.kinds", "crowdcover.kinds.matrix").name_entries(
        "catalogue_columns"
    )
    key = Field(KEY, types[KEY], "key", about["key"])
    return [key, Field(ITEMS, types[ITEMS], "items", about[form])], [KEY]
