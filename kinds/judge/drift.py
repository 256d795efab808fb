"""Limits on changes between releases, and messages about what exceeds them. No Prefect here."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, Self

from anon_core.errors import GuaranteeError
from anon_core.measures.requirements import is_at_most
from anon_core.measures.table.drift import Drift, by_chance
from crowdcover.kinds.section import toml_key

OF_A_COLUMN = ("new_categories", "gone_categories", "shift")
_ALL = 1.0  # allows every change
_COLUMN = "column "  # stands before a column's name that is that of a limit


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """Drift that a person accepts: up to which share, and why."""

    limit: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class DriftLimits:
    """[checks] drift: shares above which a release is refused; 1 allows everything.

    `shift` is the limit beyond the shift that chance explains. `accepted` eases limits: by name, or
    all that are about one column, by its name.
    """

    rows: float = 0.3
    replaced: float = 0.8
    new_categories: float = 0.0
    gone_categories: float = 0.02
    shift: float = 0.1
    utility: float = 0.05
    types: Literal["refuse", "allow"] = "refuse"
    ignore: tuple[str, ...] = ()
    accepted: Mapping[str, Accepted] = field(default_factory=dict)

    @classmethod
    def names(cls) -> list[str]:
        """What may be accepted by name: every limit, and `types`."""
        return [each.name for each in fields(cls) if each.name not in ("ignore", "accepted")]

    @classmethod
    def name_of_column(cls, column: str) -> str:
        """The name by which changes of a column are accepted: never that of a limit."""
        # With the mark before a mark, too: no two columns may have one name.
        bare = column
        while bare.startswith(_COLUMN):
            bare = bare.removeprefix(_COLUMN)
        return f"{_COLUMN}{column}" if bare in cls.names() else column

    def ease_limits(self) -> Self:
        """The limits, with those that are accepted by name."""
        return self._ease_by({name: each.limit for name, each in self.accepted.items()})

    def of_column(self, name: str) -> Self:
        """The limits of one column, if a change of it is accepted."""
        if (accepted := self.accepted.get(self.name_of_column(name))) is None:
            return self
        return self._ease_by(dict.fromkeys((*OF_A_COLUMN, "types"), accepted.limit))

    def _ease_by(self, by: Mapping[str, float]) -> Self:
        changes: dict[str, Any] = {
            name: max(getattr(self, name), by[name])
            for name in self.names()
            if name in by and name != "types"
        }
        if by.get("types") == 1:
            changes["types"] = "allow"
        return replace(self, **changes)

    @property
    def claims(self) -> list[dict[str, Any]]:
        """What was accepted, as the manifest states it."""
        return [
            {"what": name, "limit": each.limit, "note": each.note}
            for name, each in self.accepted.items()
        ]


class Excess(NamedTuple):
    """A change above its limit in words, the name by which it is accepted, and the setting."""

    change: str
    what: str
    setting: str


class DriftError(GuaranteeError):
    """The source or the release changed more than allowed; `facts` are counts and columns.

    `facts["accept"]` names the limits and columns whose drift a person may accept.
    """

    def __init__(self, message: str, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.facts = dict(facts or {})


@dataclass(frozen=True, kw_only=True)
class Changes:
    """A table compared with that of an earlier release.

    Attributes
    ----------
    replaced : people of the version before who left a series while as many new ones came.
    columns : drift of each quasi-identifier.
    types : earlier and present type of each carried column.
    utility : earlier and present utility, once it is known.
    """

    version: str
    rows_before: int
    rows: int
    replaced: int = 0
    columns: Mapping[str, Drift] = field(default_factory=dict)
    types: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    utility: tuple[float, float] | None = None

    @property
    def claims(self) -> dict[str, Any]:
        """The manifest's drift section; shares are rounded, so that no one can be counted."""
        drifts = self.columns.values()
        claims: dict[str, Any] = {
            "compared_with": self.version,
            "rows_before": self.rows_before,
            "rows": self.rows,
            "columns": len(self.columns),
            "new_categories": sum(column.new for column in drifts),
            "gone_categories": sum(column.gone for column in drifts),
            "shift": round(max((column.shift for column in drifts), default=0.0), 2),
            "other_types": sum(was != now for was, now in self.types.values()),
        }
        return claims if self.utility is None else {**claims, "utility_before": self.utility[0]}

    def require(self, limits: DriftLimits) -> None:
        """Refuse a table that changed too much; name every change and how to accept it."""
        excesses = list(self.excesses(limits.ease_limits()))
        if excesses:
            changes = [excess.change for excess in excesses]
            accept = " ".join(
                f"--set {shlex.quote(f'checks.drift.{setting}')}"
                for setting in dict.fromkeys(excess.setting for excess in excesses)
            )
            raise DriftError(
                f"publication refused; compared with {self.version}, {'; '.join(changes)}; "
                f"correct the source, or accept it: for one run with {accept} "
                "(in Prefect: accept), for good in [checks] drift",
                {
                    "compared_with": self.version,
                    "changes": changes,
                    "accept": list(dict.fromkeys(excess.what for excess in excesses)),
                },
            )

    def excesses(self, limits: DriftLimits) -> Iterator[Excess]:
        """Each change above its limit, with what accepts it."""
        change = abs(self.rows - self.rows_before) / max(self.rows, self.rows_before)
        if not is_at_most(change, limits.rows):
            rows = f"there are {self.rows} rows instead of {self.rows_before}"
            yield build_excess(f"{rows}, a difference of {change:.4f}", "rows", limits.rows)
        if not is_at_most(self.replaced / max(1, self.rows_before), limits.replaced):
            people = f"{self.replaced} of {self.rows_before} people left and as many new ones came"
            text = f"{people}: are identifiers spelt otherwise?"
            yield build_excess(text, "replaced", limits.replaced)
        for name, (was, now) in self.types.items():
            if was != now and limits.of_column(name).types == "refuse":
                text = f"column {name!r} has type {now} instead of {was}"
                accepted = limits.name_of_column(name)
                yield Excess(text, accepted, _format_acceptance(accepted))
        for name, column in self.columns.items():
            if name not in limits.ignore:
                yield from self._excesses_of(name, column, limits.of_column(name))
        if self.utility is not None and not is_at_most(
            self.utility[0] - self.utility[1], limits.utility
        ):
            fall = "utility fell from {:.4f} to {:.4f}".format(*self.utility)
            yield build_excess(fall, "utility", limits.utility)

    def _excesses_of(self, name: str, drift: Drift, limits: DriftLimits) -> Iterator[Excess]:
        column, accepted = f"column {name!r}", limits.name_of_column(name)
        if not is_at_most(drift.new_records / self.rows, limits.new_categories):
            rows = f"{drift.new_records} of {self.rows} rows"
            new = f"{column} has {_format_category_count(drift.new, 'new ')} in {rows}"
            yield build_excess(new, "new_categories", limits.new_categories, accepted)
        if not is_at_most(drift.gone_records / self.rows_before, limits.gone_categories):
            rows = f"{drift.gone_records} of {self.rows_before} rows"
            gone = f"{column} lacks {_format_category_count(drift.gone)} that {rows} had"
            yield build_excess(gone, "gone_categories", limits.gone_categories, accepted)
        chance = by_chance(self.rows_before, self.rows)
        if not is_at_most(drift.shift, limits.shift + chance):
            shift = f"{column} has shifted by {drift.shift:.4f}"
            excess = build_excess(shift, "shift", limits.shift, accepted)
            text = f"{excess.change} plus the {chance:.4f} that chance explains"
            yield excess._replace(change=text)


