"""Figures of Liang and Samavi (2020): python -m benchmarks.figures FIGURE [--tables N] [...].

FIGURE is one of fig2 .. fig10, or growth (of Split & Carry's time). Loss is the paper's GCP: a sum
over all cells. Their census rows are not public: people of the census-like set stand in, beyond its
43,130 rows drawn with replacement. The exact optimum comes from set partition here, from a MILP
there. `--most N` leaves out tables of more rows, `--split N` Split & Carry beyond so many.
"""

import argparse
import dataclasses

import numpy as np
import polars as pl

from anon_core.anonymizers.k_member import grouped
from anon_core.anonymizers.optimal import ordered
from anon_core.anonymizers.optimal.carry import Split, split_and_carry
from anon_core.anonymizers.optimal.columns import group_losses
from anon_core.anonymizers.optimal.partition import PROOF, least_loss
from anon_core.anonymizers.weights import feature_weights
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.loss import WHOLE, loss_table
from benchmarks import exponent, tables, timed
from benchmarks.versus_mondrian import mondrian

LOSS = "range"
FOUR = ("SEX", "AGEP", "MSP", "EDU")
EIGHT = (*FOUR, "RAC1P", "PUMA", "INDP_CAT", "INDP")
CATEGORIES = ("SEX", "MSP", "RAC1P", "PUMA", "INDP_CAT", "INDP")
PERSON = (*EIGHT, "HISP", "NOC", "NPF", "HOUSING_TYPE", "OWN_RENT", "PINCP_DECILE", "POVPIP")
PERSON += ("DENSITY", "PINCP", "DVET", "DREM", "DPHY", "DEYE", "DEAR")
FARS = ("ideathmon", "iage", "isex", "iinjury")
PLACES = ("national", "ma", "tx")


# ---------------------------------------------------------------- tables


def census(n, columns, categories=(), seed=1):
    """People; those beyond the source are drawn with replacement.

    Of more than 22 columns, the others are of another person of the same district.
    """
    parts = [tables.read(f"census-like/nist_acs_{place}2018.csv.gz") for place in PLACES]
    frame = pl.concat(parts)
    draws = np.random.default_rng(seed)
    rows = drawn(frame.height, n, draws)
    own = min(columns, len(PERSON)) if isinstance(columns, int) else len(columns)
    names = PERSON[:own] if isinstance(columns, int) else columns
    sources = [(name, rows) for name in names]
    if isinstance(columns, int):
        near = tables.companions(tables.numbered(frame, ("PUMA",)), rows, draws)
        sources += [(name, near) for name in PERSON[1 : columns - own + 1]]
    values = [numbers(frame[name])[at] for name, at in sources]
    kinds = ["categorical" if name in categories else "numeric" for name, _ in sources]
    return coded(values, kinds)


def fars(n, seed=1):
    """Accidents: month, age, sex and injury as numbers."""
    frame = tables.read("arx-benchmark/fars_subset.csv.gz", separator=";")
    rows = drawn(frame.height, n, np.random.default_rng(seed))
    return coded([numbers(frame[name])[rows] for name in FARS], ["numeric"] * len(FARS))


def drawn(whole, n, draws):
    return draws.permutation(whole)[:n] if n <= whole else draws.integers(0, whole, n)


def numbers(column):
    """The numbers of a column, or of its texts in order; a text among numbers counts as 0."""
    values = column.cast(pl.Float64, strict=False)
    if values.null_count() < len(values) / 2 or column.name == "INDP":
        return values.fill_null(0).to_numpy()
    return column.rank("dense").cast(pl.Float64).to_numpy()


def coded(values, kinds):
    names = [f"c{place}" for place in range(len(values))]
    specs = [
        ColumnSpec(name=name, kind="numeric", encoding="ordinal", bins=None)
        if kind == "numeric"
        else ColumnSpec(name=name, kind="categorical")
        for name, kind in zip(names, kinds, strict=True)
    ]
    columns = {
        name: column if kind == "numeric" else column.astype(int).astype(str).astype(object)
        for name, column, kind in zip(names, values, kinds, strict=True)
    }
    k = np.ones(len(values[0]), dtype=np.int32)
    table = encoding.encode(encoding.fit(specs, columns, 1, None), columns, k)
    return table.at(ordered.by_variance(table, LOSS))


# ---------------------------------------------------------------- methods


def exact(table, loss):
    return least_loss(table, loss, ordered.first_known(table, loss), PROOF)[0]


def k_member(table, _):
    weight = feature_weights(table.codebook, "columns", LOSS)[0]
    number = grouped(table, weight, int(table.k[0]))
    ends = np.cumsum(np.bincount(number))[:-1]
    return [part.tolist() for part in np.split(np.argsort(number, kind="stable"), ends)]


METHODS = {
    "initial": lambda table, _: ordered.consecutive(table),
    "greedy": lambda table, loss: ordered.greedy(table, loss, sequential=True),
    "split3": lambda table, loss: split_and_carry(table, loss, Split(sets=3)),
    "split4": lambda table, loss: split_and_carry(table, loss, Split(sets=4)),
    "split5": lambda table, loss: split_and_carry(table, loss, Split(sets=5)),
    "exact": exact,
    "k-member": k_member,
    "mondrian": lambda table, _: [part.tolist() for part in mondrian(table.codes, table.k[0])],
}


