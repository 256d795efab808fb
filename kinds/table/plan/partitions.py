"""[source] partition of a plan: the rows of a table by the dates of a column."""

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import PlanError, Section, SourceSection
from crowdcover.storage.source.partitions import By, is_label, labels_of, wrong_label
from crowdcover.storage.source.reading import Reading


class PartitionSection(Section):
    """[source] partition.

    Attributes
    ----------
    column : the column of dates.
    by : the length of a partition.
    """

    column: str
    by: By


class TableSource(SourceSection):
    """[source] of a table.

    Attributes
    ----------
    partition : how the source is divided; each version of a series has the rows of one partition.
    at : the partition of the coming version; set by release --partition and --backfill.
    part : a file with the rows of that partition; set by release --backfill.
    """

    partition: PartitionSection | None = None
    at: str | None = None
    part: str | None = None


@dataclass(frozen=True)
class Partition:
    """Which rows of a source are in a version.

    Attributes
    ----------
    column : Column
        Typed as dates.
    by : str
        Length of a partition.
    at : str, optional
        Label of the partition of the coming version.
    part : Path, optional
        A file with its rows, from a snapshot of the source.
    """

    column: Column
    by: By
    at: str | None = None
    part: Path | None = None

    @classmethod
    def of(cls, source: TableSource, columns: tuple[Column, ...]) -> "Partition | None":
        """From the plan; refused: a column that the plan lacks or that has no dates."""
        stated = source.partition
        if stated is None:
            if source.at is not None or source.part is not None:
                raise PlanError(
                    "a partition was named, and the plan has no source.partition = "
                    "{column = name, by = 'month'}; state it, or leave the partition out"
                )
            return None
        column = next((each for each in columns if each.name == stated.column), None)
        if column is None:
            raise PlanError(
                "source.partition names a column that [columns] does not; allowed: "
                + ", ".join(each.name for each in columns)
                + did_you_mean(stated.column, [each.name for each in columns])
            )
        if column.kind not in (None, "date"):
            raise PlanError(
                f"source.partition: column {column.name!r} has kind = {column.kind!r}; "
                "partitions are by date, so set kind = 'date' there"
            )
        # With this role moments are read as days, as those of a quasi-identifier are.
        dates = replace(column, role="drop", kind="date", spec=None)
        if source.at is not None and not is_label(source.at, stated.by):
            raise PlanError(wrong_label(stated.by))
        part = None if source.part is None else Path(source.part)
        return cls(dates, stated.by, source.at, part)

    def divide_rows(
        self, reading: Reading, names: list[str], needed: list[str], missing: tuple[str, ...]
    ) -> tuple[pl.DataFrame, pl.Series]:
        """The needed columns, and the label of each row; null where the row has no date."""
        # The plan may drop the column of dates, so that `needed` lacks it.
        read = list(dict.fromkeys([*needed, self.column.name]))
        raw = reading.columns(names, read)
        labels = labels_of(type_source_column(raw, self.column, missing), self.by)
        return raw.select(needed), labels
