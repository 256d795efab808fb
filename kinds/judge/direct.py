"""Whether published cells and labels look like direct identifiers; of any kind that publishes them.

Every distinct text is looked at, of the whole column. Only counts leave this file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.kinds.judge.audit import DIRECT, Finding
from crowdcover.validations.recognition.kinds import KINDS

Found = Mapping[str, Mapping[str, int]]  # by column and kind: rows


@dataclass(frozen=True)
class ShownTexts:
    """The texts of one published column, or the labels of its codebook.

    Attributes
    ----------
    name : str
        Of the column.
    texts : String (n,)
        Distinct, none missing.
    rows : int64 (n,)
        How many rows have each text.
    key : str
        What of the plan may allow kinds here, such as "columns.note.allow".
    allow : sequence of str
        The kinds that the plan allows.
    """

    name: str
    texts: pl.Series = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    key: str
    allow: Sequence[str] = ()


def build_shown_cells(
    name: str, cells: pl.Series, key: str, allow: Sequence[str] = ()
) -> ShownTexts | None:
    """The cells of a column as they are published; None where they are no texts or numbers."""
    texts = _convert_to_texts(cells.alias(""))
    if texts is None:
        return None
    texts = texts.filter(texts.is_not_null() & (texts != ""))
    times = texts.alias("text").value_counts(sort=False, name="rows").sort("text")
    return ShownTexts(name, times["text"], times["rows"].to_numpy().astype(np.int64), key, allow)


def build_shown_labels(
    name: str, labels: Sequence[str], rows: NDArray[np.int64], key: str, allow: Sequence[str] = ()
) -> ShownTexts:
    """The labels of a codebook, with the number of rows that each of them is true of."""
    return ShownTexts(name, pl.Series(labels, dtype=pl.String), rows.astype(np.int64), key, allow)


def count_direct(shown: Sequence[ShownTexts]) -> dict[str, dict[str, int]]:
    """Count, for each column and kind, the rows that look like it; without what is not found."""
    # Tables of all countries: not at each start.
    from crowdcover.validations.recognition.cells import Cells
    from crowdcover.validations.recognition.recognise import count_rows_of_columns

    names = [each.name for each in shown]
    columns = [Cells.of(each.name, each.texts, each.rows, names) for each in shown]
    counted = dict(zip(names, count_rows_of_columns(columns), strict=True))
    return {
        name: {str(kind): rows for kind, rows in found.items()}
        for name, found in counted.items()
        if found
    }


def direct_finding(shown: Sequence[ShownTexts], found: Found, rows: int) -> Finding:
    """Whether all that was found is allowed; the detail names columns, kinds, rows and ways out."""
    refused, allowed = [], []
    for each in shown:
        counts = found.get(each.name, {})
        bad = {kind: number for kind, number in counts.items() if kind not in each.allow}
        good = {kind: number for kind, number in counts.items() if kind in each.allow}
        if bad:
            ways = f"{each.key} = [{', '.join(repr(kind) for kind in sorted(counts))}]"
            refused.append(
                f"column {each.name!r} shows {_format_counts(bad, rows)} (to allow it: {ways})"
            )
        if good:
            allowed.append(f"column {each.name!r} shows {_format_counts(good, rows)}")
    if not refused:
        detail = f"no cell and no label of {len(shown)} columns looks like one"
        if allowed:
            detail = f"what the plan allows and nothing else: {'; '.join(allowed)}"
        return Finding(DIRECT, passed=True, detail=detail)
    detail = (
        f"{'; '.join(refused)}; give the column role = 'drop' or 'identifier', remove these cells "
        "from the source, or allow them in the plan with a note that says why"
    )
    return Finding(DIRECT, passed=False, detail=detail)


def _format_counts(found: Mapping[str, int], rows: int) -> str:
    each = [
        f"{text} in {found[kind]} of {rows} rows" for kind, text in KINDS.items() if kind in found
    ]
    return ", ".join(each)


def _convert_to_texts(cells: pl.Series) -> pl.Series | None:
    """Cells as texts; whole numbers without a decimal point. None: truth values and times."""
    if cells.dtype in (pl.String, pl.Categorical, pl.Enum):
        return cells.cast(pl.String)
    if cells.dtype.is_float() and bool((cells.drop_nulls() % 1 == 0).all()):
        return cells.cast(pl.String).str.strip_suffix(".0")
    if cells.dtype.is_numeric():
        return cells.cast(pl.String)
    if isinstance(cells.dtype, pl.List):
        return cells.list.eval(pl.element().cast(pl.String, strict=False)).list.join(" ")
    if isinstance(cells.dtype, pl.Struct):
        return cells.struct.json_encode()
    return None
