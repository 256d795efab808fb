"""What a person lets through with a note: drift by name, cells like direct identifiers by kind."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator

from crowdcover.kinds.judge.drift import Accepted, DriftLimits
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.section import PlanError, Section, Share
from crowdcover.validations.recognition.kinds import KINDS

LONGEST_NOTE = 500
_KEY = "checks.drift.accepted"
Limits = TypeVar("Limits", bound=DriftLimits)


def _one_line(value: Any) -> Any:
    # A line end could forge a second line in logs and reports that show the note.
    if isinstance(value, str) and (len(value) > LONGEST_NOTE or not value.isprintable()):
        raise ValueError(f"must be one line of at most {LONGEST_NOTE} printable characters")
    return value


Note = Annotated[str, BeforeValidator(_one_line)]


class AcceptedSection(Section):
    """An entry of [checks] drift.accepted: the share that is accepted, and why."""

    limit: Share
    note: Note = ""


def read_counted_limits(section: Any, of: type[Limits]) -> Limits | None:
    """[checks] drift of data whose columns are not compared; None if the comparison is off."""
    if section is None:
        return None
    refuse_unknown(section)
    return limits_of(section, of)


def limits_of(section: Any, of: type[Limits]) -> Limits:
    """[checks] drift as the tasks use it."""
    stated = section.model_dump()
    accepted = {name: Accepted(**each) for name, each in stated.pop("accepted").items()}
    lists = {name: tuple(each) for name, each in stated.items() if isinstance(each, list)}
    return of(**{**stated, **lists}, accepted=accepted)


def refuse_unknown(section: Any, columns: Collection[str] = ()) -> None:
    """Refuse what is neither a limit of [checks] drift nor a compared column."""
    limits = [name for name in type(section).model_fields if name not in ("ignore", "accepted")]
    allowed = [*limits, *map(DriftLimits.name_of_column, columns)]
    for name in section.accepted:
        if name not in allowed:
            raise PlanError(
                f"{_KEY} names {name!r}, which is neither a limit of checks.drift nor a column "
                f"that is compared; allowed: {', '.join(allowed)}" + did_you_mean(name, allowed)
            )


def read_allowed_kinds(where: str, allow: Sequence[str], note: str) -> dict[str, Any]:
    """`allow` and `note` of a section, as `Column` takes them; one of them alone is refused."""
    if allow and not note.strip():
        raise PlanError(f"{where}.allow needs {where}.note: state why these cells may be published")
    if note and not allow:
        raise PlanError(f"{where}.note says why {where}.allow lets cells through; state both")
    if note:
        _refuse_identifiers(f"{where}.note", note)
    # In one order: what is allowed is an input of the check, however the plan lists it.
    return {"allow": tuple(sorted(set(allow))), "note": note}


def _refuse_identifiers(key: str, note: str) -> None:
    """Refuse a note that looks like a direct identifier itself: manifest and report publish it."""
    import numpy as np
    import polars as pl

    from crowdcover.validations.recognition.recognise import (
        count_rows,  # tables of all countries: only for a note
    )

    found = count_rows("note", pl.Series([note], dtype=pl.String), np.ones(1, dtype=np.int64))
    if found:
        raise PlanError(
            f"{key} shows what looks like {', '.join(KINDS[kind] for kind in found)}; manifest and "
            "report publish the note: say why without naming or reaching a person"
        )
