"""Who is in a table, as keyed digests: the ledger compares these instead of people.

A digest stands for the value of an identifier column, for the values of all such columns together,
or for a whole record. The key lies in the vault. A digest is made in two steps:

1. The base digest of a value in its one spelling, for every row of the source, made while the
   source is read. Releases of older builds have digests of values as their file spelt them; where
   the two differ, digests of that kind are made, too, so that these are known again.
2. The digest, for the rows that stay. A second person with the same value gets the digest of the
   base and the count, a third likewise, so that digests of a release show no frequencies.
"""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.storage.ledger.digest_kernels import count_before, digest_texts, take_key
from crowdcover.storage.ledger.identifier_spelling import FORM, normalize_spelling, spell_plainly
from crowdcover.storage.vault.run import Stored
from crowdcover.storage.vault.secret_streams import DIGEST_BYTES, digest_with_key

RECORD = "record"
COLUMN, COLUMNS = "column ", "columns "  # followed by the name, or by all names
AS_SPELT = "as spelt "  # followed by a kind: of spelling form 1, where a value's differs
AT_ONCE = 65_536  # rows that are held as texts at the same time
NOTHING = bytes(DIGEST_BYTES)  # of a person without such an identifier
PEOPLE_FILE = "people.bin"
IDENTIFIERS_FILE = "identifiers.bin"  # of the ingest stage: keyed digests, all rows
_WORDS = ["high", "low"]  # columns of the two numbers of a digest


@dataclass(frozen=True)
class People:
    """Digests of `records` people by kind, one behind the other.

    `repeated` holds the kinds in which one value belongs to more than one person.
    """

    records: int
    digests: Mapping[str, bytes] = field(repr=False)
    repeated: frozenset[str]

    @classmethod
    def of(cls, key: bytes, table: pl.DataFrame, identifiers: pl.DataFrame) -> "People":
        """Digest typed records, and the columns that the plan calls identifiers."""
        return cls.digest_people(
            key, [table], base_digests(key, identifiers), np.arange(table.height)
        )

    @classmethod
    def digest_people(
        cls,
        key: bytes,
        tables: Iterable[pl.DataFrame],
        identified: Mapping[str, bytes],
        rows: NDArray[np.int64],
    ) -> "People":
        """Digest the people of some source rows.

        `tables` have the typed records of these rows, one behind the other, `identified` the base
        digests of identifiers for all rows of the source.
        """
        counted = {
            kind: _distinguish_repeats(key, _digests_to_words(base)[rows])
            for kind, base in identified.items()
        }
        whole = b"".join(_compute_base_digests(key, RECORD, list(table)) for table in tables)
        counted[RECORD] = _distinguish_repeats(key, _digests_to_words(whole).copy())
        repeated = frozenset(kind for kind, (_, again) in counted.items() if again)
        return cls(len(rows), {kind: digests for kind, (digests, _) in counted.items()}, repeated)

    def each(self, kind: str) -> Iterator[bytes]:
        """Yield the digests of one kind."""
        return iter(each_digest(self.digests[kind]))

    def sort_digests(self, kind: str) -> bytes:
        """Return the digests of one kind, sorted, without people who have none.

        The order is that of random-looking bytes: it tells nothing of the records.
        """
        words = _digests_to_words(self.digests[kind])
        texts = words[words.any(axis=1)].view(f"S{DIGEST_BYTES}").ravel()
        texts.sort()
        return texts.tobytes()


def base_digests(key: bytes, identifiers: pl.DataFrame) -> dict[str, bytes]:
    """Return the base digests of all rows by kind: each column, and all columns together."""
    return {kind: b"".join(parts) for kind, parts in _digest_by_kind(key, identifiers)}


def _digest_by_kind(key: bytes, identifiers: pl.DataFrame) -> Iterator[tuple[str, list[bytes]]]:
    """Each kind of base digests, in parts of the rows; only those of one are held."""
    for kind, places in _map_kinds_to_columns(identifiers.columns).items():
        known, as_spelt, differs = [], [], False
        for some in identifiers[:, places].iter_slices(AT_ONCE):
            plain = [spell_plainly(_replace_nan(series)) for series in some]
            respelt = [normalize_spelling(_replace_nan(series)) for series in some]
            pairs = zip(plain, respelt, strict=True)
            known.append(_compute_base_digests(key, kind, respelt))
            if all(one.equals(two, null_equal=True) for one, two in pairs):
                as_spelt.append(known[-1])
            else:
                as_spelt.append(_compute_base_digests(key, kind, plain))
                differs = True
        yield kind, known
        if differs:
            yield AS_SPELT + kind, as_spelt


