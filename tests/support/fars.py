"""A table in which generalization pays, and what `optimal` makes of it."""

import numpy as np

from anon_core.anonymizers import Optimal
from anon_core.anonymizers.optimal import ordered
from anon_core.anonymizers.optimal.columns import group_losses
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.loss import WHOLE_CELL_LOSS, loss_table

FARS = (  # Table 2a: AGE, SEX, INJ_SEV, DRINKING
    (64, 2, 4, 0), (29, 1, 0, 0), (42, 2, 0, 0), (41, 2, 4, 1), (53, 1, 2, 1), (59, 1, 4, 0),
    (49, 1, 4, 0), (59, 1, 2, 0), (80, 1, 4, 0), (50, 1, 4, 0), (64, 1, 3, 0), (55, 1, 0, 0),
    (25, 1, 0, 0), (42, 1, 4, 0), (33, 1, 2, 0), (31, 2, 2, 0), (68, 1, 3, 0), (20, 2, 4, 0),
    (40, 1, 4, 1), (18, 1, 4, 0),
)  # fmt: skip


def fars(weights=(1, 1, 1, 1), k=3, rows=range(20)):
    names = ("AGE", "SEX", "INJ_SEV", "DRINKING")
    values = np.array(FARS, dtype=np.float64)
    columns = {name: values[:, c] for c, name in enumerate(names)}
    specs = [
        ColumnSpec(name=name, kind="numeric", encoding="ordinal", bins=None, weight=weight)
        for name, weight in zip(names, weights, strict=True)
    ]
    book = encoding.fit(specs, columns, 1, None)
    table = encoding.encode(book, columns, np.full(20, k, dtype=np.int32))
    return table.at(np.array(rows))


def made(table, **settings):
    """The classes of records with equal rows, and what they lose in all, as the paper counts."""
    place = ordered.by_variance(table, "range")
    loss = loss_table(table.codebook, "range")
    groups = Optimal(**settings)._groups(table.at(place), loss)
    total = group_losses(table.at(place), loss, groups).sum() / WHOLE_CELL_LOSS
    return {frozenset(place[group].tolist()) for group in groups}, total
