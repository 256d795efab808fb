"""Fit what `crowdcover release --dry-run` estimates: python -m benchmarks.estimates [METHOD...].

Each run is a whole release in a process of its own: seconds of processor time, of all threads and
stages, without the start of Prefect and its server; and the most bytes that the process held.
Processor time, since other work on the machine changes it less. The model is

    constant + exp(c) * product of size ** power

over the sizes of `Kind.sizes`, fitted to the logarithms. Tables are fitted to samples of Adult,
matrices to samples of Adult as a matrix, graphs to samples of the Collins proteins. The held-out
runs are of other data: the American Community Survey, schools of Facebook100, other proteins. The
error that is printed is the factor within which 9 of 10 held-out runs lie. The constants go into
flows/estimates.py.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from scipy.optimize import least_squares

from anon_core.errors import AnonymityError
from benchmarks import ROOT, data_file, memory

ADULT = ("adult-ncp.toml", "adult/adult.data.gz", False, ",")
ACS = ("acs.toml", "census-like/nist_acs_national2018.csv.gz", True, ",")
ITEMS = ("adult-smooth.toml", "adult/adult.data.gz", False, ",")
COLLINS = ("collins.toml", "uncertain/collins2007.txt.gz", False, "\t")
HALF = ("race", "sex", "workclass", "marital-status")  # columns that half of the runs drop
TABLES = {
    "adaptive, even seats": ({"name": "adaptive", "seats": "even"}, 30_000),
    "adaptive, matchable seats": ({"name": "adaptive", "seats": "matchable"}, 30_000),
    "freeform": ({"name": "freeform"}, 4_000),
    "k-member": ({"name": "k-member"}, 12_000),
    "optimal": ({"name": "optimal"}, 4_000),
}
ROWS = (1_000, 4_000, 12_000, 30_000)
LEVELS = (5, 20)
DESIGNS = (((), 5), ((), 20), (HALF, 10))  # dropped columns and k
SCHOOLS = ("Caltech36", "Reed98", "Haverford76", "Simmons81")


def sampled(data, rows, folder):
    """A file of so many random rows of a file; all rows where it has no more."""
    _, name, header, separator = data
    frame = pl.read_csv(
        data_file(name), has_header=header, separator=separator, infer_schema=False, quote_char=None
    )
    frame = frame.sample(min(rows, frame.height), seed=1)
    path = folder / "sample.csv"
    frame.write_csv(path, include_header=header, separator=separator)
    return path


def one(data, rows, about, answer):
    """Release a sample; tell its sizes, the seconds of its stages, and the peak of this process."""
    import logging

    from flows.plan.document import read_document
    from flows.plan.plan import ReleasePlan
    from flows.release import released
    from tasks.vault.storage import Vault

    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = data_file(data[1]) if rows == 0 else sampled(data, rows, folder)
        changes = [f"source.path={source}", f"publish.path={folder / 'r'}"]
        changes += [f"publish.vault={folder / 'v'}", "compute.memory='100GiB'"]
        document = read_document(ROOT / "examples" / data[0], changes)
        maker, k, dropped = about
        document |= {"anonymizer": maker, "privacy": {**document["privacy"], "k": k}}
        document["columns"] |= {column: {"role": "drop"} for column in dropped}
        order = ReleasePlan.of(document)
        start = time.process_time()
        try:
            released(order)
        except AnonymityError as refusal:
            answer.send({"refused": str(refusal)})
            return
        seconds = time.process_time() - start
        (run,) = Vault(folder / "v").every_run()
        encoded = order.kind.load(run.whole(order.kind.encoded))
        sizes = dict(order.kind.sizes(encoded))
        answer.send({"sizes": sizes, "seconds": seconds, "bytes": memory("VmHWM") * 2**20})


def measured(data, rows, about):
    """The same in a process of its own."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=one, args=(data, rows, about, there))
    child.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:
        found = {"refused": "the process ended"}
    child.join()
    return found


