"""Which tries of a slow test belong to `make test-all`, and which to `make soak` only."""

import pytest


def soak_after(number, tries):
    """These parameters, those after the first `number` marked `soak`."""
    return [
        each if place < number else pytest.param(each, marks=pytest.mark.soak)
        for place, each in enumerate(tries)
    ]
