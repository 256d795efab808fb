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

The default method is also fitted to those of other data and of other plans: `examples/adult.toml`,
poker hands, payments. Its error is that of each of these plans where it alone is held out.

`python -m benchmarks.estimates start` measures what the command needs besides the stages: it
releases a small table by the command and without it.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from scipy.optimize import least_squares

from anon_core.errors import AnonymityError
from benchmarks import ROOT, data_file, memory

ADULT = ("examples/adult-ncp.toml", "adult/adult.data.gz", False, ",")
ACS = ("examples/acs.toml", "census-like/nist_acs_national2018.csv.gz", True, ",")
ITEMS = ("examples/adult-smooth.toml", "adult/adult.data.gz", False, ",")
COLLINS = ("examples/collins.toml", "uncertain/collins2007.txt.gz", False, "\t")
HALF = ("race", "sex", "workclass", "marital-status")  # columns that half of the runs drop
TABLES = {
    "adaptive, even seats": ({"name": "adaptive", "seats": "even"}, 30_000),
    "adaptive, matchable seats": ({"name": "adaptive", "seats": "matchable"}, 30_000),
    "freeform": ({"name": "freeform"}, 4_000),
    "k-member": ({"name": "k-member"}, 12_000),
    "local-search, even seats": ({"name": "local-search", "seats": "even"}, 30_000),
    "optimal": ({"name": "optimal"}, 4_000),
}
ROWS = (1_000, 4_000, 12_000, 30_000)
LEVELS = (5, 20)
MOST = {"records": 2.5, "edges": 2.0, "k": 1.5}  # powers; other sizes cost linearly at most
DESIGNS = (((), 5), ((), 20), (HALF, 10))  # dropped columns and k
GREAT = {"adaptive": 60, "local-search": 60}  # k of further runs of a method
PAID = "openpayments/open_payments_gnrl_iowa_2013_2015.csv.gz"
PAYMENTS = ("examples/openpayments.toml", PAID, True, ",")
OTHERS = (  # with the settings of their plans; k where seats are even
    (("examples/adult.toml", "adult/adult.data.gz", False, ","), 10),
    (("benchmarks/poker.toml", "poker/poker-hand-training-true.data.gz", False, ","), 5),
    (PAYMENTS, 5),
)
SCHOOLS = ("Caltech36", "Reed98", "Haverford76", "Simmons81")


def sampled(data, rows, folder):
    """A file of so many random rows of a file; all rows where it has no more."""
    _, name, header, separator = data
    form = {"has_header": header, "separator": separator, "infer_schema": False}
    frame = pl.read_csv(data_file(name), quote_char='"' if separator == "," else None, **form)
    frame = frame.sample(min(rows, frame.height), seed=1)
    path = folder / "sample.csv"
    frame.write_csv(path, include_header=header, separator=separator)
    return path


def one(data, rows, about, answer):
    """Release a sample; tell its sizes, the seconds of its stages, and the peak of this process.

    `about` is the method, k and the columns to drop. None leaves to the plan what it states: k, or
    the settings of the method.
    """
    import logging

    from crowdcover.flows.course import release_plan
    from crowdcover.flows.plan.document import read_document
    from crowdcover.flows.plan.plan import ReleasePlan
    from crowdcover.storage.vault.vault import Vault

    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = data_file(data[1]) if rows == 0 else sampled(data, rows, folder)
        changes = [f"source.path={source}", f"publish.path={folder / 'r'}"]
        changes += [f"publish.vault={folder / 'v'}", "compute.memory='100GiB'"]
        document = read_document(ROOT / data[0], changes)
        maker, k, dropped = about
        own = document.get("anonymizer", {}) if dropped is None else {}
        demand = {} if k is None else {"k": k}
        document |= {"anonymizer": own | maker, "privacy": document["privacy"] | demand}
        document["columns"] |= {column: {"role": "drop"} for column in dropped or ()}
        order = ReleasePlan.of(document)
        start = time.process_time()
        try:
            release_plan(order)
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


