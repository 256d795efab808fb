"""The released edges, their codebook and the vault's map of keys, as the audit reads them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.graph.degrees import UncertainEdges
from anon_core.measures.row_order import BEYOND_CHANCE, order_hits
from crowdcover.kinds.graph.judge.source import SourceGraph
from crowdcover.kinds.graph.layout import CODEBOOK, KEY, RECORD, P, U, V, list_codebook_forms
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.judge.seats import KEY_FORM

_MILLION = 1_000_000
_LEAST = 1000  # billionths in a millionth


class ReadEdges(NamedTuple):
    """Ends as keys, and whole millionths; -1 where a probability is none from 1 to a million."""

    u: pl.Series
    v: pl.Series
    millionths: NDArray[np.int64]

    @property
    def again(self) -> int:
        """Edges that repeat another, in either direction, or join a key with itself."""
        pairs = pl.DataFrame({U: self.u, V: self.v})
        ends = pairs.select(pl.min_horizontal(U, V).alias(U), pl.max_horizontal(U, V).alias(V))
        return len(self.u) - ends.filter(pl.col(U) != pl.col(V)).n_unique()

    @property
    def bad(self) -> int:
        """Edges without a probability that can be read."""
        return int(np.count_nonzero(self.millionths < 0))


def read_released_edges(rows: pl.DataFrame) -> ReadEdges:
    """The columns of the released edges; text of a CSV file is read as numbers."""
    p = rows[P].cast(pl.Float64, strict=False).fill_null(np.nan).fill_nan(-1.0).to_numpy()
    whole = np.rint(np.where(np.isfinite(p) & (p > 0) & (p <= 1), p, 0.0) * _MILLION)
    # Exactly the float64 nearest to it: low bits could tell something.
    good = (p == whole / _MILLION) & (whole >= 1)
    millionths = np.where(good, whole, -1).astype(np.int64)
    u, v = (rows[name].cast(pl.String).fill_null("") for name in (U, V))
    return ReadEdges(u, v, millionths)


def judge_edges(edges: ReadEdges) -> list[Finding]:
    """Order, keys and probabilities of the edges by themselves."""
    u, v, rows = edges.u, edges.v, len(edges.u)
    turned = int((u > v).sum())
    pairs = pl.DataFrame({U: u, V: v})
    ordered = pairs.equals(pairs.sort(U, V))
    odd = sum(int((~end.str.contains(KEY_FORM)).sum()) for end in (u, v))
    return [
        Finding(
            "edges ordered by key",
            ordered and turned == 0,
            f"{turned} of {rows} edges have the greater key first, and the edges are "
            f"{'in' if ordered else 'not in'} the order of their keys",
        ),
        Finding(
            "each edge once",
            edges.again == 0,
            f"{edges.again} of {rows} edges repeat another or join a key with itself",
        ),
        Finding(
            "keys of 16 hexadecimal digits", odd == 0, f"{odd} of {2 * rows} ends have another form"
        ),
        Finding(
            "probabilities in millionths",
            edges.bad == 0,
            f"{edges.bad} of {rows} probabilities are no whole millionths above 0 and up to 1",
        ),
    ]


def judge_codebook(folder: Path, vertices: int) -> Finding:
    """Whether the codebook states the number of vertices, and nothing else."""
    try:
        text = (folder / CODEBOOK).read_text(encoding="utf-8")
    except (OSError, ValueError):
        text = ""
    # Compared as text: blanks, doubled keys and escapes could also tell something.
    same = text in list_codebook_forms(vertices)
    is_so = "is" if same else "is not"
    return Finding("codebook of the source", same, f"the text {is_so} that of {vertices} vertices")


def judge_map(
    edges: ReadEdges, source: SourceGraph, claim: pl.DataFrame
) -> tuple[UncertainEdges | None, list[Finding]]:
    """The released edges by the numbers of the source's vertices, None if they make no graph.

    The map must give each vertex a key of its own, every released key must be one of them, and
    none may be a name of the source. Keys in order must tell nothing of the order of the source or
    its names.
    """
    n, claim = source.vertices, claim.sort(RECORD)
    keys = claim[KEY]
    whole = claim[RECORD].to_list() == list(range(n))
    # 0 only if all keys differ and none is missing; missing ones may count twice.
    doubled = len(keys) - keys.n_unique() + keys.null_count()
    released = pl.concat([edges.u, edges.v]).unique()
    strangers = int((~released.is_in(keys.implode())).sum())
    names = int(released.is_in(source.names.implode()).sum())
    # What the order of keys tells: the rank of each vertex's key, -1 without a key.
    place = keys.rank("ordinal").fill_null(0).to_numpy().astype(np.int64) - 1
    orders = (place, place[source.names.arg_sort().to_numpy()]) if whole else (place,)
    hits = max(int(right.sum()) for order in orders for right in order_hits(order).values())
    findings = [
        Finding(
            "one key a vertex",
            whole and doubled == 0,
            f"{len(keys)} keys for {n} vertices, {doubled} of them again or missing",
        ),
        Finding(
            "known keys",
            strangers == 0,
            f"{strangers} of {len(released)} released keys belong to no vertex",
        ),
        Finding("fresh keys", names == 0, f"{names} of {len(released)} released keys are names"),
        Finding(
            "order tells nothing",
            hits < BEYOND_CHANCE,
            f"a guess by the order of the source or its names is right for {hits} of {n} vertices; "
            f"{BEYOND_CHANCE} are beyond chance",
        ),
    ]
    if not whole or doubled or strangers or edges.again or edges.bad:
        return None, findings
    return _number_edges(edges, keys, n), findings


def _number_edges(edges: ReadEdges, keys: pl.Series, n: int) -> UncertainEdges:
    """The released edges in the order of the source's vertices, u < v."""
    # Keys are distinct and hold every end by now, so a key's place in the Enum is its vertex.
    numbers = pl.Enum(keys)
    u, v = (end.cast(numbers).to_physical().to_numpy() for end in (edges.u, edges.v))
    low, high = np.minimum(u, v).astype(np.int32), np.maximum(u, v).astype(np.int32)
    order = np.lexsort((high, low))
    p = (edges.millionths * _LEAST).astype(np.int32)
    return UncertainEdges(low[order], high[order], p[order], n)
