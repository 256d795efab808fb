"""Which epsilon the next iteration runs with, when the last one is reached, and the warm start."""

from collections.abc import Sequence

from anon_core.anonymizers.adaptive.settings import Settings
from anon_core.steps import Step

_SLOW = 0.02  # epsilon falls after an iteration that lowers the loss by a smaller share
_FALL = 4.0
_LOWEST_EPSILON = 1.25
WARM_START_RECORDS = 2**14  # from which on a warm start pays; smaller tables take seconds anyhow
WARM_START_HALVINGS = 2  # levels of the multilevel schedule below all records


def has_warm_start(settings: Settings, records: int) -> bool:
    """Return whether a run over so many records starts from the counts of a part of them."""
    return settings.schedule == "multilevel" and records >= WARM_START_RECORDS


def warm_start_epsilon(settings: Settings) -> float:
    """Return the epsilon of an iteration that starts from what a smaller part reached."""
    return min(settings.epsilon, max(settings.epsilon / _FALL, _LOWEST_EPSILON))


def read_weighted_utility(step: Step) -> float:
    """Return the weighted utility of an iteration."""
    return step.figures["weighted_utility"]


def best_of(steps: Sequence[Step]) -> Step:
    """Return the iteration that is kept: the first of the greatest weighted utility."""
    return max(steps, key=read_weighted_utility)


def next_epsilon(settings: Settings, steps: Sequence[Step]) -> float | None:
    """Return the epsilon of the iteration after these, None where these are all.

    Parameters
    ----------
    settings : Settings
    steps : sequence of Step
        At least one.
    """
    idle = len(steps) - best_of(steps).number
    done = len(steps) >= settings.max_iterations or idle >= settings.patience
    if done or not steps[-1].figures["cover_edges"]:
        return None
    foreseen = steps[0].figures.get("foreseen")
    if foreseen is not None and settings.schedule == "multilevel":
        # After a warm start, all records should lose about what half of them lost. A run that is
        # there, or has become slow, ends.
        slow = len(steps) > 1 and _is_slow(steps, len(steps) - 1)
        expected = 1 - read_weighted_utility(steps[-1]) <= (1 + _SLOW) * (1 - foreseen)
        return None if slow or expected else warm_start_epsilon(settings)
    epsilon = settings.epsilon
    # Found again from all steps each time, so a checkpoint need not hold epsilon.
    for count in range(1, len(steps) if settings.schedule != "fixed" else 0):
        if _is_slow(steps, count):
            if epsilon <= _LOWEST_EPSILON:
                return None
            epsilon = max(epsilon / _FALL, _LOWEST_EPSILON)
    return epsilon


def _is_slow(steps: Sequence[Step], count: int) -> bool:
    """Return whether iteration count + 1 lowered the loss by a small share only."""
    before, after = (
        1 - read_weighted_utility(best_of(steps[:count])),
        1 - read_weighted_utility(steps[count]),
    )
    return after > (1 - _SLOW) * before
