"""Columns to bits. The anonymizers' side; auditors have their own.

A numeric column becomes groups or one level per number, a categorical column one level per
category. Levels become one bit each (one-hot, see Khan et al., section V-A) or thermometer bits
("value >= level t").
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from anon_core.tables.categories import categories_of, list_places, pool_rare_categories
from anon_core.tables.ladders import levels_of_steps
from anon_core.tables.number_levels import Persons, number_labels, numbers_of
from anon_core.tables.packing_kernels import unpack_range
from anon_core.tables.records import Attribute, BinaryTable, Codebook
from anon_core.tables.trees import fit_tree

MISSING_CATEGORY = "(missing)"

_Columns = Mapping[str, NDArray[Any]]


# ---------------------------------------------------------------- fitting


_Places = Mapping[str, Mapping[str, str]]


class Fitted(NamedTuple):
    """A codebook, and what became of the values of its columns.

    Attributes
    ----------
    codebook : Codebook
    joined : mapping of str to int
        By column how many levels joined others since too few people held them.
    places : mapping of str to (mapping of str to str)
        By column the label of each category, where a hierarchy may give it another one.
    """

    codebook: Codebook
    joined: Mapping[str, int]
    places: _Places


def fit(
    specs: Sequence[ColumnSpec], columns: _Columns, least: int = 1, persons: Persons = None
) -> Codebook:
    """Choose the levels of each quasi-identifier from the data; see `fit_codebook`."""
    return fit_codebook(specs, columns, least, persons).codebook


def fit_codebook(
    specs: Sequence[ColumnSpec], columns: _Columns, least: int = 1, persons: Persons = None
) -> Fitted:
    """Choose the levels of each quasi-identifier from the data, and count those that joined.

    Parameters
    ----------
    specs : sequence of ColumnSpec
    columns : mapping of str to ndarray
        float64 with nan for missing (numeric, date), object arrays of str with None for missing
        (categorical, binary); all of one length n.
    least : int
        How many people must hold a group of numbers, and the least and the greatest level of a
        numeric column without groups. `rare = "pool"` asks it of every level.
    persons : int (n,), optional
        The person of each record; by default each record is a person.

    Raises
    ------
    InputError
        Missing values where the plan refuses them, more than two values in a binary column, a
        level outside a stated order, or no feature at all.
    """
    found = [_fit_attribute(spec, columns[spec.name], least, persons) for spec in specs]
    codebook = Codebook(tuple(attribute for attribute, _, _ in found))
    if codebook.features == 0:
        raise InputError(
            "no quasi-identifier has more than one value: there is nothing to anonymize"
        )
    joined = {attribute.name: joined for attribute, joined, _ in found if joined}
    return Fitted(codebook, joined, {attribute.name: places for attribute, _, places in found})


def _fit_attribute(
    spec: ColumnSpec, values: NDArray[Any], least: int, persons: Persons
) -> tuple[Attribute, int, Mapping[str, str]]:
    """One attribute, how many levels joined others, and of a tree the label of each category."""
    missing = _is_missing(values)
    if spec.missing == "refuse" and missing.any():
        raise InputError(
            f"column {spec.name!r} has {int(missing.sum())} missing values "
            "and the plan refuses them; "
            "clean the source or set missing = 'category' or 'all-hidden'"
        )
    present = values[~missing]
    who = None if persons is None else persons[~missing]
    least = least if spec.shared else 1
    edges: tuple[float, ...] = ()
    numbers: tuple[float | tuple[float, float], ...] = ()
    _require_permissible(spec, present)
    has_other, joined = False, 0
    paths: list[tuple[str, ...]] = []
    places: Mapping[str, str] = {}
    if spec.is_counted and spec.hierarchy is not None:
        numbers, paths, joined = levels_of_steps(
            spec, spec.hierarchy, present.astype(np.float64), least, who
        )
    elif spec.is_counted:
        edges, numbers, joined = numbers_of(spec, present.astype(np.float64), least, who)
        labels = number_labels(spec, edges, numbers, given=len(present) > 0)
    else:
        labels = categories_of(spec, present)
        if spec.hierarchy is not None:
            paths, places = list_places(spec, labels, present, least, who)
        if spec.rare == "pool":
            labels, joined = pool_rare_categories(labels, present, least, who)
            has_other = joined > 0
    has_missing = bool(missing.any())
    tree, whole = None, None
    if spec.hierarchy is not None:
        tree, whole = fit_tree(paths, int(has_missing), spec.hierarchy, spec.cells)
        labels = [path[-1] for path in paths]
    attribute = Attribute(
        name=spec.name,
        kind=spec.kind,
        # Two levels need one bit, and a thermometer of two levels is that bit.
        encoding="ordinal" if spec.kind == "binary" else spec.encoding,
        labels=tuple([MISSING_CATEGORY] * has_missing + labels),
        has_missing=has_missing,
        hide_missing=has_missing and spec.missing == "all-hidden" and len(labels) > 0,
        has_other=has_other,
        binned=spec.bins is not None,
        carry=spec.carry if spec.bins is not None else "bounds",
        edges=edges,
        values=numbers,
        weight=spec.weight,
        range=spec.range,
        tree=tree,
        whole=whole,
        floor=None if spec.floor is None else max(least, spec.floor.people),
    )
    return attribute, joined, places


def _require_permissible(spec: ColumnSpec, present: NDArray[Any]) -> None:
    if spec.range is not None:
        low, high = spec.range
        if outside := int(np.count_nonzero((present < low) | (present > high))):
            raise InputError(
                f"column {spec.name!r}: {outside} values lie outside range; widen it, or clean the "
                "source"
            )


def find_complete_records(specs: Sequence[ColumnSpec], columns: _Columns) -> NDArray[np.bool_]:
    """Which records have a value in every column whose rule is to drop others, bool (n,)."""
    stays = np.ones(len(next(iter(columns.values()))), dtype=np.bool_)
    for spec in specs:
        if spec.missing == "drop":
            stays &= ~_is_missing(columns[spec.name])
    return stays


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values), dtype=np.bool_)
    return np.fromiter((value is None for value in values), dtype=np.bool_, count=len(values))


# ---------------------------------------------------------------- encoding


def encode(
    codebook: Codebook,
    columns: _Columns,
    k: NDArray[np.integer[Any]],
    places: _Places = MappingProxyType({}),
) -> BinaryTable:
    """Encode records under a fitted codebook.

    Parameters
    ----------
    codebook : Codebook
    columns : mapping of str to ndarray
        As for `fit`.
    k : int (n,)
        Demanded level of each record.
    places : mapping of str to (mapping of str to str)
        Of columns with a hierarchy, as `fit_codebook` found them.

    Returns
    -------
    BinaryTable
        In the order of the records given.

    Raises
    ------
    InputError
        A value without a level in the codebook, or k of another length or outside 1 .. n.
    """
    # Column by column, for `columns` may make each of them when it is asked for.
    coded = (
        _encode_column(each, columns[each.name], places.get(each.name, {}))
        for each in codebook.attributes
    )
    first = next(coded)
    n = len(first)
    codes = np.empty((len(codebook.attributes), n), dtype=np.int32)
    codes[0] = first
    for place, column in enumerate(coded, start=1):
        codes[place] = column
    if k.shape != (n,) or (n and (k.min() < 1 or k.max() > n)):
        raise InputError(f"k must be {n} integers within 1..{n}")
    # `hide_missing` implies a missing level, and that is level 0.
    blank = np.array([a.hide_missing for a in codebook.attributes])[:, None] & (codes == 0)
    return BinaryTable(codebook, codes, k.astype(np.int32), blank)


def decode_levels(
    codebook: Codebook, bits: NDArray[np.uint64], places: Sequence[int] | None = None
) -> NDArray[np.int64]:
    """Return the levels (attributes, n) of packed bits (n, words): the inverse of `pack_levels`.

    -1 stands for bits that are no level. `places`: of these attributes only.
    """
    places = range(len(codebook.attributes)) if places is None else places
    levels = np.empty((len(places), len(bits)), dtype=np.int64)
    for found, index in zip(levels, places, strict=True):
        flags = features_of(codebook, index, bits)
        # A thermometer is a run of ones, then zeros: its sum is the level. One-hot bits sum to 1.
        total = flags.sum(axis=1)
        if codebook.attributes[index].ordinal:
            found[:] = np.where((flags[:, 1:] <= flags[:, :-1]).all(axis=1), total, -1)
        else:
            attribute = codebook.attributes[index]
            own = flags[:, : attribute.levels]
            found[:] = np.where(own.sum(axis=1) == 1, own.argmax(axis=1), -1)
            found[~_are_paths(attribute, flags)] = -1
    return levels


def _are_paths(attribute: Attribute, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each inner node of a tree is set if one of those below it is, and only then."""
    whole = np.ones(len(flags), dtype=np.bool_)
    for node in range(attribute.levels, attribute.bits):
        below = np.flatnonzero(attribute.parents == node)
        whole &= flags[:, node] == flags[:, below].any(axis=1)
    return whole


