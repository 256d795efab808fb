"""Small tables for hypothesis: many ties, every encoding, every demand."""

import itertools

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.graphs.records import UncertainGraph
from anon_core.matrices.records import SparseMatrix
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.graphs import ONE
from anon_core.specs.hierarchies import Hierarchy
from anon_core.tables import encoding

HIERARCHIES = (
    Hierarchy(
        {
            "a": ("left|*", "low", "a"),
            "b|c": ("left|*", "low", "b|c"),
            "..": ("left|*", "high", ".."),
            "*": ("right", "*"),
            "d": ("right", "d"),
        }
    ),
    Hierarchy({name: ("whole", name) for name in ("a", "b|c", "..", "*")}, other="whole"),
    Hierarchy(prefix=(2, 1)),
)
CELLS = ("node", "node", "shorter", "set")
LADDERS = (Hierarchy(ladder=(1.0, 4.0)), Hierarchy(ladder=(2.5, 5.0, 10.0)))
EPSILONS = st.sampled_from([0.01, 0.5, 1.0, 2.0, 5.0, 20.0])


@st.composite
def demands(draw, n):
    """k (n,): from nothing to everybody."""
    top = draw(st.integers(1, n))
    return draw(hnp.arrays(np.int64, n, elements=st.integers(1, top)))


@st.composite
def bit_matrices(draw, most_records=14, most_features=6):
    """(X, k): the paper's input."""
    n = draw(st.integers(2, most_records))
    f = draw(st.integers(1, most_features))
    x = draw(hnp.arrays(np.int8, (n, f), elements=st.integers(0, 1)))
    return x, draw(demands(n))


@st.composite
def tables(draw, most_records=14, *, trees=True):
    """BinaryTable with one-hot and ordinal attributes, trees, missing values, column weights."""
    n = draw(st.integers(2, most_records))
    specs, columns = [], {}
    for index in range(draw(st.integers(1, 4))):
        name = f"c{index}"
        missing = draw(st.sampled_from(["category", "all-hidden"]))
        weight = draw(st.sampled_from([1.0, 0.5, 3.0]))
        if draw(st.booleans()):
            values = draw(
                st.lists(
                    st.sampled_from(["a", "b|c", "..", "*", "d", None]), min_size=n, max_size=n
                )
            )
            tree = draw(st.sampled_from([None, None, None, *HIERARCHIES])) if trees else None
            cells = "node" if tree is None else draw(st.sampled_from(CELLS))
            specs.append(
                ColumnSpec(
                    name=name,
                    kind="categorical",
                    missing=missing,
                    weight=weight,
                    hierarchy=tree,
                    cells=cells,
                )
            )
            columns[name] = np.array(values, dtype=object)
        else:
            values = draw(
                st.lists(
                    st.sampled_from([0.0, 1.5, 2.0, 7.0, -3.0, np.nan]), min_size=n, max_size=n
                )
            )
            coding = draw(st.sampled_from(["one-hot", "ordinal"]))
            bins = draw(st.sampled_from([None, 2, (0.5, 2.0)]))
            ladder = draw(st.sampled_from([None, None, None, *LADDERS])) if trees else None
            if ladder is not None:
                coding, bins = "one-hot", None
            specs.append(
                ColumnSpec(
                    name=name,
                    kind="numeric",
                    encoding=coding,
                    bins=bins,
                    missing=missing,
                    weight=weight,
                    hierarchy=ladder,
                )
            )
            columns[name] = np.array(values)
    columns["sure"] = np.array([str(i % 2) for i in range(n)], dtype=object)
    specs.append(ColumnSpec(name="sure", kind="binary"))
    return encoding.encode(encoding.fit(specs, columns), columns, draw(demands(n)))


@st.composite
def uncertain_graphs(draw, most_vertices=6, most_edges=7):
    """UncertainGraph with vertices that have no edge, certain and impossible edges."""
    n = draw(st.integers(1, most_vertices))
    pairs = list(itertools.combinations(range(n), 2))
    some = st.lists(st.sampled_from(pairs), unique=True, max_size=most_edges)
    edges = sorted(draw(some if pairs else st.just([])))
    likely = st.sampled_from([0, ONE, ONE // 2]) | st.integers(0, ONE)
    p = draw(st.lists(likely, min_size=len(edges), max_size=len(edges)))
    u, v = np.array(edges, dtype=np.int32).reshape(-1, 2).T.copy()
    return UncertainGraph(u, v, np.array(p, dtype=np.int32), draw(demands(n)).astype(np.int32))


@st.composite
def sparse_matrices(draw, most_records=14, most_items=8):
    """SparseMatrix with empty rows, equal rows, items that nobody holds, and any demand."""
    n, items = draw(st.integers(1, most_records)), draw(st.integers(0, most_items))
    few = draw(
        st.lists(st.sets(st.integers(0, items - 1)) if items else st.just(set()), min_size=1)
    )
    held = draw(st.lists(st.sampled_from(few), min_size=n, max_size=n))
    indices = [item for row in held for item in sorted(row)]
    return SparseMatrix(
        np.cumsum([0, *map(len, held)]).astype(np.int64),
        np.array(indices, dtype=np.int32),
        items,
        draw(demands(n)).astype(np.int32),
    )


@st.composite
def simple_graphs(draw, most_vertices=14):
    """(u, v, n): edges u < v, ascending, int32; isolated vertices, hubs, none at all."""
    n = draw(st.integers(1, most_vertices))
    pairs = list(itertools.combinations(range(n), 2))
    chosen = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    if draw(st.booleans()):
        chosen |= {pair for pair in pairs if 0 in pair}
    ends = np.array(sorted(chosen), dtype=np.int32).reshape(-1, 2)
    return ends[:, 0].copy(), ends[:, 1].copy(), n
