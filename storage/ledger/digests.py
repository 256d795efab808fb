"""Who is in a table, as keyed digests: the ledger compares these instead of people.

A digest stands for the value of an identifier column, for the values of all such columns together,
or for a whole record. The key lies in the vault. A digest is made in two steps:

1. The base digest of a value in its one spelling, for every row of the source, made while the
   source is read. Releases of older builds have digests of values as their file spelt them; where
   the two differ, digests of that kind are made, too, so that these are known again.
2. The digest, for the rows that stay. A second person with the same value gets the digest of the
   base and the count, a third likewise, so that digests of a release show no frequencies.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from storage.ledger.identifier_spelling import FORM, normalize_spelling, spell_plainly
from storage.vault.run import Stored
from storage.vault.secret_streams import DIGEST_BYTES, digest_with_key

RECORD = "record"
COLUMN, COLUMNS = "column ", "columns "  # followed by the name, or by all names
AS_SPELT = "as spelt "  # followed by a kind: of spelling form 1, where a value's differs
AT_ONCE = 250_000  # rows that are held as texts at the same time
NOTHING = bytes(DIGEST_BYTES)  # of a person without such an identifier
PEOPLE_FILE = "people.bin"
IDENTIFIERS_FILE = "identifiers.bin"  # of the ingest stage: keyed digests, all rows


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
            key, table, base_digests(key, identifiers), np.arange(table.height)
        )

    @classmethod
    def digest_people(
        cls,
        key: bytes,
        table: pl.DataFrame,
        identified: Mapping[str, bytes],
        rows: NDArray[np.int64],
    ) -> "People":
        """Digest the people of some source rows.

        `table` has the typed records of these rows, `identified` the base digests of identifiers
        for all rows of the source.
        """
        counted = {
            kind: _distinguish_repeats(key, _digests_to_integers(base)[rows])
            for kind, base in identified.items()
        }
        counted[RECORD] = _distinguish_repeats(
            key, _digests_to_integers(_compute_base_digests(key, RECORD, list(table)))
        )
        repeated = frozenset(kind for kind, (_, again) in counted.items() if again)
        return cls(len(rows), {kind: digests for kind, (digests, _) in counted.items()}, repeated)

    def each(self, kind: str) -> Iterator[bytes]:
        """Yield the digests of one kind."""
        return iter(each_digest(self.digests[kind]))

    def sort_digests(self, kind: str) -> bytes:
        """Return the digests of one kind, sorted, without people who have none.

        The order is that of random-looking bytes: it tells nothing of the records.
        """
        words = _digests_to_integers(self.digests[kind])
        words = words[words.any(axis=1)]
        return words[np.lexsort((words[:, 1], words[:, 0]))].tobytes()


def base_digests(key: bytes, identifiers: pl.DataFrame) -> dict[str, bytes]:
    """Return the base digests of all rows by kind: each column, and all columns together."""
    plain = [spell_plainly(_replace_nan(series)) for series in identifiers]
    respelt = [normalize_spelling(_replace_nan(series)) for series in identifiers]
    found = {}
    for kind, places in _map_kinds_to_columns(identifiers.columns).items():
        found[kind] = _compute_base_digests(key, kind, [respelt[at] for at in places])
        if any(not respelt[at].equals(plain[at], null_equal=True) for at in places):
            found[AS_SPELT + kind] = _compute_base_digests(key, kind, [plain[at] for at in places])
    return found


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
    bases = base_digests(key, identifiers)
    (folder / IDENTIFIERS_FILE).write_bytes(b"".join(bases.values()))
    return {"key": key_print, "identifiers": list(bases)}


def read_identifiers(ingested: Stored) -> dict[str, bytes]:
    """Return what `write_identifiers` wrote; nothing where the source has no identifiers."""
    kinds = ingested.facts.get("identifiers", [])
    if not kinds:
        return {}
    return read_digests(ingested.file(IDENTIFIERS_FILE), kinds, ingested.shape[0])


def write_people(people: People, path: Path) -> dict[str, Any]:
    """Write digests in the order of the records; return the facts that `read_people` needs."""
    path.write_bytes(b"".join(people.digests.values()))
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
    digests = read_digests(stored.file(PEOPLE_FILE), facts["kinds"], records)
    return People(records, digests, frozenset(facts["repeated"]))


def of_column(people: People, name: str, form: int) -> list[bytes]:
    """Return the digests of an identifier column in a form of spelling, in order."""
    spelt = AS_SPELT + COLUMN + name
    old = form == 1 and spelt in people.digests
    return list(people.each(spelt if old else COLUMN + name))


def read_digests(path: Path, kinds: Sequence[str], rows: int) -> dict[str, bytes]:
    """Return the digests in a file by kind; each kind has one digest a row."""
    content, step = path.read_bytes(), rows * DIGEST_BYTES
    return {kind: content[at * step : (at + 1) * step] for at, kind in enumerate(kinds)}


def match_people(ours: People, theirs: People) -> NDArray[np.int64]:
    """Return for each of our people the place of the same person among theirs, -1 if absent.

    People are the same if they share the value of an identifier column that both sides have and
    in which no value repeats, or the values of all identifier columns where both sides have the
    same columns. Where neither is there, any column that both have decides, else the whole record.
    """
    place_of = np.full(ours.records, -1, dtype=np.int64)
    for kind in _find_linking_kinds(ours, theirs):
        # No digest occurs twice: those of equal values were made distinct by their count.
        place = {each: at for at, each in enumerate(theirs.each(kind)) if each != NOTHING}
        for spelt in (kind, AS_SPELT + kind):  # those of an older build are as it was spelt
            for at, each in enumerate(ours.each(spelt) if spelt in ours.digests else ()):
                if place_of[at] < 0:
                    place_of[at] = place.get(each, -1)
    return place_of


def _find_linking_kinds(ours: People, theirs: People) -> Sequence[str]:
    """Return the kinds of digests that link people."""
    common = [kind for kind in ours.digests if kind in theirs.digests]
    single = [kind for kind in common if kind.startswith(COLUMN)]
    sure = [kind for kind in single if kind not in ours.repeated | theirs.repeated]
    together = [kind for kind in common if kind.startswith(COLUMNS)]
    return (sure + together) or single or [kind for kind in common if kind == RECORD]


def _compute_base_digests(key: bytes, kind: str, columns: Sequence[pl.Series]) -> bytes:
    """Return a digest for each row; equal rows have equal digests."""
    given = [_replace_nan(series) for series in sorted(columns, key=lambda series: series.name)]
    table = pl.DataFrame({series.name: series for series in given})
    # With the kind in front, one value in two columns has two digests.
    label = kind.encode() + b"\n"
    # JSON escapes line ends within cells, so each line is one row.
    return b"".join(
        b"".join(
            NOTHING if nobody else digest_with_key(key, label + line)
            for line, nobody in zip(
                part.write_ndjson().encode().splitlines(),
                part.select(pl.all_horizontal(pl.all().is_null())).to_series(),
                strict=True,
            )
        )
        for part in (
            pl.DataFrame({series.name: spell_plainly(series) for series in some})
            for some in table.iter_slices(AT_ONCE)
        )
    )


def _digests_to_integers(digests: bytes) -> NDArray[np.uint64]:
    """Return digests as two whole numbers each, whose order is theirs, big-endian (n, 2)."""
    return np.frombuffer(digests, dtype=">u8").reshape(-1, 2)


def _distinguish_repeats(key: bytes, bases: NDArray[np.uint64]) -> tuple[bytes, bool]:
    """Return digests that differ where base digests are equal, and whether any are equal."""
    order = np.lexsort((bases[:, 1], bases[:, 0]))
    ordered = bases[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.arange(len(order))
    # int64 (n,): how many equal digests stand before each in the sorted order.
    again = place - np.maximum.accumulate(np.where(new, place, 0))
    again[~ordered.any(axis=1)] = 0  # people without such an identifier
    distinct = bases.copy()
    for at in np.flatnonzero(again).tolist():
        base = ordered[at].tobytes()
        distinct[order[at]] = _digests_to_integers(
            digest_with_key(key, base + int(again[at]).to_bytes(8))
        )[0]
    return distinct.tobytes(), bool(again.any())


def each_digest(digests: bytes) -> list[bytes]:
    """Return the digests that lie one behind the other."""
    return [digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES)]
