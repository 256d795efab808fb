"""The source is looked at beside the page, which answers meanwhile."""

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html import unescape

import pytest
from starlette.testclient import TestClient

from crowdcover.flows.page import looking, opened, opening, plan_views
from crowdcover.flows.page.app import build_app
from crowdcover.flows.page.guard import Secrets
from crowdcover.flows.page.looking import PageLook
from crowdcover.flows.page.source_values import NO_VALUES
from crowdcover.kinds.section import PlanError
from tests.flows.page.conftest import ADDRESS, PORT, options, visit
from tests.flows.processes import command


class Held:
    """Work that begins, and goes on when it may; what it is given is kept."""

    def __init__(self, work):
        self.work, self.begun, self.may_go_on = work, threading.Event(), threading.Event()
        self.given = []

    def __call__(self, *given, **named):
        self.given.append(given)
        self.begun.set()
        assert self.may_go_on.wait(60)
        return self.work(*given, **named)


@pytest.fixture
def followed(monkeypatch):
    """Says when the page has begun to show a look; a moment is no time."""
    begun, follow = threading.Event(), plan_views.follow_look

    def show(*given):
        begun.set()
        return follow(*given)

    monkeypatch.setattr(plan_views, "follow_look", show)
    monkeypatch.setattr(looking, "SHORT_WAIT", 0.0)
    return begun


def open_front(named):
    """The server's application, its secrets, and the look that it shows."""
    own = Secrets(PORT)
    look = PageLook(partial(opening._make_page, options(named), own))
    return opening.Front(look, own), own, look


def hold(monkeypatch, module, name):
    held = Held(getattr(module, name))
    monkeypatch.setattr(module, name, held)
    return held


def test_the_page_says_what_is_done_until_there_is_a_plan(order, monkeypatch):
    held = hold(monkeypatch, opened, "build_starter_plan")
    shown = hold(monkeypatch, opening, "follow_look")
    front, own, look = open_front(order.source)
    client = TestClient(front, base_url=ADDRESS)
    assert TestClient(front, base_url=ADDRESS).get("/").status_code == 403
    shown.may_go_on.set()
    with ThreadPoolExecutor(1) as pool:
        showing = pool.submit(client.get, own.address)
        assert shown.begun.wait(60)
        other = TestClient(front, base_url=ADDRESS, cookies=client.cookies)
        assert other.get("/style.css").headers["content-type"].startswith("text/css")
        held.may_go_on.set()
        page = showing.result().text
    assert 'role="status"' in page
    lines = [
        "Loading what the page needs",
        "Reading the source",
        "90 rows and 7 columns; looking for texts that mean &#x27;not given&#x27;",
        "Column 1 of 7: which role it may have",
        "Reading the source, to count the values of each column",
        '<meta http-equiv="refresh" content="0; url=/">',
    ]
    assert sorted(map(page.index, lines)) == list(map(page.index, lines))
    assert "ident-" not in page
    look.wait()
    assert "to decide" in client.get("/").text


def test_other_views_answer_while_the_source_is_read(planned, monkeypatch, followed):
    client = visit(planned)
    held = hold(monkeypatch, plan_views, "read_source_values")
    fields = {"kind:age": "categorical", "form_token": planned.own.form}
    assert client.post("/plan", data=fields, follow_redirects=False).status_code == 303
    assert held.begun.wait(60)
    followed.clear()
    with ThreadPoolExecutor(1) as pool:
        showing = pool.submit(client.get, "/plan")
        assert followed.wait(60)
        other = TestClient(build_app(planned), base_url=ADDRESS, cookies=client.cookies)
        assert other.get("/try").status_code == 200
        fields = {"form_token": planned.own.form, "file": "people.toml", "replaces": "on"}
        other.post("/plan/save", data=fields, follow_redirects=False)
        held.may_go_on.set()
        page = showing.result().text
    assert 'role="status"' in page
    assert "Reading the source, to count the values of each column" in page
    leads_on = '<meta http-equiv="refresh" content="0; url=/plan">'
    assert page.index("Reading the source") < page.index(leads_on)
    assert "The plan was saved" in unescape(client.get("/plan").text)  # no notice is lost
    assert planned.values.counts


def test_the_newest_look_counts(planned, monkeypatch):
    held = hold(monkeypatch, plan_views, "read_source_values")
    plan_views.look_at_values(planned)
    older = planned.look
    assert held.begun.wait(60)
    monkeypatch.setattr(plan_views, "read_source_values", held.work)
    plan_views.look_at_values(planned)
    planned.look.wait()
    newest = planned.values
    assert newest is not NO_VALUES
    held.may_go_on.set()
    older.wait()
    assert planned.values is newest


def test_a_refusal_stands_in_the_page_in_the_words_of_the_command(order):
    order.source.write_text("", encoding="utf-8")
    front, own, look = open_front(order.source)
    look.wait()
    client = TestClient(front, base_url=ADDRESS)
    done = command("open", order.source)
    assert done.code == look.code == 3
    for path in (own.address, "/", "/plan"):
        answer = client.get(path)
        assert answer.status_code == 400
        assert done.err.removeprefix("crowdcover: ").strip() in unescape(answer.text)


class Server:
    """Ends soon, also where nobody says that it should."""

    should_exit = False

    async def serve(self, sockets):
        for _ in range(9):
            await asyncio.sleep(0)


@pytest.mark.parametrize("is_opened", [False, True])
def test_a_refusal_ends_the_command_unless_somebody_looks_at_it(order, capfd, is_opened):
    order.source.write_text("", encoding="utf-8")
    front, own, look = open_front(order.source)
    look.wait()
    if is_opened:
        TestClient(front, base_url=ADDRESS).get(own.address)
    server = Server()
    asyncio.run(opening._answer_requests(look, own, server, None))
    assert server.should_exit is not is_opened
    assert capfd.readouterr().err.startswith("crowdcover: the source is empty")


def test_what_is_not_there_is_refused_without_an_address(order):
    for named in ("nowhere.csv", "nowhere.toml", "nowhere"):
        done = command("open", order.folder / named)
        assert done.code in (2, 3)
        assert done.out == ""


def test_the_address_is_printed_before_much_is_imported():
    code = "import sys; import crowdcover.flows.page.opening; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_was_not_foreseen_quotes_nothing():
    def fail(_):
        raise BaseException("ident-00001")  # no Exception, as polars panics

    look = PageLook(fail)
    look.wait()
    assert look.refusal.startswith("unforeseen BaseException at looking.py:")
    assert look.code == 1

    def refuse(tell):
        tell("a line")
        raise PlanError("words")

    refused = PageLook(refuse)
    refused.wait()
    assert (refused.log, refused.refusal, refused.code) == (["a line"], "words", 2)
