"""From a table to an approved release in a real browser, without a line of TOML."""

import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.storage.vault.files import read_json
from tests.contract.alike import Alike
from tests.contract.runs import Runs
from tests.flows.orders import RARE, Order, people
from tests.kinds.graph.orders import GraphOrder
from tests.kinds.matrix.orders import MatrixOrder
from tests.support.devtools import browsing
from tests.support.pages import SCREENS, complaints, measure_page
from tests.support.series import registry

pytestmark = pytest.mark.slow  # a browser, two releases and a trial in processes of their own

LONGEST = 400


# Orders of the kinds but tables, with a toy anonymizer under the name of their default.
KINDS = {"graph": (GraphOrder, "uncertain_graph", Alike), "matrix": (MatrixOrder, "smooth", Runs)}


@contextmanager
def opened(named, folder, *options):
    """The address that the command prints, and what it leaves in the terminal."""
    log = (folder / "terminal.txt").open("w+")
    process = subprocess.Popen(
        [sys.executable, "-m", "crowdcover.flows.cli", "open", str(named), *map(str, options)],
        stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder,
    )  # fmt: skip
    try:
        assert "works once" in process.stdout.readline()
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        log.seek(0)
        assert (process.returncode, rest, log.read()) == (0, "", "")
        log.close()


def look(tab, pictures, name):
    """Measure and photograph a page at two widths, light and dark."""
    tab.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true); 0")
    for width, dark in SCREENS:
        tab.resize(width, dark=dark)
        found = measure_page(tab)
        assert complaints(found) == {}, (name, width)
        assert found["texts"] > 5
        time.sleep(0.5)  # a report in a frame is drawn by a process of its own
        tab.photograph(pictures / f"{name}-{width}{'-dark' if dark else ''}.png")
    tab.resize(1280)


def press(tab, action):
    tab.act(f"document.querySelector('form[action=\"{action}\"]').requestSubmit()")


def follow(tab):
    """Wait for the end of a command in the frame with its log, and take its link, as a person."""
    frame = "document.querySelector('iframe.follows').contentDocument"
    tab.wait_until(
        f"document.querySelector('iframe.follows') && {frame}.querySelector('a')", LONGEST
    )
    tab.act(f"{frame}.querySelector('a').click()")


def open_tab(tab, name):
    tab.act(f"[...document.querySelectorAll('nav a')].find((a) => a.text === '{name}').click()")


def decide_plan(tab):
    """Answer every question, and ask for an approval, as a person does in the form."""
    tab.evaluate(
        """
        document.querySelectorAll("input[name^='decided:']").forEach((each) => each.click());
        for (const [name, value] of [["approval", "required"], ["effort", "0"]]) {
          document.querySelector(`select[name=${name}]`).value = value;
        }
        document.querySelector("select[name='role:note']").value = "drop";
        document.querySelector("input[name=k]").value = "4";
        // The limits of the starter plan refuse a table as small as this one.
        document.querySelector("input[name='limit:max_uniform']").value = "1.0";
        document.querySelector("input[name='limit:max_attack_success']").value = "0.3"; 0
        """
    )
    press(tab, "/plan")
    tab.wait_until("document.body.innerText.includes('The plan can be released')")
    press(tab, "/plan/save")
    tab.wait_until("document.body.innerText.includes('The plan was saved')")


def ask(tab, pictures):
    """Look at a column, and ask for a count."""
    open_tab(tab, "Columns")
    assert tab.evaluate("document.querySelectorAll('svg').length") == 2
    tab.evaluate("document.querySelector('[name=value-0]').value = '40'")
    tab.evaluate("document.querySelector('[name=comparison-0]').value = 'at least'")
    tab.act("[...document.querySelectorAll('button')].find((b) => b.innerText === 'Count').click()")
    tab.wait_until("document.body.innerText.includes('Rows where age at least 40')")
    look(tab, pictures, "columns")


def measure_affected(tab, pictures):
    """Let the audit tell who is affected."""
    open_tab(tab, "Released rows")
    tab.act("document.querySelector('main a[href=\"/affected\"]').click()")
    press(tab, "/affected")
    look(tab, pictures, "measuring")
    follow(tab)
    tab.wait_until("document.querySelector('#found')")
    look(tab, pictures, "affected")


