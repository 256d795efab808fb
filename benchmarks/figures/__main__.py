"""Figures of Liang and Samavi (2020): python -m benchmarks.figures FIGURE [--tables N] [...].

FIGURE is one of fig2 .. fig10, growth, carry and by-k (Split & Carry) or poker (greedy search).
Loss is the paper's GCP: a sum over all cells. Their census rows are not public: people of the
census-like set stand in, beyond its 43,130 rows drawn with replacement. The exact optimum comes
from set partition here, from a MILP there. `--most N` leaves out tables of more rows, `--split N`
Split & Carry beyond so many.
"""

import argparse

import numpy as np

from anon_core.anonymizers.optimal import ordered
from benchmarks import exponent, tables
from benchmarks.figures.methods import CARRY, FREEFORM, METHODS, compare, measured
from benchmarks.figures.sources import CATEGORIES, EIGHT, FOUR, LOSS, census, fars

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
            found = compare(f"n{n}.k{k}", table, k, (*GREEDY, *FREEFORM))
            for other in found:
                ratio = found["greedy"][0] / found[other][0]
                if given.figure == "fig4" and other != "greedy":
                    print(f"n{n}.k{k}.greedy_over_{other}: {ratio:.3f}", flush=True)


def fig5(_):
    """5,000 people, 4 columns as numbers."""
    for k in (3, 4):
        methods = (*GREEDY, *(("split3", "split4", "split5") if k == 3 else ("split3",)))
        compare(f"n5000.k{k}", census(5000, FOUR), k, (*methods, *FREEFORM))


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
    methods = (*GREEDY, "split3", "split4", "split5", *FREEFORM)
    compare("fars1000.k3", fars(1000), 3, methods)


def fig10(_):
    """40,000 accidents, k = 3."""
    compare("fars40000.k3", fars(40_000), 3, (*GREEDY, "split3"))


def growth(given):
    """Split & Carry by the number of people: 4 columns as numbers, k = 3, S = 3."""
    sizes = [n for n in (1000, 2000, 5000, 10_000, 30_000, 100_000) if n <= given.most]
    seconds = [compare(f"n{n}.k3", census(n, FOUR), 3, ("split3",))["split3"][1] for n in sizes]
    print(f"split3_exponent: {exponent(sizes, seconds):.2f}")


def carry(_):
    """Ways to carry: 1,000 people, 4 columns as numbers, k = 3."""
    compare("n1000.k3", census(1000, FOUR), 3, CARRY)


def by_k(_):
    """Split & Carry beside greedy search by k: 1,000 people, 4 columns as numbers."""
    for k in (2, 3, 4, 5, 6, 7):
        compare(f"n1000.k{k}", census(1000, FOUR), k, ("greedy", "split3"))


def poker(given):
    """Greedy search of poker hands, 11 columns, nearly all rows differ: k = 5 and 10."""
    for n in (20_000, 100_000):
        if n <= given.most:
            hands = tables.poker(n)
            hands = hands.at(ordered.by_variance(hands, LOSS))
            for k in (5, 10):
                compare(f"poker{n}.k{k}", hands, k, ("greedy",))


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
    "carry": carry,
    "by-k": by_k,
    "poker": poker,
}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures")
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--split", type=int, default=20_000)
    given = parser.parse_args()
    for method in (*METHODS, *FREEFORM):  # compiles
        measured(census(30, FOUR), 3, method)
    FIGURES[given.figure](given)


if __name__ == "__main__":
    main()
