"""What a release must look like before it is published.

The frame holds `key`, the number of levels that each released cell allows by attribute (0: the cell
cannot be read), the demanded k, the sizes of the crowds, and whether the cells are true.
"""

from collections.abc import Mapping

import great_expectations as gx
import great_expectations.expectations as gxe

from crowdcover.validations.expectations import (
    ExpectColumnCellsToAllowALevel,
    ExpectCrowdsToMeetDemands,
    ExpectRowsToBeTruthful,
    random_keys,
)

CELL = "cell:"
KEY, DEMANDED_CROWD, COMPATIBLE_CROWD, MATCHABLE_CROWD, IS_TRUTHFUL = (
    "key",
    "demanded",
    "compatible",
    "matchable",
    "truthful",
)


def build_suite(levels: Mapping[str, int], records: int) -> gx.ExpectationSuite:
    """Expect random keys, readable and truthful cells, and crowds as large as demanded.

    `levels` is the number of levels of each quasi-identifier.
    """
    rows = [
        gxe.ExpectTableRowCountToEqual(
            value=records, description=f"Exactly {records:,} rows, one for each record."
        ),
        ExpectCrowdsToMeetDemands(crowd_column=COMPATIBLE_CROWD, demand_column=DEMANDED_CROWD),
        ExpectCrowdsToMeetDemands(crowd_column=MATCHABLE_CROWD, demand_column=DEMANDED_CROWD),
        ExpectRowsToBeTruthful(column=IS_TRUTHFUL),
    ]
    cells = [
        ExpectColumnCellsToAllowALevel(column=CELL + name, levels=number)
        for name, number in levels.items()
    ]
    return gx.ExpectationSuite(name="released", expectations=[*random_keys(KEY), *rows, *cells])
