"""The `crowdcover` command for people and scripts: exit codes, streams and messages."""

import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from anon_core.errors import (
    AnonymityError,
    ClusterError,
    GuaranteeError,
    InfeasibleError,
    InputError,
    LimitError,
)
from crowdcover.flows import cli
from crowdcover.flows.outcome import exit_code
from crowdcover.flows.plan.document import read_document
from crowdcover.flows.plan.plan import PlanError
from crowdcover.storage.approval.approval import DecisionError, WaitingError
from crowdcover.storage.vault.failures import StageError
from crowdcover.storage.vault.refusals import BusyError, FolderError, SecondReleaseError
from tests.flows.asking import ask, have_ended, until
from tests.flows.orders import FILES, STAGES, Order, people, toml_value
from tests.flows.processes import crowdcover
from tests.support.audits import audit_release
from tests.support.commands import call, refusal

COMMAND = str(Path(sys.executable).with_name("crowdcover"))
LONGEST = 180


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    """The command sets variables of Prefect for itself."""
    for name in cli.QUIET_DEFAULTS:
        monkeypatch.setenv(name, os.environ.get(name, cli.QUIET_DEFAULTS[name]))
    for name, level in (
        ("PREFECT_LOGGING_LEVEL", "INFO"),
        ("PREFECT_LOGGING_ROOT_LEVEL", "WARNING"),
    ):
        monkeypatch.setenv(name, os.environ.get(name, level))


def test_only_commands_that_run_flows_wait_long_for_a_server(monkeypatch, tmp_path):
    """A person at a terminal is told earlier that the server is away."""
    patient = {name for name, each in cli.COMMANDS.items() if each.patient}
    assert patient == {"release", "serve", "demo"}
    for arguments, waits in (
        (["release", str(tmp_path / "none.toml")], True),
        (["approve", "0" * 16, "--vault", str(tmp_path), "--by", "Ada"], False),
        (["vault", "verify", "--vault", str(tmp_path)], False),
    ):
        environment = {k: v for k, v in os.environ.items() if k not in cli.PATIENT_CLIENT}
        monkeypatch.setattr(os, "environ", environment)
        with pytest.raises(SystemExit):
            cli.main(arguments)
        assert (environment.keys() >= cli.PATIENT_CLIENT.keys()) == waits


# ---------------------------------------------------------------- help


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_explains_itself_by_an_example(capsys, command):
    code, out, _ = call(capsys, command, "--help")
    assert code == 0
    words = " ".join(out.split())
    assert f"Example: {cli.COMMANDS[command].example}" in words
    assert "--quiet" in words


def test_the_command_lists_its_commands_and_exit_codes(capsys):
    code, out, _ = call(capsys, "--help")
    assert code == 0
    assert all(command in out for command in cli.COMMANDS)
    assert (
        "Exit codes: 0 done, 2 plan refused, 3 source refused, 4 a guarantee does not hold, "
        "5 a cluster failed, "
        "6 waits for approval, 1 any other failure" in " ".join(out.split())
    )
    assert call(capsys, "--version")[1].startswith("crowdcover ")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["release"],
        ["audit", "x"],
        ["show"],
        ["plan"],
        ["measure"],
        ["measure", "x"],
        ["serve"],
        ["serve", "a", "--timezone"],
        ["approve", "--by", "x"],
        ["sign", "x", "--decision", "perhaps", "--key", "x"],
        ["key"],
        ["diff", "x"],
        ["reopen"],
        ["release", "a", "b", "--workers", "0"],
        ["release", "a", "--workers", "x"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2_and_says_what_is_missing(capsys, arguments):
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert "usage: crowdcover" in err
    assert "error: " in err


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (PlanError, 2),
        (SecondReleaseError, 2),
        (InfeasibleError, 2),
        (LimitError, 2),
        (InputError, 3),
        (GuaranteeError, 4),
        (ClusterError, 5),
        (StageError, 1),
        (BusyError, 1),
        (FolderError, 1),
        (AnonymityError, 1),
        (DecisionError, 2),
        (WaitingError, 6),
    ],
)
def test_exit_codes(refusal, code):
    assert exit_code(refusal("words")) == code


