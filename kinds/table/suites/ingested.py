"""What a source must look like before its columns are encoded."""

from collections.abc import Sequence

import great_expectations as gx
import great_expectations.expectations as gxe
from great_expectations.expectations.expectation import Expectation

from anon_core.specs.columns import ColumnSpec
from crowdcover.validations.expectations import ExpectColumnNumbersToBeFinite


def build_suite(specs: Sequence[ColumnSpec], carried: Sequence[str]) -> gx.ExpectationSuite:
    """Expect the quasi-identifiers and the carried columns, and no identifier or dropped column."""
    names = [*(spec.name for spec in specs), *carried]
    table = [
        gxe.ExpectTableColumnsToMatchSet(
            column_set=names,
            exact_match=True,
            description=f"The {len(names)} quasi-identifiers, sensitive and kept columns of the "
            "plan only: identifiers and dropped columns are gone.",
        ),
        gxe.ExpectTableRowCountToBeBetween(min_value=2, description="At least two rows."),
    ]
    cells = [expectation for spec in specs for expectation in _of_column(spec)]
    return gx.ExpectationSuite(name="ingested", expectations=[*table, *cells])


def _of_column(spec: ColumnSpec) -> list[Expectation]:
    expected: list[Expectation] = []
    if spec.kind in ("numeric", "date"):
        expected.append(ExpectColumnNumbersToBeFinite(column=spec.name))
    if spec.kind == "binary":
        binary = "One or two different values."
        expected.append(
            gxe.ExpectColumnUniqueValueCountToBeBetween(
                column=spec.name, min_value=1, max_value=2, description=binary
            )
        )
    if spec.missing == "refuse":
        expected.append(
            gxe.ExpectColumnValuesToNotBeNull(column=spec.name, description="No value is missing.")
        )
    return expected
