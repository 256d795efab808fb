"""Nothing is lost and nothing half published, whatever fault a run meets; the rerun completes.

`test_kills` tries kill -9 in each stage.
"""

import contextlib

import pytest

from tests.faults import queues
from tests.faults.disks import NoMountError
from tests.faults.every import FAULTS, KILLED, needs

pytestmark = pytest.mark.slow
SEEDS = range(31, 41)  # a run may be faster than a fault; then another seed is tried


@pytest.fixture(scope="module")
def stack():
    """What all tries share, such as a database server."""
    with contextlib.ExitStack() as shared:
        yield shared


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in KILLED])
def test_a_fault_costs_nothing_but_time(name, tmp_path, stack):
    if reason := needs(name):
        pytest.skip(reason)
    met = False
    for seed in SEEDS:
        try:
            outcome = FAULTS[name](tmp_path / str(seed), seed, stack)
        except NoMountError:
            pytest.skip("this account may not mount a file system")
        assert outcome.good, outcome
        if met := outcome.met:
            break
    assert met


def test_plans_queued_on_one_worker_are_all_published(tmp_path):
    if reason := queues.needs():
        pytest.skip(reason)
    for outcome in queues.queued(tmp_path, 3):
        assert outcome.good, outcome
