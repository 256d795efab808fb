"""The sections of a plan that only matrices have: [source], [columns], [privacy] and [checks]."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from kinds.matrix.checks import ChecksSection
from kinds.section import MarkedSection, PlanError, Section, SourceSection
from tasks.source.sources import Source

Layout = Literal["edges", "lists"]
ALLOWED = "state [privacy] allow_unprotected = true if these people need no protection"


class MatrixSource(SourceSection):
    """[source]; `layout` says how the source holds users and items."""

    layout: Layout = "edges"
    repeated: Literal["refuse", "merge"] = "refuse"
    undirected: bool = False


class ColumnsSection(Section):
    """[columns]: which columns hold users and items."""

    user: str | None = None
    item: str | None = None
    names: list[str] = []
    separator: Annotated[str, Field(min_length=1)] | None = None
    keyed: bool | None = None


class PrivacySection(MarkedSection):
    """[privacy]."""

    questions = {"k": "among how many rows shall each user hide?"}

    k: int
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
    layout : {"edges", "lists"}
        One row an entry, or one row a user with a column of lists.
    user, item : str
        Columns of users and of their items.
    names : tuple of str
        All columns in order, for a file without a header.
    separator : str or None
        Where lists are texts, what stands between two items.
    merge : bool
        Count a repeated entry once instead of refusing it.
    undirected : bool
        An entry also makes its item a user who holds its user.
    keyed : bool or None
        Items are people, and released under fresh keys. None: not stated.
    k : int
    allow_unprotected : bool
        k = 1 for anybody.
    """

    source: Source
    layout: Layout
    user: str
    item: str
    names: tuple[str, ...]
    separator: str | None
    merge: bool
    undirected: bool
    keyed: bool | None
    k: int
    allow_unprotected: bool

    @classmethod
    def of(cls, sections: Any) -> "MatrixPlan":
        """From the sections of a plan; refuses what their types do not exclude."""
        source, columns, privacy = sections.source, sections.columns, sections.privacy
        for key in ("user", "item"):
            if getattr(columns, key) is None:
                raise PlanError(
                    f"columns.{key} is missing; source.layout = {source.layout!r} needs it"
                )
        plan = cls(
            source=source.source(),
            layout=source.layout,
            user=columns.user,
            item=columns.item,
            names=tuple(columns.names),
            separator=columns.separator,
            merge=source.repeated == "merge",
            undirected=source.undirected,
            keyed=columns.keyed,
            k=privacy.k,
            allow_unprotected=privacy.allow_unprotected,
        )
        plan._check()
        return plan

    @property
    def needed(self) -> list[str]:
        """The columns that are read."""
        return [self.user, self.item]

    def _check(self) -> None:
        if self.k < 1:
            raise PlanError("privacy.k must be at least 1")
        if self.k == 1 and not self.allow_unprotected:
            raise PlanError(f"privacy.k = 1 protects nobody; demand at least 2, or {ALLOWED}")
        if self.user == self.item:
            raise PlanError("columns.user and columns.item name one column; name two")
        if self.undirected and not (self.keyed and self.layout == "edges"):
            raise PlanError(
                "source.undirected makes users of all items; it needs layout = 'edges' and "
                "columns.keyed = true"
            )
        if self.separator is not None and self.layout != "lists":
            raise PlanError("columns.separator splits lists; it needs source.layout = 'lists'")

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
        if lost := [name for name in self.needed if name not in header]:
            raise PlanError(
                f"columns of the plan that the source does not have: {', '.join(lost)}; "
                "correct [columns], or set source.header = false if the file has no header"
            )
