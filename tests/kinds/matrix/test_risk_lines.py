"""The line of users who are linked, where the plan demands nothing of some."""

import pytest

from crowdcover.kinds.matrix.report.facts import list_risks
from crowdcover.reports.words import ABOVE, NOT_MEASURED


def linked(*, least, unprotected, above):
    found = {"success": 0.02, "promised": 0.1, "above": above, "tried": 50, "of": 100}
    privacy = {"records": 100, "k_min": least, "k_max": 10, "classes_below_k": 0}
    release = {
        "privacy": privacy | {"unprotected": unprotected},
        "attacks": {"known 2 items": found},
        "protection": {"unanimous_rows": 0.0, "unanimous_entries": 0.0},
        "checks": [],
    }
    return list_risks(release)[1].line


def test_users_without_a_promise_are_named_as_linked():
    line = linked(least=1, unprotected=7, above=0.0)
    assert line.people.startswith("7 of 100 users")
    assert "no promise protects them" in line.finding
    assert line.result == ABOVE
    assert linked(least=1, unprotected=None, above=0.0).result == NOT_MEASURED


@pytest.mark.parametrize(("least", "unprotected"), [(1, 1), (2, 0)])
def test_what_is_true_of_more_users_is_said(least, unprotected):
    line = linked(least=least, unprotected=unprotected, above=0.2)
    assert line.people.startswith("10 of 50 users")
    assert line.result == ABOVE
