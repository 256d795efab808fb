"""From a table to an approved release in a real browser, without a line of TOML."""

import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from crowdcover.storage.vault.files import read_json
from tests.flows.orders import RARE, Order
from tests.support.devtools import browsing
from tests.support.pages import complaints, measure_page

pytestmark = pytest.mark.slow  # a browser, two releases and a trial in processes of their own

LONGEST = 400
WIDTHS = [(1280, False), (390, False), (1280, True), (390, True)]


@contextmanager
def opened(named, folder):
    """The address that the command prints, and what it leaves in the terminal."""
    log = (folder / "terminal.txt").open("w+")
    process = subprocess.Popen(
        [sys.executable, "-m", "crowdcover.flows.cli", "open", str(named)],
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
    for width, dark in WIDTHS:
        tab.resize(width, dark=dark)
        found = measure_page(tab)
        assert complaints(found) == {}, (name, width)
        assert found["texts"] > 5
        time.sleep(0.5)  # a report in a frame is drawn by a process of its own
        tab.photograph(pictures / f"{name}-{width}{'-dark' if dark else ''}.png")
    tab.resize(1280)


def press(tab, action):
    tab.act(f"document.querySelector('form[action=\"{action}\"]').requestSubmit()")


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
        document.querySelector("input[name=k]").value = "4"; 0
        """
    )
    press(tab, "/plan")
    # The limit of the starter plan refuses a table as small as this one.
    tab.evaluate("text.value = text.value.replace('max_uniform = 0.05', 'max_uniform = 1.0')")
    tab.evaluate("text.value = text.value.replace('success = 0.2 ', 'success = 0.3 ')")
    press(tab, "/plan/text")
    tab.wait_until("document.body.innerText.includes('The plan can be released')")
    press(tab, "/plan/save")
    tab.wait_until("document.body.innerText.includes('The plan was saved')")


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
        tab.wait_until("document.querySelector('progress') || document.querySelector('#tried')")
        look(tab, tmp_path, "trying")
        tab.wait_until("document.querySelector('#tried')", LONGEST)
        assert "k = 4" in tab.evaluate("document.querySelector('main table').innerText")
        look(tab, tmp_path, "tried")

        open_tab(tab, "Release")
        press(tab, "/make")
        tab.wait_until(
            "document.body.innerText.includes('The release waits for approval')", LONGEST
        )
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
        tab.wait_until("document.querySelector('main a[href=\"/release\"]')", LONGEST)
        tab.act("document.querySelector('main a[href=\"/release\"]').click()")
        tab.wait_until("document.querySelector('table.released')")
        look(tab, tmp_path, "released")
        released = tab.evaluate("document.body.innerText")
        assert tab.evaluate("document.querySelectorAll('table.released tbody tr').length") == 10

        assert tab.said == []
        assert {each.split("/")[2] for each in tab.requested} == {address.split("/")[2]}
    folder = order.releases / "v1"
    approval = read_json(folder / "manifest.json")["approval"]
    assert (approval["by"], approval["note"]) == ("Ada Lovelace", "read & agreed")
    for text in (log, released):
        assert re.search("ident-0|note-[0-9]|junk-", text) is None
        assert RARE not in log