def measured(table, k, method):
    """What the classes of a method lose in whole cells, and its seconds."""
    table = dataclasses.replace(table, k=np.full(table.records, k, dtype=np.int32))
    loss = loss_table(table.codebook, LOSS)
    groups, seconds, _ = timed(lambda: METHODS[method](table, loss))
    assert min(map(len, groups)) >= k
    return group_losses(table, loss, groups).sum() / WHOLE, seconds


def compare(prefix, table, k, methods):
    """Print GCP and seconds of each method; return them."""
    found = {}
    for method in methods:
        found[method] = measured(table, k, method)
        print(f"{prefix}.{method}_gcp: {found[method][0]:.2f}")
        print(f"{prefix}.{method}_seconds: {found[method][1]:.2f}", flush=True)
    return found


# ---------------------------------------------------------------- figures

GREEDY = ("initial", "greedy", "k-member", "mondrian")


def fig2(given):
    """Ratios to the optimum, mean of random tables: over rows (4 columns), over columns (20)."""
    shapes = [(n, 4) for n in (20, 30, 40, 50)] + [(20, m) for m in (3, 4, 5, 6, 7, 8)]
    for n, m in shapes:
        ratios = {method: [] for method in ("initial", "greedy", "split3")}
        for seed in range(given.tables):
            table = census(n, EIGHT[:m], seed=seed)
            least, longest = measured(table, 3, "exact")
            for method, seen in ratios.items():
                lost, seconds = measured(table, 3, method)
                seen.append((lost / least, seconds / longest))
        for method, seen in ratios.items():
            prefix = f"n{n}.m{m}.{method}"
            print(f"{prefix}_gcp_ratio: {np.mean(seen, axis=0)[0]:.4f}")
            print(f"{prefix}_seconds_ratio: {np.mean(seen, axis=0)[1]:.4f}", flush=True)


def fig3(given):
    """1,000 and 2,000 people, 8 columns, categories as sets, by k."""
    for n in (1000, 2000):
        table = census(n, EIGHT, CATEGORIES)
        for k in (5, 10, 15, 20, 30, 50):
            found = compare(f"n{n}.k{k}", table, k, GREEDY)
            for other in GREEDY:
                ratio = found["greedy"][0] / found[other][0]
                if given.figure == "fig4" and other != "greedy":
                    print(f"n{n}.k{k}.greedy_over_{other}: {ratio:.3f}", flush=True)


def fig5(_):
    """5,000 people, 4 columns as numbers."""
    for k in (3, 4):
        methods = (*GREEDY, *(("split3", "split4", "split5") if k == 3 else ("split3",)))
        compare(f"n5000.k{k}", census(5000, FOUR), k, methods)


def fig6(given):
    """20,000 to 100,000 people, 4 columns as numbers, k = 3 and 5."""
    for n in (20_000, 40_000, 60_000, 80_000, 100_000):
        if n <= given.most:
            table = census(n, FOUR)
            for k in (3, 5):
                split = ("split3",) if n <= given.split else ()
                compare(f"n{n}.k{k}", table, k, (*GREEDY, *split))


def fig7(_):
    """20,000 people, 8 columns as numbers, by k."""
    table = census(20_000, EIGHT)
    for k in (5, 10, 25, 50, 100, 200):
        compare(f"n20000.k{k}", table, k, GREEDY)


def fig8(_):
    """20,000 people, 15, 25 and 35 columns as numbers."""
    for m in (15, 25, 35):
        table = census(20_000, m)
        for k in (10, 100):
            compare(f"n20000.m{m}.k{k}", table, k, GREEDY)


def fig9(_):
    """1,000 accidents, k = 3."""
    compare("fars1000.k3", fars(1000), 3, (*GREEDY, "split3", "split4", "split5"))


def fig10(_):
    """40,000 accidents, k = 3."""
    compare("fars40000.k3", fars(40_000), 3, (*GREEDY, "split3"))


def growth(_):
    """Split & Carry by the number of people: 4 columns as numbers, k = 3, S = 3."""
    sizes = (1000, 2000, 5000, 10_000)
    seconds = [compare(f"n{n}.k3", census(n, FOUR), 3, ("split3",))["split3"][1] for n in sizes]
    print(f"split3_exponent: {exponent(sizes, seconds):.2f}")


FIGURES = {
    "fig2": fig2,
    "fig3": fig3,
    "fig4": fig3,
    "fig5": fig5,
    "fig6": fig6,
    "fig7": fig7,
    "fig8": fig8,
    "fig9": fig9,
    "fig10": fig10,
    "growth": growth,
}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures")
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--split", type=int, default=20_000)
    given = parser.parse_args()
    for method in METHODS:  # compiles
        measured(census(30, FOUR), 3, method)
    FIGURES[given.figure](given)


if __name__ == "__main__":
    main()