def imported_by(released, commands, *slow):
    """Run commands one after another in another process.

    Returns, for each, the slow packages that were imported when it ended, and its exit code.
    """
    places = {
        "FOLDER": str(released.folder_of_v1),
        "SOURCE": str(released.source),
        "PLAN": str(released.plan),
    }
    script = (
        "import json, sys; from crowdcover.flows.cli import main\n"
        "for arguments in json.loads(sys.argv[1]):\n"
        "    try: main(arguments)\n"
        "    except SystemExit as ended: code = ended.code\n"
        f"    slow = {set(slow)} & set(sys.modules)\n"
        "    print('slow:', sorted(slow), 'code:', code, file=sys.stderr)"
    )
    named = [[places.get(each, each) for each in arguments] for arguments in commands]
    command = [sys.executable, "-c", script, json.dumps(named)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True)
    return [line for line in done.stderr.splitlines() if line.startswith("slow: ")]


QUICK = {  # commands that need no flow, and their exit codes
    "release --help": 0,
    "show FOLDER --json": 0,
    "plan SOURCE": 0,
    "audit FOLDER --plan PLAN": 0,
    "retract FOLDER/x --plan PLAN --by Ada --reason why": 2,
    "release PLAN --set privacy.k=0": 2,
}


@pytest.mark.long
def test_what_needs_no_flow_starts_without_prefect_and_great_expectations(released):
    """They take seconds to import."""
    slow = ("prefect", "great_expectations", "pandas", "matplotlib")
    found = imported_by(released, [each.split() for each in QUICK], *slow)
    assert dict(zip(QUICK, found, strict=True)) == {
        each: f"slow: [] code: {code}" for each, code in QUICK.items()
    }


def test_help_starts_without_plans_and_engines(released):
    """They take most of a second to import."""
    slow = ("numba", "pydantic", "polars", "scipy")
    found = imported_by(released, [["--help"], ["approve", "--help"]], *slow)
    assert found == ["slow: [] code: 0"] * 2


# ---------------------------------------------------------------- release


