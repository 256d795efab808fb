"""What even seats cost: python -m benchmarks.even [CASE...] [--draws N].

The same table with `seats = "matchable"` and `"even"`: NCP, exact cells, seconds, the greatest
chance of any row in units of 1/k(v), and how often people sit in the row made from their record,
in standard errors from the law, by the spread of the draws. Where people own several records: the
chance of a row to be one of theirs, how often they sit in rows made from their records, and records
whose compatible and matchable crowds lack people after each draw.
"""

import argparse
import dataclasses
import math

import numpy as np

from anon_core.anonymizers import Adaptive
from anon_core.engines import local
from anon_core.measures.table.attackers.attacks import tightest_rows
from anon_core.measures.table.attackers.law import judge_law
from anon_core.measures.table.classes import Classes
from anon_core.measures.table.crowds import crowds
from anon_core.measures.table.utility import utility
from anon_core.seating.chances import list_seats, seat_chances
from anon_core.seating.matching import random_matching
from anon_core.seating.record_classes import RecordClasses
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from anon_core.tables.demands import of_people
from benchmarks import prepare, released_cells, tables, timed
from benchmarks.risk.chances import of_likeliest_row
from benchmarks.risk.insider import adult_sample, payments
from crowdcover.kinds.table.pipeline.ingest import person_numbers
from crowdcover.kinds.table.pipeline.read import read_table
from crowdcover.storage.source.reading import Reading

FARS = ("irace", "ideathmon", "isex", "ihispanic", "istatenum", "iinjury")
PLAY = ("Category", "Installs", "Type", "Content Rating", "Genres", "Android Ver")


def ordinal(*names, bins=None):
    """Numeric columns whose masks are intervals."""
    return [ColumnSpec(name=name, kind="numeric", encoding="ordinal", bins=bins) for name in names]


def numbers(frame, *names):
    """Read the named columns as numbers; others stay texts."""
    return frame.with_columns(
        frame[name].cast(float, strict=False).fill_null(-1).alias(name) for name in names
    )


def acs():
    return acs_of("nist_acs_national2018")


def acs_of_massachusetts():
    return acs_of("nist_acs_ma2018")


def acs_of(excerpt):
    frame = numbers(tables.read(f"census-like/{excerpt}.csv.gz"), tables.AGE)
    columns = (*tables.PERSON, *tables.ORIGIN, *tables.HOME, tables.INCOME)
    return tables.coded(frame, tables.FIVE, columns, ordinal(tables.AGE))


def fars():
    frame = tables.read("arx-benchmark/fars_subset.csv.gz", separator=";")
    return tables.coded(numbers(frame, "iage"), tables.FIVE, FARS, ordinal("iage"))


def play():
    frame = numbers(tables.read("googleplay/googleplaystore.csv.gz"), "Rating")
    return tables.coded(frame.fill_null(""), tables.FIVE, PLAY, ordinal("Rating"))


def adult():
    return prepare("adult-ncp.toml", "adult/adult.data.gz")[1]


def physicians():
    """Payments of physicians, who own up to 916 of them."""
    plan, table = prepare(
        "openpayments.toml", "openpayments/open_payments_gnrl_iowa_2013_2015.csv.gz"
    )
    data = plan.data
    identifiers = read_table(Reading(data.source), data.columns, data.demand).identifiers
    return of_people(table, person_numbers(identifiers[data.person]))


def some_physicians():
    """10,000 random payments of physicians."""
    table = physicians()
    some = table.at(np.sort(np.random.default_rng(7).permutation(table.records)[:10_000]))
    person = np.unique(some.person, return_inverse=True)[1].astype(np.int32)
    return dataclasses.replace(some, person=person)


CASES = {  # name: table, k
    "adult-2000-10": (adult_sample, 10),
    "adult-ncp-10": (adult, 10),
    "payments-5": (payments, 5),
    "physicians-5": (physicians, 5),
    "physicians-10000-5": (some_physicians, 5),
    "acs-6": (acs, 6),
    "acs-12": (acs, 12),
    "fars-10": (fars, 10),
    "play-5": (play, 5),
    "poker-500000-5": (lambda: tables.poker(500_000), 5),
}


