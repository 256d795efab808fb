"""Attacks by scikit-learn and LightGBM: python learned.py FOLDER [MODEL...], in its own Python.

Reads task.npz: `known` (rows, columns) and `asked` (targets, columns), the levels of the known
columns, -1 for none; `numeric`, which of them are numbers, and for those `values` and
`asked_values` in place of levels; `hidden.<column>`, the levels of the hidden columns, and
`levels.<column>`, how many there are. Writes MODEL.COLUMN.npy: how likely each level is, float32
(targets, levels).
"""

import sys
import warnings
from pathlib import Path

import lightgbm
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

FEW = 20  # levels up to which boosting takes all its rounds
ROUNDS, FEWER_ROUNDS = 100, 15


def main(folder, models):
    task = np.load(folder / "task.npz")
    hidden = {name[7:]: task[name] for name in task.files if name.startswith("hidden.")}
    counts = {name: int(task[f"levels.{name}"]) for name in hidden}
    inputs = {
        "ordinal": (_ordinal(task, "known", "values"), _ordinal(task, "asked", "asked_values")),
        "one-hot": _one_hot(task),
    }
    for model in models:
        for name, (classes, chances) in MODELS[model](inputs, hidden, counts):
            full = np.zeros((len(chances), counts[name]), dtype=np.float32)
            full[:, classes.astype(int)] = chances
            np.save(folder / f"{model}.{name}.npy", full)


def each(maker, kind):
    """One model a hidden column."""

    def made(inputs, hidden, counts):
        ours, asked = inputs[kind]
        for name, y in hidden.items():
            if y.min() == y.max():  # some models refuse a single level
                yield name, (y[:1], np.ones((len(asked), 1)))
                continue
            model = maker(counts[name]).fit(ours, y)
            yield name, (model.classes_, model.predict_proba(asked))

    return made


def chain(inputs, hidden, counts):
    """Forests; each knows the hidden columns before it, of the targets as they were guessed."""
    ours, asked = inputs["ordinal"]
    for name, y in hidden.items():
        model = _forest(counts[name]).fit(ours, y)
        chances = model.predict_proba(asked)
        yield name, (model.classes_, chances)
        ours = np.column_stack([ours, y])
        asked = np.column_stack([asked, model.classes_[chances.argmax(axis=1)]])


def heads(inputs, hidden, counts):
    """One network with an output for each level of each hidden column."""
    ours, asked = inputs["one-hot"]
    goals = np.hstack([np.eye(counts[name])[y] for name, y in hidden.items()])
    model = MLPClassifier((500, 250), batch_size=256, max_iter=20, random_state=1).fit(ours, goals)
    cuts = np.cumsum(list(counts.values()))[:-1]
    parts = np.split(model.predict_proba(asked), cuts, axis=1)
    for name, chances in zip(counts, parts, strict=True):
        yield name, (np.arange(counts[name]), chances)


def _forest(_):
    return RandomForestClassifier(n_estimators=25, max_depth=25, random_state=1, n_jobs=1)


def _boosted(levels):
    rounds = ROUNDS if levels <= FEW else FEWER_ROUNDS
    return lightgbm.LGBMClassifier(n_estimators=rounds, verbosity=-1, n_jobs=1, random_state=1)


def _logistic(_):
    return LogisticRegression(max_iter=100)


def _network(_):
    return MLPClassifier((300,), batch_size=256, max_iter=20, random_state=1)


MODELS = {
    "forest": each(_forest, "ordinal"),
    "chain": chain,
    "boosting": each(_boosted, "ordinal"),
    "logistic": each(_logistic, "one-hot"),
    "network": each(_network, "one-hot"),
    "heads": heads,
}


def _ordinal(task, codes, values):
    """Numbers as they are, categories by their level."""
    return np.where(task["numeric"], task[values], task[codes])


def _one_hot(task):
    ours, theirs = [], []
    for place, numeric in enumerate(task["numeric"]):
        if numeric:
            values = task["values"][:, place]
            middle, scale = values.mean(), max(values.std(), 1e-9)
            ours.append(((values - middle) / scale)[:, None])
            theirs.append(((task["asked_values"][:, place] - middle) / scale)[:, None])
        else:
            count = 1 + max(task["known"][:, place].max(), task["asked"][:, place].max())
            hot = np.vstack([np.eye(count), np.zeros(count)])  # -1: nothing
            ours.append(hot[task["known"][:, place]])
            theirs.append(hot[task["asked"][:, place]])
    return np.hstack(ours), np.hstack(theirs)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # models that stop before they converge, as theirs do
    main(Path(sys.argv[1]), sys.argv[2:] or MODELS)
