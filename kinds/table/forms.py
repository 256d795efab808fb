"""How data.parquet shows the columns of a table; makers and the auditor agree on these words."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from anon_core.specs.coarse import Ends
from anon_core.specs.columns import ColumnSpec
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.layout import KEY, list_released_columns
from crowdcover.kinds.table.version_files import SINCE

FORMAT = 2  # of codebooks; releases without one have text cells in data.parquet
_VALUE, LIST, INTERVAL, INTERVALS = "value", "list", "interval", "intervals"
COUNTED = ("numeric", "date")  # kinds of columns whose cells have bounds
LO, HI, ABSENT = "lo", "hi", "missing"  # fields of an interval
COARSE = (
    "a column in coarsened shows numbers that may stand for others: with step, a number was "
    "rounded to the nearest multiple of it, half way to the even one; after that, top stands for "
    "itself and all greater numbers, bottom for itself and all smaller ones"
)
COARSE_DATES = (
    "a date of a column in coarsened is the first day of its step, of weeks the Monday, and stands "
    "for all days of it"
)
INCLUDED, EXCLUDED = "included", "excluded"
OF_VERSIONS = {"name": SINCE, "role": SINCE, "type": "integer", "form": _VALUE}
_NAMES: Mapping[type[pl.DataType], str] = {
    pl.Boolean: "boolean",
    pl.Date: "date",
    pl.Datetime: "datetime",
    pl.Decimal: "decimal",
    pl.Time: "time",
}


def type_name(dtype: pl.DataType) -> str:
    """The type of a column's values, as the codebook names it."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "float"
    return _NAMES.get(dtype.base_type(), "string")


def name_form(spec: ColumnSpec) -> str:
    """How the cells of a quasi-identifier are shown."""
    if not spec.is_counted:
        return LIST
    # A node of numbers or dates is an interval.
    ordered = spec.encoding == "ordinal" or spec.hierarchy is not None
    return INTERVAL if ordered else INTERVALS


def is_whole(dtype: pl.DataType) -> bool:
    """Whether values are whole numbers or days, so that both bounds of an interval are included."""
    return not dtype.is_float()


def bound_type(dtype: pl.DataType) -> pl.DataType:
    """The type of the bounds of numbers or dates."""
    if dtype == pl.Date:
        return pl.Date()
    return pl.Int64() if dtype.is_integer() else pl.Float64()


def find_stored_type(form: str, dtype: pl.DataType) -> pl.DataType:
    """The type of a column in data.parquet, whose values have this type in the source."""
    if form == _VALUE:
        return dtype
    if form == LIST:
        return pl.List(pl.String)
    bounds = {LO: bound_type(dtype), HI: bound_type(dtype)}
    if form == INTERVAL:
        return pl.Struct({**bounds, ABSENT: pl.Boolean()})
    return pl.List(pl.Struct(bounds))


def build_stored_schema(
    columns: tuple[Column, ...], source: Mapping[str, pl.DataType]
) -> pl.Schema:
    """The columns of data.parquet; `source` has the types of the typed source columns."""
    schema: dict[str, pl.DataType] = {KEY: pl.String()}
    for column in list_released_columns(columns):
        form = _VALUE if column.spec is None else name_form(column.spec)
        schema[column.name] = find_stored_type(form, source[column.name])
    return pl.Schema(schema)


def is_typed(codebook: object) -> bool:
    """Whether data.parquet has typed cells; not where an older codebook has no format."""
    # None, an unreadable codebook, counts as typed: the audit of the codebook tells the fault.
    return not (isinstance(codebook, dict) and codebook and "format" not in codebook)


def describe_coarse_columns(
    columns: tuple[Column, ...], ends: Mapping[str, Ends]
) -> dict[str, Any]:
    """What the codebook states of coarser values; nothing where no column has any."""
    stated = {column.name: column.coarse for column in columns if column.coarse is not None}
    if not stated:
        return {}
    of_dates = {each.is_of_dates for each in stated.values()}
    said = {"coarse": COARSE} if False in of_dates else {}
    if True in of_dates:
        said["coarse_dates"] = COARSE_DATES
    coarsened = [{"name": name, **each.describe(ends[name])} for name, each in stated.items()]
    return {**said, "coarsened": coarsened}


def describe_codebook_columns(
    columns: tuple[Column, ...], source: Mapping[str, pl.DataType]
) -> list[dict[str, str]]:
    """The codebook's `columns`: each column in order; `source` as for `build_stored_schema`."""
    entries = [{"name": KEY, "role": "key", "type": "string", "form": _VALUE}]
    for column in list_released_columns(columns):
        form = _VALUE if column.spec is None else name_form(column.spec)
        kind = type_name(source[column.name])
        entries.append({"name": column.name, "role": column.role, "type": kind, "form": form})
    return entries
