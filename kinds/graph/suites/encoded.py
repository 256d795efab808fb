"""What an uncertain graph must look like before an anonymizer gets it; one row a vertex.

An edge counts at its lesser end.
"""

import great_expectations as gx
import great_expectations.expectations as gxe

from anon_core.specs.graphs import ONE

VERTEX_K, LEAST_END, GREATEST_END, ENDS_ASCEND = "k", "least", "greatest", "ascending"
LEAST_P, GREATEST_P = "least_p", "greatest_p"


def build_suite(vertices: int) -> gx.ExpectationSuite:
    """Expect edges in order, each once, probabilities from 0 to 1, and demands in range."""
    return gx.ExpectationSuite(
        name="encoded",
        expectations=[
            gxe.ExpectTableRowCountToEqual(
                value=vertices, description=f"Exactly {vertices:,} vertices."
            ),
            gxe.ExpectColumnValuesToNotBeNull(
                column=VERTEX_K, description="Every vertex demands a k."
            ),
            gxe.ExpectColumnValuesToBeBetween(
                column=VERTEX_K,
                min_value=1,
                max_value=vertices,
                description=f"Every demand is from 1 to {vertices:,} vertices.",
            ),
            gxe.ExpectColumnMinToBeBetween(
                column=LEAST_END, min_value=1, description="The other end of an edge comes later."
            ),
            gxe.ExpectColumnMaxToBeBetween(
                column=GREATEST_END,
                max_value=vertices - 1,
                description=f"Every end of an edge is one of {vertices:,} vertices.",
            ),
            gxe.ExpectColumnValuesToBeInSet(
                column=ENDS_ASCEND,
                value_set=[True],
                description="The edges of each vertex are ascending, each once.",
            ),
            gxe.ExpectColumnMinToBeBetween(
                column=LEAST_P, min_value=0, description="No probability is below 0."
            ),
            gxe.ExpectColumnMaxToBeBetween(
                column=GREATEST_P, max_value=ONE, description="No probability is above 1."
            ),
        ],
    )