@pytest.mark.slow
def test_the_whole_story_without_a_server(tmp_path):
    """As on a fresh machine: without Prefect, with the installed command, in an own folder."""
    order = Order(tmp_path)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")
    }
    environment |= {"PREFECT_HOME": str(tmp_path / "prefect"), "HOME": str(tmp_path / "home")}

    def ask(*arguments):
        return subprocess.run(
            [COMMAND, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )

    done = ask("release", "people.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{order.folder_of_v1}\n"
    assert "all 18 guarantees hold" in done.stderr
    assert order.versions == ["v1"]
    shown = ask("show", "releases/people/v1")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "people v1: the privacy promise holds" in shown.stdout
    assert ask("show", "releases/people/v1", "--json").stdout == (
        order.folder_of_v1 / "manifest.json"
    ).read_text(encoding="utf-8")
    audited = ask("audit", "releases/people/v1", "--plan", "people.toml")
    assert (audited.returncode, audited.stderr) == (0, "")
    assert audited.stdout.endswith("all 25 guarantees hold\n")
    inside = [order.vault, *order.vault.rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in inside if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in inside if path.is_file()} == {0o600}
    # nothing of it lands where nobody asked for it
    assert {path.name for path in tmp_path.iterdir()} <= {
        "people.toml",
        "people.csv",
        "releases",
        "vault",
        "prefect",
        "home",
    }


@pytest.mark.long
def test_the_last_line_is_the_folder_and_the_log_goes_elsewhere(server, tmp_path):
    order = Order(tmp_path)
    done = crowdcover("release", order.plan)
    assert done.code == 0
    assert done.out == f"{order.folder_of_v1}\n"
    assert done.last_line == str(order.folder_of_v1)
    assert "iteration 1 of at most 11" in done.err
    again = crowdcover("release", order.plan)
    assert (again.code, again.out) == (0, done.out)
    assert "published before and unchanged since: v1" in again.err


@pytest.mark.slow
def test_quiet_prints_the_folder_only(server, released):
    done = crowdcover(
        "release", released.plan, "--quiet", environment={"PREFECT_LOGGING_LEVEL": "INFO"}
    )
    assert (done.code, done.out) == (0, f"{released.folder_of_v1}\n")
    assert done.err == ""


@pytest.mark.slow
def test_quiet_refusals_are_one_line(server, released):
    options = ("--quiet", "--set", "privacy.k=9")
    done = crowdcover(
        "release", released.plan, *options, environment={"PREFECT_LOGGING_LEVEL": "INFO"}
    )
    assert "this source was released already (people v1)" in refusal(
        (done.code, done.out, done.err), 2
    )


@pytest.mark.slow
def test_set_reaches_every_corner_and_its_paths_start_where_one_stands(server, tmp_path):
    order = Order(tmp_path / "plans", checks={"min_utility": 0.999})
    here = tmp_path / "here"
    here.mkdir()
    shutil.copy(order.source, here / "table.csv")
    settings = {
        "name": "renamed",
        "source.path": "table.csv",
        "privacy.k": "{uniform = [2, 3], seed = 1}",
        "columns.age.bins": "{quantiles = 4}",
        "columns.note": '{role = "drop"}',
        "anonymizer.effort": 2,
        "checks.min_utility": 0.1,
        "publish.path": "out",
        "publish.vault": "secrets",
        "publish.formats": '["csv"]',
    }
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    done = crowdcover("release", order.plan, *options, cwd=here)
    assert done.code == 0, done.err
    assert done.last_line == str(here / "out" / "renamed" / "v1")
    manifest = json.loads((here / "out" / "renamed" / "v1" / "manifest.json").read_text())
    assert (manifest["privacy"]["k_min"], manifest["privacy"]["k_max"]) == (2, 3)
    assert manifest["anonymizer"]["effort"] == 2
    assert set(manifest["files"]) == {*FILES} - {"data.parquet", "manifest.json"}
    assert not (order.folder / "vault").exists()
    done = crowdcover(
        "audit", here / "out" / "renamed" / "v1", "--plan", order.plan, *options, cwd=here
    )
    assert done.code == 0, done.out + done.err


@pytest.mark.slow
def test_each_kind_of_refusal_has_its_code_and_its_words(server, tmp_path):
    order = Order(tmp_path)
    for options, code, words in (
        (["privacy.k=91"], 2, "90 of 90 records demand k > 90"),
        (["compute.memory=1b"], 2, "raise [compute] memory"),
        (["columns.note.kind=numeric"], 3, "column 'note': 90 of 90 values are no finite numbers"),
        (
            ["columns.city.kind=binary"],
            3,
            "expect_column_unique_value_count_to_be_between (city); fix the source, or the colu",
        ),
        (["checks.min_utility=0.999"], 4, "is below checks.min_utility = 0.999"),
        (["publish.path=people.csv"], 1, "nothing could be published in"),
    ):
        done = crowdcover(
            "release",
            order.plan,
            *(part for option in options for part in ("--set", option)),
            cwd=tmp_path,
        )
        assert (done.code, done.out) == (code, "")
        assert words in done.err
        assert "Traceback" not in done.err
        last = [line for line in done.err.splitlines() if line.startswith("crowdcover: ")]
        assert len(last) == 1
        assert words in last[0]
        assert done.err.count(last[0].removeprefix("crowdcover: ")) == 1
        assert not order.releases.exists()


@pytest.mark.slow
def test_lowering_the_floor_publishes_what_is_there(server, tmp_path):
    order = Order(tmp_path)
    assert crowdcover("release", order.plan, "--set", "checks.min_utility=0.999").code == 4
    times = order.stage_times()
    assert not order.releases.exists()
    assert crowdcover("release", order.plan, "--set", "checks.min_utility=0.5").code == 0
    assert {**order.stage_times(), "require": times["require"]} == times
    assert audit_release(order.folder_of_v1, order.plan).passed


WRONG = {
    "no such plan": (["release", "none.toml"], 2, "the plan none.toml cannot be read"),
    "a folder for a plan": (["release", "."], 2, "cannot be read; give the path of a TOML file"),
    "a table for a plan": (["release", "people.csv"], 2, "is not TOML"),
    "bytes for a plan": (["release", "bytes"], 2, "is not UTF-8 text"),
    "an empty plan": (["release", "empty"], 2, "name is missing"),
    "no such source": (
        ["release", "people.toml", "--set", "source.path=none.csv"],
        3,
        "none.csv was not found",
    ),
    "an empty source": (
        ["release", "people.toml", "--set", "source.path=empty"],
        3,
        "the source is empty",
    ),
    "bytes for a source": (
        ["release", "people.toml", "--set", "source.path=bytes"],
        3,
        "the source",
    ),
    "a missing column": (
        ["release", "people.toml", "--set", 'columns.iban={role = "drop"}'],
        2,
        "iban",
    ),
    "an unknown key": (
        ["release", "people.toml", "--set", "privacy.l=3"],
        2,
        "unknown key privacy.l",
    ),
    "no key": (["release", "people.toml", "--set", "5"], 2, "--set takes key.path=value"),
    "a vault that is a file": (
        ["release", "people.toml", "--set", "publish.vault=people.csv"],
        1,
        "publish.vault",
    ),
    "a vault of somebody else": (
        ["release", "people.toml", "--set", "publish.vault=others"],
        1,
        "is no vault and open",
    ),
    "a vault around the releases": (
        ["release", "people.toml", "--set", "publish.vault=."],
        2,
        "are nested",
    ),
    "audit without a plan": (["audit", "none", "--plan", "none.toml"], 2, "none was not found"),
    "show a manifest of something else": (["show", "web"], 3, "is no manifest of a release, or"),
    "show it as JSON": (["show", "web", "--json"], 3, "is no manifest of a release, or it is"),
    "plan of nothing": (["plan", "none.csv"], 3, "none.csv was not found"),
    "plan of a folder": (["plan", "web"], 3, "1 of 1 files at source.path are no Parquet"),
    "plan of an empty file": (["plan", "empty"], 3, "the source is empty"),
    "plan over a file": (
        ["plan", "people.csv", "--output", "people.toml"],
        2,
        "people.toml exists or cannot be written",
    ),
    "plan into no folder": (
        ["plan", "people.csv", "--output", "no/plan.toml"],
        2,
        "exists or cannot be written",
    ),
    "demo into a file": (
        ["demo", "--folder", "people.csv"],
        2,
        "fair.toml cannot be written; choose another --folder",
    ),
    "serve nothing": (["serve", "none.toml"], 2, "the plan none.toml cannot be read"),
    "serve at no time": (
        ["serve", "people.toml", "--cron", "daily"],
        2,
        "--cron must be five fields",
    ),
    "serve at an impossible time": (
        ["serve", "people.toml", "--cron", "99 2 * * *"],
        2,
        "--cron must be five fields",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize(("arguments", "code", "words"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input_is_refused_in_one_line(tmp_path, monkeypatch, capsys, arguments, code, words):
    order = Order(tmp_path)
    (tmp_path / "empty").touch()
    (tmp_path / "others").mkdir(mode=0o755)
    (tmp_path / "others" / "letter").touch()
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text('{"name": "app", "version": "1"}')
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert words in refusal(call(capsys, *arguments), code)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert not order.releases.exists()


@pytest.mark.slow
def test_an_unreachable_server_is_named(tmp_path):
    order = Order(tmp_path)
    done = crowdcover(
        "release", order.plan, "--quiet", environment={"PREFECT_API_URL": "http://127.0.0.1:9/api"}
    )
    assert "check PREFECT_API_URL, or remove it from the environment and from" in refusal(
        (done.code, done.out, done.err), 1
    )
    assert not order.releases.exists()


@pytest.mark.long
def test_ctrl_c_stops_and_the_next_run_goes_on(server, tmp_path):
    order = Order(tmp_path)
    done = crowdcover(
        "release",
        order.plan,
        breaks=("crowdcover.kinds.table.pipeline.write", "random_matching", signal.SIGINT),
    )
    assert (done.code, done.out) == (130, "")
    assert "crowdcover: stopped; run the same command again to go on" in done.err
    assert "Traceback" not in done.err
    times = order.stage_times()
    assert set(times) == set(STAGES[: STAGES.index("anonymize")])
    assert order.release() == order.folder_of_v1
    assert order.stage_times().items() >= times.items()


# ---------------------------------------------------------------- show, plan, demo


def test_show_prints_the_manifest_for_people_and_for_programs(released, capsys):
    manifest = json.loads((released.folder_of_v1 / "manifest.json").read_text(encoding="utf-8"))
    code, out, err = call(capsys, "show", released.folder_of_v1, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == manifest
    code, out, err = call(capsys, "show", released.folder_of_v1)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) <= 25
    assert f"crowdcover show {released.folder_of_v1} --all" in " ".join(out.split())
    code, out, err = call(capsys, "show", released.folder_of_v1, "--all")
    assert (code, err) == (0, "")
    for words in (
        "people v1",
        "k = 4 for everyone",
        "90",
        f"{manifest['utility']['suppression']:.3f}",
        "age",
        "city",
        "smokes",
    ):
        assert words in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "FOLDER"],
        pytest.param(["plan", "SOURCE"], marks=pytest.mark.slow),
        pytest.param(["audit", "FOLDER", "--plan", "PLAN"], marks=pytest.mark.slow),
    ],
)
def test_a_reader_that_goes_away_is_no_error_worth_words(released, arguments):
    """As in `crowdcover show v1 | head`."""
    places = {
        "FOLDER": str(released.folder_of_v1),
        "SOURCE": str(released.source),
        "PLAN": str(released.plan),
    }
    reading, writing = os.pipe()
    os.close(reading)
    command = [COMMAND, *(places.get(argument, argument) for argument in arguments)]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    options = {"stderr": subprocess.PIPE, "text": True, "timeout": LONGEST, "env": buffered}
    with os.fdopen(writing, "wb") as end:
        done = subprocess.run(command, stdout=end, check=False, **options)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.long
def test_a_starter_plan_runs_once_it_is_decided(tmp_path, capsys):
    order = Order(tmp_path)
    code, out, _ = call(capsys, "plan", order.source)
    assert code == 0
    assert call(capsys, "plan", order.source, "--output", tmp_path / "starter.toml")[0] == 0
    # Written beside its source, it names the source from there: both can be moved.
    starter = (tmp_path / "starter.toml").read_text(encoding="utf-8")
    assert starter == out.replace(f'path = "{order.source}"', 'path = "people.csv"')
    assert starter != out
    order.plan = tmp_path / "starter.toml"
    code, _, err = call(capsys, "release", order.plan)
    assert code == 2
    assert "the plan leaves 6 questions of `crowdcover plan` open" in err
    assert "recipient of about: who gets it?" in err
    assert "role of columns.diagnosis: may others know the value (quasi)" in err
    assert not order.vault.exists()
    order.plan.write_text(
        "\n".join(line for line in out.splitlines() if not line.startswith("decide"))
    )
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert "ssn" not in order.rows().columns


def test_where_a_starter_plan_says_that_its_source_lies(tmp_path, capsys):
    source, (here, below) = Order(tmp_path).source, (tmp_path / "a b", tmp_path / "plans")
    here.mkdir()
    below.mkdir()
    (here / "data.csv").write_bytes(source.read_bytes())
    whole = toml_value(str(here / "data.csv"))
    for folder, stated in ((here, '"data.csv"'), (tmp_path, '"a b/data.csv"'), (below, whole)):
        output = folder / "new.toml"
        assert call(capsys, "plan", here / "data.csv", "--output", output)[0] == 0
        assert f"\npath = {stated}\n" in output.read_text(encoding="utf-8")
        assert read_document(output, [])["source"]["path"] == str(here / "data.csv")
    with (here / "printed.toml").open("w") as printed:
        program = [sys.executable, "-m", "crowdcover.flows.cli", "plan", "a b/data.csv"]
        subprocess.run(program, stdout=printed, cwd=tmp_path, check=True)
    assert '\npath = "data.csv"\n' in (here / "printed.toml").read_text(encoding="utf-8")


def test_a_plan_for_a_query(tmp_path, capsys):
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table people (city text)")
        connection.executemany("insert into people values (?)", [(c,) for c in "abcab" * 9])
    connection.close()
    uri = f"sqlite:///{path}"
    code, out, _ = call(capsys, "plan", uri, "--query", "select * from people")
    assert code == 0
    assert f'uri = "{uri}"' in out
    assert call(capsys, "plan", uri)[0] == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ([], 3, "say --header or --no-header"),
        (["--header"], 0, "[columns.x0]"),
        (["--no-header"], 0, "[columns.column_1]"),
        (["--names", "who,place"], 0, "[columns.place]"),
        (["--names", "who"], 2, "--names gives 1 names, the source has 2 columns"),
    ],
)
def test_what_the_first_row_is_can_be_said(tmp_path, capsys, options, code, words):
    path = tmp_path / "people.csv"
    path.write_text("".join(f"x{i},y{i}\n" for i in range(90)))
    done, out, err = call(capsys, "plan", path, *options)
    assert done == code
    assert words in out + err


# ---------------------------------------------------------------- serve


@pytest.mark.slow
def test_a_served_plan_runs_when_it_is_asked_to_and_stops_when_it_is_told_to(server, tmp_path):
    order = Order(tmp_path, name=f"served-{os.getpid()}")
    order.releases = tmp_path / "releases" / order.document["name"]
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen(
        [COMMAND, "serve", "people.toml", "--cron", "0 2 1 * *"],
        cwd=tmp_path,
        stdout=log,
        stderr=log,
    )
    try:
        wanted = {"deployments": {"name": {"any_": [order.document["name"]]}}}
        (deployment,) = until(
            lambda: process.poll() is None and ask("/deployments/filter", wanted), bool
        )
        assert [entry["schedule"]["cron"] for entry in deployment["schedules"]] == ["0 2 1 * *"]
        assert [entry["active"] for entry in deployment["schedules"]] == [True]
        assert deployment["parameters"] == {"plan": str(order.plan)}
        assert not order.vault.exists()
        run = ask(f"/deployments/{deployment['id']}/create_flow_run", {})
        this = {"flow_runs": {"id": {"any_": [run["id"]]}}}
        ended = until(lambda: ask("/flow_runs/filter", this), lambda runs: have_ended(runs, 1))
        assert ended[0]["state"]["type"] == "COMPLETED", (tmp_path / "log").read_text()
        assert order.versions == ["v1"]
        text = order.plan.read_text(encoding="utf-8")
        assert _hash_in_log(tmp_path / "log") == {hashlib.sha256(text.encode()).hexdigest()[:16]}
        # The next run reads the plan as it is then.
        order.plan.write_text(f"{text}\n[checks]\nmin_utility = 1.0\n", encoding="utf-8")
        run = ask(f"/deployments/{deployment['id']}/create_flow_run", {})
        this = {"flow_runs": {"id": {"any_": [run["id"]]}}}
        ended = until(lambda: ask("/flow_runs/filter", this), lambda runs: have_ended(runs, 1))
        assert ended[0]["state"]["type"] == "FAILED"
        assert "min_utility" in ended[0]["state"]["message"]
        assert len(_hash_in_log(tmp_path / "log")) == 2
        assert len(list((order.vault / "plans").iterdir())) == 2
        order.plan.write_text(text, encoding="utf-8")
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST) == 0
        assert "Traceback" not in (tmp_path / "log").read_text()
        (left,) = ask("/deployments/filter", wanted)
        assert not left["paused"]
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        log.close()
    assert audit_release(order.folder_of_v1, order.plan).passed
    assert people()[0][0] not in (tmp_path / "log").read_text()


