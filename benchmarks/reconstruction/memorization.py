"""How much better people in a release are guessed than others."""

import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.analyst.releases import made
from benchmarks.baselines.suppression import suppressed
from benchmarks.reconstruction.adult import (
    COLUMNS,
    HIDDEN,
    KNOWN,
    NUMBERS,
    SAMPLES,
    SUPPRESSED,
    plan,
    population,
    samples,
)
from benchmarks.reconstruction.linear import linear
from benchmarks.reconstruction.running import guesses
from benchmarks.reconstruction.score import scores
from benchmarks.reconstruction.views import coded, of_release, of_table

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
RELATED = ", related"  # the attacker takes completed tables that keep relations
DRAWS = 10  # of these
RELEASES = ("raw", "suppression", *PLANS, "default" + RELATED, "coarse" + RELATED)


def attacked(task):
    """A release of a sample: figures by attack, as of `compared`, and rows in wrong pairs."""
    release, sample = task
    drawn = samples(population())
    training, holdout = drawn[sample], drawn[(sample + 1) % SAMPLES]
    targets = pl.concat([training, holdout])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        view = viewed(release, training, folder)
        by_attack = guesses(view, targets, folder)
    chances = [
        linear(view.table, part, list(KNOWN), "income", ">50K") for part in (training, holdout)
    ]
    rich = np.where(np.concatenate(chances) >= 0.5, ">50K", "<=50K")
    by_attack["linear, income only"] = {"income": rich}
    cut = training.height
    figures = {attack: compared(targets, guess, cut) for attack, guess in by_attack.items()}
    return figures, wrong_pairs(view, training)


def wrong_pairs(view, truth):
    """What the release is good for: rows in the wrong pair of levels, per cent.

    The mean over all pairs of columns of categories, pooled ones as one.
    """
    wrong = []
    names = [name for name in COLUMNS if name not in NUMBERS]
    for a, b in combinations(names, 2):
        told = view.parts[a].members.T.astype(np.float64) @ view.parts[b].members
        codes = [coded(truth[name], view.parts[name].labels) for name in (a, b)]
        true = np.zeros(told.shape)
        known = np.minimum(*codes) >= 0
        np.add.at(true, (codes[0][known], codes[1][known]), 1 / truth.height)
        wrong.append((np.abs(told / told.sum() - true).sum() + 1 - true.sum()) / 2)
    return 100 * float(np.mean(wrong))


def viewed(release, training, folder):
    """A release as the attacker sees it."""
    if release == "raw":
        return of_table(training)
    if release == "suppression":
        return of_table(suppressed(training, SUPPRESSED, K))
    training.write_csv(folder / "source.csv")
    plan_text = PLANS[release.removesuffix(RELATED)]
    released = made(plan_text, str(folder / "source.csv"), folder / "release").folder
    return of_release(released, related=DRAWS if release.endswith(RELATED) else 0)


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