@dataclass(frozen=True, kw_only=True)
class CountedChanges(Changes):
    """Data of which only counts are compared.

    Attributes
    ----------
    counts : earlier and present number of what has a limit, by the name of the limit.
    limits_rows : whether rows are compared by their own limit; else `counts` has them.
    """

    counts: Mapping[str, tuple[int, int]]
    limits_rows: bool

    @property
    def claims(self) -> dict[str, Any]:
        """The manifest's drift section."""
        rows = {"rows_before": self.rows_before, "rows": self.rows}
        claims = {
            "compared_with": self.version,
            **(rows if self.limits_rows else {}),
            **{name: now for name, (_, now) in self.counts.items()},
            **{f"{name}_before": was for name, (was, _) in self.counts.items()},
        }
        return claims if self.utility is None else {**claims, "utility_before": self.utility[0]}

    def excesses(self, limits: DriftLimits) -> Iterator[Excess]:
        """Each change above its limit, with what accepts it."""
        # Columns and types are empty here, so beside rows only utility is compared.
        yield from super().excesses(limits if self.limits_rows else replace(limits, rows=_ALL))
        for name, (was, now) in self.counts.items():
            change = abs(now - was) / max(now, was, 1)  # a count may be 0 in both
            allowed = getattr(limits, name)
            if not is_at_most(change, allowed):
                noun = name.replace("_", " ")
                text = f"there are {now} {noun} instead of {was}, a difference of {change:.4f}"
                yield build_excess(text, name, allowed)


def build_excess(change: str, key: str, limit: float, accepted: str | None = None) -> Excess:
    """A change that exceeds its limit, with what accepts it: the limit, or a name of a column.

    What accepts a change of a column is about that column only.
    """
    text = f"{change}, above checks.drift.{key} = {limit:g}"
    if accepted is None:
        return Excess(text, key, f"{key}=1")
    return Excess(text, accepted, _format_acceptance(accepted))


def _format_acceptance(name: str) -> str:
    """The setting that accepts every change of a column, by `DriftLimits.name_of_column`."""
    return f"accepted.{toml_key(name)}.limit=1"


def _format_category_count(number: int, sort: str = "") -> str:
    return f"{number} {sort}categor{'y' if number == 1 else 'ies'}"