def main(names, draws):
    for name in names or CASES:
        make, level = CASES[name]
        table = make()
        k = tables.demanded(Demand(constant=level), table.records)
        measure(name, dataclasses.replace(table, k=k), draws)


def measure(name, table, draws):
    n, order = table.records, np.random.default_rng(1).permutation(table.records)
    print(f"{name}.records: {n}")
    of_rows = dataclasses.replace(table, person=None)  # covers count rows
    matchable, shown = made_by(f"{name}.matchable", Adaptive(seats="matchable"), of_rows, order)
    made, released = made_by(f"{name}.even", Adaptive(seats="even"), table, order)
    generator = np.random.default_rng(3)

    def draw(count):
        return generator.integers(0, 2**32, count, dtype=np.uint32)

    seats = list_seats(matchable, draw(n))
    likeliest = of_likeliest_row(seat_chances(seats)) * table.k
    print(f"{name}.matchable.greatest_chance: {likeliest.max():.3f} / k")
    print(f"{name}.matchable.above: {(likeliest > 1 + 1e-9).mean():.4f}")
    classes = Classes.of(table.codes, released)
    merged = released, classes, tightest_rows(released, classes)
    person = None if table.person is None else table.person.astype(np.int64)
    if person is not None:
        seat = random_matching(matchable, draw)
        found = crowds(table.codes, table.k, shown, seat, person=person)
        print(f"{name}.matchable.short_of_people: {found.below_k}, {found.matchable_below_k}")
    stated = judge_law(table.codes, table.k, *merged, made.holders, np.arange(n), person)
    print(f"{name}.even.greatest_chance: {(stated.of_person[stated.kind] * table.k).max():.5f} / k")
    print(f"{name}.even.above: {stated.above}")
    print(f"{name}.even.broken: {stated.unfit + stated.uneven}")
    hits, home = [], []
    for _ in range(draws):
        seat = random_matching(made, draw)
        hits.append((seat == np.arange(n)).sum())
        if person is not None:
            home.append((person[seat] == person).mean())
            found = crowds(table.codes, table.k, released, seat, classes, person=person)
            print(f"{name}.even.short_of_people: {found.below_k + found.matchable_below_k}")
    # Seats of one draw depend on each other: only draws are independent.
    own = own_chance(table, made.holders)
    error = (np.mean(hits) - own.sum()) / (np.std(hits, ddof=1) / math.sqrt(draws))
    print(f"{name}.even.own_row: {np.mean(hits) / n:.5f}, by the law {own.mean():.5f}")
    print(f"{name}.even.standard_errors: {error:.2f}", flush=True)
    if person is not None:
        theirs = (person[made.holders] == person[:, None]).mean()
        print(f"{name}.even.row_of_own_person: {np.mean(home):.5f}, by the law {theirs:.5f}")


def made_by(prefix, maker, table, order):
    """Print what the rows of a method keep, and its seconds; return the rows and their cells."""
    made, wall, _ = timed(lambda: local.run(maker, table, tie_order=order))
    released = released_cells(made)
    kept = utility(table.codebook.ordinal, released)
    print(f"{prefix}.ncp: {kept.gcp:.5f}")
    print(f"{prefix}.exact: {kept.cells_exact:.4f}")
    print(f"{prefix}.seconds: {wall:.1f}", flush=True)
    return made, released


def own_chance(table, holders):
    """The chance of each record to sit in the row that was made from it, float64 (n,)."""
    classes = RecordClasses.of_table(table)
    shares = (classes.of[holders] == classes.of[:, None]).sum(axis=1)
    return shares / (holders.shape[1] * classes.size[classes.of])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--draws", type=int, default=20)
    arguments = parser.parse_args()
    main(arguments.cases, arguments.draws)