@pytest.mark.usefixtures("server")
def test_from_a_table_to_an_approved_release(tmp_path):
    order = Order(tmp_path)
    order.plan.unlink()
    with opened(order.source, tmp_path) as address, browsing(tmp_path) as tab:
        tab.go_to(address)
        tab.wait_until("document.querySelector('table.columns')")
        look(tab, tmp_path, "plan")
        decide_plan(tab)
        look(tab, tmp_path, "decided")

        open_tab(tab, "Try")
        tab.evaluate("levels.value = '3 4'")
        press(tab, "/try")
        tab.wait_until("document.querySelector('progress')")
        look(tab, tmp_path, "trying")
        follow(tab)
        assert "k = 4" in tab.evaluate("document.querySelector('main table').innerText")
        look(tab, tmp_path, "tried")
        open_tab(tab, "Plan")
        assert tab.evaluate("document.querySelectorAll('#tried').length") == 1
        look(tab, tmp_path, "costs")

        open_tab(tab, "Release")
        press(tab, "/make")
        follow(tab)
        tab.wait_until("document.body.innerText.includes('The release waits for approval')")
        look(tab, tmp_path, "asked")
        log = tab.evaluate("document.querySelector('pre.log').innerText")
        assert "ingested 90 rows" in log
        assert order.versions == []

        open_tab(tab, "Waiting")
        tab.wait_until("document.querySelector('iframe')")
        look(tab, tmp_path, "waiting")
        tab.evaluate(
            "document.querySelector('input[value=approve]').click();"
            "document.querySelector('input[name=by]').value = 'Ada Lovelace';"
            "document.querySelector('input[name=note]').value = 'read & agreed'; 0"
        )
        press(tab, f"/waiting/{order.run.path.name}")
        tab.wait_until("document.body.innerText.includes('was approved by Ada Lovelace')")

        open_tab(tab, "Release")
        press(tab, "/make")
        follow(tab)
        tab.wait_until("document.querySelector('main a[href=\"/release\"]')")
        tab.act("document.querySelector('main a[href=\"/release\"]').click()")
        tab.wait_until("document.querySelector('table.released')")
        look(tab, tmp_path, "released")
        released = tab.evaluate("document.body.innerText")
        assert tab.evaluate("document.querySelectorAll('table.released tbody tr').length") == 30
        ask(tab, tmp_path)
        measure_affected(tab, tmp_path)

        assert tab.said == []
        assert {each.split("/")[2] for each in tab.requested} == {address.split("/")[2]}
    folder = order.releases / "v1"
    approval = read_json(folder / "manifest.json")["approval"]
    assert (approval["by"], approval["note"]) == ("Ada Lovelace", "read & agreed")
    assert "beside their people" in released
    for text in ("ident-0", "junk-"):
        assert text not in released
    assert re.search(f"ident-0|note-[0-9]|junk-|{RARE}", log) is None


def test_long_names_of_columns_fit_a_narrow_screen(tmp_path):
    source, name = (
        tmp_path / "paid.csv",
        "Name_of_the_Manufacturer_or_Organisation_Making_a_Payment",
    )
    rows = [f"firm {n % 9},{n * 100},{n % 7}" for n in range(90)]
    source.write_text("\n".join([f"{name},Total_Amount_of_{name},note", *rows]), encoding="utf-8")
    with opened(source, tmp_path) as address, browsing(tmp_path) as tab:
        tab.go_to(address)
        tab.wait_until("document.querySelector('table.columns')")
        look(tab, tmp_path, "long")


@pytest.fixture(params=KINDS)
def order_of_kind(request, tmp_path, monkeypatch):
    """A kind, and an order of it with a published release."""
    make, name, toy = KINDS[request.param]
    monkeypatch.setitem(ANONYMIZERS, name, toy)
    order = make(tmp_path / "order")
    order.release()
    return request.param, order


def test_everybody_can_read_the_views_of_graphs_and_matrices(order_of_kind, tmp_path):
    kind, order = order_of_kind
    with browsing(tmp_path) as tab:
        with opened(order.source, tmp_path, "--kind", kind, "--header") as address:
            tab.go_to(address)
            tab.wait_until("document.querySelector('#questions')")
            look(tab, tmp_path, "starter")
        with opened(order.plan, tmp_path) as address:
            tab.go_to(address)
            tab.wait_until("document.body.innerText.includes('The plan can be released')")
            look(tab, tmp_path, "plan")
            for name in ("Try", "Release", "Waiting"):
                open_tab(tab, name)
                look(tab, tmp_path, name)
        other = tmp_path / "other"
        shutil.copytree(order.published, other)
        with opened(order.published, tmp_path, "--diff", other) as address:
            tab.go_to(address)
            tab.wait_until("document.querySelector('iframe')")
            look(tab, tmp_path, "released")
            words = tab.evaluate("document.querySelector('main').innerText")
            assert "A row of the data files is" in words
            assert "nurse|doctor" not in words
            assert tab.evaluate("document.querySelectorAll('nav a').length") == 1
            tab.act("document.querySelector('form[action=\"/difference\"]').requestSubmit()")
            look(tab, tmp_path, "difference")
        assert tab.said == []


def test_everybody_can_read_the_views_of_a_series(tmp_path):
    order = registry(tmp_path / "order", people(60))
    order.release()
    order.write_source([*people(60)[3:], *people(8, draws=9, first=500)])
    order.release()
    with opened(order.plan, tmp_path) as address, browsing(tmp_path) as tab:
        tab.go_to(address)
        open_tab(tab, "Released rows")
        assert "not kept" not in tab.evaluate("document.querySelector('.owned').innerText")
        look(tab, tmp_path, "newest")
        press(tab, "/release")
        assert "newest source" in tab.evaluate("document.querySelector('.owned').innerText")
        look(tab, tmp_path, "older")
        open_tab(tab, "Columns")
        look(tab, tmp_path, "columns")
        assert tab.said == []
