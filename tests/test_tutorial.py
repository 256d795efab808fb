"""docs/tutorial.md, word for word: its commands are typed in terminals, its output is looked for.

What a person does with an editor or in a browser is done here: the edits that steps 3, 4 and 11
describe, and the form of step 11. Its two ports are replaced by free ones.
"""

import contextlib
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from fcntl import ioctl
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ

import pytest
import tomlkit

from tests.conftest import DATABASE

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs/tutorial.md"
LONGEST = 600  # seconds of one command
PROMPT = re.compile(r"@@(\d+)@@ ")
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")
AT_WORK = re.compile(r"[\u2800-\u28ff\u2501\u2578\u257a]")  # the row that says what is at work
SECONDS = re.compile(r"\(\d+ s\)")
NUMBER = re.compile(r"\d[\d,.:-]*\d|\d")


class Terminal:
    """A shell in a terminal of 80 columns: what was typed there, and what it shows."""

    def __init__(self, folder, environment):
        self._master, slave = pty.openpty()
        ioctl(self._master, TIOCSWINSZ, pack("HHHH", 50, 80, 0, 0))
        self._shell = subprocess.Popen(
            ["setsid", "--ctty", "bash", "--norc", "--noprofile", "-i"],
            stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environment,
        )  # fmt: skip
        os.close(slave)
        self._raw = b""
        threading.Thread(target=self._read, daemon=True).start()
        self.type("stty -echo; PS1='@@$?@@ '; PS2=''; bind 'set enable-bracketed-paste off'")
        until(lambda: len(PROMPT.findall(self.text)) > 0)
        self._seen = len(self.text)

    @property
    def text(self):
        return CONTROLS.sub("", self._raw.decode("utf-8", "replace")).replace("\r", "\n")

    def type(self, command):
        os.write(self._master, f"{{ {command}\n}}\n".encode())  # one prompt for all its lines

    def call(self, command):
        """What a command printed, and its exit code."""
        before = self._seen
        self.type(command)
        found = until(lambda: PROMPT.search(self.text, before), command)
        self._seen = found.end()
        return self.text[before : found.start()], int(found[1])

    def await_words(self, words, since=0):
        """Wait until words are shown, numbers aside."""
        until(lambda: find_missing(words, self.text[since:]) is None, words)

    def interrupt(self):
        os.write(self._master, b"\x03")

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGHUP)
        self._shell.kill()
        self._shell.wait()

    def _read(self):
        with contextlib.suppress(OSError):  # the shell has ended
            while data := os.read(self._master, 65536):
                self._raw += data


def until(ask, what=""):
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        if answer := ask():
            return answer
        time.sleep(0.2)
    raise AssertionError(f"it did not come in {LONGEST} s: {what}")


def find_missing(words, shown):
    """The part of the document's output that is not shown, in order; None if all of it is.

    `...` stands for anything. Numbers, line ends and seconds differ from run to run.
    """
    there = _join_lines(line for line in shown.split("\n") if not AT_WORK.search(line))
    place = 0
    for part in re.split(r"(?:^|(?<=\s))\.\.\.(?=\s|$)|\.\.\.(?=[\s/\"])", words):
        pattern = re.escape(NUMBER.sub("\0", _join_lines(part.split("\n"))))
        found = re.compile(pattern.replace("\0", NUMBER.pattern)).search(there, place)
        if found is None:
            return part
        place = found.end()
    return None


def _join_lines(lines):
    return " ".join(SECONDS.sub("", " ".join(lines)).split())


def read_steps():
    """The blocks of each step: their language, their text."""
    text = TUTORIAL.read_text(encoding="utf-8")
    parts = re.split(r"^## (\d+)\. .*$", text.split("\n## Next")[0], flags=re.MULTILINE)[1:]
    blocks = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
    return {
        int(number): [
            (found[2], re.sub(rf"^{found[1]}", "", found[3], flags=re.MULTILINE))
            for found in blocks.finditer(body)
        ]
        for number, body in zip(parts[::2], parts[1::2], strict=True)
    }