def _hash_in_log(log):
    """The hashes of the plans that runs have read, as the log names them."""
    return set(re.findall(r"SHA-256 of its text ([0-9a-f]{16})", log.read_text()))


def refused_import(name, monkeypatch, capsys):
    """What a command says whose module of this name cannot be imported."""

    def missing(_):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    show = replace(cli.COMMANDS["show"], run=missing)
    monkeypatch.setitem(cli.COMMANDS, "show", show)
    with pytest.raises(SystemExit) as ended:
        cli.main(["show", "."])
    assert ended.value.code == 1
    return capsys.readouterr().err


@pytest.mark.parametrize("module", ["zq7_storage.vault.vault", "zq7_storage"])
def test_a_package_of_another_project_is_named_with_its_place(
    module, tmp_path, monkeypatch, capsys
):
    (tmp_path / "zq7_storage").mkdir()
    (tmp_path / "zq7_storage" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cli, "PACKAGES", ("zq7_storage",))
    assert refused_import(module, monkeypatch, capsys) == (
        f"crowdcover: another package named 'zq7_storage', in {tmp_path}, hides the one of "
        "crowdcover; install crowdcover in an environment of its own\n"
    )


def test_a_package_that_is_not_installed_hides_behind_no_other(monkeypatch, capsys):
    """The image had no package `crowdcover`, and `complete` spoke of another one of its name."""
    monkeypatch.setattr(cli, "PACKAGES", ("zq7_one", "crowdcover"))
    assert refused_import("zq7_one.reading", monkeypatch, capsys) == (
        "crowdcover: the package 'zq7_one' is not installed, and crowdcover consists of zq7_one, "
        f"crowdcover; install crowdcover anew: {cli.INSTALL}\n"
    )


