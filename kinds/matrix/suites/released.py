"""What a release must look like before it is published; one row a released row or its record."""

import great_expectations as gx
import great_expectations.expectations as gxe

from crowdcover.validations.expectations import ExpectCrowdsToMeetDemands, random_keys

KEY, CLASS_SIZE, DEMANDED_SIZE, MINORITIES = "key", "class", "demanded", "minorities"


def build_suite(records: int) -> gx.ExpectationSuite:
    """Expect random keys, classes as large as demanded, and items that most of a class hold."""
    rows = [
        gxe.ExpectTableRowCountToEqual(
            value=records, description=f"Exactly {records:,} rows, one for each user."
        ),
        ExpectCrowdsToMeetDemands(crowd_column=CLASS_SIZE, demand_column=DEMANDED_SIZE),
        gxe.ExpectColumnSumToBeBetween(
            column=MINORITIES,
            min_value=0,
            max_value=0,
            description="Every item of a row is held by at least half of the row's class.",
        ),
    ]
    return gx.ExpectationSuite(name="released", expectations=[*random_keys(KEY), *rows])
