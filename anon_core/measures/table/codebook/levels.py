"""The levels of each quasi-identifier, computed from the source for the audit.

The anonymizers have an encoder of their own. Nothing of it is used here, so a fault in it makes
the two codebooks differ. Plain Python over distinct values: slow is fine, the audit counts crowds
for much longer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.table.codebook.floors import settle_in_places
from anon_core.measures.table.codebook.number_levels import (
    Distinct,
    Span,
    group_numbers,
    level_text,
    list_number_levels,
)
from anon_core.measures.table.codebook.people import count_people, list_holders, list_people
from anon_core.measures.table.codebook.steps import place_on_steps
from anon_core.measures.table.codebook.trees import Nodes, Whole, place_in_tree, weigh_nodes
from anon_core.specs.columns import Carry, ColumnKind, ColumnSpec
from anon_core.specs.hierarchies import Hierarchy

MISSING_TEXT, _OTHER = "(missing)", "(other)"


@dataclass(frozen=True)
class Texts:
    """A column of texts, each distinct one held once.

    Attributes
    ----------
    distinct : sequence of str or None
        None means that the value is missing.
    place : int32 (n,)
        Which of them each record has.
    """

    distinct: Sequence[str | None] = field(repr=False)
    place: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(cls, values: "Values") -> "Texts":
        """From an object array of str and None, or as they are."""
        if isinstance(values, Texts):
            return values
        number: dict[str | None, int] = {}
        place = [number.setdefault(value, len(number)) for value in values.tolist()]
        return cls([*number], np.array(place, dtype=np.int32))


Values = NDArray[Any] | Texts


@dataclass(frozen=True, kw_only=True)
class ColumnLevels:
    """The levels of one quasi-identifier.

    Attributes
    ----------
    name : str
    kind : {"numeric", "date", "categorical", "binary"}
    ordinal : bool
        Whether masked cells are intervals instead of value sets.
    labels : tuple of str
        The text of each level. Level 0 means that the value is missing where `has_missing`.
    has_missing : bool
    hide_missing : bool
        Whether the cell of a record without a value must be fully masked.
    has_other : bool
        Whether the last level stands for all categories without a level of their own.
    grouped : bool
        Whether a level is a group of numbers.
    carry : {"bounds", "median"}
        Grouped: whether the text of a level is its interval or its median.
    edges : tuple of float
        Inner edges of the groups: group g holds edges[g - 1] < number <= edges[g].
    numbers : tuple of float or (float, float)
        What each level but the missing one stands for: a group's median, the number itself, or the
        bounds of several numbers. Empty for groups with bounds.
    weight : float
    range : (float, float), optional
        Least and greatest permissible number.
    nodes : tuple of (str, int, int), optional
        Of a tree: the name, the least and the greatest level of each inner node below the root that
        a cell may show, by their ends, of equal ones the inner first.
    sets : bool
        Of a tree: whether a cell that holds other levels than a node does shows their set.
    tree : tuple of (str, str, int, int), optional
        Of a hierarchy: name, name of its level, least and greatest level of every node, the outer
        one first. Without `nodes`, cells show sets.
    losses : mapping of (int, int) to float, optional
        What the plan says that a node loses, in parts of the column, by its ends.
    floor : int, optional
        How many people the plan wants in each place that a label names.
    """

    name: str
    kind: ColumnKind
    ordinal: bool
    labels: tuple[str, ...] = field(repr=False)
    has_missing: bool = False
    hide_missing: bool = False
    has_other: bool = False
    grouped: bool = False
    carry: Carry = "bounds"
    edges: tuple[float, ...] = field(default=(), repr=False)
    numbers: tuple[float | Span, ...] = field(default=(), repr=False)
    weight: float = 1.0
    range: Span | None = field(default=None, repr=False)
    nodes: Nodes | None = field(default=None, repr=False)
    sets: bool = False
    tree: Whole | None = field(default=None, repr=False)
    losses: Mapping[tuple[int, int], float] | None = field(default=None, repr=False)
    floor: int | None = None

    @property
    def features(self) -> int:
        """Number of bits: one per level and node, or one per step of a thermometer."""
        return len(self.labels) + len(self.nodes or ()) - self.ordinal

    def is_value(self, level: int) -> bool:
        """Whether a level is one value, or means that the value is missing."""
        given = level - self.has_missing
        if given < 0:
            return True
        if self.grouped or (self.has_other and level == len(self.labels) - 1):
            return False
        return not self.numbers or not isinstance(self.numbers[given], tuple)


def source_levels(
    specs: Sequence[ColumnSpec],
    columns: Mapping[str, Values],
    least: int = 1,
    persons: NDArray[np.integer[Any]] | None = None,
) -> tuple[tuple[ColumnLevels, ...], NDArray[np.int32]]:
    """Find the levels of every column, and those of every record.

    Parameters
    ----------
    specs : sequence of ColumnSpec
    columns : mapping of str to ndarray or Texts
        Of the records that are released. float64 with nan for missing (numeric, date), texts
        (categorical, binary); all of one length n. Each is asked for once, in turn.
    least : int
        How many people must hold a group of numbers and the outermost numbers.
    persons : int (n,), optional
        The person of each record; by default each record is a person.

    Returns
    -------
    levels : tuple of ColumnLevels
    level : int32 (attributes, n)
        Level of each record in each attribute.

    Raises
    ------
    InputError
        The source breaks what the plan states, or no column has two levels.
    """
    found = [column_levels(spec, columns[spec.name], least, persons) for spec in specs]
    if not any(levels.features for levels, _ in found):
        raise InputError("no quasi-identifier has more than one value: there is nothing to audit")
    return tuple(levels for levels, _ in found), np.stack([level for _, level in found])


def without_missing(
    specs: Sequence[ColumnSpec], columns: Mapping[str, Values], records: int
) -> NDArray[np.bool_]:
    """Which records have a value in every column whose rule is to drop others, bool (records,)."""
    stays = np.ones(records, dtype=np.bool_)
    for spec in specs:
        if spec.missing == "drop":
            stays &= ~_is_missing(columns[spec.name])
    return stays


def column_levels(
    spec: ColumnSpec,
    values: Values,
    least: int = 1,
    persons: NDArray[np.integer[Any]] | None = None,
) -> tuple[ColumnLevels, NDArray[np.int32]]:
    """Find the levels of one column, and the level of each record, int32 (n,)."""
    missing = int((absent := _is_missing(values)).sum())
    if spec.missing == "refuse" and missing:
        raise InputError(
            f"column {spec.name!r} has {missing} missing values and the plan refuses them"
        )
    shift = int(missing > 0)
    least = least if spec.shared else 1
    edges: list[float] = []
    numbers: list[float | Span] = []
    pool: set[str] = set()
    nodes: Nodes | None = None
    tree: Whole = ()
    if spec.is_counted:
        assert not isinstance(values, Texts)
        level = np.zeros(len(values), dtype=np.int32)
        who = None if persons is None else persons[~absent]
        given = values[~absent]
        edges, numbers, labels, of_record, nodes, tree = _of_numbers(spec, given, least, who, shift)
        level[~absent] = shift + of_record
    else:
        texts = Texts.of(values)
        labels = _list_categories(spec, {text for text in texts.distinct if text is not None})
        if spec.rare == "pool":
            pool = _find_rare_categories(labels, texts, least, persons)
        labels = [label for label in labels if label not in pool]
        cut, shown = settle_in_places(spec, labels, (texts.distinct, texts.place), least, persons)
        if cut is not None:
            labels, nodes, tree = place_in_tree(spec.name, cut, sorted({*shown.values()}), shift)
        place = {label: shift + position for position, label in enumerate(labels)}
        # Pooled categories have no place of their own and get the next level, which is (other).
        of_text = [
            0 if text is None else place.get(shown.get(text, ""), shift + len(labels))
            for text in texts.distinct
        ]
        level = np.array(of_text, dtype=np.int32)[texts.place]
    return ColumnLevels(
        name=spec.name,
        kind=spec.kind,
        ordinal=spec.kind == "binary" or spec.encoding == "ordinal",
        labels=(*[MISSING_TEXT] * shift, *labels, *[_OTHER] * bool(pool)),
        has_missing=bool(shift),
        hide_missing=bool(shift) and spec.missing == "all-hidden" and bool(labels or pool),
        has_other=bool(pool),
        grouped=spec.bins is not None,
        carry="bounds" if spec.bins is None else spec.carry,
        edges=tuple(edges),
        numbers=tuple(numbers),
        weight=spec.weight,
        range=spec.range,
        floor=None if spec.floor is None else max(spec.floor.people, least),
        **({} if spec.hierarchy is None else _state_nodes(spec, spec.hierarchy, nodes, tree)),
    ), level


def _state_nodes(
    spec: ColumnSpec, hierarchy: Hierarchy, nodes: Nodes | None, tree: Whole
) -> dict[str, Any]:
    """What `ColumnLevels` says of a column with a hierarchy."""
    return {
        "nodes": None if spec.cells == "set" else nodes,
        "sets": spec.cells == "shorter",
        "tree": tree,
        "losses": weigh_nodes(hierarchy, tree),
    }


def _is_missing(values: Values) -> NDArray[np.bool_]:
    """Missing values: nan differs from itself, and only None is None."""
    if not isinstance(values, Texts) and values.dtype == np.float64:
        return np.asarray(values != values, dtype=np.bool_)  # noqa: PLR0124
    texts = Texts.of(values)
    none = np.array([text is None for text in texts.distinct], dtype=np.bool_)
    return none[texts.place]


def _of_numbers(
    spec: ColumnSpec,
    values: NDArray[Any],
    least: int,
    persons: NDArray[np.integer[Any]] | None,
    shift: int,
) -> tuple[list[float], list[float | Span], list[str], NDArray[np.int64], Nodes | None, Whole]:
    """Inner edges, what each level stands for, its text, the level of each value, and the tree."""
    found, place, times = np.unique(
        values.astype(np.float64), return_inverse=True, return_counts=True
    )
    if not np.isfinite(found).all():
        raise InputError(f"column {spec.name!r} has infinite values")
    if (
        spec.range is not None
        and len(found)
        and not (spec.range[0] <= found[0] and found[-1] <= spec.range[1])
    ):
        raise InputError(f"column {spec.name!r} has values outside range")
    people = None if persons is None else list_people(place, len(found), persons)
    distinct = Distinct(found.tolist(), times.tolist(), people)
    edges: list[float] = []
    numbers: list[float | Span] = []
    if not len(found):
        return edges, numbers, [], place, None if spec.hierarchy is None else (), ()
    if spec.hierarchy is not None:
        stepped = place_on_steps(spec, spec.hierarchy, distinct, least, shift)
        of_record = np.array(stepped.of_number, dtype=np.int64)[place]
        return edges, stepped.numbers, stepped.labels, of_record, stepped.nodes, stepped.tree
    if spec.bins is None:
        numbers, of_number = list_number_levels(spec, distinct, least)
    else:
        edges, medians, of_number = group_numbers(spec, spec.bins, distinct, least)
        numbers = [*medians]
    meant = numbers
    if spec.bins is not None and spec.carry == "bounds":
        meant = [*zip([-inf, *edges], [*edges, inf], strict=True)]
    labels = [level_text(spec.kind, each) for each in meant]
    return edges, numbers, labels, np.array(of_number, dtype=np.int64)[place], None, ()


def _find_rare_categories(
    categories: Sequence[str],
    texts: "Texts",
    least: int,
    persons: NDArray[np.integer[Any]] | None,
) -> set[str]:
    """The categories that share a level: those that fewer than `least` people hold.

    If these are too few people together, the next ones join them.
    """
    number = len(texts.distinct)
    people = dict(zip(texts.distinct, count_people(texts.place, number, persons), strict=True))
    held_by = list_holders(texts.distinct, texts.place, persons)
    pool: set[str] = set()
    held: set[int] = set()
    for value in sorted(categories, key=people.__getitem__):
        if people[value] >= least and (not pool or len(held) >= least):
            break
        pool.add(value)
        held.update(held_by[value].tolist())
    return pool


def _list_categories(spec: ColumnSpec, present: set[str]) -> list[str]:
    """The values that occur, in the plan's order, or else in that of their text."""
    if spec.kind == "binary" and len(present) > 2:
        raise InputError(f"column {spec.name!r} is binary but has {len(present)} distinct values")
    if not spec.order:
        return sorted(present)
    strays = len(present.difference(spec.order))
    if strays:
        raise InputError(f"column {spec.name!r} has {strays} values that 'order' does not name")
    return [label for label in spec.order if label in present]
