"""Lists of edges in files: CSV, SNAP's text, Parquet, Arrow; as numbered vertices."""

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.graphs import ONE
from crowdcover.storage.source.csv_text import unpack_csv_text
from crowdcover.storage.source.file_bytes import Content
from crowdcover.storage.source.formats import recognize_format
from crowdcover.storage.source.formats.base import Dialect
from crowdcover.storage.source.sources import EMPTY_SOURCE, require_file
from crowdcover.storage.source.values import call_or_refuse

COMMENTS = ("#", "%")
_HEADER_WORDS = {
    *("u", "v", "source", "target", "src", "dst", "from", "to", "fromnodeid", "tonodeid"),
    *("node1", "node2", "node_1", "node_2", "id1", "id2", "id_1", "id_2"),
}
UNREADABLE_EDGES = "the edges cannot be read; give lines of two names each, or a Parquet file"
FEWER = "the graph holds fewer than 2 columns; each edge needs two ends"
EDGE_SEPARATORS = (",", "\t", " ")
ABSENT_SEPARATOR = "\x1f"  # in no text: each line is one field
WHOLE_NUMBER = re.compile(r"^\s*[0-9]{1,18}\s*$")
_NUMBER = r"^(?:0|[1-9][0-9]{0,17})$"  # leading zeros have a meaning: 01 and 1 are two vertices
MOST_VERTICES = 2**31 - 1
LINES_LOOKED_AT = 1000  # lines that are looked at for whole numbers


@dataclass(frozen=True)
class EdgeList:
    """A simple graph, and what the file held beside it.

    Attributes
    ----------
    u, v : int32 (m,)
        u < v < vertices, ascending by (u, v), each pair once.
    p : int32 (m,) or None
        Probabilities in billionths, if the file states them.
    vertices : int
        Vertices that the file names.
    rows, loops, repeated : int
        Edges in the file; those from a vertex to itself; those that repeat an earlier one, in
        either direction. The last two were left out.
    """

    u: NDArray[np.int32] = field(repr=False)
    v: NDArray[np.int32] = field(repr=False)
    p: NDArray[np.int32] | None = field(repr=False)
    vertices: int
    rows: int
    loops: int
    repeated: int


def read_edges(path: Path, *, uncertain: bool = False, header: bool | None = None) -> EdgeList:
    """Read the first two columns as the ends of edges, and the third as their probabilities.

    Lines that begin with # or % are comments. Fields are separated by commas, tabs or blanks, as in
    the first line that is no comment. `header` says whether that line holds names; None: look.

    Refused, with counts: edges that lack an end, probabilities outside 0 to 1, and edges that are
    stated with two probabilities.
    """
    require_file(path, "GRAPH")
    frame = _read_frame(path, 3 if uncertain else 2, header)
    rows = frame.height
    if not rows:
        raise InputError("the graph holds no edges")
    refuse_lacking_ends(count_lacking_ends(frame), rows)
    p = _convert_probabilities(frame["p"], rows) if uncertain else None
    names = name_vertices(frame["u"], frame["v"])
    u, v = (number_vertices(frame[name], names) for name in ("u", "v"))
    # The names of all ends are freed before pairs are sorted, to lower the peak of memory.
    del frame
    return _simplify_edges(u, v, p, len(names))


def count_lacking_ends(frame: pl.DataFrame) -> int:
    """Count the edges without two ends."""
    return int(frame.select(pl.any_horizontal(pl.col("u", "v").is_null()).sum()).item())


def refuse_lacking_ends(missing: int, rows: int) -> None:
    """Refuse a graph whose edges lack an end, with counts."""
    if missing:
        raise InputError(
            f"{missing} of {rows} edges lack an end; each line needs two names, separated alike"
        )


