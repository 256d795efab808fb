"""Classes by a published package, in its own Python: peer_classes.py METHOD FILE.

FILE is .npz: `codes` int (attributes, n), `ordinal` bool (attributes,), `k` int, and for columns
that have a hierarchy `ladder0` ... int (steps, levels), the nodes of each level from its own up to
the root. `label` int (n,) replaces them. anonypyx 0.2.11: Mondrian, and MDAV, which holds 16 n^2
bytes. anjana 1.2.3: whole columns by hierarchies; without one intervals of 2, 4, 8 ... levels of an
ordered column.
"""

import sys

import numpy as np
import pandas as pd


def main(method, path):
    given = np.load(path)
    codes, k = given["codes"], int(given["k"])
    if method == "anjana":
        label = by_anjana(codes, given["ordinal"], k, given)
    else:
        label = {"mdav": by_mdav, "mondrian": by_mondrian}[method](codes, given["ordinal"], k)
    np.savez(path, label=label)


def frame_of(codes, ordinal):
    columns = {f"c{a}": code.astype(np.float64) for a, code in enumerate(codes)}
    frame = pd.DataFrame(columns)
    return frame.astype({f"c{a}": "category" for a in np.flatnonzero(~ordinal)})


def by_mdav(codes, ordinal, k):
    from anonypyx.microaggregation import MDAVGeneric

    frame = frame_of(codes, ordinal)
    for a in np.flatnonzero(~ordinal):  # it wants numbers, and takes the type as the sign of a set
        frame[f"c{a}"] = pd.Categorical(codes[a].astype(np.int64))
    return labels_of(MDAVGeneric(frame, list(frame.columns)).partition(k), codes.shape[1])


def by_mondrian(codes, ordinal, k):
    from anonypyx.models import kAnonymity
    from anonypyx.mondrian import Mondrian

    frame = frame_of(codes, ordinal)
    return labels_of(Mondrian(frame, list(frame.columns)).partition([kAnonymity(k)]), len(frame))


def by_anjana(codes, ordinal, k, given):
    from anjana.anonymity import k_anonymity

    frame = pd.DataFrame({f"c{a}": code.astype(str) for a, code in enumerate(codes)})
    ladders = {
        f"c{a}": dict(enumerate(given[f"ladder{a}"].astype(str)))
        if f"ladder{a}" in given
        else ladder_of(codes[a], ordered)
        for a, ordered in enumerate(ordinal)
    }
    made = k_anonymity(frame, [], list(frame.columns), k, 0, ladders)
    return made.groupby(list(made.columns), sort=False).ngroup().to_numpy()


def ladder_of(code, ordered):
    levels = np.unique(code)
    steps = [levels.astype(str)]
    if ordered:
        width = 2
        while width < levels.max() + 1:
            steps.append(np.array([f"{level // width}/{width}" for level in levels]))
            width *= 2
    steps.append(np.full(len(levels), "*"))
    return dict(enumerate(steps))


def labels_of(classes, records):
    label = np.empty(records, dtype=np.int64)
    for number, members in enumerate(classes):
        label[np.asarray(members)] = number
    return label


if __name__ == "__main__":
    main(*sys.argv[1:])