def test_a_package_that_lacks_a_part_is_not_whole(monkeypatch, capsys):
    told = refused_import("crowdcover.zq7", monkeypatch, capsys)
    assert "a part of crowdcover is not installed: crowdcover.zq7 cannot be imported; " in told


def test_a_dependency_that_is_not_installed_is_named(monkeypatch, capsys):
    assert refused_import("zq7_arrays.core", monkeypatch, capsys) == (
        "crowdcover: the package 'zq7_arrays' is not installed; frames need the library alone, "
        f"this command needs the pipeline: {cli.PIPELINE}\n"
    )


def test_a_part_that_a_dependency_lacks_is_unforeseen(monkeypatch, capsys):
    told = refused_import("polars.zq7", monkeypatch, capsys)
    assert told.startswith("crowdcover: unforeseen ModuleNotFoundError at command.py:")


def test_an_unforeseen_error_names_a_line_of_crowdcover(monkeypatch, tmp_path, capsys):
    """An installed crowdcover lies beside the packages of others."""
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    scope = {}
    for name, code in (
        ("polars/inner.py", "def fail(): return 1 / 0"),
        ("crowdcover/outer.py", "def run(options): return fail()"),
    ):
        exec(compile(code, tmp_path / name, "exec"), scope)
    schema = replace(cli.COMMANDS["schema"], run=scope["run"])
    monkeypatch.setitem(cli.COMMANDS, "schema", schema)
    code, _, told = call(capsys, "schema")
    assert code == 1
    assert told == "crowdcover: unforeseen ZeroDivisionError at outer.py:1; please report it\n"


