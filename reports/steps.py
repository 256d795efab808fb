"""The steps of an anonymizer as table rows, with the figures that it reports."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import capitalize_first
from crowdcover.reports.quantities import count, is_number, printable, seconds, utility
from crowdcover.reports.words import Words

RESERVED = ("number", "seconds", "published")
MOST_STEPS = 12  # a summary shows at most so many steps in full
_ENDS = 4  # steps shown at each end of a longer run


def list_steps(manifest: Manifest) -> Sequence[Mapping[str, Any]]:
    """The steps that the manifest of a release states."""
    steps: Sequence[Mapping[str, Any]] = manifest.get("iterations", [])
    return steps


def step_headings(manifest: Manifest) -> tuple[str, ...]:
    """Headings of the table: step, figures, time."""
    return ("Step", *(_label_of_figure(name) for name in _list_figures(manifest)), "Time")


def list_shown_rows(manifest: Manifest, words: Words) -> list[tuple[str, ...]]:
    """Rows of the steps; a long run keeps its ends and the step that was kept."""
    steps = list_steps(manifest)
    places = set(range(len(steps)))
    # Both ends show how the run began and converged; the kept step may lie between them.
    if len(steps) > MOST_STEPS:
        kept = words.find_published_step(steps)
        places = {*range(_ENDS), *range(len(steps) - _ENDS, len(steps))}
        places |= set() if kept is None else {kept}
    return build_step_rows(manifest, words, sorted(places))


def build_step_rows(
    manifest: Manifest, words: Words, places: Iterable[int]
) -> list[tuple[str, ...]]:
    """Rows of these steps; a row of its own counts the steps left out between them."""
    figures = _list_figures(manifest)
    steps = list_steps(manifest)
    kept = words.find_published_step(steps)
    lines: list[tuple[str, ...]] = []
    before = -1
    for place in places:
        if place > before + 1:
            lines.append((f"{count(place - before - 1)} more",) + ("",) * (len(figures) + 1))
        step = steps[place]
        name = f"{place + 1} (kept)" if place == kept else str(place + 1)
        numbers = (_format_number(step.get(figure)) for figure in figures)
        lines.append((name, *numbers, seconds(step.get("seconds"))))
        before = place
    return lines


def _list_figures(manifest: Manifest) -> list[str]:
    """Names of the figures that at least one step states, in their order."""
    # A dictionary instead of a set: it keeps the order in which names occur.
    named = dict.fromkeys(name for step in list_steps(manifest) for name in step)
    stated = [
        name for name in named if any(is_number(step.get(name)) for step in list_steps(manifest))
    ]
    return [name for name in stated if name not in RESERVED]


def _label_of_figure(name: str) -> str:
    return capitalize_first(printable(name).replace("_", " "))


def _format_number(figure: Any) -> str:
    """A count for a whole number, else a share with three digits."""
    # Figures are named by methods that this module does not know; the type is all that tells.
    return count(figure) if isinstance(figure, int) else utility(figure)
