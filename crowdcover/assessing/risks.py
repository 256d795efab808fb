"""Risks in the words of statistics offices: few quasi-identifiers, and a population around."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import count_rows
from anon_core.measures.table.risks.populations import (
    estimate_uniques_by_inverse_gaussian,
    estimate_uniques_by_pitman,
    estimate_uniques_by_snb,
    estimate_uniques_by_zayatz,
    expect_chances,
)
from anon_core.measures.table.risks.subsets import SubsetGroups
from crowdcover.assessing.cells import ReadColumn
from crowdcover.measured import Report


def report_subsets(names: Sequence[str], groups: SubsetGroups) -> Report:
    """What somebody can tell who knows few quasi-identifiers."""
    sizes = range(1, len(groups.least) + 1)
    numbers: dict[str, Any] = {
        "k": dict(zip(sizes, groups.least, strict=True)),
        "weakest": {
            size: [names[place] for place in of]
            for size, of in zip(sizes, groups.weakest, strict=True)
        },
        "alone": dict(zip(sizes, groups.alone, strict=True)),
        "highest_score": int(groups.scores.max()),
    }
    lines: list[tuple[str, str]] = []
    for size in sizes:
        weakest = ", ".join(numbers["weakest"][size])
        lines.append((f"smallest group by {size}", f"{numbers['k'][size]:,}, by {weakest}"))
    for size in sizes:
        fewer = "1 singles" if size == 1 else f"{size} or fewer single"
        lines.append((f"rows that {fewer} out", f"{numbers['alone'][size]:,}"))
    lines.append(("greatest SUDA score of a row", f"{numbers['highest_score']:,}"))
    return Report("Few quasi-identifiers", numbers, tuple(lines))


def report_population_size(held: NDArray[np.int64], group: NDArray[np.int32], size: Any) -> Report:
    """What is expected of a population of which the size is known, by models."""
    rows = len(held)
    if isinstance(size, bool) or not isinstance(size, Integral) or size < rows:
        raise InputError(
            f"population must be a table, or a whole number of people, at least the {rows} rows"
        )
    people = int(size)
    fraction = rows / people
    chances, sizes = expect_chances(held, fraction), np.bincount(group)
    numbers = {
        "people": people,
        "fraction": fraction,
        "journalist_highest": float(chances.max()),
        "journalist": float(chances.mean()),
        "uniques_pitman": estimate_uniques_by_pitman(sizes, people),
        "uniques_pig": estimate_uniques_by_inverse_gaussian(sizes, people),
        "uniques_snb": estimate_uniques_by_snb(sizes, people),
        "uniques_zayatz": estimate_uniques_by_zayatz(sizes, people),
    }
    lines = (
        ("share of the population that is in the table", f"{fraction:.2%}"),
        *_describe_chances(numbers, "expected "),
        ("unique people of the population, by Pitman", f"{numbers['uniques_pitman']:,.0f}"),
        ("the same by a Poisson-inverse-Gaussian model", f"{numbers['uniques_pig']:,.0f}"),
        ("the same by a slide negative binomial model", f"{numbers['uniques_snb']:,.0f}"),
        ("the same by Zayatz", f"{numbers['uniques_zayatz']:,.0f}"),
    )
    return Report("In a population of this size, by models", numbers, lines)


def report_population_table(
    read: Sequence[tuple[ReadColumn, ReadColumn | None]], held: NDArray[np.int64]
) -> Report:
    """What is counted in a table of the population: `read` has its columns beside the table's."""
    pairs = [(column, of) for column, of in read if of is not None]
    cells, people = (np.stack([pair[side].cell for pair in pairs]) for side in (0, 1))
    # The other way round: the table's rows look for people of the population that fit.
    allowed = ReleasedCells(people, tuple(column.overlap(of).T for column, of in pairs))
    classes = Classes.of(cells, allowed)
    fitting = count_rows(classes, classes.rows_in)[classes.record_class]
    if lost := int((fitting == 0).sum()):
        raise InputError(
            f"{lost:,} of {len(fitting):,} rows fit nobody of the population; the table must be "
            "of its people, and both must write their values alike"
        )
    share = np.minimum(1, held / fitting)
    numbers = {
        "people": people.shape[1],
        "k_map": int(fitting.min()),
        "uniques": int((fitting == 1).sum()),
        "journalist_highest": float((1 / fitting).max()),
        "journalist": float((1 / fitting).mean()),
        "presence_least": float(share.min()),
        "presence_highest": float(share.max()),
    }
    lines = (
        ("people whom the loneliest row fits (k-map)", f"{numbers['k_map']:,}"),
        ("rows that fit one person of it", f"{numbers['uniques']:,}"),
        *_describe_chances(numbers),
        (
            "chance that somebody of it is in the table (delta-presence)",
            f"{numbers['presence_least']:.2%} to {numbers['presence_highest']:.2%}",
        ),
    )
    return Report("In the table of the population", numbers, lines)


def _describe_chances(numbers: dict[str, Any], how: str = "") -> list[tuple[str, str]]:
    return [
        (f"{how}chance of a right guess, at most", f"{numbers['journalist_highest']:.2%}"),
        (f"{how}chance of a right guess, on average", f"{numbers['journalist']:.2%}"),
    ]
