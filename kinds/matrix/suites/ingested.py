"""What the entries of a source must look like before they are encoded."""

import great_expectations as gx
import great_expectations.expectations as gxe

from kinds.matrix.layout import ITEM, RECORD


def suite(records: int) -> gx.ExpectationSuite:
    """Expect entries of a record and an item, each once, and nothing else."""
    whole = [
        gxe.ExpectTableColumnsToMatchSet(
            column_set=[RECORD, ITEM],
            exact_match=True,
            description="Numbers of users and names of items only: the users' names are gone.",
        ),
        gxe.ExpectTableRowCountToBeBetween(min_value=1, description="At least one entry."),
        gxe.ExpectCompoundColumnsToBeUnique(
            column_list=[RECORD, ITEM], description="No user holds an item twice."
        ),
    ]
    cells = [
        gxe.ExpectColumnValuesToNotBeNull(column=ITEM, description="Every entry has an item."),
        gxe.ExpectColumnValuesToBeBetween(
            column=RECORD,
            min_value=0,
            max_value=records - 1,
            description=f"Every entry is of one of {records:,} users.",
        ),
    ]
    return gx.ExpectationSuite(name="ingested", expectations=[*whole, *cells])
