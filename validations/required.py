"""The requirements that [checks] of a plan adds to the promise of a release.

The frame has one row, and for each requirement a column with its measured number.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import great_expectations as gx
import numpy as np
from numpy.typing import NDArray

from anon_core.measures.requirements import Measure, Requirement
from validations import measured

EXPECTED: dict[Measure, Any] = {
    expectation.measure: expectation
    for expectation in (
        measured.ExpectUtilityToBeAtLeast,
        measured.ExpectColumnInformationToBeAtLeast,
        measured.ExpectCrowdDistinctValuesToBeAtLeast,
        measured.ExpectCrowdEntropyToBeAtLeast,
        measured.ExpectCrowdOddsToBeBelow,
        measured.ExpectCrowdDistanceToBeAtMost,
        measured.ExpectUniformCrowdsToBeAtMost,
        measured.ExpectIdenticalRowsToBeAtLeast,
        measured.ExpectRowLossToBeAtMost,
        measured.ExpectAttackSuccessToBeAtMost,
        measured.ExpectJaccardToBeAtLeast,
        measured.ExpectDiscrepancyToBeAtMost,
        measured.ExpectDegreeErrorToBeAtMost,
        measured.ExpectVerticesBelowToBeAtMost,
        measured.ExpectUnchangedToBeAtMost,
    )
}


def build_required_suite(requirements: Sequence[Requirement]) -> gx.ExpectationSuite:
    """Expect each requirement to be reached, in the given order."""
    expectations = []
    for place, asked in enumerate(requirements):
        limits: dict[str, Any] = (
            {"required": asked.required}
            if asked.l is None
            else {"required": asked.required, "l": asked.l}
        )
        expectations.append(
            EXPECTED[asked.measure](column=_name_column(place), about=asked.about, **limits)
        )
    return gx.ExpectationSuite(name="required", expectations=expectations)


def frame_measures(requirements: Sequence[Requirement]) -> Mapping[str, NDArray[Any]]:
    """The measured numbers; NaN where nothing was measured."""
    return {
        _name_column(place): np.array([np.nan if asked.found is None else asked.found])
        for place, asked in enumerate(requirements)
    }


def _name_column(place: int) -> str:
    return f"requirement {place}"
