"""What packed records must look like before an anonymizer gets them.

The frame holds `k` and one column of levels per attribute, decoded from the packed bits (-1: the
bits are no level). Their names have a prefix, since an attribute may be called "k".
"""

import great_expectations as gx
import great_expectations.expectations as gxe

from anon_core.tables.records import Codebook
from crowdcover.validations.expectations import (
    ExpectColumnLevelsToBeShared,
    ExpectColumnLevelsToDecode,
)

LEVEL = "level:"
RECORD_K = "k"


def build_suite(codebook: Codebook, records: int, least: int = 1) -> gx.ExpectationSuite:
    """Expect bits that decode, and demands that a table of this many records can meet.

    Each group of numbers that is written as an interval holds at least `least` records.
    """
    table = [
        gxe.ExpectTableRowCountToEqual(value=records, description=f"Exactly {records:,} records."),
        gxe.ExpectColumnValuesToNotBeNull(
            column=RECORD_K, description="Every record demands a crowd."
        ),
        gxe.ExpectColumnValuesToBeBetween(
            column=RECORD_K,
            min_value=1,
            max_value=records,
            description=f"Every demand is from 1 to {records:,} rows.",
        ),
    ]
    levels = [
        ExpectColumnLevelsToDecode(column=LEVEL + a.name, levels=a.levels)
        for a in codebook.attributes
    ]
    shared = [
        # Level 0 of a column with missing values is no group, so few records may have it.
        ExpectColumnLevelsToBeShared(column=LEVEL + a.name, first=int(a.has_missing), least=least)
        for a in codebook.attributes
        if a.binned and a.carry == "bounds"
    ]
    return gx.ExpectationSuite(name="binarized", expectations=[*table, *levels, *shared])
