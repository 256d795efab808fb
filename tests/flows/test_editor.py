"""Plans in an editor: a language server for TOML reads the `#:schema` line and says what is wrong.

The server is tombi, as VS Code, Neovim, Helix and others start it: JSON-RPC over its standard
streams, without the network.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crowdcover.flows.plan.schema import LINE
from tests.flows.orders import Order
from tests.flows.processes import crowdcover

ROOT = Path(__file__).parents[2]
SERVER = Path(sys.executable).with_name("tombi")
ERROR = 1  # DiagnosticSeverity
FILE = "crowdcover.table.schema.json"
PLAN = """\
name = "people"

[source]
path = "people.csv"

[columns.age]
role = "quasi"
kind = "numeric"

[privacy]
k = 5

[anonymizer]
name = "adaptive"
epsilon = 2
"""

pytestmark = pytest.mark.slow


class Editor:
    """An editor with one language server."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [SERVER, "lsp", "--offline"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "HOME": str(folder)},
        )
        self.number = 0
        self.ask("initialize", processId=None, rootUri=folder.as_uri(), capabilities={})
        self.tell("initialized")

    def tell(self, method, **params):
        self._send({"method": method, "params": params})

    def ask(self, method, **params):
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        return self._wait(lambda each: each.get("id") == self.number and "method" not in each)

    def opened(self, path):
        """Open a file; the diagnostics that the server publishes of it, as (line, message)."""
        uri, text = path.as_uri(), path.read_text("utf-8")
        about = {"uri": uri, "languageId": "toml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=about)
        answer = self._wait(
            lambda each: (
                each.get("method") == "textDocument/publishDiagnostics"
                and each["params"]["uri"] == uri
            )
        )
        lines = text.splitlines()
        return [
            (lines[each["range"]["start"]["line"]], each["message"], each["severity"])
            for each in answer["params"]["diagnostics"]
        ]

    def close(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _wait(self, wanted):
        """The next message that is wanted; what the server asks meanwhile is answered with null."""
        while True:
            length = 0
            while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            assert length, "the server ended"
            message = json.loads(self.process.stdout.read(length))
            if wanted(message):
                return message
            if "id" in message and "method" in message:
                self._send({"id": message["id"], "result": None})


@pytest.fixture
def editor(tmp_path):
    editor = Editor(tmp_path)
    yield editor
    editor.close()


def saved(folder, text, name="plan.toml"):
    """A plan in a folder that has the schema."""
    assert crowdcover("schema", "--kind", "table", "--output", folder / FILE).code == 0
    path = folder / name
    path.write_text(f"{LINE}{FILE}\n{text}", encoding="utf-8")
    return path


def test_a_good_plan_has_no_diagnostics(editor, tmp_path):
    assert editor.opened(saved(tmp_path, PLAN)) == []


@pytest.mark.parametrize(
    ("good", "wrong", "said"),
    [
        ('role = "quasi"', 'rloe = "quasi"', '"rloe" is not allowed'),
        ('role = "quasi"', 'role = "kuasi"', '"kuasi"'),
        ("epsilon = 2", 'epsilon = "two"', "Float, but found String"),
        ("epsilon = 2", "sweeps = 2", '"sweeps" is not allowed'),
        ('path = "people.csv"', "path = 3", "String, but found Integer"),
    ],
    ids=["a wrong key", "a wrong value", "a wrong type", "another method's key", "a number"],
)
def test_a_wrong_plan_is_underlined_where_it_is_wrong(editor, tmp_path, good, wrong, said):
    found = editor.opened(saved(tmp_path, PLAN.replace(good, wrong)))
    assert [(line, severity) for line, message, severity in found if said in message] == [
        (wrong, ERROR)
    ]


@pytest.mark.parametrize("name", ["adult", "facebook", "collins", "openpayments-series"])
def test_examples_have_no_diagnostics(editor, name):
    assert editor.opened(ROOT / "examples" / f"{name}.toml") == []


def test_a_starter_plan_has_no_diagnostics(editor, tmp_path):
    plan = tmp_path / "starter.toml"
    assert crowdcover("plan", Order(tmp_path / "a").source, "--output", plan).code == 0
    assert editor.opened(plan) == []


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("epsilon = 2", "How slowly a hidden bit loses its weight"),
        ('role = "quasi"', "others may know it"),
        ("k = 5", "among how many rows each person hides"),
    ],
)
def test_an_editor_shows_what_a_key_means(editor, tmp_path, line, meaning):
    path = saved(tmp_path, PLAN)
    assert editor.opened(path) == []
    at = {"line": path.read_text("utf-8").splitlines().index(line), "character": 1}
    told = editor.ask("textDocument/hover", textDocument={"uri": path.as_uri()}, position=at)
    assert meaning in told["result"]["contents"]["value"]
