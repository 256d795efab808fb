"""All attacks on one release, and what each guesses of the targets."""

import subprocess
from pathlib import Path

import numpy as np

from benchmarks import python_of
from benchmarks.reconstruction import attacks
from benchmarks.reconstruction.adult import HIDDEN, KNOWN, NUMBERS
from benchmarks.reconstruction.views import known_codes

VOTERS = ("forest", "boosting", "network", "rows that fit")
LEARNED = ("forest", "chain", "boosting", "logistic", "network", "heads")
PROGRAM = Path(__file__).with_name("learned.py")
PYTHON = python_of("attacks")


def guesses(view, targets, folder, models=LEARNED, seed=1):
    """The guesses of each attack, by attack and column, as text.

    An attack that says how likely each value is guesses twice: the likeliest value, and ", rare"
    the one that is likelier than its share in the release by the greatest factor.
    """
    asked = targets.select(KNOWN).unique(maintain_order=True)  # who is alike is guessed alike
    numbered = asked.with_row_index("place")
    place = targets.join(numbered, on=KNOWN, how="left", maintain_order="left")["place"].to_numpy()
    known = known_codes(view, asked)
    neighbours = attacks.near(view, known, attacks.NEIGHBOURS)
    found = {
        "naive Bayes": attacks.naive_bayes(view, known),
        "tree of pairs": attacks.tree(view, known),
        "rows that fit": attacks.fitting(view, known),
    }
    found |= learned(view, asked, known, folder, models)
    if "forest" in found:
        found["messages"] = attacks.passed(view, found["forest"], neighbours)
    if all(name in found for name in VOTERS):
        votes = [found[name] for name in VOTERS]
        found["vote"] = {name: sum(each[name] for each in votes) for name in view.by_level}
    likely = attacks.likeliest(view, attacks.nearest(view, neighbours))
    made = {"nearest row": texts(view, likely, neighbours[:, 0])}
    rows = None if "fnlwgt" in view.parts else attacks.matched(view, known)
    for name, chances in found.items():
        made[name] = texts(view, attacks.likeliest(view, chances), rows)
        made[f"{name}, rare"] = texts(view, attacks.rarest(view, chances), rows)
    expanded = {
        attack: {name: each[place] for name, each in by.items()} for attack, by in made.items()
    }
    drawn = np.random.default_rng(seed).integers(0, view.table.height, targets.height)
    return {
        "mode": {name: _repeated(view.table[name], targets.height) for name in HIDDEN},
        "random": {name: view.table[name].to_numpy().astype(str)[drawn] for name in HIDDEN},
    } | expanded


def _repeated(column, count):
    """The commonest value of a column, for everyone."""
    return np.repeat(column.mode().sort().to_numpy().astype(str)[:1], count)


def texts(view, levels, rows):
    """Guesses as text; of a column that has too many levels for them the values of the rows."""
    return {
        name: view.parts[name].labels[levels[name]]
        if name in levels
        else view.table[name].to_numpy().astype(str)[rows]
        for name in HIDDEN
    }


def learned(view, targets, known, folder, models=LEARNED):
    """The attacks of learned.py, if there is a Python that has its libraries."""
    if not PYTHON.exists():
        return {}
    task = {
        "known": np.stack([view.codes(name) for name in KNOWN], axis=1),
        "asked": known,
        "numeric": np.array([name in NUMBERS for name in KNOWN]),
        "values": np.stack([numbers(view.table, name) for name in KNOWN], axis=1),
        "asked_values": np.stack([numbers(targets, name) for name in KNOWN], axis=1),
    }
    for name in view.by_level:
        task[f"hidden.{name}"] = np.maximum(0, view.codes(name))
        task[f"levels.{name}"] = np.array(len(view.parts[name].labels))
    np.savez(folder / "task.npz", **task)
    subprocess.run([PYTHON, PROGRAM, folder, *models], check=True)
    return {
        model: {name: np.load(folder / f"{model}.{name}.npy") for name in view.by_level}
        for model in models
    }


def numbers(table, name):
    """A column of numbers, 0 for a column of categories."""
    series = table[name]
    return series.cast(float).to_numpy() if name in NUMBERS else np.zeros(len(series))
