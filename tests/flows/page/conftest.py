"""A session of the page without a server, and what its forms hold."""

import argparse
import re
from dataclasses import dataclass
from html import unescape

import pytest
from starlette.testclient import TestClient

from crowdcover.flows.page import looking
from crowdcover.flows.page.app import build_app
from crowdcover.flows.page.guard import Secrets
from crowdcover.flows.page.opened import build_session
from tests.flows.orders import Order

PORT = 40404
ADDRESS = f"http://127.0.0.1:{PORT}"


@dataclass
class Ended:
    """A command that has ended."""

    printed: list
    code: int = 0
    command: str = "crowdcover audit"
    log: tuple = ()
    refusal: str = ""
    is_running: bool = False
    stopped: bool = False
    seconds: float = 1.0


def options(opened, **others):
    """What `crowdcover open` parses."""
    plain = {
        "kind": "table",
        "query": None,
        "header": None,
        "names": [],
        "sheet": None,
        "key": None,
        "diff": [],
    }
    return argparse.Namespace(**{"opened": str(opened), "quiet": False, **plain, **others})


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A moment is as long as a look at the source takes: no test depends on the time."""
    monkeypatch.setattr(looking, "SHORT_WAIT", 100.0)


def session_of(opened, **others):
    return build_session(options(opened, **others), Secrets(PORT))


def visit(session):
    """A client that has spent the token of the address."""
    client = TestClient(build_app(session), base_url=ADDRESS)
    assert client.get(session.own.address).status_code == 200
    return client


def post(client, session, path, **fields):
    return client.post(path, data={"form_token": session.own.form, **fields})


def refused_words(page):
    found = re.search(r'role="alert"><strong>Refused.</strong> <span>(.*?)</span>', page)
    assert found, page
    return unescape(found[1])


@pytest.fixture
def order(tmp_path):
    return Order(tmp_path)


@pytest.fixture
def session(order):
    """Of a source."""
    return session_of(order.source)


@pytest.fixture
def planned(order):
    """Of a plan."""
    return session_of(order.plan)
