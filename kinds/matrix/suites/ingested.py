"""What the entries of a source must look like before they are encoded.

The frame has one row for each user who holds an item: the user's number, how many entries there
are, how many different items, and how many entries without one. A stored column of another name
stands there, too.
"""

import great_expectations as gx
import great_expectations.expectations as gxe

from crowdcover.kinds.matrix.layout import RECORD

ENTRIES_HELD, DISTINCT_ITEMS, MISSING_ITEMS = "held", "distinct", "missing"


def build_suite(records: int) -> gx.ExpectationSuite:
    """Expect entries of a record and an item, each once, and nothing else."""
    whole = [
        gxe.ExpectTableColumnsToMatchSet(
            column_set=[RECORD, ENTRIES_HELD, DISTINCT_ITEMS, MISSING_ITEMS],
            exact_match=True,
            description="Numbers of users and names of items only: the users' names are gone.",
        ),
        gxe.ExpectTableRowCountToBeBetween(
            min_value=1, max_value=records, description="At least one user holds an item."
        ),
        gxe.ExpectColumnValuesToBeUnique(column=RECORD, description="No user occurs twice."),
        gxe.ExpectColumnValuesToBeBetween(
            column=RECORD,
            min_value=0,
            max_value=records - 1,
            description=f"Every entry is of one of {records:,} users.",
        ),
    ]
    entries = [
        gxe.ExpectColumnPairValuesToBeEqual(
            column_A=ENTRIES_HELD,
            column_B=DISTINCT_ITEMS,
            description="No user holds an item twice.",
        ),
        gxe.ExpectColumnSumToBeBetween(
            column=MISSING_ITEMS, min_value=0, max_value=0, description="Every entry has an item."
        ),
    ]
    return gx.ExpectationSuite(name="ingested", expectations=[*whole, *entries])
