"""Who is in a table, as keyed digests: what the ledger compares instead of people. No Prefect here.

A digest stands for what a column of identifiers holds, for all such columns together, or for a whole record; the key lies
in the vault. Equal values are told apart by a count, so that digests show no frequencies either.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinds.table.columns import as_text
from tasks.vault.secrecy import DIGEST_BYTES, digest

RECORD = "record"
COLUMN, COLUMNS = "column ", "columns "  # and the name, or all names
NOTHING = bytes(DIGEST_BYTES)  # for who has no such identifier


@dataclass(frozen=True)
class People:
    """Digests of `records` people by kind, one after the other; `repeated`: kinds in which one value stands more than once."""

    records: int
    digests: Mapping[str, bytes] = field(repr=False)
    repeated: frozenset[str]

    @classmethod
    def of(cls, key: bytes, table: pl.DataFrame, identifiers: pl.DataFrame) -> "People":
        """Those of typed records, and of the columns that the plan calls identifiers."""
        groups = {COLUMN + series.name: [series] for series in identifiers}
        if identifiers.width > 1:
            groups[COLUMNS + json.dumps(sorted(identifiers.columns))] = list(identifiers)
        groups[RECORD] = list(table)
        kinds = {kind: _digests(key, kind, columns) for kind, columns in groups.items()}
        repeated = frozenset(kind for kind, (_, found) in kinds.items() if found)
        return cls(table.height, {kind: found for kind, (found, _) in kinds.items()}, repeated)

    def each(self, kind: str) -> Iterator[bytes]:
        """The digests of one kind."""
        found = self.digests[kind]
        return (found[at : at + DIGEST_BYTES] for at in range(0, len(found), DIGEST_BYTES))

    def shuffled(self, kind: str) -> bytes:
        """The digests of one kind in an order that tells nothing, without those who have none."""
        return b"".join(sorted(each for each in self.each(kind) if each != NOTHING))


def partners(ours: People, theirs: People) -> NDArray[np.int64]:
    """For each of our people the place of the same one among theirs, -1 where there is none.

    A column of identifiers that both have and in which no value repeats tells people by itself, all columns together do
    where both have the same; failing that any column that both have, failing that the whole record.
    """
    found = np.full(ours.records, -1, dtype=np.int64)
    for kind in _telling(ours, theirs):
        place = {each: at for at, each in enumerate(theirs.each(kind)) if each != NOTHING}
        for at, each in enumerate(ours.each(kind)):
            if found[at] < 0:
                found[at] = place.get(each, -1)
    return found


def _telling(ours: People, theirs: People) -> Sequence[str]:
    common = [kind for kind in ours.digests if kind in theirs.digests]
    single = [kind for kind in common if kind.startswith(COLUMN)]
    sure = [kind for kind in single if kind not in ours.repeated | theirs.repeated]
    together = [kind for kind in common if kind.startswith(COLUMNS)]
    return (sure + together) or single or [kind for kind in common if kind == RECORD]


def plain(series: pl.Series) -> pl.Series:
    """Values as text, numbers alike whatever the column's type: 5, 5.0, the decimal 5.00 and "5"."""
    text = as_text(series.alias(""))  # polars takes a name such as ^a$ for a pattern
    if not (series.dtype.is_float() or series.dtype.is_decimal()):
        return text
    return text.str.replace(r"(\.\d*?)0+$", "${1}").str.strip_suffix(".")


def _digests(key: bytes, kind: str, columns: Sequence[pl.Series]) -> tuple[bytes, bool]:
    """A digest for each row, those of equal rows told apart by a count; and whether there are equal rows."""
    given = [series.fill_nan(None) if series.dtype.is_float() else series for series in columns]
    texts = {series.name: plain(series) for series in sorted(given, key=lambda series: series.name)}
    absent = np.all([text.is_null().to_numpy() for text in texts.values()], axis=0)
    lines = pl.DataFrame(texts).write_ndjson().encode().splitlines()
    found, times = [], Counter[bytes]()
    for line, nobody in zip(lines, absent.tolist(), strict=True):
        one = NOTHING if nobody else digest(key, kind.encode() + b"\n" + line)
        if not nobody:
            again = times[one]
            times[one] += 1
            one = digest(key, one + again.to_bytes(8)) if again else one
        found.append(one)
    return b"".join(found), len(times) < times.total()