def _read_frame(path: Path, columns: int, header: bool | None) -> pl.DataFrame:
    """Return the columns u, v and perhaps p."""
    names = ["u", "v", "p"][:columns]
    found, content = recognize_format(path, path.name)
    if "separator" in found.options:
        return _of_text(unpack_csv_text(content), names, header)
    present = found.names(content, Dialect())
    assert not isinstance(present, int)
    if len(present) < columns:
        raise InputError(_too_few(columns))
    frame = found.columns(content, Dialect(), len(present), range(columns))
    frame.columns = names
    ends = spell_ends(frame.schema)
    return call_or_refuse(lambda: frame.with_columns(ends), UNREADABLE_EDGES)


def spell_ends(schema: pl.Schema) -> list[pl.Expr]:
    """Return the first two columns, u and v: whole numbers where both are, else stripped text."""
    ends = [pl.nth(place).alias(name) for place, name in enumerate(["u", "v"])]
    if all(kind.is_integer() for kind in schema.dtypes()[:2]):
        return [end.cast(pl.Int64) for end in ends]
    return [end.cast(pl.String).str.strip_chars() for end in ends]


def _of_text(content: Content, names: list[str], header: bool | None) -> pl.DataFrame:
    """Return the columns as text, without comments, blank lines and the header."""
    separator = choose_separator(find_first_line(io.BytesIO(content.data)))
    frame = split_lines(content.data, separator, names)
    return drop_header(frame, header)


def choose_separator(line: str) -> str:
    """Return what separates the fields of the lines, from the first one."""
    # In this order: fields between commas or tabs may hold blanks.
    return next((each for each in EDGE_SEPARATORS if each in line), " ")


def split_lines(data: bytes, separator: str, names: list[str]) -> pl.DataFrame:
    """Return these first fields of whole lines as text, without comments and blank lines."""
    # Without quotes each line is read as one field and split below.
    quoted = separator == "," and b'"' in data
    lines = call_or_refuse(
        lambda: pl.read_csv(
            data,
            has_header=False,
            separator="," if quoted else ABSENT_SEPARATOR,
            quote_char='"' if quoted else None,
            infer_schema=False,
            truncate_ragged_lines=True,
        ).lazy(),
        UNREADABLE_EDGES,
    )
    line, held = pl.nth(0).str.strip_chars(), pl.any_horizontal(pl.all().str.strip_chars() != "")
    lines = lines.filter(held & ~line.fill_null("").str.slice(0, 1).is_in(COMMENTS))
    if not quoted:
        one = line.str.replace_all(r"\s+", " ") if separator == " " else line
        parts = one.str.splitn(separator, 4).struct.rename_fields(["u", "v", "p", "rest"])
        lines = lines.select(parts.alias("fields")).unnest("fields")
    frame = call_or_refuse(lambda: lines.collect(engine="streaming"), UNREADABLE_EDGES)
    if frame.width < len(names) or (
        separator == "," and len(frame) and frame[:, len(names) - 1].is_null().all()
    ):
        raise InputError(_too_few(len(names)))
    frame = frame[:, : len(names)]
    frame.columns = names
    frame = frame.with_columns(pl.col(names).str.strip_chars())
    return frame.with_columns(pl.when(pl.col(names) != "").then(pl.col(names)))


def drop_header(frame: pl.DataFrame, header: bool | None) -> pl.DataFrame:
    """Return the first lines of a file without names of columns; `header` None: look."""
    if header is None:
        header = _is_header(frame["u"], frame["v"])
    return frame[1:] if header else frame


def find_first_line(lines: Iterable[bytes]) -> str:
    """Return the first line that is neither blank nor a comment."""
    for raw in lines:
        line = raw.decode("utf-8-sig", errors="replace").strip()
        if line and not line.startswith(COMMENTS):
            return line
    raise InputError(EMPTY_SOURCE)


