"""How far data may drift from one release to the next, and the words for what drifts farther. No Prefect here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from anon_core.errors import GuaranteeError
from anon_core.measures.requirements import at_most
from anon_core.measures.table.drift import Drift, by_chance


@dataclass(frozen=True, kw_only=True)
class DriftLimits:
    """[checks] drift: shares above which it is refused, 1 allows everything; `shift` comes on top of what chance does."""

    rows: float = 0.3
    new_categories: float = 0.0
    gone_categories: float = 0.02
    shift: float = 0.1
    utility: float = 0.05
    types: Literal["refuse", "allow"] = "refuse"
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Changes:
    """A table against that of an earlier release: rows, quasi-identifiers, types of carried columns, and what is kept."""

    version: str
    rows_before: int
    rows: int
    columns: Mapping[str, Drift] = field(default_factory=dict)
    types: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    utility: tuple[float, float] | None = None

    @property
    def claims(self) -> dict[str, Any]:
        """The manifest's drift section; shares are rounded, so that they count nobody."""
        found = self.columns.values()
        claims: dict[str, Any] = {
            "compared_with": self.version,
            "rows_before": self.rows_before,
            "rows": self.rows,
            "columns": len(self.columns),
            "new_categories": sum(column.new for column in found),
            "gone_categories": sum(column.gone for column in found),
            "shift": round(max((column.shift for column in found), default=0.0), 2),
            "other_types": sum(was != now for was, now in self.types.values()),
        }
        return claims if self.utility is None else {**claims, "utility_before": self.utility[0]}

    def require(self, limits: DriftLimits) -> None:
        """Refuse what has changed too much: all of it at once, and how to go on."""
        found = list(self.excesses(limits))
        if found:
            words = "; ".join(what for what, _ in found)
            accept = " ".join(
                f"--set checks.drift.{key}" for key in dict.fromkeys(key for _, key in found)
            )
            raise GuaranteeError(
                f"publication refused; compared with {self.version}, {words}; "
                f"mend the source, or accept it: for one run with {accept}, for good in [checks] drift"
            )

    def excesses(self, limits: DriftLimits) -> Iterator[tuple[str, str]]:
        """What was found and is allowed, and the setting that accepts it, for each limit that is passed."""
        change = abs(self.rows - self.rows_before) / max(self.rows, self.rows_before)
        if not at_most(change, limits.rows):
            words = f"there are {self.rows} rows instead of {self.rows_before}, which differ by {change:.4f}"
            yield _above(words, "rows", limits.rows)
        for name, (was, now) in self.types.items():
            if was != now and limits.types == "refuse":
                yield f"column {name!r} holds {now} instead of {was}", "types=allow"
        for name, column in self.columns.items():
            if name not in limits.ignore:
                yield from self._excesses_of(name, column, limits)
        if self.utility is not None and not at_most(
            self.utility[0] - self.utility[1], limits.utility
        ):
            words = "utility fell from {:.4f} to {:.4f}".format(*self.utility)
            yield _above(words, "utility", limits.utility)

    def _excesses_of(
        self, name: str, found: Drift, limits: DriftLimits
    ) -> Iterator[tuple[str, str]]:
        if not at_most(found.new_records / self.rows, limits.new_categories):
            words = f"column {name!r} has {_counted(found.new, 'new ')} in {found.new_records} of {self.rows} rows"
            yield _above(words, "new_categories", limits.new_categories)
        if not at_most(found.gone_records / self.rows_before, limits.gone_categories):
            held = f"{found.gone_records} of {self.rows_before} rows held"
            words = f"column {name!r} has lost {_counted(found.gone)} that {held}"
            yield _above(words, "gone_categories", limits.gone_categories)
        chance = by_chance(self.rows_before, self.rows)
        if not at_most(found.shift, limits.shift + chance):
            words, key = _above(
                f"column {name!r} has shifted by {found.shift:.4f} of the rows",
                "shift",
                limits.shift,
            )
            yield f"{words} and the {chance:.4f} that chance may do", key


def _above(words: str, key: str, limit: float) -> tuple[str, str]:
    return f"{words}, above checks.drift.{key} = {limit:g}", f"{key}=1"


def _counted(number: int, sort: str = "") -> str:
    return f"{number} {sort}categor{'y' if number == 1 else 'ies'}"
