"""Lines of `crowdcover try --lines` that are no settings lock no page."""

import json

import pytest

from crowdcover.flows.page.tried import describe_settings
from tests.flows.page.conftest import Ended, visit

SETTING = {
    "k": 3,
    "numbers": {"utility": 0.9},
    "shown": {"utility": "0.9000"},
    "per_column": {},
    "refused": None,
    "seconds": 1.5,
    "records": 60,
}
LINES = [json.dumps(SETTING), "a warning of a library", "7", "{}", json.dumps(SETTING)[:40]]


@pytest.mark.parametrize("path", ["/try", "/plan", "/try/log"])
def test_lines_that_are_no_settings_are_left_out(planned, path):
    planned.tried = Ended(LINES)
    client = visit(planned)
    page = client.get(path)
    assert page.status_code == 200
    assert "0.9000" in page.text
    planned.tried = Ended(LINES[1:])
    page = client.get(path)
    assert page.status_code == 200
    assert "0.9000" not in page.text


def test_each_setting_is_a_line_for_people():
    assert describe_settings(LINES) == ["k = 3: utility 0.9000"]
