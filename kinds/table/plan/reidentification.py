"""Limits of [checks] in the words of regulators: how likely a row is named, by who knows what."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from crowdcover.kinds.checks import LimitsSection, declare_limit
from crowdcover.kinds.judge.limits import LimitNumber, MeasuredSections, build_number, read_number
from crowdcover.kinds.section import Section, Share


class KnownSection(Section):
    """[checks] all_m: how many rows anybody fits of whom little is known.

    Attributes
    ----------
    m : how many quasi-identifiers are known; every set of so many is looked at.
    k : how many rows must fit, at least.
    """

    m: Annotated[int, Field(ge=1)]
    k: Annotated[int, Field(ge=2)]


class JournalistSection(Section):
    """[checks] max_journalist: the chance of someone who does not know who is in the table.

    Attributes
    ----------
    chance : the greatest chance that is allowed of anybody.
    population : the people that the records are drawn from, such as those of a country.
    """

    chance: Share
    population: Annotated[int, Field(ge=1)]


class AskedRisks(NamedTuple):
    """What is measured for limits alone: the columns known of somebody, and the population."""

    known: int | None = None
    population: int | None = None


NONE_ASKED = AskedRisks()


def _read_journalist(
    measured: MeasuredSections, stated: JournalistSection
) -> Iterator[LimitNumber]:
    """The greatest chance of a journalist, in a population that the plan states."""
    found, records = _list_reidentification(measured), measured["privacy"]["records"]
    highest = found.get("journalist_highest")
    if found.get("population") != stated.population:
        highest = None  # of another plan
    number = build_number(highest, required=stated.chance)
    finding = f"the greatest chance of a journalist is expected to be {number.shown}"
    if stated.population < records:
        finding = f"a population of {stated.population:,} cannot hold the {records:,} records"
        number = replace(number, found=1.0)
    yield replace(number, finding=finding)


def _read_known(measured: MeasuredSections, stated: KnownSection) -> Iterator[LimitNumber]:
    """The fewest rows that somebody fits of whom so many columns are known."""
    known = _list_reidentification(measured).get("known", {})
    columns = known.get("columns", [])
    rows = known.get("rows") if len(columns) == stated.m else None  # else of another plan
    finding = f"{rows} rows, by {', '.join(columns)}"
    yield build_number(rows, "", finding=finding, required=stated.k)


def _list_reidentification(measured: MeasuredSections) -> Mapping[str, Any]:
    """Figures of prosecutors and journalists; older manifests have none."""
    found: Mapping[str, Any] = measured.get("protection", {}).get("reidentification", {})
    return found


class ReidentificationLimits(LimitsSection):
    """Limits on chances to name a row; [checks] of tables has them among others."""

    max_prosecutor: Share | None = declare_limit(
        name="prosecutor risk",
        sense="at most",
        expected="Whoever knows all quasi-identifiers of a person and guesses among the rows that "
        "fit is right with a chance of at most {required}.",
        shortfall="a guess among the rows that fit a person is right with a chance of {shown}, "
        "above checks.{key} = {required}",
        figure="Greatest chance of a guess among the rows that fit a person (prosecutor)",
        numbers=read_number("protection", "reidentification", "prosecutor_highest"),
        description="the greatest chance to name a person's row, knowing all quasi-identifiers.",
        example="0.09",
        documented="in which a guess among the rows that fit someone is likelier right",
        remedy="raise k to 1 / the limit, at least",
    )
    max_marketer: Share | None = declare_limit(
        name="marketer risk",
        sense="at most",
        expected="Guesses among the rows that fit people are right with a chance of at most "
        "{required} on average.",
        shortfall="guesses among the rows that fit people are right with a chance of {shown} on "
        "average, above checks.{key} = {required}",
        figure="Mean chance of guesses among the rows that fit people (marketer)",
        numbers=read_number("attacks", "linkage", "success"),
        description="the mean chance to name a person's row, knowing all quasi-identifiers.",
        example="0.05",
        documented="in which such guesses are likelier right on average",
        remedy="raise k or the limit",
    )
    max_journalist: JournalistSection | None = declare_limit(
        name="journalist risk",
        sense="at most",
        expected="Whoever guesses who of the stated population a row is of is right with an "
        "expected chance of at most {required}.",
        shortfall="{finding}, above checks.{key}.chance = {required}",
        figure="Greatest expected chance to name the person of the population (journalist)",
        numbers=_read_journalist,
        description="the greatest chance of those who do not know who is in the table.",
        example="{chance = 0.09, population = 500000}",
        documented="in which naming someone is likelier",
        remedy="raise k or the limit, or correct the population",
    )
    all_m: KnownSection | None = declare_limit(
        name="rows by few columns",
        sense="at least",
        expected="Whoever knows so few quasi-identifiers finds at least {required} rows that fit.",
        shortfall="somebody fits {finding}, fewer than checks.{key}.k = {required}",
        figure="Fewest rows that fit somebody of whom so few quasi-identifiers are known",
        numbers=_read_known,
        description="how many rows must fit anybody of whom m quasi-identifiers are known.",
        example="{m = 3, k = 20}",
        documented="in which someone known by any m columns fits fewer rows",
        remedy="raise k, coarsen groups or lower the limit",
    )

    def find_unknowable(self, quasi: int) -> Iterator[str]:
        """The refusal of more columns to know than there are quasi-identifiers."""
        if self.all_m is not None and self.all_m.m > quasi:
            yield (
                f"checks.all_m: m = {self.all_m.m} columns cannot be known of {quasi} "
                "quasi-identifiers; lower m"
            )

    @property
    def asked(self) -> AskedRisks:
        """What is measured for these limits alone."""
        return AskedRisks(
            None if self.all_m is None else self.all_m.m,
            None if self.max_journalist is None else self.max_journalist.population,
        )