def read_commands(block):
    """The commands of a block, each with what it prints; without `$` all of it is commands."""
    if "$ " not in block[:2]:
        return [(block.rstrip("\n"), "")]
    commands = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        while command.endswith("\\"):
            more, _, printed = printed.partition("\n")
            command += f"\n{more}"
        commands.append((command, printed))
    return commands


class Person:
    """Somebody who follows the tutorial, with up to three terminals."""

    def __init__(self, tree, environment, ports):
        self.tree, self.environment, self.ports = tree, environment, ports
        self.first = self.open()
        self.names = {}  # what differs from the document: the run that a terminal names

    def open(self, folder=""):
        return Terminal(self.tree / folder, self.environment)

    @property
    def folder(self):
        return self.tree / "first"

    def put(self, text):
        """A text of the document with the ports and names of here."""
        for before, after in {**self.ports, **self.names}.items():
            text = text.replace(before, after)
        return text

    def follow(self, block, terminal=None):
        """Type the commands of a block, and look for what they print."""
        shown = ""
        for command, printed in read_commands(block):
            shown, code = (terminal or self.first).call(self.put(command))
            assert code == 0, (command, shown)
            missing = find_missing(self.put(printed), shown)
            assert missing is None, f"{command} does not print\n{missing}\nbut\n{shown}"
        return shown

    def edit(self, path, settings):
        """Settle every question of a plan, and enter sections as the document shows them."""
        document = tomlkit.parse((self.folder / path).read_text(encoding="utf-8"))
        tables = [document[name] for name in document if isinstance(document[name], dict)]
        for table in (*tables, *document["columns"].values()):
            table.pop("decide", None)
        for name, section in settings.items():
            entries = section.items() if name == "columns" else [(name, section)]
            place = document["columns"] if name == "columns" else document
            for key, values in entries:
                place.setdefault(key, tomlkit.table()).update(values)
        (self.folder / path).write_text(tomlkit.dumps(document), encoding="utf-8")


@pytest.fixture
def person(tmp_path):
    tree, home = tmp_path / "tree", tmp_path / "home"
    (home / ".prefect").mkdir(parents=True)
    if DATABASE.exists():
        shutil.copyfile(DATABASE, home / ".prefect/prefect.db")
    left = shutil.ignore_patterns(".venv", ".git", "__pycache__", "build", "tests", ".*_cache")
    shutil.copytree(ROOT, tree, ignore=left, symlinks=True)
    (tree / ".venv").symlink_to(sys.prefix)
    for name in ("requirements.lock", "pyproject.toml"):
        os.utime(tree / name, (0, 0))  # what is installed was made of them
    kept = {
        name: value
        for name, value in os.environ.items()
        if "PREFECT" not in name
        and name not in {"COLUMNS", "CROWDCOVER_WAIT", "PYTEST_CURRENT_TEST"}
    }
    environment = {**kept, "HOME": str(home), "TERM": "xterm", "VIRTUAL_ENV_DISABLE_PROMPT": "1"}
    opened = Person(tree, environment, dict(zip(("4200", "8765"), take_ports(), strict=True)))
    terminals = [opened.first]
    make = opened.open
    opened.open = lambda folder="": terminals.append(make(folder)) or terminals[-1]
    yield opened
    for terminal in terminals:
        terminal.close()


