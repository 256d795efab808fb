"""`assess`: how well people hide in a table, whoever made it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.table.classes import Classes, ReleasedCells, index_distinct_columns
from anon_core.measures.table.crowds import count_rows
from crowdcover.assessing.cells import ReadColumn, read_column
from crowdcover.assessing.hierarchies import GivenHierarchy, read_nodes
from crowdcover.assessing.sensitive import assess_sensitive
from crowdcover.frames import Names, list_names, require_columns, take_frame
from crowdcover.measured import Report


@dataclass(frozen=True, repr=False)
class Assessment:
    """What a table tells about the people in it. Its text has counts and names of columns only.

    Attributes
    ----------
    classes : Report
        Groups of rows that are identical in all quasi-identifiers: the strict sense of k-anonymity.
    crowds : Report
        For each row, the rows that can be of the same person: each of their cells allows a value
        that the row's cell allows, too. A suppressed cell allows all, as sdcMicro counts.
    sensitive : dict of Report
        By sensitive column, what its values still tell.
    columns : DataFrame
        A line for each quasi-identifier: how its cells were read, how many are different and how
        many are suppressed, and k and the rows that stand alone if it were left out.
    source : Report or None
        Of a table that was masked: how many rows each record of its source fits.
    demanded : int or None
        The k that was asked for.
    """

    classes: Report
    crowds: Report
    sensitive: dict[str, Report]
    columns: pl.DataFrame
    source: Report | None
    demanded: int | None
    _held: NDArray[np.int64] = field(repr=False)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return len(self._held)

    @property
    def k(self) -> int:
        """Rows, or people where a person is named, in the smallest group of identical rows."""
        return int(self.classes["k"])

    @property
    def findings(self) -> list[str]:
        """What is wrong with the table, in sentences; empty if nothing was found."""
        return [*self._find_small_groups(), *self._find_told_values(), *self._find_misfits()]

    def locate_rows(self, k: int | None = None) -> pl.Series:
        """The rows that are in groups of fewer than k: their numbers, from 0. Private.

        Raises
        ------
        InputError
            No k is given, here or when the table was assessed.
        """
        wanted = self.demanded if k is None else k
        if wanted is None:
            raise InputError("locate_rows needs k: locate_rows(5)")
        return pl.Series("row", np.flatnonzero(self._held < wanted))

    def _find_small_groups(self) -> list[str]:
        least = 2 if self.demanded is None else self.demanded
        short = int((self._held < least).sum())
        if not short:
            return []
        told = [
            f"{short:,} of {self.rows:,} rows are in groups of fewer than {least} identical rows"
        ]
        better = self.columns.filter(pl.col("k_without") >= least)["column"].to_list()
        if better:
            told.append(f"without {' or without '.join(better)} no row would be")
        return ["; ".join(told)]

    def _find_told_values(self) -> list[str]:
        return [
            f"{each['uniform_rows']:,} rows are in groups that all show one {name}"
            for name, each in self.sensitive.items()
            if each["uniform_rows"]
        ]

    def _find_misfits(self) -> list[str]:
        if self.source is None:
            return []
        told = []
        if self.source["fit_none"]:
            told.append(f"{self.source['fit_none']:,} records of the source fit no row")
        if self.demanded is not None and self.source["below_k"]:
            told.append(
                f"{self.source['below_k']:,} records of the source fit fewer than {self.demanded} "
                "rows"
            )
        return told

    def _list_reports(self) -> list[Report]:
        source = [] if self.source is None else [self.source]
        return [self.classes, self.crowds, *self.sensitive.values(), *source]

    def __repr__(self) -> str:
        head = f"<Assessment: {self.rows:,} rows, k = {self.k}>"
        found = [f"  {each}" for each in self.findings] or ["  nothing was found to be wrong"]
        return "\n".join([head, *found, *map(repr, self._list_reports())])

    def _repr_html_(self) -> str:
        found = tuple((each, "") for each in self.findings)
        head = Report(f"{self.rows:,} rows, k = {self.k}", {}, found)
        return "".join(each._repr_html_() for each in (head, *self._list_reports()))


def assess(
    data: Any,
    quasi: Names,
    *,
    sensitive: Names = (),
    k: int | None = None,
    person: str | None = None,
    source: Any = None,
    hierarchies: Mapping[str, GivenHierarchy] | None = None,
    suppressed: Collection[str] = ("*",),
    as_text: Names = (),
) -> Assessment:
    """Assess any table: k, l, t, uniques and crowds, also of a release that others made.

    Cells may be values, intervals (``20-29``, ``20..29``, ``20~29``, ``[20, 30[``, ``(20,30]``,
    ``>=65``), sets (``a|b``, ``a~b``, ``{a, b}``, lists), prefixes (``123**``), nodes of a
    hierarchy, and ``*`` or missing for everything. How each column was read stands in `columns` of
    the result. For a release of crowdcover, `crowdcover.read` and the command `audit` know more.

    Parameters
    ----------
    data : polars, pandas or pyarrow table
    quasi : str or list of str
        Columns that others may know.
    sensitive : str or list of str
        Columns that nobody shall link to a person.
    k : int, optional
        What the table shall reach: `findings` then say what falls short.
    person : str, optional
        A column that says which rows are of one person: groups then count people.
    source : table, optional
        The table that `data` was made of, in any order: how many rows each record fits.
    hierarchies : mapping, optional
        By column: a file of ARX's form, or the leaves of each node as a mapping.
    suppressed : collection of str
        Texts that stand for every value; for tables written by R add ``"NA"``.
    as_text : str or list of str
        Columns whose texts are no numbers, dates or intervals, although they look like them.

    Returns
    -------
    Assessment

    Raises
    ------
    InputError
        A column is absent, or holds what has no text and no order.
    LimitError
        A column has too many different values to compare them with one another.

    References
    ----------
    Sweeney, k-Anonymity; Machanavajjhala et al., l-Diversity; Li et al., t-Closeness; Cao and
    Karras, beta-Likeness; Brickell and Shmatikov, delta-disclosure; Templ et al., sdcMicro.
    """
    frame, _ = take_frame(data)
    original = None if source is None else take_frame(source)[0]
    known, told, texts = list_names(quasi or ()), list_names(sensitive), list_names(as_text)
    person_column = [person] if person else []
    named = [*known, *told, *person_column, *texts, *(hierarchies or {})]
    require_columns(frame, named, "the table")
    if not known:
        raise InputError("assess needs quasi: the columns that others may know")
    if not frame.height:
        raise InputError("the table has no rows")
    if k is not None and (not isinstance(k, int) or k < 1):
        raise InputError("k must be a whole number of at least 1")
    if original is not None:
        require_columns(original, known, "the source")
    trees = {name: read_nodes(each) for name, each in (hierarchies or {}).items()}
    read = [
        read_column(
            frame.get_column(name),
            None if original is None else original.get_column(name),
            suppressed=suppressed,
            nodes=trees.get(name),
            as_text=name in texts,
        )
        for name in known
    ]
    columns = [column for column, _ in read]
    cells = np.stack([column.cell for column in columns])
    alike = ReleasedCells(cells, tuple(column.overlap(column) for column in columns))
    classes = Classes.of(cells, alike)
    people = (
        None if person is None else frame.get_column(person).rank("dense").fill_null(0).to_numpy()
    )
    held = _count_held(classes.row_class, people)
    fitting = count_rows(classes, classes.rows_in)[classes.record_class]
    return Assessment(
        _report_classes(classes.row_class, held, "rows" if person is None else "people"),
        _report_crowds(fitting),
        {name: assess_sensitive(name, frame.get_column(name), classes) for name in told},
        _describe_columns(known, columns, cells, people),
        None if original is None else _report_source(read, cells, k),
        k,
        held,
    )


def _count_held(group: NDArray[np.int64], people: NDArray[Any] | None) -> NDArray[np.int64]:
    """Rows, or different people, in the group of each row, int64 (rows,)."""
    if people is None:
        return np.bincount(group)[group]
    pairs = np.unique(np.stack([group, people.astype(np.int64)]), axis=1)
    return np.bincount(pairs[0])[group]


def _report_classes(group: NDArray[np.int64], held: NDArray[np.int64], whose: str) -> Report:
    """What identical rows tell to one who knows that somebody is in the table."""
    number = int(group.max()) + 1
    numbers = {
        "k": int(held.min()),
        "groups": number,
        "mean_rows": len(group) / number,
        "alone": int((held == 1).sum()),
        "prosecutor_highest": 1 / int(held.min()),
        "marketer": float(np.mean(1 / held)),
    }
    lines = (
        (f"{whose} in the smallest group", f"{numbers['k']:,}"),
        ("groups", f"{number:,}, of {numbers['mean_rows']:.1f} rows on average"),
        ("rows alone in their group", f"{numbers['alone']:,}"),
        ("chance of a right guess, at most", f"{numbers['prosecutor_highest']:.2%}"),
        ("chance of a right guess, on average", f"{numbers['marketer']:.2%}"),
    )
    return Report("Identical rows", numbers, lines)


def _report_crowds(fitting: NDArray[np.int64]) -> Report:
    """What rows tell that can be of the same person, whether identical or not."""
    numbers = {
        "least": int(fitting.min()),
        "mean": float(fitting.mean()),
        "alone": int((fitting == 1).sum()),
    }
    lines = (
        ("rows that fit the loneliest row, itself included", f"{numbers['least']:,}"),
        ("on average", f"{numbers['mean']:,.1f}"),
        ("rows that fit only themselves", f"{numbers['alone']:,}"),
    )
    return Report("Rows that can be of the same person", numbers, lines)


def _describe_columns(
    names: Sequence[str],
    columns: Sequence[ReadColumn],
    cells: NDArray[np.int32],
    people: NDArray[Any] | None,
) -> pl.DataFrame:
    lines = []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        others = np.delete(cells, place, axis=0)
        group = (
            index_distinct_columns(others)[0] if len(others) else np.zeros(len(column.cell), int)
        )
        held = _count_held(group, people)
        lines.append(
            {
                "column": name,
                "read_as": column.read_as,
                "different_cells": len(column.ranges),
                "suppressed": column.suppressed,
                "k_without": int(held.min()),
                "alone_without": int((held == 1).sum()),
            }
        )
    return pl.DataFrame(lines)


def _report_source(
    read: Sequence[tuple[ReadColumn, ReadColumn | None]], cells: NDArray[np.int32], k: int | None
) -> Report:
    """How many rows the records of the source fit."""
    pairs = [(column, source) for column, source in read if source is not None]
    allowed = ReleasedCells(cells, tuple(column.overlap(source) for column, source in pairs))
    classes = Classes.of(np.stack([source.cell for _, source in pairs]), allowed)
    fitting = count_rows(classes, classes.rows_in)[classes.record_class]
    numbers = {
        "records": len(fitting),
        "least": int(fitting.min()),
        "mean": float(fitting.mean()),
        "fit_none": int((fitting == 0).sum()),
        "fit_one": int((fitting == 1).sum()),
        "below_k": None if k is None else int((fitting < k).sum()),
    }
    lines = (
        ("rows that the loneliest record fits", f"{numbers['least']:,}"),
        ("on average", f"{numbers['mean']:,.1f}"),
        ("records that fit one row", f"{numbers['fit_one']:,}"),
        ("records that fit none", f"{numbers['fit_none']:,}"),
    )
    return Report("Rows that records of the source fit", numbers, lines)
