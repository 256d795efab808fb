"""Which keys of a manifest are known."""

import pytest

from crowdcover.kinds import KINDS, kind_called
from crowdcover.kinds.judge.manifest_keys import (
    EACH,
    MEASURED_KEYS,
    NUMBERS,
    OPEN,
    RELEASE_KEYS,
    count_unknown,
    list_manifest_keys,
)

KEYS = {"name": OPEN, "source": {"rows": OPEN}, "columns": {EACH: {"role": OPEN}}, "took": NUMBERS}


@pytest.mark.parametrize(
    ("document", "unknown"),
    [
        ({}, 0),
        ({"name": "x", "source": {"rows": 3}}, 0),
        ({"name": {"any": "thing"}}, 0),
        ({"note": "x"}, 1),
        ({"note": "x", "source": {"rows": 3, "note": "x", "more": {}}}, 3),
        ({"source": "x"}, 1),
        ({"source": [{"rows": 3}, {"rows": 3, "note": 1}]}, 1),
        ({"source": []}, 0),
        ({"source": ["x"]}, 1),
        ({"columns": {"note": {"role": "x"}, "age": {"role": "x", "note": "x"}}}, 1),
        ({"took": {"any": 1, "other": 0.5, "flag": True, "none": None}}, 0),
        ({"took": {"any": "text"}}, 1),
        ({"took": [{"any": 1}, {"any": []}]}, 1),
        ({"took": "x"}, 1),
    ],
)
def test_what_is_beside_the_keys_is_counted(document, unknown):
    assert count_unknown(document, KEYS) == unknown


def test_measured_sections_have_the_keys_that_were_measured():
    keys = list_manifest_keys({}, {"privacy": {"records": 7}, "own": {"number": 1}})
    assert count_unknown({"privacy": {"records": 7, "promise": ["x"]}}, keys) == 0
    assert count_unknown({"privacy": {"records": 7, "note": "x"}}, keys) == 1
    assert count_unknown({"own": {"number": 1, "note": 2}}, keys) == 1
    assert count_unknown({"utility": {"any": 1}}, keys) == 0  # not measured


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_adds_keys_and_takes_none(name):
    keys = list_manifest_keys(kind_called(name).claimed, {section: {} for section in MEASURED_KEYS})
    assert RELEASE_KEYS.keys() | MEASURED_KEYS.keys() <= keys.keys()
    assert RELEASE_KEYS["drift"].keys() < keys["drift"].keys()
    assert keys["columns"][EACH].keys() >= {"role"}
