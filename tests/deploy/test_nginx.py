"""The recipe for nginx in docs/how-to/sign-in.md: who is let through, and which names go on."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

PAGE = Path(__file__).parents[2] / "docs/how-to/sign-in.md"
PROGRAMS = ("nginx", "htpasswd", "openssl")
PERSON, PASSWORD = "ada@example.org", "zq7password"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(shutil.which, PROGRAMS)),
        reason="needs nginx-light, apache2-utils and openssl",
    ),
]


class Told(BaseHTTPRequestHandler):
    """Stands for Prefect's server: answers with the headers that it was sent."""

    def do_GET(self):
        body = json.dumps(self.headers.items()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing is printed."""


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """The address of an nginx with the recipe of the page; files and ports are of this machine."""
    folder = tmp_path_factory.mktemp("nginx")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Told)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    subject = ["-subj", "/CN=releases.example.org", "-days", "2", "-nodes", "-newkey", "rsa:2048"]
    files = ["-keyout", folder / "releases.key", "-out", folder / "releases.pem"]
    subprocess.run(["openssl", "req", "-x509", *subject, *files], check=True, capture_output=True)
    # As the page says, with the password on the command line: nobody types here.
    add = ["htpasswd", "-b", "-B", "-c", folder / "people", PERSON, PASSWORD]
    subprocess.run(add, check=True, capture_output=True)
    recipe = "server {" + PAGE.read_text("utf-8").partition("```\nserver {")[2].partition("```")[0]
    assert "listen 443 ssl;" in recipe
    for there, here in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("127.0.0.1:4200", f"127.0.0.1:{server.server_port}"),
        ("/etc/nginx/", f"{folder}/"),
    ):
        assert there in recipe
        recipe = recipe.replace(there, here)
    temporary = " ".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # Else workers that root starts may not read a folder of the tests.
    account = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{account} daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; {temporary}\n{recipe} }}\n"
    )
    program = ["nginx", "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf"]
    checked = subprocess.run([*program, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen(program)
    try:
        yield f"https://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)
        server.shutdown()
        server.server_close()


def ask(url, headers=(), **how):
    """Ask with a browser's headers; nginx may still be starting."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    for _ in range(100):
        try:
            with httpx.Client(verify=trusting) as client:
                return client.get(url, headers=list(headers), **how)
        except httpx.ConnectError:
            time.sleep(0.1)
    raise AssertionError("nginx does not answer")


def test_nobody_passes_without_a_password(proxy):
    assert ask(proxy).status_code == 401
    assert ask(proxy, auth=(PERSON, "another")).status_code == 401
    assert ask(proxy, [("X-Forwarded-Email", PERSON)]).status_code == 401


@pytest.mark.parametrize(
    "forged",
    [
        [],
        [("X-Forwarded-Email", "eve@example.org")],
        [("x-forwarded-email", "eve@example.org"), ("X-FORWARDED-EMAIL", "eve@example.org")],
        [("X_Forwarded_Email", "eve@example.org")],
        [("Connection", "X-Forwarded-Email"), ("X-Forwarded-Email", "eve@example.org")],
    ],
)
def test_the_server_is_told_who_signed_in_and_nothing_that_a_browser_says(proxy, forged):
    answer = ask(proxy, forged, auth=(PERSON, PASSWORD))
    assert answer.status_code == 200
    told = [(name.lower().replace("_", "-"), value) for name, value in answer.json()]
    assert [value for name, value in told if name == "x-forwarded-email"] == [PERSON]
    assert "eve@example.org" not in answer.text
    # The password stays with the proxy.
    assert "authorization" not in dict(told)
