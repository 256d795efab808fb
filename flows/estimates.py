"""How long a release takes and how much memory its process holds, by fitted models.

    constant + exp(c) * product of size ** power

The sizes are those of `Kind.sizes`. The constants come from `python -m benchmarks.estimates`: whole
releases with all threads, on two virtual cores that other work shared. More cores are faster.
Prefect's server is not in them; it takes some ten seconds more. `factor`: 9 of 10 held-out runs, of
other data, lay within this factor of the estimate, up or down.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BASIS = (
    "of whole releases on 2 shared cores; 9 of 10 runs on other data lay within a factor of "
    "{seconds:.1f} (time) and {bytes:.1f} (memory)"
)


@dataclass(frozen=True)
class Model:
    """A fitted model, and how far it is off."""

    constant: float
    c: float
    powers: Mapping[str, float]
    factor: float

    def of(self, sizes: Mapping[str, float]) -> float:
        """The estimate for data of these sizes."""
        power = sum(power * math.log(sizes[name]) for name, power in self.powers.items())
        return self.constant + math.exp(self.c + power)


# By method: seconds, bytes.
MODELS: dict[str, tuple[Model, Model]] = {}


def estimated(settings: Mapping[str, Any], sizes: Mapping[str, float]) -> dict[str, Any] | None:
    """Seconds and bytes of a release by this method; None where no run was measured.

    `settings` are the method's name and settings, as the manifest states them.
    """
    models = MODELS.get(_label(settings))
    if models is None:
        return None
    seconds, held = (model.of(sizes) for model in models)
    off = models[0].factor
    return {
        "seconds": round(seconds, 1),
        "seconds_range": [round(seconds / off, 1), round(seconds * off, 1)],
        "bytes": int(held),
        "basis": BASIS.format(seconds=off, bytes=models[1].factor),
    }


def _label(settings: Mapping[str, Any]) -> str:
    """A method as the benchmark names it: even seats are another course of work."""
    seats = settings.get("seats")
    return str(settings["name"]) + ("" if seats is None else f", {seats} seats")
