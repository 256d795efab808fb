"""`assess`: how well people hide in a table, whoever made it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Number
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import count_rows
from anon_core.measures.table.risks.subsets import SubsetGroups, count_held, group_by_subsets
from crowdcover.assessing.cells import ReadColumn, read_column
from crowdcover.assessing.groups import (
    describe_columns,
    report_classes,
    report_crowds,
    report_source,
)
from crowdcover.assessing.hierarchies import GivenHierarchy, read_nodes
from crowdcover.assessing.risks import (
    report_population_size,
    report_population_table,
    report_subsets,
)
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
    subsets : Report or None
        What somebody tells who knows few quasi-identifiers.
    population : Report or None
        What somebody tells who looks for a row in the population.
    demanded : int or None
        The k that was asked for.
    """

    classes: Report
    crowds: Report
    sensitive: dict[str, Report]
    columns: pl.DataFrame
    source: Report | None
    subsets: Report | None
    population: Report | None
    demanded: int | None
    _held: NDArray[np.int64] = field(repr=False)
    _groups: SubsetGroups | None = field(default=None, repr=False)

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

    def score_rows(self) -> pl.Series:
        """The SUDA score of each row: 0 where no few quasi-identifiers single it out. Private.

        Raises
        ------
        InputError
            The table was assessed without `subsets`.
        """
        if self._groups is None:
            raise InputError("score_rows needs subsets: assess(table, quasi, subsets=3)")
        return pl.Series("suda", self._groups.scores)

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
        more = [each for each in (self.source, self.subsets, self.population) if each is not None]
        return [self.classes, self.crowds, *self.sensitive.values(), *more]

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
    subsets: int = 0,
    population: Any = None,
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
    subsets : int
        Look at every set of at most so many quasi-identifiers: k of each, and the rows that few of
        them single out. 0: none.
    population : table or int, optional
        All people of whom `data` has some, or how many they are: the risk of someone who does not
        know who is in the table.

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
    if k is not None and (not isinstance(k, Integral) or k < 1):
        raise InputError("k must be a whole number of at least 1")
    if original is not None:
        require_columns(original, known, "the source")
    trees = {name: read_nodes(each) for name, each in (hierarchies or {}).items()}
    # By name: to `select`, ^a$ is a pattern.
    known_columns = pl.DataFrame([frame.get_column(name) for name in known])
    table = _Table(known_columns, suppressed, trees, texts)
    read = table.read_beside(original)
    columns = [column for column, _ in read]
    cells = np.stack([column.cell for column in columns])
    alike = ReleasedCells(cells, tuple(column.overlap(column) for column in columns))
    classes = Classes.of(cells, alike)
    people = (
        None if person is None else frame.get_column(person).rank("dense").fill_null(0).to_numpy()
    )
    held = count_held(classes.row_class, people)
    groups = group_by_subsets(cells, subsets, people) if subsets else None
    fitting = count_rows(classes, classes.rows_in)[classes.record_class]
    return Assessment(
        report_classes(classes.row_class, held, "rows" if person is None else "people"),
        report_crowds(fitting),
        {name: assess_sensitive(name, frame.get_column(name), classes) for name in told},
        describe_columns(known, columns, cells, people),
        None if original is None else report_source(read, cells, k),
        None if groups is None else report_subsets(known, groups),
        _report_population(population, table, held, classes.row_class),
        k,
        held,
        groups,
    )


@dataclass(frozen=True)
class _Table:
    """The quasi-identifiers of a table, and how their cells are to be read."""

    quasi: pl.DataFrame
    suppressed: Collection[str]
    nodes: Mapping[str, Mapping[str, Collection[str]]]
    texts: Collection[str]

    def read_beside(self, other: pl.DataFrame | None) -> list[tuple[ReadColumn, ReadColumn | None]]:
        """Its columns, and those of another table by the same rule."""
        return [
            read_column(
                self.quasi.get_column(name),
                None if other is None else other.get_column(name),
                suppressed=self.suppressed,
                nodes=self.nodes.get(name),
                as_text=name in self.texts,
            )
            for name in self.quasi.columns
        ]


def _report_population(
    population: Any, table: _Table, held: NDArray[np.int64], group: NDArray[np.int32]
) -> Report | None:
    if population is None or isinstance(population, Number):
        return None if population is None else report_population_size(held, group, population)
    everyone = take_frame(population)[0]
    require_columns(everyone, table.quasi.columns, "the population")
    return report_population_table(table.read_beside(everyone), held)
