"""Great Expectations is imported without what no check uses, and others find all of that."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import crowdcover.validations.run
loaded = [name for name in ("altair", "scipy.stats", "sqlalchemy") if name in sys.modules]
import sqlalchemy
from great_expectations.expectations.core import expect_column_kl_divergence_to_be_less_than as kl
print(json.dumps([loaded, sqlalchemy.__name__, kl.stats.norm.cdf(0), kl.alt.Chart.__name__]))
from scipy import stats
assert stats is sys.modules["scipy.stats"]
assert kl.stats.norm is stats.norm
"""


@pytest.mark.long
def test_plots_statistics_and_databases_are_left_out_until_they_are_used():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], "sqlalchemy", 0.5, "Chart"]
