"""Nobody but the browser that the address was opened in gets an answer."""

import pytest
from starlette.testclient import TestClient

from crowdcover.flows.page.app import _DONE, _SHOWN, build_app
from tests.flows.page.conftest import ADDRESS, PORT, post, visit

SHOWN = ["/", "/style.css", *(path.format(run="0" * 16) for path, _ in _SHOWN)]
DONE = [path.format(run="0" * 16) for path, _ in _DONE]


@pytest.fixture
def stranger(session):
    return TestClient(build_app(session), base_url=ADDRESS, follow_redirects=False)


@pytest.mark.long
@pytest.mark.parametrize("path", [*SHOWN, "/nowhere", "/?token=", "/?token=guess", "/plan?token=x"])
def test_no_page_without_the_token(stranger, path):
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert answer.text.startswith("This page needs the address")
    assert "set-cookie" not in answer.headers


@pytest.mark.long
@pytest.mark.parametrize("path", DONE)
def test_no_form_without_the_token(stranger, session, path):
    text = session.draft.text
    answer = stranger.post(path, data={"form_token": session.own.form, "k": "2"})
    assert answer.status_code == 403
    assert session.draft.text == text


def test_the_address_works_once(session):
    address = session.own.address
    client = TestClient(build_app(session), base_url=ADDRESS, follow_redirects=False)
    answer = client.get(address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"crowdcover-{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.get("/plan").status_code == 200
    assert client.get(address).status_code == 303  # the same browser
    other = TestClient(build_app(session), base_url=ADDRESS)
    assert other.get(address).status_code == 403


@pytest.mark.long
@pytest.mark.parametrize("host", [f"elsewhere.invalid:{PORT}", f"localhost:{PORT}", "127.0.0.1"])
def test_no_other_host(session, host):
    client = visit(session)
    assert client.get("/plan", headers={"host": host}).status_code == 421
    spent = TestClient(build_app(session), base_url=ADDRESS)
    assert spent.get(session.own.address, headers={"host": host}).status_code == 421


@pytest.mark.long
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://elsewhere.invalid"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_no_form_of_another_page(session, headers):
    client, text = visit(session), session.draft.text
    fields = {"form_token": session.own.form, "text": "name = 'x'"}
    assert client.post("/plan/text", data=fields, headers=headers).status_code == 403
    assert session.draft.text == text
    own = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}
    assert client.post("/plan/text", data=fields, headers=own).status_code == 200
    assert session.draft.text == "name = 'x'"


@pytest.mark.parametrize("token", ["", "guess", "\u00e9"])
def test_no_form_without_its_own_token(session, token):
    client, text = visit(session), session.draft.text
    answer = client.post("/plan/text", data={"form_token": token, "text": ""})
    assert answer.status_code == 403
    assert session.draft.text == text


def test_other_bodies_and_methods_are_refused(session):
    client, text = visit(session), session.draft.text
    assert client.post("/plan/text", json={"text": ""}).status_code == 415
    many = {"form_token": session.own.form, "text": "#" * (5 << 20)}
    assert client.post("/plan/text", data=many).status_code == 413
    assert client.put("/plan").status_code == 405
    assert session.draft.text == text


def test_pages_load_nothing_from_elsewhere_and_are_not_stored(session):
    client = visit(session)
    for path in ("/plan", "/try", "/make", "/waiting", "/style.css"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
        assert headers["cache-control"] == "no-store"
        assert "script" not in client.get(path).text
    assert "http" not in client.get("/style.css").text


@pytest.mark.parametrize(
    "path",
    [
        "/waiting/../../etc/passwd/report",
        "/waiting/..%2f..%2fvault/report",
        "/release/../people.csv",
        "/release/manifest.json",
        "/people.csv",
    ],
)
def test_no_file_but_the_reports(planned, path):
    answer = visit(planned).get(path)
    assert answer.status_code in (400, 404)
    assert "ident-0000" not in answer.text


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["../other.toml", "/tmp/other.toml", "other.txt", ".toml", "", "a/b.toml", "-x.toml"]
)
def test_a_plan_is_saved_in_its_folder_only(session, order, name):
    before = sorted(order.folder.parent.rglob("*"))
    answer = post(visit(session), session, "/plan/save", file=name)
    assert "give the name of a file there that ends with .toml" in answer.text
    assert sorted(order.folder.parent.rglob("*")) == before
