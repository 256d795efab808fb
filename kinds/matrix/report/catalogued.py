"""The columns of a released matrix, as catalogues tell of them."""

from collections.abc import Mapping, Sequence

from kinds.matrix.layout import ITEMS, KEY
from reports.catalogue.described import Field, Type

OF_FORM = {
    "parquet": "numbers of the user's items, ascending; codebook.json says what each stands for",
    "csv": "the same numbers in one text, with a blank between two",
}


def describe_fields(form: str, types: Mapping[str, Type]) -> tuple[Sequence[Field], Sequence[str]]:
    """The key of a row and its items."""
    key = Field(KEY, types[KEY], "key", "random key of the user's row")
    return [key, Field(ITEMS, types[ITEMS], "items", OF_FORM[form])], [KEY]
