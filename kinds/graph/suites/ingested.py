"""What the edges of a source must look like before they are encoded; one row an edge."""

import great_expectations as gx
import great_expectations.expectations as gxe

from anon_core.specs.graphs import ONE
from crowdcover.kinds.graph.layout import P, U, V

AGAIN = "again"


def build_suite(vertices: int, edges: int) -> gx.ExpectationSuite:
    """Expect numbered ends and probabilities, each pair once, and nothing else."""
    ends = [
        gxe.ExpectColumnValuesToBeBetween(
            column=end,
            min_value=0,
            max_value=vertices - 1,
            description=f"Every end of an edge is one of {vertices:,} vertices.",
        )
        for end in (U, V)
    ]
    return gx.ExpectationSuite(
        name="ingested",
        expectations=[
            gxe.ExpectTableColumnsToMatchSet(
                column_set=[U, V, P, AGAIN],
                exact_match=True,
                description="Numbers only: the names of the vertices are gone.",
            ),
            gxe.ExpectTableRowCountToEqual(value=edges, description=f"Exactly {edges:,} edges."),
            *ends,
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A=V, column_B=U, description="No edge joins a vertex with itself."
            ),
            gxe.ExpectColumnValuesToBeInSet(
                column=AGAIN, value_set=[False], description="No pair of vertices has two edges."
            ),
            gxe.ExpectColumnValuesToBeBetween(
                column=P,
                min_value=0,
                max_value=ONE,
                description="Every probability is from 0 to 1.",
            ),
        ],
    )
