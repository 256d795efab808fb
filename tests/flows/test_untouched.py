"""A release that stands as its plan wants it needs no run, and no Prefect."""

import subprocess
import sys

import pytest

from crowdcover.flows.launch.one_plan import load_ready_plan
from crowdcover.flows.launch.standing import find_untouched_release
from crowdcover.storage.vault.run import RELEASES
from tests.flows.orders import Order, people

WITHOUT = """
import sys
from crowdcover.flows.cli import main
try:
    main(["release", sys.argv[1]])
finally:
    print(sorted({"prefect", "great_expectations", "fastapi"} & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def order(tmp_path_factory):
    made = Order(tmp_path_factory.mktemp("standing"), publish={"formats": ["csv"]})
    made.release()
    return made


def find(order, *changes):
    return find_untouched_release(load_ready_plan(order.plan, changes))


@pytest.mark.long
def test_it_is_found_without_prefect(order):
    assert find(order) == order.folder_of_v1
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(order.plan)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [str(order.folder_of_v1), "[]"], done.stderr
    assert "published before and unchanged since: v1" in done.stderr


@pytest.mark.parametrize(
    "change",
    [
        "privacy.k=5",
        "publish.path=elsewhere",
        "publish.vault=another",
        "about.title=Another",
        "checks.min_utility=0.999",
        "publish.approval=required",
    ],
)
def test_what_a_run_would_make_or_say_is_left_to_it(order, change):
    assert find(order, change) is None


def test_another_source_is_left_to_a_run(order):
    before = order.source.read_bytes()
    order.write_source(people(90, draws=8))
    assert find(order) is None
    order.source.write_bytes(before)
    assert find(order) == order.folder_of_v1


def test_a_damaged_release_is_left_to_a_run(order):
    report = order.folder_of_v1 / "report.html"
    before = report.read_bytes()
    report.chmod(0o600)
    report.write_bytes(before + b" ")
    assert find(order) is None
    report.write_bytes(before)
    assert find(order) == order.folder_of_v1


def test_a_vault_that_cannot_be_read_is_left_to_a_run(order):
    released = order.run.path / RELEASES
    before = released.read_bytes()
    released.write_bytes(b"{")
    assert find(order) is None
    released.write_bytes(before)


def test_a_series_asks_its_versions(tmp_path):
    made = Order(tmp_path, series={"record": "ssn"})
    made.document.pop("anonymizer")
    made.write()
    assert find(made) is None
