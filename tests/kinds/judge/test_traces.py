"""What files carry beside their rows: our own writer leaves nothing, others are found out."""

import gzip
import io
from datetime import date, datetime

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
import zstandard

from crowdcover.kinds.judge.files import read_rows
from crowdcover.kinds.judge.footers import (
    MISCOUNTED,
    UNKNOWN,
    FormError,
    require_counts,
    require_page,
)
from crowdcover.kinds.judge.forms import check_file_forms
from crowdcover.kinds.judge.layouts import (
    UNREADABLE,
    ZSTD,
    list_pages,
    loose_bytes,
    read_footer,
    require_exact_page,
)
from crowdcover.kinds.judge.thrift import Compact
from crowdcover.kinds.judge.traces import find_file_traces, has_used_entries
from crowdcover.kinds.rows import write_csv, write_parquet_of_batches
from crowdcover.storage.shelf.layout import MANIFEST

FRAME = pl.DataFrame(
    {
        "key": ["00ff", "01aa", "02bb"],
        "long": ["x" * 300 + "a", "y" * 300, None],
        "accents": ["\u00e9" * 100] * 3,
        "category": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
        "day": [date(2020, 1, 1), None, date(1950, 1, 1)],
        "moment": pl.Series([datetime(2020, 1, 1, 3), None, None]).dt.replace_time_zone("UTC"),
        "byte": pl.Series([250, 3, None], dtype=pl.UInt8),
        "huge": pl.Series([2**64 - 1, 3, None], dtype=pl.UInt64),
        "small": pl.Series([-3, 4, None], dtype=pl.Int8),
        "real": [float("nan"), -0.0, 2.5],
        "short": pl.Series([1.1, 2.2, None], dtype=pl.Float32),
        "flag": [True, None, False],
        "^a$": ["p", "q", None],
        "nothing": pl.Series([None] * 3, dtype=pl.String),
    }
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data"


def parquet(path, frame=FRAME, **options):
    frame.write_parquet(path, **options)
    return find_file_traces(path, "parquet", pl.read_parquet(path))


def change_footer(path, old, new):
    """Replace bytes behind the data by as many others."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert len(old) == len(new)
    assert old in content[start:]
    path.write_bytes(content[:start] + content[start:].replace(old, new))


def test_what_is_published_carries_nothing_else(path):
    assert parquet(path) == []
    assert parquet(path, FRAME[:0]) == []
    write_csv(FRAME, path)
    assert find_file_traces(path, "csv", FRAME) == []


@pytest.mark.parametrize("name", ["^a$", "^x.*$", "*", "a\nb", ""])
def test_names_that_look_like_patterns_are_names(path, name):
    notes = []
    for values in ([[3, 5], [], [-4]], [[{"p": 1}], None, []], ["a", None, "b"], [0.5, 2.0, None]):
        whole = pl.DataFrame({"a": ["x", "y", "z"], name: values})
        whole.write_parquet(path)
        assert find_file_traces(path, "parquet", whole, notes) == []
    assert notes == []


def test_many_rows_are_split_evenly(path):
    whole = pl.DataFrame({"key": [f"{n:016x}" for n in range(300_000)]})
    assert parquet(path, whole, row_group_size=70_000) == []
    parts = pl.concat([whole[:300], whole[300:]], rechunk=False)
    assert parquet(path, parts) == ["the Parquet file's row groups differ in size"]


def test_a_footer_that_says_more_is_found(path):
    assert parquet(path, metadata={"source": "people.csv"}) == [
        "the Parquet footer contains metadata"
    ]
    parquet(path)
    change_footer(path, b"Polars (python)", b"People (python)")
    assert find_file_traces(path, "parquet", FRAME) == ["the Parquet footer names another writer"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"00ff", b"00fe"),
        (b"\xfa\0\0\0", b"\xfb\0\0\0"),
        (b"x" * 60, b"w" * 60),
        (b"\0" * 6 + b"\x04@", b"\0" * 6 + b"\x05@"),
    ],
)
def test_statistics_of_other_rows_are_found(path, old, new):
    parquet(path)
    change_footer(path, old, new)
    # Those of the pages say something else.
    assert find_file_traces(path, "parquet", FRAME) == [MISCOUNTED]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filename": "people.csv", "mtime": 0}, ["the gzip header contains a name or a comment"]),
        ({"filename": "", "mtime": 7}, ["the gzip header contains a time"]),
        ({"filename": "", "mtime": 0}, []),
    ],
)
def test_a_gzip_header_that_says_more_is_found(path, options, words):
    packed = io.BytesIO()
    with gzip.GzipFile(mode="wb", fileobj=packed, **options) as file:
        file.write(b"key\n00ff\n")
    path.write_bytes(packed.getvalue())
    assert find_file_traces(path, "csv", FRAME) == words


def test_lists_carry_nothing_but_the_values_in_them(path):
    frame = pl.DataFrame({"key": ["a", "b", "c"], "items": [[3, 5], [], [-4]]})
    assert parquet(path, frame) == []
    frame.write_parquet(path)
    other = pl.DataFrame({"key": ["a", "b", "c"], "items": [[3, 6], [], [-4]]})
    assert find_file_traces(path, "parquet", other) == [
        "the Parquet file's statistics are not those of its rows"
    ]


# ---------------------------------------------------------------- footers that say more

NAME = b"Anna Meier"
NESTED = FRAME.with_columns(
    items=pl.Series([[3, 5], [], [-4]]), bounds=pl.Series([{"lo": 1, "hi": 2.5}] * 3)
)


class Places(Compact):
    """Notes where each struct ends, and where each number begins."""

    def __init__(self, content, at):
        super().__init__(content, at)
        self.ends, self.numbers = [], []

    def fields(self):
        found = super().fields()
        self.ends.append(self.at - 1)
        return found

    def _whole(self):
        self.numbers.append(self.at)
        return super()._whole()


def name_another_build(path):
    """Change a digit of the build that wrote a file, so that its bytes are not expected again."""
    build = b"(build "
    digit = path.read_bytes().rindex(build) + len(build)
    content = bytearray(path.read_bytes())
    content[digit] = ord("0") if content[digit] != ord("0") else ord("1")
    path.write_bytes(content)
    return bytes(content)


def list_places(content):
    places = Places(content, read_footer(content).at)
    places.fields()
    return places


def lengthen_footer(content, at, more):
    """Write something into a footer, and its new size behind it."""
    size = int.from_bytes(content[-8:-4], "little") + len(more)
    return content[:at] + more + content[at:-8] + size.to_bytes(4, "little") + content[-4:]


def tell_of(path):
    """What the audit and `verify` say of a Parquet file that passes."""
    files = {"parquet": path.name}
    for document in (MANIFEST, "codebook.json"):
        (path.parent / document).write_text("{}")
    told = read_rows(path.parent, files, ["parquet"])[1][2]
    shown = check_file_forms(path.parent, files, "codebook.json")
    assert told.passed
    assert shown.passed
    return {"other pages" in each.detail for each in (told, shown)}


def test_a_file_of_another_build_passes_and_is_told(path):
    FRAME.write_parquet(path)
    assert tell_of(path) == {False}
    name_another_build(path)
    assert tell_of(path) == {True}


@pytest.mark.long
@pytest.mark.parametrize("part", [14_286, 28_572])
def test_rows_that_lay_apart_in_memory_pass(path, part):
    """As they do behind a sort, which makes as many parts as the machine has threads.

    All pages are written again and compared byte by byte.
    """
    rows = range(100_000)
    whole = pl.DataFrame(
        {
            "key": [f"{n:016x}" for n in rows],
            "text": [None if n % 7 == 0 else f"{n % 90}" for n in rows],
            "real": [float(n % 50) for n in rows],
            "items": [[f"{n % 30}"] * (n % 4) for n in rows],
            "bounds": [{"lo": n % 9, "hi": n % 9 + 0.5} for n in rows],
        }
    )
    notes = []
    whole.write_parquet(path)
    assert find_file_traces(path, "parquet", whole, notes) == []
    assert notes == []
    parts = pl.concat(whole.iter_slices(part), rechunk=False)
    parts.write_parquet(path)
    assert find_file_traces(path, "parquet", parts, notes) == []
    assert notes == []
    name_another_build(path)
    assert find_file_traces(path, "parquet", whole) == []


@pytest.mark.long
def test_lists_of_several_groups_are_compared_byte_by_byte(path):
    """Whether those of all groups lay together in memory, as in older releases, or apart."""
    number, sizes = np.random.default_rng(1).integers(0, 90, 400_000), []
    lists = pl.Series("items", [[f"{n % 30}"] * (n % 4) for n in range(90)])
    whole = lists[number].to_frame()
    for cut in (whole.__getitem__, lambda rows: lists[number[rows]].to_frame()):
        write_parquet_of_batches(cut, len(number), path)
        assert pq.ParquetFile(path).metadata.num_row_groups == 4
        sizes.append(path.stat().st_size)
        notes = []
        assert find_file_traces(path, "parquet", whole, notes) == []
        assert notes == []
    assert sizes[1] < sizes[0]  # fewer pages


def test_a_dictionary_has_no_entries_but_those_of_its_rows(path):
    frame = NESTED.with_columns(
        category=pl.Series(["u", "v", "u"], dtype=pl.Enum(["u", "v", "w"])),
        zeros=pl.Series([0.0, -0.0, 0.0]),
        kinds=pl.Series([b"a", b"b", b"a"]),
    )
    frame = pl.concat([frame] * 40)
    frame.write_parquet(path)
    columns = frame.to_dict()
    seen = 0
    for chunk, pages, _, _ in list_chunks(path):
        name = chunk[3][3][0].decode()
        header = pages[0][1]
        if 7 not in header or name in ("items", "bounds"):
            continue
        seen += 1
        kind, column = chunk[3][1], columns[name].alias("")
        assert has_used_entries(column, kind, header), name
        for more in ({2: header[2] + 5}, {7: {**header[7], 1: header[7][1] + 1}}):
            longer = {**header, **more}
            assert not has_used_entries(column, kind, longer), name
        both = {**header, 2: header[2] + 8, 7: {**header[7], 1: header[7][1] + 1}}
        assert not has_used_entries(column, kind, both), name
    assert seen > 8


def write_nested(path, *, other):
    """The bytes of a file of nested columns, of this build or as of another one."""
    NESTED.write_parquet(path)
    return name_another_build(path) if other else path.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("other", [False, True])
def test_an_unknown_field_in_any_struct_of_the_footer_is_found(path, other):
    content = write_nested(path, other=other)
    ends = list_places(content).ends
    assert len(ends) > 100
    # A field of bytes with the number 99, zigzag 198.
    field = bytes([8, 198, 1, len(NAME)]) + NAME
    for at in ends:
        path.write_bytes(lengthen_footer(content, at, field))
        assert pl.read_parquet(path).equals(NESTED)
        assert UNKNOWN in find_file_traces(path, "parquet", NESTED), at
        assert UNKNOWN in check_file_forms(path.parent, {"parquet": path.name}, "-").detail


@pytest.mark.long
@pytest.mark.parametrize("other", [False, True])
def test_another_number_anywhere_in_the_footer_is_found(path, other):
    """Sizes, offsets, counts, types: each either follows from the pages or from the rows."""
    content = write_nested(path, other=other)
    numbers = list_places(content).numbers
    assert len(numbers) > 300
    for at in numbers:
        changed = bytearray(content)
        changed[at] ^= 2  # zigzag: the next number, or the one before
        path.write_bytes(changed)
        assert find_file_traces(path, "parquet", NESTED), at


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b" version 2.", b" version Z.", "the Parquet footer names another writer"),
        (b"root", b"anna", "the Parquet footer describes other columns than those of its rows"),
        (
            b"element",
            b"ameier1",
            "the Parquet footer describes other columns than those of its rows",
        ),
        (b"/////", b"Anna/", "the Parquet footer contains metadata"),
    ],
)
def test_free_text_in_a_known_field_is_found(path, old, new, words):
    NESTED.write_parquet(path)
    change_footer(path, old, new)
    assert words in find_file_traces(path, "parquet", NESTED)


def test_a_file_that_is_packed_otherwise_is_told(path):
    """Pages of the right rows, by another level of compression."""
    frame = pl.DataFrame({"text": [f"{n % 97} and {n % 89}" for n in range(5_000)]})
    assert parquet(path, frame, compression_level=19) == []
    assert tell_of(path) == {True}


def list_chunks(path):
    """Each column chunk with its pages and indexes, as `require_counts` takes them."""
    content = path.read_bytes()
    for group in read_footer(content).fields()[4]:
        for chunk in group[1]:
            pages = list_pages(content, chunk[3])
            parts = [(page.at, page.header, page.header_size) for page in pages]
            indexes = [Compact(content, chunk[at]).fields() for at in (4, 6)]
            yield chunk, parts, *indexes


def change_within(value):
    """A structure with one of its parts changed, each part in turn."""
    if isinstance(value, dict):
        yield {**value, 99: NAME}
        for key, held in value.items():
            yield from ({**value, key: other} for other in change_within(held))
    elif isinstance(value, list):
        yield [*value, *value[-1:]] if value else [1]
        for at, held in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in change_within(held))
    else:
        yield value + (b"1" if isinstance(value, bytes) else 1)


def test_indexes_say_what_the_pages_say(path):
    frame = NESTED.select("key", "byte", "items", "bounds", "nothing", "flag")
    pl.concat([frame] * 40).write_parquet(path, data_page_size=64)
    for chunk, pages, offsets, columns in list_chunks(path):
        require_counts(chunk, pages, offsets, columns)
        for other in change_within(columns):
            with pytest.raises(FormError, match=f"{UNKNOWN}|{MISCOUNTED}"):
                require_counts(chunk, pages, offsets, other)
        for other in change_within(offsets):
            # How many values the list of a row takes is not known here.
            if len(chunk[3][3]) == 1 or without_rows(other) != without_rows(offsets):
                with pytest.raises(FormError, match=f"{UNKNOWN}|{MISCOUNTED}"):
                    require_counts(chunk, pages, other, columns)


def without_rows(offsets):
    return [(page[1], page[2], len(page)) for page in offsets[1]]


def test_a_header_of_a_page_has_no_other_fields(path):
    NESTED.write_parquet(path)
    for _, pages, _, _ in list_chunks(path):
        for _, header, _ in pages:
            require_page(header)
            inside = {5: 5, 7: 7}[5 if 5 in header else 7]
            for other in (
                {**header, 4: 0x12345678},  # a checksum, which polars does not write
                {**header, 8: {1: 3}},
                {**header, inside: {**header[inside], 9: NAME}},
                {**header, 3: -1},  # the next page would be this one again
            ):
                with pytest.raises(FormError, match=UNKNOWN):
                    require_page(other)


def test_a_footer_of_nothing_but_beginnings_is_refused(path):
    """One byte opens a struct, or a list: reading them must end before the stack does."""
    for opening in (b"\x1c", b"\x19"):
        footer = opening * 5_000
        path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
        assert list(loose_bytes(path.read_bytes())) == [UNREADABLE]
        found = check_file_forms(path.parent, {"parquet": path.name}, "-")
        assert found.broken
        assert UNREADABLE in found.detail


# ---------------------------------------------------------------- bytes without a place


@pytest.mark.parametrize("options", [{}, {"row_group_size": 100, "data_page_size": 500}])
def test_every_byte_of_a_written_file_has_its_place(path, options):
    frame = pl.DataFrame(
        {
            "text": [None if i % 7 == 0 else "x" * (i % 50) for i in range(500)],
            "bounds": [{"lo": i, "hi": i + 0.5} for i in range(500)],
            "set": [[str(i)] * (i % 3) for i in range(500)],
            "nothing": pl.Series([None] * 500, dtype=pl.Date),
            "flag": [i % 2 == 0 for i in range(500)],
        }
    )
    frame.write_parquet(path, **options)
    assert list(loose_bytes(path.read_bytes())) == []
    pl.DataFrame(schema={"text": pl.String}).write_parquet(path)
    assert list(loose_bytes(path.read_bytes())) == []


def test_a_byte_more_anywhere_is_found(path):
    """Wherever it stands: between parts, in a page, in the footer."""
    parquet(path)
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        assert list(loose_bytes(content[:place] + b"\0" + content[place:])), place


def test_a_frame_that_no_reader_unpacks_is_found():
    """A skippable frame of Zstandard behind the content of a page, its size made to fit."""
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"more"
    frame = b"\x28\xb5\x2f\xfd\x20\x04\x21\x00\x00text"
    longer = frame[:5] + b"\x05" + frame[6:]  # states one byte more than it holds
    require_exact_page(frame, ZSTD, 4)
    require_exact_page(zstandard.ZstdCompressor().compress(b""), ZSTD, 0)
    for packed, size in (
        *((frame + skippable, 4), (skippable + frame, 4), (skippable, 0), (b"", 0)),
        *((frame[:-1], 4), (frame, 5), (longer, 4), (longer, 5)),
    ):
        with pytest.raises(ValueError, match="no part of its rows"):
            require_exact_page(packed, ZSTD, size)


def test_a_frame_whose_checksum_or_dictionary_says_more_is_found():
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(b"text")
    require_exact_page(packed, ZSTD, 4)
    named = b"\x28\xb5\x2f\xfd\x21\x07\x04\x21\x00\x00text"
    for wrong in (packed[:-1] + bytes([packed[-1] ^ 1]), named):
        with pytest.raises(ValueError, match="no part of its rows"):
            require_exact_page(wrong, ZSTD, 4)


def write_nan(*words):
    """A column of NaN with these bits."""
    return pl.Series("real", np.array(words, dtype=np.uint64).view(np.float64))


NAN, OTHER_SIGN = 0x7FF8000000000000, 0xFFF8000000000000


@pytest.mark.parametrize("words", [(NAN, NAN), (OTHER_SIGN, OTHER_SIGN), ()])
def test_one_form_of_nan_is_no_trace(path, words):
    frame = pl.DataFrame({"key": ["a"] * len(words), "^k.*$": write_nan(*words)})
    assert parquet(path, frame) == []


@pytest.mark.parametrize("words", [(NAN, NAN + 7), (NAN + 7, NAN + 7), (NAN, OTHER_SIGN)])
@pytest.mark.parametrize(
    "nested",
    [
        lambda column: column,
        lambda column: column.cast(pl.Float32),
        lambda column: column.implode().repeat_by(1).explode(),
        lambda column: pl.DataFrame({"lo": column}).to_struct(),
    ],
    ids=["plain", "half as wide", "in lists", "in structs"],
)
def test_bits_within_nan_are_found(path, words, nested):
    column = nested(write_nan(*words)).alias("real")
    if column.dtype == pl.Float32:
        column = pl.Series("real", np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32))
    frame = pl.DataFrame({"real": column})
    assert parquet(path, frame) == ["numbers that are none (NaN) have several forms"]


@pytest.mark.parametrize(
    "dtype", [pl.Enum(["a", "Mrs Miller"]), pl.Categorical(pl.Categories("Mrs Miller"))]
)
def test_a_type_with_text_of_its_own_is_found(path, dtype):
    frame = pl.DataFrame({"city": pl.Series(["a", "a"], dtype=dtype)})
    assert "a column has a type that no release has" in parquet(path, frame)


@pytest.mark.parametrize(
    ("sizes", "told"),
    [((5, 6, 5, 4), True), ((6, 5, 6, 2), True), ((8, 6, 6, 2), True), ((6, 6, 5, 2), False)],
)
def test_row_groups_of_sizes_in_another_order_are_found(path, sizes, told):
    frame = pl.DataFrame({"key": [f"{n:04}" for n in range(sum(sizes))]})
    table = frame.to_arrow()
    with pq.ParquetWriter(path, table.schema) as writer:
        for end, size in zip(np.cumsum(sizes).tolist(), sizes, strict=True):
            writer.write_table(table.slice(end - size, size))
    found = find_file_traces(path, "parquet", frame)
    assert ("the Parquet file's row groups differ in size" in found) == told