def _map_kinds_to_columns(names: Sequence[str]) -> dict[str, list[int]]:
    """Kinds of digests, and the places of the columns that each is of."""
    groups = {COLUMN + name: [at] for at, name in enumerate(names)}
    if len(names) > 1:
        groups[COLUMNS + json.dumps(sorted(names))] = list(range(len(names)))
    return groups


def _replace_nan(series: pl.Series) -> pl.Series:
    """The values; none where a float is no number."""
    return series.fill_nan(None) if series.dtype.is_float() else series


def column_digests(key: bytes, values: pl.Series, form: int = FORM) -> list[bytes]:
    """Return a digest of each value of an identifier column, as `base_digests` makes it.

    `form` is that of the spelling; 1 is what older builds knew.
    """
    known = _replace_nan(values)
    spelt = spell_plainly(known) if form == 1 else normalize_spelling(known)
    return each_digest(_compute_base_digests(key, COLUMN + values.name, [spelt.alias(values.name)]))


def row_digests(key: bytes, label: str, rows: pl.DataFrame) -> list[bytes]:
    """Return a digest of each row as a whole; rows of other columns or labels never agree."""
    # Without the constant a row of nulls only would get NOTHING, as if nobody were there.
    whole = [pl.repeat("row", rows.height, dtype=pl.String, eager=True).alias(""), *rows]
    return each_digest(_compute_base_digests(key, label, whole))


def write_identifiers(
    key: bytes, key_print: str, identifiers: pl.DataFrame, folder: Path
) -> Mapping[str, Any]:
    """Write keyed digests of the identifiers of every source row; return the facts about them.

    The identifiers themselves are written nowhere.
    """
    kinds = []
    with (folder / IDENTIFIERS_FILE).open("wb") as file:
        for kind, parts in _digest_by_kind(key, identifiers):
            file.writelines(parts)
            kinds.append(kind)
            del parts  # before those of the next kind are made
    return {"key": key_print, "identifiers": kinds}


def read_identifiers(ingested: Stored) -> Mapping[str, bytes]:
    """Return what `write_identifiers` wrote; nothing where the source has no identifiers."""
    kinds = ingested.facts.get("identifiers", [])
    if not kinds:
        return {}
    return StoredDigests(ingested.file(IDENTIFIERS_FILE), kinds, ingested.shape[0])


def write_people(people: People, path: Path) -> dict[str, Any]:
    """Write digests in the order of the records; return the facts that `read_people` needs."""
    with path.open("wb") as file:
        file.writelines(people.digests.values())
    return {
        "shape": [people.records],
        "form": FORM,
        "kinds": list(people.digests),
        "repeated": sorted(people.repeated),
    }


def read_spelling_form(stored: Stored) -> int:
    """Return the form of spelling of the digests that `write_people` wrote."""
    return int(stored.facts.get("form", 1))


def read_people(stored: Stored) -> People:
    """Return what `write_people` wrote."""
    facts, (records, *_) = stored.facts, stored.shape
    digests = StoredDigests(stored.file(PEOPLE_FILE), facts["kinds"], records)
    return People(records, digests, frozenset(facts["repeated"]))


def of_column(people: People, name: str, form: int) -> list[bytes]:
    """Return the digests of an identifier column in a form of spelling, in order."""
    spelt = AS_SPELT + COLUMN + name
    old = form == 1 and spelt in people.digests
    return list(people.each(spelt if old else COLUMN + name))


class StoredDigests(Mapping[str, bytes]):
    """The digests in a file by kind, one a row; each kind is read when it is asked for."""

    def __init__(self, path: Path, kinds: Sequence[str], rows: int) -> None:
        self._path, self._bytes = path, rows * DIGEST_BYTES
        self._place = {kind: at for at, kind in enumerate(kinds)}

    def __getitem__(self, kind: str) -> bytes:
        """Return the digests of one kind, one behind the other."""
        first = self._place[kind] * self._bytes
        with self._path.open("rb") as file:
            file.seek(first)
            return file.read(self._bytes)

    def __iter__(self) -> Iterator[str]:
        """Yield the kinds in the order of the file."""
        return iter(self._place)

    def __len__(self) -> int:
        """Count the kinds."""
        return len(self._place)


