"""How much better people in a release are guessed than others."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.analyst.releases import made
from benchmarks.baselines.suppression import suppressed
from benchmarks.reconstruction.adult import (
    HIDDEN,
    KNOWN,
    SAMPLES,
    SUPPRESSED,
    plan,
    population,
    samples,
)
from benchmarks.reconstruction.linear import linear
from benchmarks.reconstruction.running import guesses
from benchmarks.reconstruction.score import scores
from benchmarks.reconstruction.views import of_release, of_table

K = 6
COARSE = {"rare": "pool", "weight": 0.05}
PLANS = {
    "default": plan(K),
    "kept": plan(K, kept=HIDDEN),
    "fine": plan(K, bins="none"),
    "k-member": plan(K, anonymizer='[anonymizer]\nname = "k-member"'),
    "coarse": plan(K, **COARSE),
    "coarse, k = 12": plan(12, **COARSE),
    "coarse, k = 18": plan(18, **COARSE),
}
RELEASES = ("raw", "suppression", *PLANS)


def attacked(task):
    """Training, holdout, difference and its standard error in points, by attack."""
    release, sample = task
    drawn = samples(population())
    training, holdout = drawn[sample], drawn[(sample + 1) % SAMPLES]
    both = pl.concat([training, holdout])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        view = viewed(release, training, folder)
        made_guesses = guesses(view, both, folder)
    cut = training.height
    chances = [
        linear(view.table, part, list(KNOWN), "income", ">50K") for part in (training, holdout)
    ]
    rich = np.where(np.concatenate(chances) >= 0.5, ">50K", "<=50K")
    made_guesses["linear, income only"] = {"income": rich}
    return {attack: compared(both, by_column, cut) for attack, by_column in made_guesses.items()}


def viewed(release, training, folder):
    """A release as the attacker sees it."""
    if release == "raw":
        return of_table(training)
    if release == "suppression":
        return of_table(suppressed(training, SUPPRESSED, K))
    training.write_csv(folder / "source.csv")
    return of_release(made(PLANS[release], str(folder / "source.csv"), folder / "release").folder)


def compared(targets, by_column, cut):
    """Scores of the targets before and after the cut, their difference, its standard error."""
    parts = []
    for part in (slice(0, cut), slice(cut, None)):
        truth, right = {}, {}
        for name in by_column:
            values = targets[name].to_numpy().astype(str)[part]
            truth[name] = np.unique(values, return_inverse=True)[1]
            right[name] = by_column[name][part] == values
        parts.append(scores(truth, right, np.random.default_rng(1)))
    (inside, ours), (outside, theirs) = parts
    return inside, outside, inside - outside, float(np.hypot(ours.std(), theirs.std()))
