"""What a sparse matrix must look like before an anonymizer gets it; one row a user."""

import great_expectations as gx
import great_expectations.expectations as gxe

USER_K, ITEMS_HELD, LEAST_ITEM, GREATEST_ITEM, ITEMS_ASCEND = (
    "k",
    "held",
    "least",
    "greatest",
    "ascending",
)


def build_suite(records: int, items: int) -> gx.ExpectationSuite:
    """Expect items in range, ascending in each user, and demands that can be met."""
    return gx.ExpectationSuite(
        name="encoded",
        expectations=[
            gxe.ExpectTableRowCountToEqual(
                value=records, description=f"Exactly {records:,} users."
            ),
            gxe.ExpectColumnValuesToNotBeNull(
                column=USER_K, description="Every user demands a class."
            ),
            gxe.ExpectColumnValuesToBeBetween(
                column=USER_K,
                min_value=1,
                max_value=records,
                description=f"Every demand is from 1 to {records:,} rows.",
            ),
            gxe.ExpectColumnValuesToBeBetween(
                column=ITEMS_HELD,
                min_value=0,
                max_value=items,
                description=f"Every user holds at most {items:,} items.",
            ),
            gxe.ExpectColumnMinToBeBetween(
                column=LEAST_ITEM, min_value=0, description="No item has a number below 0."
            ),
            gxe.ExpectColumnMaxToBeBetween(
                column=GREATEST_ITEM,
                max_value=items - 1,
                description=f"Every item is one of {items:,}.",
            ),
            gxe.ExpectColumnValuesToBeInSet(
                column=ITEMS_ASCEND,
                value_set=[True],
                description="The items of each user are ascending, each once.",
            ),
        ],
    )
