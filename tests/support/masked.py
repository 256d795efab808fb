"""Small masked tables: what was made, kept and hidden, as bits."""

import numpy as np

from tests.observers import Seen

PAPER = {"schedule": "fixed", "reclaim": False}  # Algorithm 1 as printed


def features(table):
    """bool (n, f) of packed bits."""
    return unpack(table.bits, table.codebook.features)


def unpack(words, f):
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :f].astype(bool)


def blanks(table):
    return np.repeat(table.blank.T, [a.bits for a in table.codebook.attributes], axis=1)


def kept(masked):
    """All that an anonymizer chose, to the last bit."""
    return masked.hidden.tobytes(), masked.steps, masked.result_step


def made(maker, table, **options):
    """The result, and the ends of the cover that it was made from."""
    seen = Seen()
    masked = maker.anonymize(table, observer=seen, **options)
    return masked, seen.states[-1].arrays["best"]


def utilities_of(masked, figure="utility"):
    return [step.figures[figure] for step in masked.steps]


def goes_on_anywhere(maker, table, order=None):
    """All states of a run, after each of them gave the same result."""
    seen = Seen()
    whole = maker.anonymize(table, tie_order=order, observer=seen)
    steps = whole.steps
    assert seen.expected == [maker.max_iterations]
    assert [state.steps for state in seen.states] == [steps[: n + 1] for n in range(len(steps))]
    assert max(seen.records) == table.records
    for number, state in enumerate(seen.states, start=1):
        later = Seen()
        again = maker.anonymize(table, tie_order=order, observer=later, resume=state)
        assert kept(again) == kept(whole)
        numbers = [each.steps[-1].number for each in later.states]
        assert numbers == list(range(number + 1, len(steps) + 1))
    return seen.states
