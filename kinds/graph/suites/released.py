"""What a release must look like before it is published; one row a vertex."""

import great_expectations as gx
import great_expectations.expectations as gxe

from crowdcover.validations.expectations import random_keys

KEY, BELOW, RELEASED_EDGES, LEAST_RELEASED_P, GREATEST_RELEASED_P = (
    "key",
    "below",
    "edges",
    "least_p",
    "greatest_p",
)


def build_suite(vertices: int, exempt: int, edges: int) -> gx.ExpectationSuite:
    """Expect random keys, probabilities that an edge can have, and all but some hidden."""
    chances = [
        gxe.ExpectColumnMinToBeBetween(
            column=LEAST_RELEASED_P,
            min_value=1e-6,
            description="No probability is below a millionth.",
        ),
        gxe.ExpectColumnMaxToBeBetween(
            column=GREATEST_RELEASED_P, max_value=1.0, description="No probability is above 1."
        ),
    ]
    return gx.ExpectationSuite(
        name="released",
        expectations=[
            *random_keys(KEY),
            gxe.ExpectTableRowCountToEqual(
                value=vertices, description=f"Exactly {vertices:,} keys, one for each vertex."
            ),
            gxe.ExpectColumnSumToBeBetween(
                column=BELOW,
                min_value=0,
                max_value=exempt,
                description=f"At most {exempt:,} vertices hide among fewer than they demand.",
            ),
            gxe.ExpectColumnValuesToBeBetween(
                column=RELEASED_EDGES,
                min_value=0,
                max_value=vertices - 1,
                description="No vertex has more edges than there are other vertices.",
            ),
            # Without edges no vertex has a least or greatest probability to compare.
            *(chances if edges else []),
        ],
    )
