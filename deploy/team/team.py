"""`make team`: the services of a team, two months of a series, and a release that waits.

    python deploy/team/team.py --folder crowdcover-team            # leaves the pages open
    python deploy/team/team.py --folder crowdcover-team --check    # ends when all is done

Month 1 is refused: too many women fit only rows that show one value. With a larger k it is
published after an approval in Prefect's form. Month 2 has far more women, so it is refused; the
operator accepts that with a note, and the officer approves in a terminal. Month 3 waits for you.
"""

import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from services import COMPOSE, Team, running, told

PLAN = Path(__file__).with_name("women.toml")
NAME, DEPLOYMENT = "women", "release/women"
OFFICER = {
    "decision": "approve",
    "name": "Ada Lovelace",
    "note": "k = 20 instead of 5: few crowds show one value, below the limit of 5 %",
}
BY = ["--by", "Grace Hopper", "--note", "few crowds show one value; the larger table was announced"]
REFUSED, CURED = "k = 5 ", "k = 20"
MOUNTED = ("plans", "data", "releases")
NOTE = "the second half of the survey has arrived"
LONGEST = 300.0


def main() -> None:
    """Bring the services up, run the months, leave the pages open."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("crowdcover-team"))
    parser.add_argument("--check", action="store_true", help="end when all is done")
    given = parser.parse_args()
    for each in (signal.SIGINT, signal.SIGTERM):  # also where a shell has both ignored
        signal.signal(each, signal.default_int_handler)
    folder = _prepared(given.folder.resolve())
    if _containers():
        _with_compose(folder, check=given.check)
        return
    print("no container runtime answers: the services of compose.yaml run as processes", flush=True)
    team = Team.of(folder, CROWDCOVER_TIMEZONE="Europe/Rome")
    with running(team) as serve_again, told(team) as inbox:
        _course(folder, team.url, serve_again, [_beside("crowdcover")], folder / "vault")
        print("The alarms have told:", "; ".join(_list_subjects(inbox)), flush=True)
        _stay(check=given.check)


def _list_subjects(inbox: Path) -> list[str]:
    """What the messages are about that a webhook received."""
    messages = [json.loads(line) for line in inbox.read_text("utf-8").splitlines()]
    # Prefect may send a text of JSON.
    return [(json.loads(m) if isinstance(m, str) else m)["subject"] for m in messages]


def _prepared(folder: Path) -> Path:
    """An empty folder with a plan and the folders that compose.yaml mounts."""
    if folder.exists() and not (folder / "plans" / PLAN.name).exists():
        raise SystemExit(f"{folder} exists and is no team's folder; choose another --folder")
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("plans", "data", "releases", "vault", "prefect"):
        (folder / name).mkdir(parents=True)
    (folder / "vault").chmod(0o700)
    shutil.copyfile(PLAN, folder / "plans" / PLAN.name)
    _write(folder, 0, 3_500)
    return folder


def _write(folder: Path, first: int, last: int) -> None:
    """The women of a month: rows of the survey, each with a number of her own.

    The survey's file is sorted by `affairs`. The numbers mix it: women who come in one month hide
    among each other, and in a sorted month all crowds would show one value.
    """
    spec = find_spec("statsmodels")
    assert spec is not None
    assert spec.origin is not None
    table = Path(spec.origin).parent / "datasets/fair/fair.csv"
    with table.open(newline="") as handle:
        header, *rows = csv.reader(handle)
    mixed = [number * 2999 % 6367 for number in range(1, len(rows) + 1)]  # 6367 is a prime
    women = sorted([f"W{number:05d}", *row] for number, row in zip(mixed, rows, strict=True))
    aside = folder / "data" / "women.new"
    with aside.open("w", newline="") as handle:
        csv.writer(handle).writerows([["id", *header], *women[first:last]])
    aside.replace(folder / "data" / "women.csv")


def _containers() -> bool:
    """Whether a container runtime with compose answers."""
    if shutil.which("docker") is None:
        return False
    asked = (["docker", "compose", "version"], ["docker", "info"])
    tried = [subprocess.run(each, capture_output=True, check=False) for each in asked]
    return all(each.returncode == 0 for each in tried)


def _with_compose(folder: Path, *, check: bool) -> None:
    """The same course with containers."""
    mounted = {f"CROWDCOVER_{name.upper()}": str(folder / name) for name in MOUNTED}
    os.environ.update(
        mounted, DATABASE_PASSWORD=os.urandom(16).hex(), CROWDCOVER_TIMEZONE="Europe/Rome"
    )  # every call of compose reads its file, which wants them
    compose = ["docker", "compose", "--file", str(COMPOSE), "--project-name", "crowdcover-team"]
    (folder / "releases").chmod(0o777)  # the container's account writes there
    subprocess.run([*compose, "up", "--detach", "--build", "--wait"], check=True)
    try:
        program = [*compose, "exec", "-T", "plans", "crowdcover"]
        again = ["restart", "plans"], ["up", "--detach", "--wait", "plans"]

        def serve_again() -> None:
            for each in again:
                subprocess.run([*compose, *each], check=True)

        _course(folder, "http://127.0.0.1:4200", serve_again, program, Path("/vault"))
        _stay(check=check)
    finally:
        subprocess.run([*compose, "down", "--volumes"], check=True)


def _course(
    folder: Path, url: str, serve_again: Callable[[], None], program: Sequence[str], vault: Path
) -> None:
    """A refusal and its cure, two months of the series, and a third that waits.

    `program` is the command crowdcover where the plans are served, `vault` the vault there.
    """
    os.environ["PREFECT_API_URL"] = f"{url}/api"
    from prefect.flow_runs import resume_flow_run

    refused = _run("month 1 is asked for with k = 5", "FAILED")
    print("   ", refused.state.message)
    plan = folder / "plans" / PLAN.name
    plan.write_text(plan.read_text("utf-8").replace(REFUSED, CURED), "utf-8")
    serve_again()
    first = _run("the plan says k = 20, and month 1 is asked for again", "PAUSED")
    _told(program, vault)
    resume_flow_run(first.id, run_input=OFFICER)
    _until(first.id, "COMPLETED", "month 1 is approved in Prefect's form")
    _write(folder, 150, 6_000)
    refused = _run("month 2 has far more women", "FAILED")
    print("   ", refused.state.message)
    accept = {"rows": {"limit": 1, "note": NOTE}}
    second = _run("the operator accepts that", "PAUSED", accept=accept)
    run = _told(program, vault)
    approve = [*program, "approve", run, "--vault", str(vault), "--quiet", *BY]
    subprocess.run(approve, check=True, stdout=subprocess.DEVNULL)
    _until(second.id, "COMPLETED", "month 2 is approved in a terminal")
    _write(folder, 300, 6_366)
    third = _run("month 3 waits for you", "PAUSED")
    _told(program, vault)
    versions = sorted(path.name for path in (folder / "releases" / NAME).glob("v*"))
    assert versions == ["v1", "v2"], versions
    print(
        f"""
