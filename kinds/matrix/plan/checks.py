"""[checks] of a plan for a matrix: limits that a release must meet; they never shape it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator

from kinds.accepting import AcceptedSection, limits_of, refuse_unknown
from kinds.judge.floors import Asked, Floors, Sections, attack_success, build_unchanged_limit
from kinds.matrix.profile import MatrixDriftLimits
from kinds.section import Section, Share, or_off


class DriftSection(Section):
    """[checks] drift: allowed changes since the last release, as shares; 1 allows everything.

    Attributes
    ----------
    rows : difference of the two numbers of users, as a share of the larger.
    items : items that are new or gone.
    entries : difference of the two numbers of entries.
    utility : fall of the Jaccard similarity, under the same plan only.
    """

    rows: Share = MatrixDriftLimits.rows
    items: Share = MatrixDriftLimits.items
    entries: Share = MatrixDriftLimits.entries
    utility: Share = MatrixDriftLimits.utility
    accepted: dict[str, AcceptedSection] = {}


OrOff = BeforeValidator(or_off, json_schema_input_type=DriftSection | Literal["off"])


class ChecksSection(Section):
    """[checks].

    Attributes
    ----------
    min_utility : the Jaccard similarity of released and source entries that must be reached.
    max_attack_success : how often an attacker may find a user's row, on average.
    max_unchanged : the share of the entries of source and release that may be in both; less than 1
        refuses a release in which nothing was hidden.
    drift : how much the data may change since the last release; 'off' compares nothing.
    """

    min_utility: Share = 0.0
    max_attack_success: Share | None = None
    max_unchanged: Share | None = None
    drift: Annotated[DriftSection | None, OrOff] = DriftSection()

    @property
    def floors(self) -> "MatrixFloors":
        """The limits as the tasks use them."""
        return MatrixFloors(
            min_utility=self.min_utility,
            max_attack_success=self.max_attack_success,
            max_unchanged=self.max_unchanged,
        )

    @property
    def drift_limits(self) -> MatrixDriftLimits | None:
        """Limits on changes between releases; None if the comparison is off."""
        if self.drift is None:
            return None
        refuse_unknown(self.drift)
        return limits_of(self.drift, MatrixDriftLimits)


@dataclass(frozen=True, kw_only=True)
class MatrixFloors(Floors):
    """The limits of a plan for a matrix."""

    min_utility: float = 0.0
    max_attack_success: float | None = None
    max_unchanged: float | None = None

    def requirements(self, measured: Sections) -> Iterator[Asked]:
        """Every limit with its measured number."""
        if self.min_utility > 0:
            yield _require_jaccard(self.min_utility, measured)
        if self.max_attack_success is not None:
            yield from _require_attacks(self.max_attack_success, measured.get("attacks", {}))
        if self.max_unchanged is not None:
            entries, remedy = "the entries of source and release", "raise k or the limit"
            jaccard = measured["utility"]["jaccard"]
            yield build_unchanged_limit(jaccard, self.max_unchanged, entries, remedy)


def _require_jaccard(floor: float, measured: Sections) -> Asked:
    found = measured["utility"]["jaccard"]
    return Asked(
        measure="jaccard",
        found=found,
        required=floor,
        shown=f"{found:.3f}",
        shortfall=f"the Jaccard similarity {found:.3f} is below checks.min_utility = {floor}",
        remedy="lower k or the floor",
    )


def _require_attacks(limit: float, attacks: Sections) -> Iterator[Asked]:
    """The limit for each number of known items that some user has."""
    for name, attack in attacks.items():
        if attack["tried"]:
            remedy = "raise k or the limit"
            yield attack_success(name, attack["success"], limit, "a chance of up to", remedy)