def started(rows=100, k=5):
    """Seconds and bytes of the command beyond those of its stages, of a small release."""
    stages = measured(ADULT, rows, ({"name": "adaptive"}, k, ()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        changes = [f"source.path={sampled(ADULT, rows, folder)}", f"publish.path={folder / 'r'}"]
        changes += [f"publish.vault={folder / 'v'}", f"privacy.k={k}", "anonymizer.name=adaptive"]
        given = [part for change in changes for part in ("--set", change)]
        command = [
            sys.executable,
            "-m",
            "crowdcover.flows.cli",
            "release",
            ROOT / ADULT[0],
            "--quiet",
            *given,
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, code, used = os.wait4(process.pid, 0)  # with the server, which it waited for
    assert code == 0, "the release was refused"
    seconds = used.ru_utime + used.ru_stime - stages["seconds"]
    print(f"start: {seconds:.1f} s, {(used.ru_maxrss * 2**10 - stages['bytes']) / 2**20:.0f} MiB")


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
    most = [MOST.get(name, 1.0) for name in np.array(names)[varied]]
    high = np.r_[np.log(least), 40.0, most]
    found = least_squares(
        lambda x: predicted(x) - target, start, bounds=(low, high), loss="soft_l1", f_scale=0.1
    ).x
    powers = dict(zip(np.array(names)[varied].tolist(), found[2:].round(3).tolist(), strict=True))
    kept = {name: power for name, power in powers.items() if power}
    return {"constant": float(np.exp(found[0])), "c": float(found[1]), "powers": kept}


def predicted(model, sizes):
    power = sum(power * np.log(sizes[name]) for name, power in model["powers"].items())
    return model["constant"] + np.exp(model["c"] + power)


def off(model, runs, what):
    """By which factor, up or down, each run is off."""
    return [float(np.exp(abs(np.log(run[what] / predicted(model, run["sizes"]))))) for run in runs]


def modelled(fit, held, what, *, all_of_them):
    """The model, and by which factors the held-out runs are off; `held` are runs by their plan.

    With `all_of_them` the model is fitted to those, too. Each plan is left out in turn for the
    factors.
    """
    if not all_of_them:
        model = fitted(fit, what)
        return model, off(model, list(itertools.chain(*held.values())), what)
    factors = []
    for plan, runs in held.items():
        others = itertools.chain(*(each for name, each in held.items() if name != plan))
        factors += off(fitted([*fit, *others], what), runs, what)
    return fitted([*fit, *itertools.chain(*held.values())], what), factors


def plans():
    """By method: runs to fit to, and held-out ones, as (data, rows, (maker, k, dropped))."""
    for label, (maker, most) in TABLES.items():
        great = [GREAT[maker["name"]]] if maker["name"] in GREAT else []
        designs = (*DESIGNS, *(((), k) for k in great))
        grid = itertools.product([rows for rows in ROWS if rows <= most], designs)
        fit = [(ADULT, rows, (maker, k, dropped)) for rows, (dropped, k) in grid]
        held = [
            (ACS, rows, (maker, k, ()))
            for rows, k in itertools.product(
                (2_000, 8_000, 27_000), (7, 10, *(k - 20 for k in great))
            )
            if rows <= most
        ]
        even = maker.get("seats") == "even"
        held += [
            (data, rows, (maker, k if even else None, None))
            for (data, k), rows in itertools.product(OTHERS if great else (), (8_000, 30_000))
        ]
        yield label, fit, held
    maker = {"name": "smooth"}
    fit = [(ITEMS, rows, (maker, k, ())) for rows, k in itertools.product(ROWS, LEVELS)]
    held = [
        (
            ("examples/facebook.toml", f"facebook100/{school}.edges.csv.gz", True, ","),
            0,
            (maker, k, ()),
        )
        for school, k in itertools.product(SCHOOLS, LEVELS)
    ]
    yield "smooth", fit, held
    maker, edges = {"name": "uncertain_graph"}, (1_000, 3_000, 6_000, 9_000)
    fit = [(COLLINS, rows, (maker, k, ())) for rows, k in itertools.product(edges, LEVELS)]
    held = [
        (("examples/collins.toml", f"uncertain/{name}.txt.gz", False, "\t"), 0, (maker, k, ()))
        for name, k in itertools.product(("krogan2006_core", "TAP_core"), LEVELS)
    ]
    yield "uncertain_graph", fit, held


def main(wanted, kept):
    for name in ("crowdcover.flows.course", "crowdcover.validations.run", "matplotlib.pyplot"):
        __import__(name)
    if wanted == ["start"]:
        started()
        return
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
        fits, others = (
            [results[f"{label} {part} {place}"] for place in range(len(runs))]
            for part, runs in (("fit", fit), ("held", held))
        )
        show(label, fits, dict(by_plan(held, others)))


def by_plan(held, found):
    """The held-out runs by their plan; refused ones are left out."""
    for plan in dict.fromkeys(data[0] for data, *_ in held):
        runs = zip(held, found, strict=True)
        yield plan, [each for (data, *_), each in runs if data[0] == plan and "sizes" in each]


def show(label, fits, held):
    """Print the models of a method as flows/estimates.py writes them."""
    fits = [each for each in fits if "sizes" in each]
    every = [*fits, *itertools.chain(*held.values())]
    greatest = ", ".join(
        f"{max(run['sizes'][size] for run in every):.0f}" for size in ("records", "k")
    )
    print(f"{label}: {len(fits)} runs of the data fitted to, {len(every) - len(fits)} others")
    for what in ("seconds", "bytes"):
        model, factors = modelled(fits, held, what, all_of_them=label.partition(",")[0] in GREAT)
        factors.sort()
        ninety = factors[int(0.9 * (len(factors) - 1) + 0.5)]
        median, worst = factors[len(factors) // 2], factors[-1]
        print(
            f"{label}.{what}: others within {median:.2f}x (half), {ninety:.2f}x (9 of 10), "
            f"{worst:.2f}x (all)"
        )
        rounded = f"{model['constant']:.4g}, {model['c']:.4f}, {json.dumps(model['powers'])}"
        print(f"    Model({rounded}, {ninety:.2f}, {greatest}),", flush=True)


if __name__ == "__main__":
    os.environ["PREFECT_LOGGING_LEVEL"] = "CRITICAL"
    parser = argparse.ArgumentParser(prog="python -m benchmarks.estimates")
    parser.add_argument("methods", nargs="*", help="such as 'freeform', or 'start'; default: all")
    parser.add_argument("--kept", type=Path, help="a file of runs, which are not repeated")
    given = parser.parse_args()
    sys.exit(main(given.methods, given.kept))