def _is_header(u: pl.Series, v: pl.Series) -> bool:
    """Return whether the first line holds names of columns.

    It does if it has the usual ones, or is the only line whose two fields are no whole numbers.
    """
    first = [str(u[0]).lower(), str(v[0]).lower()]
    if all(name in _HEADER_WORDS for name in first):
        return True
    if any(WHOLE_NUMBER.fullmatch(name) for name in first) or len(u) < 2:
        return False
    rest = pl.concat([u[1:LINES_LOOKED_AT], v[1:LINES_LOOKED_AT]]).drop_nulls()
    return bool(rest.str.contains(WHOLE_NUMBER.pattern).all()) and len(rest) > 0


def _convert_probabilities(p: pl.Series, rows: int) -> NDArray[np.int32]:
    """Return probabilities in billionths; refused: no numbers, or outside 0 to 1."""
    numbers = call_or_refuse(lambda: p.cast(pl.Float64, strict=False), UNREADABLE_EDGES)
    # Null and NaN are not between 0 and 1, so both count as wrong.
    wrong = rows - int(numbers.is_between(0, 1).sum())
    if wrong:
        raise InputError(
            f"{wrong} of {rows} edges have no probability from 0 to 1 in the third column"
        )
    # At most 10**9, which int32 holds.
    billionths: NDArray[np.int32] = np.rint(numbers.to_numpy() * ONE).astype(np.int32)
    return billionths


def name_vertices(*ends: pl.Series) -> pl.Series:
    """Return the names of all vertices, each once, from ends as `spell_ends` gives them.

    Names that are whole numbers keep their order; others take the order of their text, and so do
    all names of a graph where some number has leading zeros.
    """
    whole = all(each.dtype.is_integer() or each.str.contains(_NUMBER).all() for each in ends)
    kind = pl.Int64 if whole else pl.String
    named = call_or_refuse(
        lambda: pl.concat([each.alias("").cast(kind) for each in ends]), UNREADABLE_EDGES
    )
    names = named.unique().sort()
    if len(names) > MOST_VERTICES:
        raise InputError(f"the graph has {len(names)} vertices; {MOST_VERTICES} are possible")
    return names


def number_vertices(ends: pl.Series, names: pl.Series) -> NDArray[np.int32]:
    """Return the place of each vertex in the list of all names, int32."""
    if names.dtype == pl.String:
        # The physical value of an Enum is the place of its text in `names`.
        return ends.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int32)
    # `names` is sorted and holds every end, so each place is exact.
    return np.searchsorted(names.to_numpy(), ends.cast(pl.Int64).to_numpy()).astype(np.int32)


def _simplify_edges(
    a: NDArray[np.int32], b: NDArray[np.int32], p: NDArray[np.int32] | None, vertices: int
) -> EdgeList:
    """Return each edge once, without loops."""
    rows = len(a)
    # Pairs as int64 (m,): vertices < 2**31, so lesser * vertices + greater < 2**62.
    key = np.minimum(a, b).astype(np.int64) * vertices + np.maximum(a, b)
    apart = a != b
    loops = rows - int(apart.sum())
    if loops:
        key, p = key[apart], None if p is None else p[apart]
    if p is None:
        key.sort()
    else:
        # By key, then by p: equal pairs of different probabilities become neighbours.
        order = np.lexsort((p, key))
        key, p = key[order], p[order]
    first = np.ones(len(key), dtype=np.bool_)
    first[1:] = key[1:] != key[:-1]
    repeated = len(key) - int(first.sum())
    if p is not None:
        differ = int((~first[1:] & (p[1:] != p[:-1])).sum())
        if differ:
            raise InputError(
                f"{differ} of {rows} edges are stated again with another probability; state each "
                "edge once"
            )
        p = p[first]
    key = key[first]
    u = (key // vertices).astype(np.int32)
    # The product exceeds int32, so it is taken in int64.
    v = (key - u.astype(np.int64) * vertices).astype(np.int32)
    return EdgeList(u, v, p, vertices, rows, loops, repeated)


def _too_few(columns: int) -> str:
    return FEWER if columns == 2 else "the graph has no third column; it must hold probabilities"
