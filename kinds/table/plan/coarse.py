"""columns.<name>.step, top and bottom: coarser values of columns that are published unmasked."""

from typing import Any

from anon_core.errors import InputError
from anon_core.specs.coarse import Coarse
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.layout import CARRIED

COARSE = ("step", "top", "bottom")


def coarse_of(where: str, section: Any) -> Coarse | None:
    """How the values of a column are made coarser, checked; None where they are not."""
    stated = {key: value for key in COARSE if (value := getattr(section, key)) is not None}
    if not stated:
        return None
    kind = "date" if isinstance(section.step, str) else "numeric"
    if section.role not in CARRIED or section.kind != kind:
        first = next(iter(stated))
        value = f" = {section.step!r}" if kind == "date" else ""
        raise PlanError(
            f"{where}.{first}{value} belongs to kind = {kind!r} and role = 'keep' or 'sensitive'"
        )
    try:
        return Coarse(**stated)
    except InputError as error:
        refusal = str(error)
    raise PlanError(f"{where}: {refusal}")