def take_ports():
    """Two ports that are free now."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return [str(each.getsockname()[1]) for each in (one, other)]


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_the_tutorial_from_an_empty_folder_to_its_last_step(person):
    steps = read_steps()
    assert list(steps) == list(range(1, 14))
    release_one_table(person, steps)
    begin_a_series(person, steps)
    second, third = serve_it(person, steps)
    pass_two_months(person, steps)
    (watch,) = (text for _, text in steps[13])
    person.follow(watch)
    person.follow("kill %1")
    for terminal in (third, second):
        terminal.interrupt()
        until(lambda shown=terminal: PROMPT.search(shown.text[-40:]), "the end of a server")


def release_one_table(person, steps):
    ((_, set_up),) = steps[1]
    shown = person.follow(set_up)
    assert "6,366 people, a published row for each" in shown
    assert (person.tree / "crowdcover-demo/releases/fair/v1/manifest.json").is_file()
    (_, propose), (_, part) = steps[2]
    person.follow(propose)
    proposed = (person.folder / "fair.toml").read_text(encoding="utf-8").splitlines()
    assert [line for line in part.splitlines() if line not in proposed] == []
    (_, refused), *edits = steps[3]
    person.follow(refused)
    ordered = {name: {"kind": "numeric", "bins": "none"} for name in ("rate_marriage", "educ")}
    for settings in [*(tomllib.loads(text) for _, text in edits), {"columns": ordered}]:
        person.edit("fair.toml", settings)
    (_, refused), (_, cure) = steps[4]
    person.follow(refused)
    person.edit("fair.toml", tomllib.loads(cure))
    ((_, release),) = steps[5]
    person.follow(release)
    ((_, look),) = steps[6]
    ((command, printed),) = read_commands(look)
    shown, code = person.first.call(command)
    assert (code, shown.split()[0]) == (0, printed.split()[0])
    row = re.compile(r"[0-9a-f]{16}(,(\*|[\d.|]+)){6}")
    assert [row.fullmatch(line) is None for line in shown.split()[1:]] == [False] * 3
    for number in (7, 8):
        for _, text in steps[number]:
            person.follow(text)


def begin_a_series(person, steps):
    (_, retract), (_, prepare), (_, differs) = steps[9]
    person.follow(retract)
    person.follow(prepare)
    plan = tomllib.loads((person.folder / "plans/women.toml").read_text(encoding="utf-8"))
    for name, section in tomllib.loads(differs).items():
        for key, value in section.items() if isinstance(section, dict) else ():
            told = plan[name][key]
            assert (told | value == told) if isinstance(value, dict) else told == value, (name, key)
    assert plan["name"] == "women"
    assert "anonymizer" not in plan


def serve_it(person, steps):
    (_, server), (_, serve), (_, alarms) = steps[10]
    second = person.open()
    second.type(person.put(server))
    second.await_words("Check out the dashboard")
    third = person.open("first")
    third.type(person.put(serve))
    third.await_words("are being served")
    person.follow(alarms)
    return second, third


def pass_two_months(person, steps):
    (_, run), (_, refused), (_, again), (_, waits) = steps[11]
    person.follow(run)
    person.first.await_words(refused)
    person.edit("plans/women.toml", {"privacy": {"k": 20}})
    person.follow(again)
    person.first.await_words(waits)
    answer_form(person)
    until(lambda: (person.folder / "releases/women/v1/manifest.json").is_file(), "women v1")

    (_, run), (_, refused), (_, accept), (_, decide) = steps[12]
    person.follow(run)
    person.first.await_words(refused)
    person.follow(accept)
    words = '"subject": "women v2 waits for approval"'  # not those of v1
    until(lambda: words in person.first.text, words)
    (look, printed), (approve, _) = read_commands(decide)
    shown, code = person.first.call(look)
    assert code == 0, shown
    (there,), (here,) = (re.findall(r"women, run (\w+)", text) for text in (printed, shown))
    person.names[there] = here
    assert find_missing(person.put(printed.replace("(0.9 %) hide in a ...", "")), shown) is None, (
        shown
    )
    person.follow(f"$ {approve}\n")
    until(lambda: (person.folder / "releases/women/v2/manifest.json").is_file(), "women v2")


def answer_form(person):
    """Resume the run that waits, as the form in Prefect does."""
    program = """
import time
from prefect.client.orchestration import get_client
from prefect.flow_runs import resume_flow_run
with get_client(sync_client=True) as client:
    while not (waits := [run for run in client.read_flow_runs() if run.state.is_paused()]):
        time.sleep(0.5)
note = "k = 20 instead of 5: few crowds show one value"
resume_flow_run(waits[0].id, run_input={"decision": "approve", "name": "Ada", "note": note})
"""
    address = f"http://127.0.0.1:{person.ports['4200']}/api"
    environment = {**person.environment, "PREFECT_API_URL": address}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=LONGEST)
