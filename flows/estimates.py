"""How long a release takes and how much memory its process holds, by fitted models.

    constant + exp(c) * product of size ** power

The sizes are those of `Kind.sizes`. Seconds are processor time of all threads and stages. The
constants come from `python -m benchmarks.estimates`: 8 to 31 releases for each method, on two
virtual cores that other work shared. For more records or a greater k than were measured the
estimate is an extrapolation. What the command needs besides the stages, above all to start Prefect
and its server, is the same for each release: it is added.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BASIS = (
    "fitted to measured releases; 9 of 10 on other data lay within a factor of {seconds:.2f} "
    "(time) and {bytes:.2f} (memory)"
)
BEYOND = (
    "; none had more than {records:,} records or k above {k}, so this is an extrapolation: the "
    "time may grow with the square of the records"
)
# The median of releases of 90 to 32,561 rows: 15.6 to 18.9 s, 95 to 136 MiB.
START_SECONDS, START_BYTES = 17.0, 105 * 2**20
STARTED = 2  # processes that start beside each other: the command and Prefect's server


@dataclass(frozen=True)
class Model:
    """A fitted model.

    Attributes
    ----------
    constant, c : float
    powers : mapping of str to float
        By name of a size.
    factor : float
        9 of 10 held-out runs, of other data, lay within this factor of the estimate, up or down.
    records, k : int
        The most that a measured run had.
    """

    constant: float
    c: float
    powers: Mapping[str, float]
    factor: float
    records: int
    k: int

    def of(self, sizes: Mapping[str, float]) -> float:
        """The estimate for data of these sizes."""
        # Sizes are at least 1 (`Kind.sizes`), so each logarithm is defined and none is negative.
        power = sum(power * math.log(sizes[name]) for name, power in self.powers.items())
        return self.constant + math.exp(self.c + power)


# By method: seconds, bytes. Made by: python -m benchmarks.estimates
MODELS = {
    "adaptive, even seats": (
        Model(
            1.536, -18.2113,
            {"records": 1.039, "attributes": 1.0, "features": 1.0, "k": 1.008}, 2.29, 30000, 60,
        ),
        Model(
            4.709e08, 6.7678,
            {"records": 0.628, "attributes": 0.164, "features": 1.0, "k": 0.127}, 1.24, 30000, 60,
        ),
    ),
    "adaptive, matchable seats": (
        Model(1.368, -11.3606, {"records": 0.904, "attributes": 1.0, "k": 0.543}, 1.30, 30000, 60),
        Model(
            4.916e08, 6.1974,
            {"records": 1.048, "attributes": 0.358, "k": 0.282}, 1.13, 30000, 60,
        ),
    ),
    "freeform": (
        Model(1.233, -12.1098, {"records": 1.336, "attributes": 0.164, "k": 1.185}, 1.21, 3702, 20),
        Model(
            4.919e08, -7.6980,
            {"records": 2.5, "attributes": 0.019, "features": 1.0}, 1.02, 3702, 20,
        ),
    ),
    "k-member": (
        Model(
            0.9075, -10.7718,
            {"records": 1.011, "attributes": 0.521, "k": 0.073}, 1.05, 11127, 20,
        ),
        Model(
            4.872e08, 1.8872,
            {"records": 1.039, "attributes": 0.389, "features": 1.0, "k": 0.003}, 1.02, 11127, 20,
        ),
    ),
    "local-search, even seats": (
        Model(
            0.6607, -4.8394, {"records": 0.716, "attributes": 0.202, "k": 0.116}, 1.36, 27798, 60
        ),
        Model(
            5.246e08, 6.4456,
            {"records": 0.822, "attributes": 0.015, "features": 0.687, "k": 0.178}, 1.06, 27798, 60,
        ),
    ),
    "optimal": (
        Model(
            1.031, -28.4149,
            {"records": 2.407, "attributes": 0.559, "features": 1.0, "k": 0.282}, 1.09, 3702, 20,
        ),
        Model(
            4.873e08, -11.5237,
            {"records": 2.5, "attributes": 0.775, "features": 1.0, "k": 0.373}, 1.02, 3702, 20,
        ),
    ),
    "smooth": (
        Model(0.982, -12.5824, {"records": 0.113, "entries": 1.0, "k": 0.258}, 1.61, 30000, 20),
        Model(4.842e08, 10.6400, {"records": 0.769, "k": 0.069}, 1.02, 30000, 20),
    ),
    "uncertain_graph": (
        Model(1.11, -24.9315, {"records": 0.538, "edges": 2.0, "k": 1.101}, 1.10, 2708, 20),
        Model(4.797e08, -4.9419, {"records": 2.5, "edges": 0.32}, 1.07, 2708, 20),
    ),
}  # fmt: skip


def estimate_release(
    settings: Mapping[str, Any], sizes: Mapping[str, float], threads: int
) -> dict[str, Any] | None:
    """Seconds and bytes of a release by this method; None where no run was measured.

    `settings` are the method's name and settings, as the manifest states them. Work that threads
    share takes the processor time divided by their number, other work all of it: the range, on a
    machine that does nothing else. Beyond the records that were measured the end of the range
    grows with the square of their number: 126,084 payments took 253 s in their stages, seven times
    the estimate.
    """
    models = MODELS.get(_format_method_label(settings))
    if models is None:
        return None
    seconds, held = (model.of(sizes) for model in models)
    off, most = models[0].factor, models[0]
    basis = BASIS.format(seconds=off, bytes=models[1].factor)
    if sizes["records"] > 1.1 * most.records or sizes["k"] > 1.1 * most.k:
        basis += BEYOND.format(records=most.records, k=most.k)
    longest = seconds * off * max(1.0, sizes["records"] / most.records)
    first = START_SECONDS / min(threads, STARTED)
    return {
        "processor_seconds": round(START_SECONDS + seconds, 1),
        "threads": threads,
        # From: threads share all work. To: one thread does all of it.
        "seconds_range": [
            round(first + seconds / off / threads, 1),
            round(START_SECONDS + longest, 1),
        ],
        "bytes": START_BYTES + int(held),
        "basis": basis,
    }


def _format_method_label(settings: Mapping[str, Any]) -> str:
    """A method as the benchmark names it: even seats are another course of work."""
    seats = settings.get("seats")
    if seats == "matchable":  # local search makes what `adaptive` makes then
        return "adaptive, matchable seats"
    return str(settings["name"]) + ("" if seats is None else f", {seats} seats")
