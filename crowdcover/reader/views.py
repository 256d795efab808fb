"""A release as tables: its rows, levels, sets and bounds."""

import polars as pl

from crowdcover.reader import shown
from crowdcover.reader.coded.named import number_repeated_names
from crowdcover.reader.coded.nodes import build_tree_frame
from crowdcover.reader.parts import ReleaseParts


class Views(ReleaseParts):
    """What shows a release as it is, without an estimate."""

    def __repr__(self) -> str:
        return shown.describe_release(self.manifest, self.rows.height, self.columns.values())

    def __len__(self) -> int:
        return self.rows.height

    def frame(self) -> pl.DataFrame:
        """The rows as they were published."""
        return self.rows

    def levels(self, col: str) -> pl.DataFrame:
        """The levels of a column: what its cells may allow.

        Returns
        -------
        polars.DataFrame
            `level`, its text; `value`, what stands for it, null for a missing value; of numbers
            and dates also `lo` and `hi`, null for an open side.
        """
        return shown.levels_of(self.column(col))

    def sets(self) -> pl.DataFrame:
        """The rows with each masked cell as the list of the levels that it allows.

        Returns
        -------
        polars.DataFrame
            As `frame`, masked columns of type List(String).
        """
        return self.rows.with_columns(
            shown.sets_of(column) for column in self.list_masked_columns()
        )

    def bounds(self) -> pl.DataFrame:
        """Least and greatest number or date of each cell, in two columns for each column.

        Returns
        -------
        polars.DataFrame
            The key; for each column of numbers or dates `<col>.lo` and `<col>.hi`, both included
            where the bound of a group does not exclude its lower one. Null is an open side. Both
            are null where the value is missing. A cell that allows a missing value has the bounds
            of its given values.
        """
        keys = [self.rows["key"]] if "key" in self.rows.columns else []
        return pl.DataFrame([*keys, *shown.bounds_frame(self.columns.values())])

    def tree(self, col: str) -> pl.DataFrame:
        """The hierarchy of a column: what `under` and `level` may name.

        Returns
        -------
        polars.DataFrame
            A row for each node, the outer one first: `level`, `node`, and `values`, a list of the
            values below it. No row where the column has no hierarchy. A level is called as the
            plan's file names it, by how many letters of a code its nodes keep, or 1, 2, ... from
            the top.
        """
        return build_tree_frame(self.column(col).levels)

    def members(self, *cols: str) -> pl.DataFrame:
        """Each cell as numbers for machine learning: 1/s for each of the s levels it allows.

        Parameters
        ----------
        *cols : str
            Columns; all masked ones if none is named.

        Returns
        -------
        polars.DataFrame
            float64, a column `<col>=<level>` for each level. The numbers of each column of the
            release sum to 1 in every row. `.to_numpy()` is (rows, levels).
        """
        names = dict.fromkeys(cols or [each.name for each in self.list_masked_columns()])
        parts = [part for col in names for part in shown.members_of(self.column(col))]
        unlike = number_repeated_names(part.name for part in parts)
        return pl.DataFrame([part.alias(name) for part, name in zip(parts, unlike, strict=True)])
