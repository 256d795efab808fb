"""Methods side by side: what their rows lose by the paper's GCP, and their seconds."""

import dataclasses
import itertools

import numpy as np

from anon_core.anonymizers import Freeform
from anon_core.anonymizers.k_member import group_records
from anon_core.anonymizers.optimal import ordered
from anon_core.anonymizers.optimal.carry import Split, run_split_and_carry
from anon_core.anonymizers.optimal.columns import group_losses
from anon_core.anonymizers.optimal.partition import PROOF, least_loss
from anon_core.anonymizers.weights import feature_weights
from anon_core.tables.loss import WHOLE_CELL_LOSS, loss_table
from anon_core.tables.packing_kernels import unpack_range
from benchmarks import timed
from benchmarks.baselines.mondrian import mondrian
from benchmarks.figures.sources import LOSS


def exact(table, loss):
    groups, proved = least_loss(table, loss, run_split_and_carry(table, loss, Split()), PROOF)
    assert proved
    return groups


def k_member(table, _):
    weight = feature_weights(table.codebook, "columns", LOSS)[0]
    number = group_records(table, weight, int(table.k[0]))
    ends = np.cumsum(np.bincount(number))[:-1]
    return [part.tolist() for part in np.split(np.argsort(number, kind="stable"), ends)]


CARRY = {
    "split3": Split(),
    "split4": Split(sets=4),
    "split5": Split(sets=5),
    "boundary1": Split(boundary=1),
    "boundary6": Split(boundary=6),
    "bubble12-1": Split(part=12, accept=1),
    "bubble12-2": Split(part=12, accept=2),
    "bubble18-2": Split(part=18, accept=2),
}
METHODS = {
    **{
        name: lambda table, loss, split=split: run_split_and_carry(table, loss, split)
        for name, split in CARRY.items()
    },
    "initial": lambda table, _: ordered.build_initial_groups(table),
    "greedy": lambda table, loss: ordered.build_greedy_groups(table, loss, sequential=True),
    "exact": exact,
    "k-member": k_member,
    "mondrian": lambda table, _: [part.tolist() for part in mondrian(table.codes, table.k[0])],
}

# Doka et al.: all records in one segment, and without the exchanges of ours.
FREEFORM = {
    f"freeform-{method}": Freeform(method=method, segment=0, exact=0.0, exchanges=False, loss=LOSS)
    for method in ("greedy", "sort-greedy", "hungarian")
}


def lost_by_hiding(made, loss):
    """What the rows lose in whole cells, by the features that they hide."""
    book, total = made.table.codebook, 0
    for a, (first, end) in enumerate(itertools.pairwise(book.bit_offsets)):
        flags = np.empty((made.table.records, end - first), dtype=np.bool_)
        unpack_range(made.hidden, first, end, flags)
        if book.ordinal[a]:
            places = loss.position[book.level_offsets[a] : book.level_offsets[a + 1]]
            total += (flags @ np.diff(places)).sum()
        else:
            total += (flags.sum() - flags.any(axis=1).sum()) * loss.step[a]
    return total / WHOLE_CELL_LOSS


def measured(table, k, method):
    """What the rows that a method makes lose in whole cells, and its seconds."""
    table = dataclasses.replace(table, k=np.full(table.records, k, dtype=np.int32))
    loss = loss_table(table.codebook, LOSS)
    if method in FREEFORM:
        made, seconds, _ = timed(lambda: FREEFORM[method].anonymize(table))
        return lost_by_hiding(made, loss), seconds
    groups, seconds, _ = timed(lambda: METHODS[method](table, loss))
    assert min(map(len, groups)) >= k
    return group_losses(table, loss, groups).sum() / WHOLE_CELL_LOSS, seconds


def compare(prefix, table, k, methods):
    """Print GCP and seconds of each method; return them."""
    found = {}
    for method in methods:
        found[method] = measured(table, k, method)
        print(f"{prefix}.{method}_gcp: {found[method][0]:.2f}")
        print(f"{prefix}.{method}_seconds: {found[method][1]:.2f}", flush=True)
    return found
