"""From one reading of a source to vertices and the edges that it lists."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.graphs import ONE
from crowdcover.kinds.columns import convert_to_texts, respell_identifiers
from crowdcover.kinds.demands import Demands, count_doubled, read_demands
from crowdcover.kinds.graph.plan.sections import GraphPlan
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.values import call_or_refuse, unwrap_extension

ROUNDED = 1e-6  # billionths: a smaller rest is the rounding of a float64


@dataclass(frozen=True)
class Read:
    """A source as the plan says.

    Attributes
    ----------
    vertices, spelt : Series of String
        Name of each vertex, in the order in which the source names them; those that only the table
        beside it names come last. In its one spelling, and as the source spells it first.
    u, v : int64 (rows,)
        Ends of each listed edge, u != v; no direction of a pair occurs twice.
    p : int64 (rows,)
        Its probability in billionths.
    rounded : int
        Probabilities that the source states with more digits.
    demands : DataFrame (name: String, k: Int64) or None
        If vertices have a k of their own.
    """

    vertices: pl.Series = field(repr=False)
    spelt: pl.Series = field(repr=False)
    u: NDArray[np.int64] = field(repr=False)
    v: NDArray[np.int64] = field(repr=False)
    p: NDArray[np.int64] = field(repr=False)
    rounded: int
    demands: pl.DataFrame | None = field(default=None, repr=False)


def read_source(reading: Reading, plan: GraphPlan) -> Read:
    """Read vertices and edges; the reading is closed.

    Refused: an edge that lacks an end, joins a vertex with itself or is listed twice in one
    direction, a probability that is no number from 0 to 1, two directions that differ unless the
    plan has a rule for them.
    """
    demands = None
    if reading.beside is not None and isinstance(plan.k, Demands):
        demands = read_demands(reading.beside, plan.k, "vertex", plan.source.missing)
    # A table of demands also lists all vertices; the plan refuses both tables at once.
    listed = (
        _read_vertices(reading.beside, plan) if demands is None else demands.select("name", "spelt")
    )
    frame = reading.columns(plan.names, plan.needed)
    reading.close()
    ends = [_read_ends(frame[name], plan.source.missing) for name in (plan.u, plan.v)]
    p, rounded = _read_probabilities(frame, plan)
    del frame
    # Row by row, u before v: the order in which the source names vertices.
    first = pl.concat([end.with_row_index() for end in ends]).sort("index", maintain_order=True)
    named = pl.concat([first.drop("index"), listed]).unique(
        "name", keep="first", maintain_order=True
    )
    vertices = named["name"]
    # The physical value of an Enum is the place in `vertices`: numbers without a join.
    numbers = pl.Enum(vertices)
    u, v = (end["name"].cast(numbers).to_physical().to_numpy().astype(np.int64) for end in ends)
    _refuse_odd(u, v, p, len(vertices), plan)
    return Read(vertices, named["spelt"], u, v, p, rounded, demands)


def _read_vertices(beside: Reading | None, plan: GraphPlan) -> pl.DataFrame:
    """The vertices that a table beside the source names; see `respell_identifiers`."""
    if beside is None:
        return pl.DataFrame(schema={"name": pl.String, "spelt": pl.String})
    try:
        frame = beside.columns((), [plan.vertex])
    except InputError as error:
        raise InputError(f"source.vertices: {error}") from None
    named = respell_identifiers(frame[plan.vertex], plan.source.missing)
    absent, doubled = named["name"].null_count(), count_doubled(named["name"])
    if absent or doubled:
        raise InputError(
            f"of {named.height} rows in source.vertices {absent} name no vertex and {doubled} name "
            "one again; correct them"
        )
    return named


def _read_ends(series: pl.Series, missing: Sequence[str]) -> pl.DataFrame:
    named = respell_identifiers(series, missing)
    if absent := named["name"].null_count():
        raise InputError(
            f"column {series.name!r}: {absent} of {named.height} edges lack this end; fill it in; "
            "vertices without an edge belong into source.vertices"
        )
    return named


def _read_probabilities(frame: pl.DataFrame, plan: GraphPlan) -> tuple[NDArray[np.int64], int]:
    """Billionths of each listed edge, and how many of them are rounded."""
    if plan.p is None:
        return np.full(frame.height, ONE, dtype=np.int64), 0
    values = unwrap_extension(frame[plan.p].alias(""))
    numeric = values.dtype.is_numeric()
    if not numeric or values.dtype == pl.Float32:
        # A float32 by way of text: the one nearest to 0.1 is not 0.1 as a float64.
        values = convert_to_texts(values.alias(plan.p), plan.source.missing)
    refusal = f"column {plan.p!r} holds values that cannot be read as numbers; convert it"
    numbers = call_or_refuse(lambda: values.cast(pl.Float64, strict=False), refusal)
    found = numbers.fill_null(np.nan).to_numpy()
    given = np.isfinite(found)  # an infinity is no number either
    none = int(np.count_nonzero(~given))
    outside = int(np.count_nonzero(given & ((found < 0) | (found > 1))))
    if none or outside:
        raise InputError(
            f"column {plan.p!r}: {none} of {len(found)} probabilities are no numbers and "
            f"{outside} are below 0 or above 1; correct them, and write them as 0.25"
        )
    scaled = found * ONE
    p = np.rint(scaled)
    return p.astype(np.int64), int(np.count_nonzero(np.abs(scaled - p) > ROUNDED))


def _refuse_odd(
    u: NDArray[np.int64], v: NDArray[np.int64], p: NDArray[np.int64], n: int, plan: GraphPlan
) -> None:
    """Refuse loops, repeated edges, and directions that differ where the plan has no rule."""
    if loops := int(np.count_nonzero(u == v)):
        raise InputError(
            f"{loops} of {len(u)} edges join a vertex with itself; leave them out of the source"
        )
    # One number for each direction: u n + v < n^2 <= 2^62, since ends fit int32.
    _, first = np.unique(u * n + v, return_index=True)
    if repeated := len(u) - len(first):
        raise InputError(
            f"{repeated} of {len(u)} edges repeat an edge in the same direction; keep one of each"
        )
    if plan.both_ways != "refuse":
        return
    pair = np.minimum(u, v) * n + np.maximum(u, v)
    # Each direction occurs once by now, so equal neighbours are the two directions of one edge.
    order = np.argsort(pair, kind="stable")
    again = pair[order][1:] == pair[order][:-1]
    differ = int(np.count_nonzero(again & (p[order][1:] != p[order][:-1])))
    if differ:
        raise InputError(
            f"{differ} pairs of vertices are listed in both directions with different "
            "probabilities; state source.both_ways = 'mean', 'max' or 'union'"
        )
