"""The sections of a plan that only graphs have: [source], [columns], [privacy] and [checks]."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from anon_core.specs.graphs import Knowledge
from crowdcover.kinds.demands import Demands, k_schema, parse_k_setting, refuse_level
from crowdcover.kinds.graph.plan.checks import ChecksSection
from crowdcover.kinds.section import (
    MarkedSection,
    PlanError,
    Section,
    SourceSection,
    Unshown,
    refuse_all,
    refuse_together,
)
from crowdcover.storage.source.sources import Source

Rule = Literal["refuse", "mean", "max", "union"]
K_RULE = "must be a whole number or {path = 'a table of vertices and their k'}"


class GraphSource(SourceSection):
    """[source]: a list of edges, and perhaps a list of vertices.

    Attributes
    ----------
    comment : what lines of a CSV file start with that are left out; empty: none.
    vertices : a table of vertices, for those without an edge.
    both_ways : the probability of an edge that is listed in both directions.
    """

    comment: str = ""
    vertices: str | None = None
    both_ways: Rule = "refuse"

    @property
    def hashed_settings(self) -> dict[str, Any]:
        """What the plan's hash has in place of what the section states.

        Of a table of vertices only that there is one: its content is in the fingerprint of the
        source. What only allows a release counts as left out.
        """
        return {"vertices": self.vertices is not None, "credentials": None, "optional": False}


class EarlierGraphSource(GraphSource):
    """[source] as 0.1.0 hashed it: with where the password stands, and with optional values."""

    @classmethod
    def of(cls, section: GraphSource) -> GraphSource:
        """A section as it was hashed."""
        return cls.model_construct(section.model_fields_set, **dict(section))

    @property
    def hashed_settings(self) -> dict[str, Any]:
        """Only that there is a table of vertices."""
        return {"vertices": self.vertices is not None}


class ColumnsSection(Section):
    """[columns]: which columns hold the ends of an edge and its probability.

    Attributes
    ----------
    u : the column of one end; never published.
    v : the column of the other end; never published.
    p : the column of probabilities; without it every edge is certain.
    names : all columns in order, for a file without a header.
    vertex : the column of names in the table beside the source.
    """

    u: str
    v: str
    p: str | None = None
    names: list[str] = []
    vertex: str = "vertex"


class PrivacySection(MarkedSection):
    """[privacy].

    Attributes
    ----------
    k : among how many vertices each vertex hides: a number, or a table of vertices.
    eps : the share of the vertices that may hide among fewer.
    knows : what an attacker knows of a vertex: its expected degree rounded up (ceiling), its
        likeliest degree (mode), or how likely each degree is (distribution).
    allow_unprotected : release although k = 1 for somebody, whom nothing protects then.
    """

    questions = {
        "k": "among how many vertices shall each vertex hide?",
        "knows": "what may an attacker know of a vertex: its expected degree, rounded up "
        "('ceiling'), its likeliest degree ('mode'), or how likely each degree is "
        "('distribution')?",
    }

    k: Annotated[Unshown[int | dict[str, str]], WithJsonSchema(k_schema("vertex"))]
    eps: Annotated[float, Field(ge=0, lt=1)] = 0.0
    knows: Knowledge = "ceiling"
    allow_unprotected: bool = False


SECTIONS: dict[str, tuple[Any, Any]] = {
    "source": (GraphSource, ...),
    "columns": (ColumnsSection, ...),
    "privacy": (PrivacySection, ...),
    "checks": (ChecksSection, ChecksSection()),
}


@dataclass(frozen=True, kw_only=True)
class GraphPlan:
    """What a plan says of its graph.

    Attributes
    ----------
    source : Source
        With the table of demands or of vertices beside it, if any.
    u, v : str
        Columns of the ends of an edge.
    p : str or None
        Column of its probability; None: every edge is certain.
    names : tuple of str
        All columns in order, for a file without a header.
    vertex : str
        Column of names in the table beside the source.
    both_ways : {"refuse", "mean", "max", "union"}
        The probability of an edge that is listed in both directions. "refuse": both must be equal.
    k : int or Demands
    eps : Fraction
        Share of the vertices that may stay below their k.
    knows : Knowledge
    allow_unprotected : bool
        k = 1 for anybody.
    """

    source: Source
    u: str
    v: str
    p: str | None
    names: tuple[str, ...]
    vertex: str
    both_ways: Rule
    k: int | Demands
    eps: Fraction
    knows: Knowledge
    allow_unprotected: bool

    @classmethod
    def of(cls, sections: Any) -> "GraphPlan":
        """From the sections of a plan; refuses what their types do not exclude."""
        source, columns, privacy = sections.source, sections.columns, sections.privacy
        k, path = parse_k_setting(privacy.k, "vertex", columns.vertex, K_RULE)
        if path is not None and source.vertices is not None:
            raise PlanError("privacy.k.path lists all vertices; leave out source.vertices")
        beside = None
        if path is not None:
            beside = Source(path=Path(path), key="privacy.k.path")
        elif source.vertices is not None:
            beside = Source(path=Path(source.vertices), key="source.vertices")
        plan = cls(
            source=replace(source.source(), comment=source.comment, beside=beside),
            u=columns.u,
            v=columns.v,
            p=columns.p,
            names=tuple(columns.names),
            vertex=columns.vertex,
            both_ways=source.both_ways,
            k=k,
            # As typed: Fraction(0.1) is the binary number nearest to 0.1, which lies above it.
            eps=Fraction(repr(privacy.eps)),
            knows=privacy.knows,
            allow_unprotected=privacy.allow_unprotected,
        )
        plan._check()
        return plan

    @property
    def needed(self) -> list[str]:
        """The columns that are read."""
        return [name for name in (self.u, self.v, self.p) if name is not None]

    def _check(self) -> None:
        level = partial(refuse_level, self.k, self.allow_unprotected)
        refuse_together((level, partial(refuse_all, self._find_refusals())))

    def _find_refusals(self) -> Iterator[str]:
        if len(set(self.needed)) < len(self.needed):
            yield "[columns] names one column twice; name each once"
        if self.source.holds_arrays:
            yield "a graph is read from a list of edges; write the array as a table"
        if self.source.comment and not self.source.has_option("comment"):
            yield "source.comment is for CSV files; other files have no such lines"
        if any(sign in self.source.comment for sign in "\r\n"):
            yield "source.comment must be the start of a line, without a line end"

    def check_header(self, header: Sequence[str] | int) -> None:
        """Compare the plan's columns with the source's (their number where the file names none)."""
        if isinstance(header, int):
            if header != len(self.names):
                raise PlanError(
                    f"columns.names has {len(self.names)} names, the source has {header} columns; "
                    "without a header each needs a name, in order; lines of comments need "
                    "source.comment = '#'"
                )
            header = self.names
        elif self.names:
            raise PlanError("columns.names belongs to a file with source.header = false")
        if lost := [name for name in self.needed if name not in header]:
            raise PlanError(
                f"columns of the plan that the source does not have: {', '.join(lost)}; "
                "correct [columns], or set source.header = false if the file has no header"
            )