def features_of(codebook: Codebook, index: int, bits: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """The features of one attribute, bool (n, bits of the attribute)."""
    start, stop = codebook.bit_offsets[index : index + 2]
    flags = np.empty((len(bits), stop - start), dtype=np.bool_)
    unpack_range(bits, start, stop, flags)
    return flags


def has_hidden_features(
    codebook: Codebook, index: int, bits: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Whether any feature of an attribute is set, bool (n,)."""
    start, stop = (int(end) for end in codebook.bit_offsets[index : index + 2])
    found = np.zeros(len(bits), dtype=np.bool_)
    for word in range(start // 64, -(-stop // 64)):
        first, last = max(start - 64 * word, 0), min(stop - 64 * word, 64)
        # In Python's integers: 1 << 64 does not fit uint64, the difference does.
        found |= (bits[:, word] & np.uint64((1 << last) - (1 << first))) != 0
    return found


def from_bits(matrix: NDArray[Any], k: NDArray[np.integer[Any]]) -> BinaryTable:
    """Take a matrix (n, f) of zeros and ones, the paper's X; each feature is an attribute."""
    names = [f"f{l + 1}" for l in range(matrix.shape[1])]
    codebook = Codebook(
        tuple(
            Attribute(name=name, kind="binary", encoding="ordinal", labels=("0", "1"))
            for name in names
        )
    )
    columns = {
        name: np.where(matrix[:, l] != 0, "1", "0").astype(object) for l, name in enumerate(names)
    }
    return encode(codebook, columns, k)


def _encode_column(
    attribute: Attribute, values: NDArray[Any], places: Mapping[str, str]
) -> NDArray[np.int32]:
    missing = _is_missing(values)
    if missing.any() and not attribute.has_missing:
        raise InputError(
            f"column {attribute.name!r}: {int(missing.sum())} missing values, none in the codebook"
        )
    shift = int(attribute.has_missing)
    # Level 0 is the missing one: records without a value keep this zero.
    codes = np.zeros(len(values), dtype=np.int32)
    if attribute.kind in ("numeric", "date"):
        numbers = values[~missing].astype(np.float64)
        level, known = _number_levels(attribute, numbers)
        _require_known(attribute, int((~known).sum()))
        codes[~missing] = level + shift
    else:
        named = attribute.labels[shift : attribute.levels - attribute.has_other]
        index = {label: level for level, label in enumerate(named, start=shift)}
        index |= {category: index[place] for category, place in places.items()}
        other = attribute.levels - 1 if attribute.has_other else -1
        present = np.fromiter(
            (index.get(value, other) for value in values[~missing]), dtype=np.int32
        )
        _require_known(attribute, int((present < 0).sum()))
        codes[~missing] = present
    return codes


def _number_levels(
    attribute: Attribute, numbers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Level of each number, the missing one not counted, and whether it has one."""
    if attribute.binned:
        grouped = attribute.levels > attribute.has_missing
        # A number that equals an edge belongs to the group below: edges[g - 1] < value <= edges[g].
        return np.searchsorted(attribute.edges, numbers, side="left"), np.full(
            len(numbers), grouped
        )
    spans = [value if isinstance(value, tuple) else (value, value) for value in attribute.values]
    low, high = np.array(spans, dtype=np.float64).reshape(-1, 2).T
    # A number that two levels share as a bound belongs to the upper one.
    level = np.searchsorted(low, numbers, side="right") - 1
    known = numbers <= np.append(high, [np.nan])[level]  # none before the first
    return level, known


def _require_known(attribute: Attribute, strays: int) -> None:
    if strays:
        raise InputError(
            f"column {attribute.name!r}: {strays} values that the codebook does not know"
        )
