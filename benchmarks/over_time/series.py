"""How much of a series is published anew: python -m benchmarks.series [--months N] [METHOD:K...].

Adult, 30,162 records under examples/adult-ncp.toml, k = 10. METHOD:K hides each batch in crowds of
K rows; a K above 10 leaves room for those who go. A random 3 % go: `bound` is the share that must
go whatever the rule, as a solver proves it in two minutes at most; `pulled` is the share that goes,
in `seconds`. With --months: 3 % join, 1 % leave
and 2 % change each month; `anew` is the share of rows that a month publishes anew, `ncp` the loss
of the first and of the last version, `fresh` that of one release of the last table.
"""

import argparse
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import connected_components

from anon_core.anonymizers import Adaptive, Freeform, KMember
from anon_core.engines import local
from anon_core.measures.table.fitting import find_fitting_rows
from anon_core.seating.matching import random_matching
from anon_core.series.fits import Fits
from anon_core.series.withdrawing import widen_withdrawal
from benchmarks import prepare, released_cells, timed

K = 10
METHODS = {
    "adaptive": Adaptive(epsilon=20.0, weights="columns"),
    "k_member": KMember(),
    "freeform": Freeform(),
}
CASES = ("k_member:10", "k_member:20", "adaptive:10", "adaptive:16", "adaptive:20", "freeform:10")
JOIN, LEAVE, CHANGE = 0.03, 0.01, 0.02


@dataclass(frozen=True)
class Batch:
    """Records that were published together, their fits and the loss of each one's row."""

    people: np.ndarray
    fits: Fits
    loss: np.ndarray

    def part(self, members):
        return Batch(self.people[members], self.fits.among(members), self.loss[members])


def batch(table, people, method, demand, seed):
    """Hide people among each other and seat them."""
    part = table.at(people)
    part = replace(part, k=np.full(len(people), min(demand, len(people)), dtype=np.int32))
    generator = np.random.default_rng(seed)
    made = local.run(METHODS[method], part, tie_order=generator.permutation(len(people)))
    seat = random_matching(made, lambda n: generator.integers(0, 2**32, n, dtype=np.uint32))
    released = released_cells(made)
    widths = np.array([attribute.levels - 1 for attribute in part.codebook.attributes])
    loss = ((released.sizes() - 1) / widths[:, None]).mean(axis=0)[seat]
    own = replace(released, cell=released.cell[:, seat])  # row i is that of record i
    return Batch(people, Fits(*find_fitting_rows(part.codes, own)), loss)


def bound(fits, going, seconds=120):
    """Share that must go whatever the rule: a lower bound by integer programming.

    Of the owners of a record's matchable rows, K go if it goes, and K stay if it stays. That these
    rows must still be matchable in their part is left out.
    """
    n = fits.n
    graph = csr_array((np.ones(len(fits.row)), fits.row, fits.start), shape=(n, n))
    _, part = connected_components(graph, directed=True, connection="strong")
    graph.data[part[fits.record] != part[fits.row]] = 0
    own = K * eye_array(n, format="csr")
    found = milp(
        np.ones(n),
        constraints=[
            LinearConstraint(graph - own, lb=0),
            LinearConstraint(own - graph, lb=K - graph.sum(axis=1)),
        ],
        integrality=np.ones(n),
        bounds=Bounds(going.astype(float), 1),
        options={"time_limit": seconds},
    )
    return found.mip_dual_bound / n


def demands(cell):
    return np.full(len(cell.people), K, dtype=np.int32)


def once(table, method, demand):
    """Print what one random month of one release takes."""
    whole = batch(table, np.arange(table.records), method, demand, 0)
    going = np.random.default_rng(1).random(table.records) < LEAVE + CHANGE
    goes, seconds, _ = timed(lambda: widen_withdrawal(whole.fits, demands(whole), going))
    name = f"{method}:{demand}"
    print(f"{name} going: {going.mean():.3f}")
    print(f"{name} bound: {bound(whole.fits, going):.3f}")
    print(f"{name} pulled: {goes.mean():.3f}")
    print(f"{name} seconds: {seconds:.2f}")


def months(table, method, demand, number):
    """Print the share that each month publishes anew, and the loss."""
    generator = np.random.default_rng(2)
    order = generator.permutation(table.records)
    first = int(table.records / (1 + JOIN - LEAVE) ** number)
    cells = [batch(table, np.sort(order[:first]), method, demand, 0)]
    outside, anew, losses = list(order[first:]), [], []
    for month in range(1, number + 1):
        losses.append(np.concatenate([cell.loss for cell in cells]).mean())
        joining = int(JOIN * sum(len(cell.people) for cell in cells))
        again, staying = [np.array(outside[:joining], dtype=np.int64)], []
        outside = outside[joining:]
        for cell in cells:
            fate = generator.random(len(cell.people))
            goes = widen_withdrawal(cell.fits, demands(cell), fate < LEAVE + CHANGE)
            again.append(cell.people[goes & (fate >= LEAVE)])
            if not goes.all():
                staying.append(cell.part(~goes))
        people = np.sort(np.concatenate(again))
        cells = [*staying, batch(table, people, method, demand, month)]
        anew.append(len(people) / sum(len(cell.people) for cell in cells))
    last = np.sort(np.concatenate([cell.people for cell in cells]))
    name = f"{method}:{demand}"
    print(f"{name} anew: {np.mean(anew):.3f} ({min(anew):.3f} to {max(anew):.3f})")
    print(f"{name} ncp: {losses[0]:.4f}, {np.concatenate([c.loss for c in cells]).mean():.4f}")
    print(f"{name} fresh: {batch(table, last, method, K, 0).loss.mean():.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="METHOD:K", default=CASES)
    parser.add_argument("--months", type=int, default=0, metavar="N")
    asked = parser.parse_args()
    table = prepare("adult-ncp.toml", "adult/adult.data.gz")[1]
    for case in asked.cases:
        method, demand = case.split(":")
        if asked.months:
            months(table, method, int(demand), asked.months)
        else:
            once(table, method, int(demand))


if __name__ == "__main__":
    main()
