"""Which server of Prefect is named, and how long a run waits for it."""

import re
import socket
import threading
import urllib.error
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from crowdcover.tasks.orchestration import named_server
from crowdcover.tasks.orchestration.named_server import await_server, find_server_address

URL = "http://127.0.0.1:4200/api"
ONE = f'[profiles.one]\nPREFECT_API_URL = "{URL}"\n[profiles.none]\n'


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A working folder with a folder of Prefect in it; the environment names no server."""
    monkeypatch.chdir(tmp_path)
    for name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    (tmp_path / "prefect").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("prefect/profiles.toml", f'active = "one"\n{ONE}', True),
        ("prefect/profiles.toml", f'active = "none"\n{ONE}', False),
        ("prefect/profiles.toml", "active = [", False),
        ("prefect.toml", f'[api]\nurl = "{URL}"\n', True),
        ("pyproject.toml", f'[tool.prefect.api]\nurl = "{URL}"\n', True),
        ("pyproject.toml", '[project]\nname = "ours"\n', False),
        (".env", f"PREFECT_API_URL={URL}\n", True),
    ],
)
def test_files_of_prefect_may_name_a_server(home, file, text, named):
    (home / file).write_text(text)
    assert find_server_address() == (URL if named else None)


def test_the_environment_goes_before_files(home, monkeypatch):
    (home / "prefect/profiles.toml").write_text(f'active = "none"\n{ONE}')
    monkeypatch.setenv("PREFECT_PROFILE", "one")
    assert find_server_address() == URL
    monkeypatch.setenv("PREFECT_API_URL", "http://two/api")
    assert find_server_address() == "http://two/api"
    monkeypatch.setenv("PREFECT_API_URL", "")
    assert find_server_address() is None


def test_a_folder_that_is_closed_names_none(home, monkeypatch):
    monkeypatch.setenv("PREFECT_HOME", "~nobody-of-this-name/prefect")
    assert find_server_address() is None
    (home / "prefect.toml").mkdir()
    assert find_server_address() is None


@contextmanager
def served(answers, place=("127.0.0.1", 0)):
    """A server that answers these, the last one first, and then 200."""

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            answer = answers.pop() if answers else 200
            if answer is None:
                self.wfile.write(b"SSH-2.0-OpenSSH\r\n")
                return
            self.send_response(answer)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(place, Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/api"
        server.shutdown()


def test_a_server_that_is_away_is_waited_for(waited, capsys):
    with served([503, 503]) as address:
        await_server(address, quiet=False)
    assert waited == [1, 2]
    told = capsys.readouterr().err
    assert re.findall(r"waiting for Prefect's server \((\w+)\)", told) == ["HTTPError"] * 2
    assert "127.0.0.1" not in told


def test_one_that_never_comes_is_left_to_prefect(waited, capsys):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        number = closed.getsockname()[1]
    await_server(f"http://127.0.0.1:{number}/api", quiet=True)
    assert 110 < sum(waited) <= 120
    assert capsys.readouterr().err == ""


def test_one_that_does_not_answer_in_time_is_away(waited, monkeypatch):
    answers = [None, TimeoutError("timed out")]

    @contextmanager
    def ask(*_, **__):
        if (answer := answers.pop()) is not None:
            raise urllib.error.URLError(answer)
        yield

    monkeypatch.setattr(named_server.urllib.request, "urlopen", ask)
    await_server(URL, quiet=True)
    assert waited == [1]


@pytest.mark.parametrize("address", ["http://localhost:42OO/api", "nonsense", "http://[::1/api"])
def test_what_is_no_address_is_left_to_prefect(waited, address):
    await_server(address, quiet=True)
    assert waited == []


def test_what_speaks_another_protocol_is_left_to_prefect(waited):
    with served([None]) as address:
        await_server(address, quiet=True)
    assert waited == []
