"""Partitions of a source by date: their labels, ranges of labels, and the rows of one of them.

Labels are written so that their order as texts is their order in time: 2014-03-05, 2014-W10,
2014-03, 2014-Q1, 2014.
"""

import re
from pathlib import Path
from typing import Literal

import polars as pl

from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.snapshot.packed_rows import PackedRows
from crowdcover.storage.source.snapshot.pieces import LOST
from crowdcover.storage.source.snapshot.row_order import sort_rows
from crowdcover.storage.source.sources import Source
from crowdcover.storage.source.values import call_or_refuse

By = Literal["day", "week", "month", "quarter", "year"]
UNREADABLE_VALUES = "the source holds values that cannot be read; cast or convert them"
# What a label of each length of time looks like, and an example of it.
FORMS: dict[str, tuple[str, str]] = {
    "day": (r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", "2014-03-05"),
    "week": (r"\d{4}-W(0[1-9]|[1-4]\d|5[0-3])", "2014-W10"),
    "month": (r"\d{4}-(0[1-9]|1[0-2])", "2014-03"),
    "quarter": (r"\d{4}-Q[1-4]", "2014-Q1"),
    "year": (r"\d{4}", "2014"),
}


def labels_of(dates: pl.Series, by: By) -> pl.Series:
    """The label of each date, null where there is no date; weeks are those of ISO 8601."""
    date = pl.col("date")
    written = {
        "day": date.dt.strftime("%Y-%m-%d"),
        # %G, not %Y: the 29th of December 2014 lies in 2015-W01.
        "week": date.dt.strftime("%G-W%V"),
        "month": date.dt.strftime("%Y-%m"),
        "quarter": pl.format("{}-Q{}", date.dt.strftime("%Y"), date.dt.quarter()),
        "year": date.dt.strftime("%Y"),
    }
    return dates.alias("date").to_frame().select(written[by].alias("label")).to_series()


def is_label(text: str, by: By) -> bool:
    """Whether a text names a partition of this length."""
    return re.fullmatch(FORMS[by][0], text) is not None


def wrong_label(by: By) -> str:
    """The message for a text that names no partition of this length."""
    return f"a partition by {by} is written like {FORMS[by][1]}; correct --partition or --backfill"


def range_of(text: str, by: By) -> tuple[str, str] | None:
    """First and last label of a range such as 2013-08..2015-12; None where it is none."""
    first, dots, last = text.partition("..")
    if not (dots and is_label(first, by) and is_label(last, by) and first <= last):
        return None
    return first, last


class Picked(Reading):
    """Rows that were picked out of another reading; their fingerprint is of their content.

    It is the same for any order of the rows in the source.
    """

    __slots__ = ()
    least = 0

    def __init__(self, source: Source, rows: pl.DataFrame) -> None:
        self.source = source.at(None)
        self.beside = self._disk = self._kept = None
        self._content = call_or_refuse(lambda: sort_rows(PackedRows.of(rows)), UNREADABLE_VALUES)
        self._own = self.sha256 = self._content.sha256

    @classmethod
    def kept(cls, source: Source, path: Path) -> "Picked":
        """The rows that `write_rows` wrote."""
        return cls(source, call_or_refuse(lambda: pl.read_ipc(path), LOST))


def write_rows(rows: pl.DataFrame, path: Path) -> None:
    """Write the rows of a partition for `Picked.kept`, mode 0600."""
    # Made here: polars would make it with the modes of the umask.
    path.touch(mode=0o600)
    rows.write_ipc(path, compression="lz4")