@pytest.mark.parametrize(
    ("arguments", "quiet"),
    [
        (["schema"], False),
        (["schema", "--quiet"], True),
        (["vault", "verify"], False),
        (["vault", "--quiet", "verify"], True),
        (["vault", "verify", "--quiet"], True),
    ],
)
def test_quiet_stands_at_a_command_or_at_its_step(arguments, quiet):
    assert cli.build_parser().parse_args(arguments).quiet is quiet


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["relase", "plan.toml"], "release"),
        (["pln", "people.csv"], "plan"),
        (["plan", "people.csv", "--heder"], "--header"),
        (["plan", "people.csv", "--kind", "tabel"], "table"),
        (["audit", "v1", "--plan", "p.toml", "--quite"], "--quiet"),
        (["vault", "verfy"], "verify"),
    ],
)
def test_the_nearest_command_and_option_is_offered(capsys, arguments, meant):
    with pytest.raises(SystemExit) as caught:
        cli.build_parser().parse_args(arguments)
    assert caught.value.code == 2
    assert f"; did you mean {meant!r}?" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--quiet", "release", "p.toml"], ["schema", "--json"]])
def test_an_option_in_another_place_is_not_offered_as_itself(capsys, arguments):
    with pytest.raises(SystemExit):
        cli.build_parser().parse_args(arguments)
    printed = capsys.readouterr().err
    assert "some commands take it, after their names" in printed
    assert "did you mean" not in printed


def test_nothing_is_offered_where_nothing_is_near(capsys):
    with pytest.raises(SystemExit):
        cli.build_parser().parse_args(["zzz"])
    assert "did you mean" not in capsys.readouterr().err
