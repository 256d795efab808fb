"""The figures by which regulators judge how well rows hide people, from the crowds of a release."""

from collections.abc import Mapping
from typing import Any

from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import Crowds
from anon_core.measures.table.risks.known import find_fewest_rows
from anon_core.measures.table.risks.populations import expect_chances
from crowdcover.kinds.table.judge.attacks import compute_mean
from crowdcover.kinds.table.plan.reidentification import AskedRisks


def measure_reidentification(
    released: ReleasedCells,
    classes: Classes,
    crowds: Crowds,
    names: tuple[str, ...],
    asked: AskedRisks,
) -> Mapping[str, Any]:
    """The greatest chance of a prosecutor, and what the plan's limits ask for beside it.

    A prosecutor knows that somebody is in the table, a journalist does not. Everybody must fit a
    row.
    """
    found: dict[str, Any] = {"prosecutor_highest": 1 / int(crowds.compatible.min())}
    if asked.population is not None:
        # What is drawn cannot exceed the whole; a limit refuses such a population by itself.
        fraction = min(1.0, len(crowds.compatible) / asked.population)
        chances = expect_chances(crowds.compatible, fraction)
        found |= {
            "population": asked.population,
            "journalist_highest": float(chances.max()),
            "journalist": compute_mean(chances),
        }
    if asked.known is not None:
        fewest = find_fewest_rows(released, classes, asked.known)
        columns = [names[place] for place in fewest.known]
        found["known"] = {"columns": columns, "rows": fewest.rows}
    return found
