"""How likely an insider names the right row: python -m benchmarks.insider [CASE...] [--draws N].

An insider knows everybody's quasi-identifiers, the plan and the code; at worst also which row was
made from which record, and the chance of every seat. `own`, `true` and `likeliest` compare a chance
with 1/k(v), record by record: that of the row made from the own record, of the row that the record
sits in (on average), and of the likeliest row.
"""

import argparse
import dataclasses
import math
import tempfile
from pathlib import Path

import numpy as np

from anon_core.anonymizers import Adaptive
from anon_core.engines import local
from anon_core.seating.chances import UNLIMITED, list_seats, seat_chances
from anon_core.seating.filling_kernels import raise_flow, turn_around
from anon_core.seating.levelling_kernels import SHARE, set_limits
from anon_core.seating.matching import draw_by_chances
from anon_core.specs.demands import Demand
from anon_core.tables.orders import distinct_columns
from benchmarks import prepare, tables, timed
from benchmarks.risk.chances import of_likeliest_row, of_own_row, of_true_row
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.table.pipeline.encode import encode_records
from crowdcover.kinds.table.pipeline.read import read_table
from crowdcover.kinds.table.starter.demo import demo_plan
from crowdcover.storage.source.reading import Reading

TEN = Demand(constant=10)
SAMPLE = 2000
FAILS = 1e-9  # how rarely a right draw passes `gap_allowed`
ABOVE = (1, 1.5, 3)


def fair():
    with tempfile.TemporaryDirectory() as folder:
        plan = ReleasePlan.load(demo_plan(Path(folder)))
    read = read_table(Reading(plan.data.source), plan.data.columns, plan.data.demand, ())
    return encode_records(read.table, read.k_values, plan.data.columns, plan.data.demand)[0]


def adult_sample():
    whole = tables.adult()
    rows = np.sort(np.random.default_rng(1).choice(whole.records, SAMPLE, replace=False))
    sample = whole.at(rows)
    return dataclasses.replace(sample, k=np.minimum(sample.k, np.int32(SAMPLE)))


def payments():
    return prepare("openpayments.toml", "openpayments/open_payments_gnrl_iowa_2013_2015.csv.gz")[1]


CASES = {  # name: table, its demand (None: as it is), draws
    "fair-10": (fair, TEN, 300),
    "fair-5..100": (fair, tables.WIDE, 100),
    "adult-2000-10": (adult_sample, TEN, 2000),
    "adult-2000-5..100": (adult_sample, tables.WIDE, 2000),
    "adult-10": (tables.adult, TEN, 20),
    "adult-5..100": (tables.adult, tables.WIDE, 20),
    "payments-5": (payments, None, 20),
}


def main(names, draws):
    for name in names or CASES:
        make, demand, usual = CASES[name]
        table = make()
        if demand is not None:
            table = dataclasses.replace(table, k=tables.demanded(demand, table.records))
        measure(name, table, draws or usual)


def measure(name, table, draws):
    k, n = table.k, table.records
    maker, orders = (
        Adaptive(schedule="falling"),
        (np.random.default_rng(seed).permutation(n) for seed in (1, 2)),
    )
    masked, again = (local.run(maker, table, tie_order=order) for order in orders)
    generator = np.random.default_rng(3)

    def draw(count):
        return generator.integers(0, 2**32, count, dtype=np.uint32)

    print(f"{name}.records: {n}")
    print(f"{name}.mean_of_1_over_k: {(1 / k).mean():.4f}")
    mine, theirs = alike(masked, again)
    size = np.bincount(mine)[mine]
    show(f"{name}.order_known_no_matching", 1 / size, k)
    show(f"{name}.order_secret_no_matching", np.where(mine == theirs, 1 / size, 0), k)

    draw_by_chances(seat_chances(list_seats(masked, draw(n))), draw)  # compiles
    seats, _, listing = timed(lambda: list_seats(masked, draw(n)))
    chances, _, levelling = timed(lambda: seat_chances(seats))
    _, _, drawing = timed(lambda: draw_by_chances(chances, draw))
    print(f"{name}.pairs_of_classes: {len(seats.rows)}")
    print(f"{name}.processor_seconds: {listing + levelling + drawing:.2f}")
    show(f"{name}.own", of_own_row(chances), k)
    show(f"{name}.true", of_true_row(chances), k)
    show(f"{name}.likeliest", of_likeliest_row(chances), k)
    for limits in (
        (SHARE, UNLIMITED),
        (3 * SHARE, UNLIMITED),
        (SHARE, SHARE),
        (3 * SHARE, 3 * SHARE),
    ):
        own, other = (
            f"{limit / SHARE:g}_over_k" if limit < UNLIMITED else "any" for limit in limits
        )
        print(f"{name}.cannot_sit.own_{own}.others_{other}: {unseated(seats, limits):.4f}")

    seen = np.zeros(n)
    for _ in range(draws):
        seen += draw_by_chances(chances, draw) == np.arange(n)
    print(f"{name}.draws: {draws}")
    print(f"{name}.in_own_row: {(seen / draws).mean():.4f}")
    print(f"{name}.largest_gap: {abs(seen / draws - of_own_row(chances)).max():.4f}")
    print(f"{name}.gap_allowed: {math.sqrt(math.log(2 * n / FAILS) / (2 * draws)):.4f}", flush=True)


def alike(masked, again):
    """Return the class of the row made from each record, under either order of ties."""
    rows = [np.concatenate([m.table.bits & ~m.hidden, m.hidden], axis=1).T for m in (masked, again)]
    kind = distinct_columns(np.concatenate(rows, axis=1))[0]
    return kind[: masked.table.records], kind[masked.table.records :]


def unseated(seats, limits):
    """Return the least share of chances that no doubly stochastic matrix within limits can hold."""
    limit, held = (
        np.empty(len(seats.rows), dtype=np.int64),
        np.zeros(len(seats.rows), dtype=np.int64),
    )
    left, right = SHARE * seats.size, SHARE * seats.row_size
    set_limits(
        seats.indptr,
        seats.rows,
        seats.owns,
        seats.size,
        seats.row_size,
        seats.k,
        np.array(limits),
        limit,
    )
    start = np.concatenate([[0], np.cumsum(np.bincount(seats.rows, minlength=len(right)))])
    slot, owner = np.empty_like(seats.rows), np.empty_like(seats.rows)
    turn_around(seats.indptr, seats.rows, start, slot, owner)
    raise_flow(seats.indptr, seats.rows, limit, held, left, right, start, slot, owner)
    return left.sum() / (SHARE * len(seats.record_class))


def show(name, success, k):
    print(f"{name}.mean: {success.mean():.4f}")
    for factor in ABOVE:
        print(f"{name}.above_{factor}: {(success * k > factor * (1 + 1e-9)).mean():.4f}")
    print(f"{name}.worst_times_k: {(success * k).max():.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument(
        "--draws",
        type=int,
        help="how many matchings are drawn to compare frequencies with the chances",
    )
    arguments = parser.parse_args()
    main(arguments.cases, arguments.draws)