Open in a browser:
  {url}/runs                                  published, refused and waiting runs
  {url}/runs/flow-run/{third.id}   the run that waits: press Resume
  {url}/artifacts                             guarantee, utility and checks by version
  {url}/deployments                           the plan, its schedule, Custom run
Releases: {folder / "releases" / NAME}: {", ".join(versions)}
Vault (secret): {vault}
""",
        flush=True,
    )


def _run(what: str, expected: str, **parameters: Any) -> Any:
    """Start a run of the deployment; wait until it ends in a type of state."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name(DEPLOYMENT)
        given = {**deployment.parameters, **parameters}
        run = client.create_flow_run_from_deployment(deployment.id, parameters=given)
    return _until(run.id, expected, what)


def _until(run: Any, expected: str, what: str) -> Any:
    """Wait for a type of state of a flow run."""
    from prefect.client.orchestration import get_client

    ends, end = (
        {"COMPLETED", "FAILED", "CRASHED", "CANCELLED", "PAUSED"},
        time.monotonic() + LONGEST,
    )
    with get_client(sync_client=True) as client:
        while time.monotonic() < end:
            found = client.read_flow_run(run)
            kind = found.state.type.value if found.state is not None else ""
            if kind == expected:
                print(f"{what}: {found.name}, {found.state.name}", flush=True)
                return found
            if kind in ends and not (kind == "PAUSED" and expected == "COMPLETED"):
                raise SystemExit(f"{what}: {kind} instead of {expected}: {found.state.message}")
            time.sleep(0.5)
    raise SystemExit(f"{what}: no {expected} within {LONGEST:.0f} s")


def _told(program: Sequence[str], vault: Path) -> str:
    """Print what the officer reads first of the release that waits; return its run."""
    asked = [*program, "waiting", "--vault", str(vault), "--json"]
    found = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout
    (waiting,) = json.loads(found)["waiting"]
    print(f"    {waiting['verdict']}", flush=True)
    return str(waiting["run"])


def _beside(program: str) -> str:
    return str(Path(sys.executable).with_name(program))


def _stay(*, check: bool) -> None:
    """Wait for Ctrl-C."""
    if check:
        print("all is done", flush=True)
        return
    print("Ctrl-C ends all services", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("all services have ended")
