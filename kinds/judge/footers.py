"""Whether the structs of a Parquet file have known fields alone, and state what can be counted.

Readers skip a field that they do not know, and trust or ignore most numbers. So either can carry a
message. Known is what polars writes: an unknown field is refused at every level. Sizes, offsets and
counts follow from the pages. Structs are dictionaries by the numbers of their fields, as
`thrift.Compact` reads them.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

UNKNOWN = "a field of the Parquet file is unknown"
MISCOUNTED = "a number in the Parquet file does not follow from its pages"


class FormError(ValueError):
    """A Parquet file says what its rows and pages do not; the message says which sort of thing."""


_Struct = Mapping[int, Any]
_Form = Mapping[int, "_Form | None"]  # of each known field the form of its structs, or None

_STATISTICS: _Form = dict.fromkeys((3, 5, 6))
_UNITS: _Form = {1: {}, 2: {}, 3: {}}
# Of a logical type: text, list, enum, decimal, date, time, timestamp, integer, unknown, 128 bits.
_LOGICAL: _Form = {
    **{kind: {} for kind in (1, 3, 4, 6, 11, 15)},
    **{kind: dict.fromkeys((1, 2)) for kind in (5, 10)},
    **{kind: {1: None, 2: _UNITS} for kind in (7, 8)},
}
_METADATA: _Form = {**dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 9, 11)), 12: _STATISTICS}
_CHUNK: _Form = {**dict.fromkeys((2, 4, 5, 6, 7)), 3: _METADATA}
_FOOTER: _Form = {
    **dict.fromkeys((1, 3, 6)),
    2: {**dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 8)), 10: _LOGICAL},
    4: {**dict.fromkeys((2, 3, 5, 6, 7)), 1: _CHUNK},
    5: dict.fromkeys((1, 2)),
    7: {1: {}},
}
_PAGE: _Form = {
    **dict.fromkeys((1, 2, 3)),
    5: {**dict.fromkeys((1, 2, 3, 4)), 5: _STATISTICS},
    7: dict.fromkeys((1, 2)),
}
_OFFSETS: _Form = {1: dict.fromkeys((1, 2, 3))}
_COLUMN: _Form = dict.fromkeys((1, 2, 3, 4, 5))
_DATA, _DICTIONARY = 0, 2  # types of pages
_RLE = 3  # the encoding of levels


def _require_known(value: Any, form: _Form | None) -> None:
    """Refuse a struct, or a list of them, with a field that its form lacks."""
    if isinstance(value, list):
        for each in value:
            _require_known(each, form)
    elif isinstance(value, dict):
        for field, held in value.items():
            if form is None or field not in form:
                raise FormError(UNKNOWN)
            _require_known(held, form[field])


def _require_equal(stated: Any, counted: Any) -> None:
    if stated != counted:
        raise FormError(MISCOUNTED)


def require_footer(footer: _Struct) -> None:
    """Refuse a footer that has unknown fields, or whose numbers disagree with each other."""
    _require_known(footer, _FOOTER)
    groups = footer.get(4, [])
    _require_equal(footer[3], sum(group[3] for group in groups))
    # A column of the file is an element of the schema that has no others below it.
    leaves = [(leaf[1], leaf[4]) for leaf in footer[2] if not leaf.get(5)]
    _require_equal(len(footer.get(7, leaves)), len(leaves))
    for number, group in enumerate(groups):
        columns = [chunk[3] for chunk in group[1]]
        _require_equal([(about[1], about[3][-1]) for about in columns], leaves)
        _require_equal(group[2], sum(about[6] for about in columns))
        _require_equal(group.get(6, group[2]), sum(about[7] for about in columns))
        _require_equal(group.get(5), min(find_first_page(about) for about in columns))
        _require_equal(group.get(7), number)


def find_first_page(about: _Struct) -> int:
    """Where the pages of a column chunk begin: that of its dictionary, else of its first rows."""
    return int(about[11] if 11 in about else about[9])


def require_page(header: _Struct) -> None:
    """Refuse a header of a page that has unknown fields or is of another sort of page."""
    _require_known(header, _PAGE)
    sort = {_DATA: 5, _DICTIONARY: 7}[header[1]]
    if header[3] < 0 or set(header) != {1, 2, 3, sort}:
        raise FormError(UNKNOWN)


def require_counts(
    chunk: _Struct,
    pages: Sequence[tuple[int, _Struct, int]],
    offsets: _Struct | None,
    columns: _Struct | None,
) -> None:
    """Refuse numbers of a column chunk that do not follow from its pages.

    `pages` are where each begins, its header and the bytes of that. `offsets` and `columns` are the
    indexes of the chunk.
    """
    about = chunk[3]
    sizes = [size + header[3] for _, header, size in pages]
    first = pages[0]
    data = [each for each in pages if each[1][1] == _DATA]
    told = [header[5] for _, header, _ in data]
    # polars adds the bytes of all pages to the place of the first data page.
    _require_equal(chunk[2], about[9] + about[7])
    _require_equal(about[7], sum(sizes))
    _require_equal(about[6], sum(size + header[2] for _, header, size in pages))
    _require_equal(about[5], sum(each[1] for each in told))
    _require_equal(about[9], data[0][0])
    # A dictionary comes first, once, where the metadata say so.
    _require_equal(about.get(11), None if first is data[0] else first[0])
    _require_equal(len(pages) - len(data), 11 in about)
    # polars names the encoding of the dictionary page, too, which is plain.
    _require_equal(about[2], sorted({0, _RLE, *(each[2] for each in told)}))
    _require_equal({(each[3], each[4]) for each in told}, {(_RLE, _RLE)})
    _require_statistics(about.get(12), [each.get(5) for each in told])
    if offsets is not None:
        _require_known(offsets, _OFFSETS)
        _require_equal(
            [(each[1], each[2]) for each in offsets[1]],
            [(at, size + header[3]) for at, header, size in data],
        )
        _require_rows(
            [each[3] for each in offsets[1]], [each[1] for each in told], nested=len(about[3]) > 1
        )
    if columns is not None:
        _require_known(columns, _COLUMN)
        _require_column_index(columns, told)


def _require_statistics(whole: _Struct | None, parts: Sequence[_Struct | None]) -> None:
    """Refuse statistics of a chunk that are none of its pages."""
    stated = [part for part in parts if part is not None]
    if whole is None:
        _require_equal(stated, [])
        return
    _require_equal(whole.get(3), sum(part[3] for part in stated))
    for end in (5, 6):
        if end in whole and whole[end] not in [part.get(end) for part in stated]:
            raise FormError(MISCOUNTED)


def _require_rows(firsts: Sequence[int], values: Sequence[int], *, nested: bool) -> None:
    """Refuse first rows of pages that their numbers of values do not allow."""
    starts = [0, *accumulate(values)][:-1]
    _require_equal(len(firsts), len(starts))
    if not nested:
        _require_equal(list(firsts), starts)
    # A list takes as many values as it has members, and at least one.
    _require_equal([min(each) for each in zip(firsts, starts, strict=True)], list(firsts))
    _require_equal([firsts[0], *sorted(set(firsts[1:]))], [0, *firsts[1:]])


def _require_column_index(index: _Struct, told: Sequence[_Struct]) -> None:
    """Refuse an index that says other than the headers of the pages."""
    parts = [each[5] for each in told]
    # A list of booleans holds 1 and 2. A page without values has no ends.
    _require_equal(index[1], [2 if 5 in part else 1 for part in parts])
    # polars 2.0 wrote a zero as the end of a page without values.
    none = b"\0" if b"\0" in index[2] else b""
    _require_equal(index[2], [part.get(6, none) for part in parts])
    _require_equal(index[3], [part.get(5, none) for part in parts])
    _require_equal(index[4], 0)
    _require_equal(index[5], [part[3] for part in parts])
