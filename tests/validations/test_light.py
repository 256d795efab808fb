"""Great Expectations is imported without what no check uses, and others find all of that."""

import json
import subprocess
import sys

import pytest

from crowdcover.validations import light

PROGRAM = """
import json, sys
import crowdcover.validations.run
from crowdcover.validations.light import HIDDEN, LATER
loaded = [name for name in (*HIDDEN, *LATER) if name in sys.modules]
import boto3, botocore, sqlalchemy
from great_expectations.expectations.metrics.column_map_metrics import (
    column_values_match_json_schema as schemas,
)
assert schemas.jsonschema.validate(1, {"type": "integer"}) is None
import jsonschema
assert schemas.jsonschema.validate is jsonschema.validate
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


def test_a_module_that_stands_for_another_gives_way_to_it(monkeypatch):
    """Also to a thread that asks while Great Expectations is imported."""
    stands = light._Later("colorsys")
    monkeypatch.setitem(sys.modules, "colorsys", stands)
    assert stands.rgb_to_hsv(0, 0, 0) == (0, 0, 0)
    assert sys.modules["colorsys"] is not stands