def match_people(ours: People, theirs: People) -> NDArray[np.int64]:
    """Return for each of our people the place of the same person among theirs, -1 if absent.

    People are the same if they share the value of an identifier column that both sides have and
    in which no value repeats, or the values of all identifier columns where both sides have the
    same columns. Where neither is there, any column that both have decides, else the whole record.
    """
    place_of = np.full(ours.records, -1, dtype=np.int64)
    for kind in _find_linking_kinds(ours, theirs):
        # No digest occurs twice: those of equal values were made distinct by their count.
        known = _number_digests(theirs.digests[kind])
        for spelt in (kind, AS_SPELT + kind):  # those of an older build are as it was spelt
            if spelt in ours.digests:
                found = _number_digests(ours.digests[spelt]).join(known, on=_WORDS)
                here, there = found["place"].to_numpy(), found["place_right"].to_numpy()
                new = place_of[here] < 0
                place_of[here[new]] = there[new]
    return place_of


def _number_digests(digests: bytes) -> pl.DataFrame:
    """Digests as two whole numbers, and the place of each; nobody's are left out."""
    words = _digests_to_words(digests)
    frame = pl.DataFrame({name: words[:, at] for at, name in enumerate(_WORDS)})
    return frame.with_row_index("place").filter(pl.any_horizontal(pl.col(_WORDS) != 0))


def _find_linking_kinds(ours: People, theirs: People) -> Sequence[str]:
    """Return the kinds of digests that link people."""
    common = [kind for kind in ours.digests if kind in theirs.digests]
    single = [kind for kind in common if kind.startswith(COLUMN)]
    sure = [kind for kind in single if kind not in ours.repeated | theirs.repeated]
    together = [kind for kind in common if kind.startswith(COLUMNS)]
    return (sure + together) or single or [kind for kind in common if kind == RECORD]


def _compute_base_digests(key: bytes, kind: str, columns: Sequence[pl.Series]) -> bytes:
    """Return a digest for each row; equal rows have equal digests."""
    given = sorted(columns, key=lambda series: series.name)
    table = pl.DataFrame({series.name: series for series in given})
    # With the kind in front, one value in two columns has two digests.
    label = kind.encode() + b"\n"
    return b"".join(_digest_rows(key, label, some) for some in table.iter_slices(AT_ONCE))


def _digest_rows(key: bytes, label: bytes, table: pl.DataFrame) -> bytes:
    """Return a digest of each row's values as texts; NOTHING where all are missing."""
    spelt = pl.DataFrame({series.name: spell_plainly(_replace_nan(series)) for series in table})
    lines = io.BytesIO()
    spelt.write_ndjson(lines)
    texts = np.frombuffer(lines.getbuffer(), dtype=np.uint8)
    # JSON escapes line ends within cells, so each line is one row.
    ends = np.flatnonzero(texts == ord("\n"))
    digests = _digest_texts(key, label, texts, np.append(0, ends + 1)[:-1], ends)
    nobody = spelt.select(pl.all_horizontal(pl.all().is_null())).to_series()
    digests[nobody.to_numpy()] = _digests_to_words(NOTHING)
    return digests.tobytes()


def _digest_texts(
    key: bytes,
    label: bytes,
    texts: NDArray[np.uint8],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> NDArray[np.uint64]:
    """Return what `digest_with_key` makes of the label and each text, uint64 (n, 2)."""
    digests = np.empty((len(ends), 2), dtype="<u8")
    state, named = take_key(np.frombuffer(key, np.uint8)), np.frombuffer(label, np.uint8)
    digest_texts(state, named, texts, begins, ends, digests)
    if len(ends):
        first = label + texts[begins[0] : ends[0]].tobytes()
        # By others nobody would be known again.
        assert digests[0].tobytes() == digest_with_key(key, first)
    return digests


def _digests_to_words(digests: bytes) -> NDArray[np.uint64]:
    """Return digests as two whole numbers each, (n, 2)."""
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 2)


def _distinguish_repeats(key: bytes, bases: NDArray[np.uint64]) -> tuple[bytes, bool]:
    """Return digests that differ where base digests are equal, and whether any are equal.

    `bases` are overwritten.
    """
    again = np.empty(len(bases), dtype=np.int32)
    latest = np.full(1 << (len(bases) * 3 // 2).bit_length(), -1, dtype=np.int32)
    count_before(bases, latest, again)
    repeats = np.flatnonzero(again)
    for first in range(0, len(repeats), AT_ONCE):
        some = repeats[first : first + AT_ONCE]
        # A text of 24 bytes: the base digest, and the count as a big-endian number of 8 bytes.
        texts = np.stack([*bases[some].T, again[some].astype(">u8").view("<u8")], axis=1)
        ends = np.arange(1, len(some) + 1) * texts.itemsize * 3
        begins = ends - texts.itemsize * 3
        bases[some] = _digest_texts(key, b"", texts.view(np.uint8).ravel(), begins, ends)
    return bases.tobytes(), len(repeats) > 0


def each_digest(digests: bytes) -> list[bytes]:
    """Return the digests that lie one behind the other."""
    return [digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES)]
