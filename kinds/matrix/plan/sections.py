"""The sections of a plan that only matrices have: [source], [columns], [privacy] and [checks]."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from anon_core.specs.columns import ColumnSpec
from crowdcover.kinds.accepting import Note, read_allowed_kinds
from crowdcover.kinds.demands import Demands, k_schema, parse_k_setting, refuse_level
from crowdcover.kinds.matrix.plan.checks import ChecksSection
from crowdcover.kinds.section import (
    Bins,
    MarkedSection,
    PlanError,
    Section,
    SourceSection,
    Unshown,
    groups_of,
    refuse_all,
    refuse_together,
)
from crowdcover.storage.source.sources import Source
from crowdcover.validations.recognition.kinds import Kind as IdentifierKind

Layout = Literal["edges", "lists", "table", "csr"]
NEEDS: Mapping[Layout, tuple[str, ...]] = {  # keys of [columns]
    "edges": ("user", "item"),
    "lists": ("user", "item"),
    "table": (),
    "csr": (),
}
ARRAYS = ("indptr", "indices", "data", "shape", "format")  # of scipy.sparse.save_npz
K_RULE = "must be a whole number or {path = 'a table of users and their k'}"


class MatrixSource(SourceSection):
    """[source]; `layout` says how the source holds users and items.

    Attributes
    ----------
    layout : what a row of the source is: an entry (edges), a user with a list (lists), a user with
        columns that become items (table); or arrays of scipy.sparse (csr).
    repeated : what a repeated entry does: it is refused, or counted once (merge).
    undirected : whether an entry also makes its item a user who holds its user.
    """

    layout: Layout = "edges"
    repeated: Literal["refuse", "merge"] = "refuse"
    undirected: bool = False


class ColumnsSection(Section):
    """[columns]: which columns hold users and items.

    Attributes
    ----------
    user : the column of users; never published.
    item : the column of items, or of lists of them.
    names : all columns in order, for a file without a header.
    separator : what stands between two items, where lists are texts.
    keyed : whether items are people, who are published under fresh keys.
    categorical : layout 'table': columns of which each category becomes an item.
    numeric : layout 'table': columns of which each group of numbers becomes an item.
    quantiles : groups of each numeric column.
    bins : groups of single numeric columns.
    allow : kinds of direct identifiers that published items may look like; each needs the note.
    note : why they may.
    """

    user: str | None = None
    item: str | None = None
    names: list[str] = []
    separator: Annotated[str, Field(min_length=1)] | None = None
    keyed: bool | None = None
    categorical: list[str] = []
    numeric: list[str] = []
    quantiles: Annotated[int, Field(ge=2)] = 10
    bins: Unshown[dict[str, Bins]] = {}
    allow: list[IdentifierKind] = []
    note: Note = ""

    @property
    def specs(self) -> tuple[ColumnSpec, ...]:
        """The columns of a table that become items, as maker and auditor take them."""
        if any(name not in self.numeric for name in self.bins):
            raise PlanError("columns.bins names columns that columns.numeric does not; add them")
        groups = {name: groups_of(f"columns.bins.{name}", bins) for name, bins in self.bins.items()}
        return (
            *(ColumnSpec(name=name, kind="categorical") for name in self.categorical),
            *(
                ColumnSpec(name=name, kind="numeric", bins=groups.get(name, self.quantiles))
                for name in self.numeric
            ),
        )


class PrivacySection(MarkedSection):
    """[privacy].

    Attributes
    ----------
    k : among how many equal rows each user hides: a number, or a table of users.
    allow_unprotected : release although k = 1 for somebody, whom nothing protects then.
    """

    questions = {"k": "among how many equal rows shall each user hide?"}

    k: Annotated[Unshown[int | dict[str, str]], WithJsonSchema(k_schema("user"))]
    allow_unprotected: bool = False


SECTIONS: dict[str, tuple[Any, Any]] = {
    "source": (MatrixSource, ...),
    "columns": (ColumnsSection, ...),
    "privacy": (PrivacySection, ...),
    "checks": (ChecksSection, ChecksSection()),
}


@dataclass(frozen=True, kw_only=True)
class MatrixPlan:
    """What a plan says of its matrix.

    Attributes
    ----------
    source : Source
        With the table of demands beside it, if any.
    layout : {"edges", "lists", "table", "csr"}
        One row an entry, one row a user with a list, one row a user with columns that become items,
        or arrays.
    user, item : str or None
        Columns of users and of their items.
    names : tuple of str
        All columns in order, for a file without a header.
    separator : str or None
        Where lists are texts, what stands between two items.
    specs : tuple of ColumnSpec
        Layout "table": the columns that become items.
    merge : bool
        Count a repeated entry once instead of refusing it.
    undirected : bool
        An entry also makes its item a user who holds its user.
    keyed : bool or None
        Items are people, and released under fresh keys. None: not stated.
    k : int or Demands
    allow_unprotected : bool
        k = 1 for anybody.
    allow : tuple of str
        Kinds of direct identifiers that items may look like.
    note : str
        Why they may.
    """

    source: Source
    layout: Layout
    user: str | None
    item: str | None
    names: tuple[str, ...]
    separator: str | None
    specs: tuple[ColumnSpec, ...]
    merge: bool
    undirected: bool
    keyed: bool | None
    k: int | Demands
    allow_unprotected: bool
    allow: tuple[str, ...] = ()
    note: str = ""

    @classmethod
    def of(cls, sections: Any) -> "MatrixPlan":
        """From the sections of a plan; refuses what their types do not exclude."""
        source, columns, privacy = sections.source, sections.columns, sections.privacy
        k, path = parse_k_setting(privacy.k, "user", columns.user, K_RULE)
        beside = None if path is None else Source(path=Path(path), key="privacy.k.path")
        plan = cls(
            source=replace(source.source(), beside=beside),
            layout=source.layout,
            user=columns.user,
            item=columns.item,
            names=tuple(columns.names),
            separator=columns.separator,
            specs=columns.specs,
            merge=source.repeated == "merge",
            undirected=source.undirected,
            keyed=columns.keyed,
            k=k,
            allow_unprotected=privacy.allow_unprotected,
            **read_allowed_kinds("columns", columns.allow, columns.note),
        )
        plan._check()
        return plan

    @property
    def needed(self) -> list[str]:
        """The columns or arrays that are read."""
        if self.layout == "csr":
            return list(ARRAYS)
        named = [name for name in (self.user, self.item) if name is not None]
        return [*named, *(spec.name for spec in self.specs)]

    def _check(self) -> None:
        level = partial(refuse_level, self.k, self.allow_unprotected)
        rest = partial(refuse_all, self._find_refusals())
        refuse_together((level, self._check_users, self._check_columns, rest))

    def _check_users(self) -> None:
        if isinstance(self.k, Demands) and self.user is None:
            raise PlanError("privacy.k names users by columns.user, which is missing")

    def _find_refusals(self) -> Iterator[str]:
        if self.undirected and not (self.keyed and self.layout == "edges"):
            yield (
                "source.undirected makes users of all items; it needs layout = 'edges' and "
                "columns.keyed = true"
            )
        if self.separator is not None and self.layout != "lists":
            yield "columns.separator splits lists; it needs source.layout = 'lists'"
        if (self.layout == "csr") != self.source.holds_arrays:
            yield "source.layout = 'csr' and a file named .npz go together"

    def _check_columns(self) -> None:
        """Refuse keys of [columns] that the layout lacks or has no use for."""
        for key in NEEDS[self.layout]:
            if getattr(self, key) is None:
                raise PlanError(
                    f"columns.{key} is missing; source.layout = {self.layout!r} needs it"
                )
        if (self.layout == "table") != bool(self.specs):
            raise PlanError(
                "columns.categorical and columns.numeric name the columns that become items; "
                "source.layout = 'table' needs one, and no other layout has any"
            )
        idle = {"table": ("item",), "csr": ("user", "item")}.get(self.layout, ())
        for key in idle:
            if getattr(self, key) is not None:
                raise PlanError(f"columns.{key}: source.layout = {self.layout!r} has no such key")
        if self.layout != "csr" and len(set(self.needed)) < len(self.needed):
            raise PlanError("[columns] names one column twice; name each once")

    def check_header(self, header: Sequence[str] | int) -> None:
        """Compare the plan's columns with the source's (their number where the file names none)."""
        if isinstance(header, int):
            if header != len(self.names):
                raise PlanError(
                    f"columns.names has {len(self.names)} names, the source has {header} columns; "
                    "without a header each needs a name, in order"
                )
            header = self.names
        elif self.names:
            raise PlanError("columns.names belongs to a file with source.header = false")
        what = "arrays" if self.layout == "csr" else "columns of the plan"
        if lost := [name for name in self.needed if name not in header]:
            raise PlanError(
                f"{what} that the source does not have: {', '.join(lost)}; "
                "correct [columns], or set source.header = false if the file has no header"
            )
