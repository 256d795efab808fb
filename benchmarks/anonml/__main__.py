"""Adult under the classifiers of fhstp/k-AnonML: python -m benchmarks.anonml [K...].

Their columns (age, sex, race, marital status, education, country, work class, occupation), target
(income), split (70 : 30, seed 42) and classifiers with their settings. Two tests:

released   as they do: the whole table is released, and the test rows are released rows, too.
source     only the training rows are released, and the test rows are those of the source.

Cells of our releases become numbers by `crowdcover.read`: age its expected value, of the other
columns the weight of each value. Income is a sensitive column, or with --label a quasi-identifier
whose masked cells are drawn. With --predict columns weigh what the people of adult.test tell of
income, as by [purpose] predict and path. Mondrian is theirs, written anew.

scikit-learn and XGBoost have an environment of their own: `make -C benchmarks anonml`, or
ANONML=PYTHON of one with benchmarks/anonml/requirements.txt. Prints a line of Markdown for each
table: accuracy in per cent and macro-F1 of each classifier.
"""

import argparse
import itertools
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import crowdcover
from benchmarks import ROOT, leave_out, python_of
from benchmarks.analyst.releases import made
from benchmarks.anonml import features
from benchmarks.anonml.classes import Generalized
from benchmarks.anonml.features import AGE, INCOME, QUASI, ROW

SCORES = ROOT / "benchmarks/baselines/anonml_scores.py"
METHODS = {
    "local-search": 'name = "local-search"',
    "adaptive": 'name = "adaptive"',
    "k-member": 'name = "k-member"',
    "optimal": 'name = "optimal"\nmethod = "greedy"',
    "freeform": 'name = "freeform"\nmethod = "greedy"',
}
WEIGHTS = ("uniform", "crowd")
MODELS = ("RF", "XGB", "kNN", "SVM")


class Scores:
    """Prints the scores of tables, computed by another Python."""

    def __init__(self, python, folder):
        self.python, self.path = python, folder / "rows.npz"

    def tell(self, *names, train, test):
        """Print a line; train and test are rows and their labels."""
        np.savez(self.path, a=train[0], b=train[1], c=test[0], d=test[1])
        done = subprocess.run([self.python, SCORES, self.path], check=True, stdout=subprocess.PIPE)
        found = json.loads(done.stdout)
        scores = [f"{100 * found[m][0]:.1f} / {found[m][1]:.3f}" for m in MODELS]
        print("|", " | ".join((*map(str, names), *scores)), "|", flush=True)


def main(ks, tests, methods, weights, label, seed, predict):
    python = python_of("anonml")
    if not python.exists():
        leave_out("no Python with scikit-learn and XGBoost; run `make -C benchmarks anonml`")
    print("| tested on | k | rows | weights |", " | ".join(MODELS), "|")
    print("|---" * (4 + len(MODELS)) + "|")
    with tempfile.TemporaryDirectory() as place:
        scores = Scores(python, Path(place))
        frame = features.adult()
        originals(scores, frame)
        for test, k in itertools.product(tests, ks):
            classes(scores, frame, test, k)
            for method in methods:
                text = plan(k, METHODS[method], label, features.weights() if predict else {})
                folder = Path(place) / f"{test}-{k}-{method}"
                releases(scores, frame, test, (k, method), text, folder, weights, seed)


def plan(k, anonymizer, label, weighed):
    """Columns weigh as said, income is sensitive or quasi.

    The number of each row is kept, to part the rows as they do.
    """
    kinds = dict.fromkeys(QUASI, "categorical") | {AGE: 'numeric"\nbins = "none'}
    kinds |= {INCOME: "categorical"} if label == "quasi" else {}
    parts = [
        f'[columns.{name}]\nrole = "quasi"\nkind = "{kind}"\nweight = {weighed.get(name, 1.0)}\n'
        for name, kind in kinds.items()
    ]
    if label != "quasi":
        parts.append(f'[columns.{INCOME}]\nrole = "{label}"\n')
    parts.append(
        f'[columns.{ROW}]\nrole = "keep"\n[privacy]\nk = {k}\n[anonymizer]\n{anonymizer}\n'
    )
    return 'name = "adult"\n[source]\npath = "x"\n' + "".join(parts)


def parted(rows, labels):
    """Rows of the whole table, in its order, as training and test part."""
    train, test = features.split(len(labels))
    return {"train": (rows[train], labels[train]), "test": (rows[test], labels[test])}


def originals(scores, frame):
    """The source: in their encoding, which leaves out each column's first value, and with all."""
    labels, of = features.rich(frame), features.levels(frame)
    less = {name: values[1:] for name, values in of.items()}
    scores.tell("", "", "source, their encoding", "", **parted(features.exact(frame, less), labels))
    scores.tell("", "", "source, all values", "", **parted(features.exact(frame, of), labels))


def classes(scores, frame, test, k):
    """Mondrian's classes: in their encoding if all rows are released, else as our sets are read."""
    labels, of = features.rich(frame), features.levels(frame)
    if test == "released":
        rows = Generalized(frame, k).flags()
        scores.tell(test, k, "Mondrian", "", **parted(rows, labels))
        return
    train, _ = features.split(frame.height)
    rows = Generalized(frame[train], k).members(of)
    true = parted(features.exact(frame, of), labels)["test"]
    scores.tell(test, k, "Mondrian", "uniform", train=(rows, labels[train]), test=true)


def releases(scores, frame, test, names, text, folder, weights, seed):
    """One of our releases, read with each kind of weights."""
    labels, of = features.rich(frame), features.levels(frame)
    train, _ = features.split(frame.height)
    source = frame if test == "released" else frame[np.sort(train)]
    folder.mkdir()
    source.write_csv(folder / "source.csv")
    release = made(text, str(folder / "source.csv"), folder / "release", seed=seed)
    for way in weights:
        table = crowdcover.read(release.folder, way)
        rows, said = features.read(table, of), features.labels(table)
        if test == "source":
            true = parted(features.exact(frame, of), labels)["test"]
            parts = {"train": (rows, said), "test": true}
        else:
            order = np.argsort(table.frame()[ROW].cast(pl.Int64).to_numpy())
            parts = parted(rows[order], said[order])
            parts["test"] = parts["test"][0], parted(rows, labels)["test"][1]
        scores.tell(test, *names, way, **parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("k", nargs="*", type=int, default=[10, 100])
    parser.add_argument("--tested", nargs="*", choices=("released", "source"))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--weights", nargs="*", choices=WEIGHTS, default=list(WEIGHTS))
    parser.add_argument("--label", choices=("sensitive", "quasi"), default="sensitive")
    parser.add_argument("--seed", type=int, default=1, help="of the lot that makes a release")
    parser.add_argument("--predict", action="store_true", help="weights by purpose.predict")
    given = parser.parse_args()
    tested = given.tested or ("released", "source")
    main(given.k, tested, given.methods, given.weights, given.label, given.seed, given.predict)
