"""A plan as text, and how it is refused."""

import re

import pytest

from crowdcover.flows.plan.plan import PlanError

MARK = "zq7"


PLAN = """
name = "people"
[source]
path = "people.csv"
[columns.who]
role = "identifier"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.job]
role = "quasi"
kind = "categorical"
[columns.income]
role = "sensitive"
[privacy]
k = 5
"""


TOLD = re.compile(r"""; it is ('[^']*'|[\w.-]+)""")  # the value of a key that holds no cells


def quiet(error, *marks):
    while error is not None:
        for mark in (MARK, *marks):
            assert mark not in TOLD.sub("", str(error)) + TOLD.sub("", repr(error))
        error = error.__cause__ or error.__context__


def refused(words, work, *marks):
    with pytest.raises(PlanError, match=words) as caught:
        work()
    quiet(caught.value, *marks)
    return str(caught.value)