def fitted(runs, what):
    """Constant, c and powers, least in squares of logarithms (soft: a busy moment counts less)."""
    names = list(runs[0]["sizes"])
    logs = np.log([[run["sizes"][name] for name in names] for run in runs])
    target = np.log([run[what] for run in runs])
    varied = logs.std(axis=0) > 0.05
    least = min(run[what] for run in runs)

    def predicted(x):
        power = logs[:, varied] @ x[2:]
        return np.log(np.exp(x[0]) + np.exp(x[1] + power))

    start = np.r_[np.log(least * 0.8), np.log(least * 0.01), np.zeros(varied.sum())]
    low = np.r_[-50.0, -80.0, np.zeros(varied.sum())]
    high = np.r_[np.log(least), 40.0, np.full(varied.sum(), 3.0)]
    found = least_squares(
        lambda x: predicted(x) - target, start, bounds=(low, high), loss="soft_l1", f_scale=0.1
    ).x
    powers = dict(zip(np.array(names)[varied].tolist(), found[2:].round(3).tolist(), strict=True))
    return {"constant": float(np.exp(found[0])), "c": float(found[1]), "powers": powers}


def predicted(model, sizes):
    power = sum(power * np.log(sizes[name]) for name, power in model["powers"].items())
    return model["constant"] + np.exp(model["c"] + power)


def error(model, runs, what):
    """The factor, up or down, within which 9 of 10 runs lie; and that of the median run."""
    factors = sorted(
        float(np.exp(abs(np.log(run[what] / predicted(model, run["sizes"]))))) for run in runs
    )
    return factors[int(0.9 * (len(factors) - 1) + 0.5)], factors[len(factors) // 2]


def plans():
    """By method: runs to fit to, and held-out ones, as (data, rows, (maker, k, dropped))."""
    for label, (maker, most) in TABLES.items():
        grid = itertools.product([rows for rows in ROWS if rows <= most], DESIGNS)
        fit = [(ADULT, rows, (maker, k, dropped)) for rows, (dropped, k) in grid]
        held = [
            (ACS, rows, (maker, k, ()))
            for rows, k in itertools.product((2_000, 8_000, 27_000), (7, 10))
            if rows <= most
        ]
        yield label, fit, held
    maker = {"name": "smooth"}
    fit = [(ITEMS, rows, (maker, k, ())) for rows, k in itertools.product(ROWS, LEVELS)]
    held = [
        (("facebook.toml", f"facebook100/{school}.edges.csv.gz", True, ","), 0, (maker, k, ()))
        for school, k in itertools.product(SCHOOLS, LEVELS)
    ]
    yield "smooth", fit, held
    maker, edges = {"name": "uncertain_graph"}, (1_000, 3_000, 6_000, 9_000)
    fit = [(COLLINS, rows, (maker, k, ())) for rows, k in itertools.product(edges, LEVELS)]
    held = [
        (("collins.toml", f"uncertain/{name}.txt.gz", False, "\t"), 0, (maker, k, ()))
        for name, k in itertools.product(("krogan2006_core", "TAP_core"), LEVELS)
    ]
    yield "uncertain_graph", fit, held


def main(wanted, kept):
    for name in ("flows.release", "validations.run", "matplotlib.pyplot"):
        __import__(name)
    results = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for label, fit, held in plans():
        if wanted and label not in wanted:
            continue
        for part, runs in (("fit", fit), ("held", held)):
            for place, run in enumerate(runs):
                key = f"{label} {part} {place}"
                if key not in results:
                    results[key] = measured(*run)
                    shown = {name: results[key].get(name) for name in ("seconds", "refused")}
                    print(f"# {key}: {results[key].get('sizes')} {shown}", flush=True)
                    if kept:
                        kept.write_text(json.dumps(results))
        of = {
            part: [
                each
                for key, each in results.items()
                if key.startswith(f"{label} {part} ") and "sizes" in each
            ]
            for part in ("fit", "held")
        }
        print(f"{label}: {len(of['fit'])} runs fitted, {len(of['held'])} held out")
        for what in ("seconds", "bytes"):
            model = fitted(of["fit"], what)
            ninety, median = error(model, of["held"], what)
            ours, _ = error(model, of["fit"], what)
            print(
                f"{label}.{what}: {json.dumps(model)} fitted within {ours:.2f}x, held out within "
                f"{ninety:.2f}x, median {median:.2f}x",
                flush=True,
            )


if __name__ == "__main__":
    os.environ["PREFECT_LOGGING_LEVEL"] = "CRITICAL"
    parser = argparse.ArgumentParser(prog="python -m benchmarks.estimates")
    parser.add_argument("methods", nargs="*", help="such as 'adaptive, even seats'; default: all")
    parser.add_argument("--kept", type=Path, help="a file of runs, which are not repeated")
    given = parser.parse_args()
    sys.exit(main(given.methods, given.kept))
