"""What the `crowdcover` command takes: its commands, their arguments and their help."""

import argparse
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

Command = Callable[[argparse.Namespace], int]

EXAMPLES = {
    "release": "crowdcover release examples/adult.toml --set privacy.k=10",
    "audit": "crowdcover audit releases/adult/v1 --plan adult.toml",
    "show": "crowdcover show releases/adult/v1 --json",
    "plan": "crowdcover plan people.csv > people.toml",
    "serve": 'crowdcover serve people.toml --cron "0 2 1 * *"',
    "approve": 'crowdcover approve 0123456789abcdef --plan people.toml --by "Ada Lovelace" --note "read and agreed"',
    "reject": 'crowdcover reject 0123456789abcdef --vault vault --by "Ada Lovelace" --note "raise k for villages"',
    "reopen": "crowdcover reopen 0123456789abcdef --plan people.toml",
    "demo": "crowdcover demo",
}


def parser(runs: Mapping[str, Command]) -> argparse.ArgumentParser:
    """All commands; `runs` has what each does."""
    whole = argparse.ArgumentParser(
        prog="crowdcover",
        description="Turn a private table into a release in which everyone hides in a crowd of the size they demand.",
        epilog="Exit codes: 0 done, 2 plan refused, 3 source refused, 4 a guarantee does not hold, 5 a cluster failed, "
        "6 waits for approval, 1 anything else.",
    )
    whole.add_argument("--version", action="version", version=f"crowdcover {version('crowdcover')}")
    commands = whole.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, does: str) -> argparse.ArgumentParser:
        words = does[0].upper() + does[1:] + "."
        command = commands.add_parser(
            name, help=does, description=words, epilog="Example: " + EXAMPLES[name]
        )
        command.add_argument("--quiet", action="store_true", help="print results and refusals only")
        command.set_defaults(run=runs[name])
        return command

    command = add(
        "release", "run plans from source to published release; prints the release folders last"
    )
    command.add_argument(
        "plans", type=Path, nargs="+", metavar="PLAN.toml", help="more than one run side by side"
    )
    command.add_argument(
        "--workers",
        type=_positive,
        default=2,
        help="how many of them at a time (default: %(default)s)",
    )
    _overrides(command)
    command = add("audit", "recompute every guarantee of a release from its source and its bytes")
    command.add_argument("release", type=Path, metavar="RELEASE_DIR")
    command.add_argument("--plan", type=Path, required=True, metavar="PLAN.toml")
    _overrides(command)
    command = add("show", "what was released, what is guaranteed, what is left to read")
    command.add_argument("release", type=Path, metavar="RELEASE_DIR")
    command.add_argument("--json", action="store_true", help="print the manifest as it is")
    command = add("plan", "write a commented starter plan for a table to standard output")
    command.add_argument(
        "source", type=Path, metavar="SOURCE", help="CSV (.gz), Parquet or Arrow file"
    )
    command.add_argument(
        "--output", type=Path, metavar="PLAN.toml", help="write it there instead; never overwrites"
    )
    command = add("serve", "serve a plan as a Prefect deployment until stopped")
    _plan_arguments(command)
    command.add_argument("--cron", metavar='"M H D M W"', help="when to run, in UTC")
    for name, does in (
        ("approve", "let a release be published that waits for approval; shows its numbers first"),
        ("reject", "refuse a release that waits for approval: nothing is published"),
        ("reopen", "ask once more for an approval that was refused, or not given in time"),
    ):
        command = add(name, does)
        _waiting(command)
        if name != "reopen":
            _signature(command)
    command = add("demo", "release a real survey that ships inside a dependency; needs no network")
    command.add_argument(
        "--folder",
        type=Path,
        default=Path("crowdcover-demo"),
        help="where to write (default: %(default)s)",
    )
    return whole


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _plan_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("plan", type=Path, metavar="PLAN.toml")
    _overrides(command)


def _waiting(command: argparse.ArgumentParser) -> None:
    """Which run, and where its vault is."""
    command.add_argument(
        "run_id", metavar="RUN_ID", help="as the release that waits has said it: 16 hex digits"
    )
    command.add_argument("--vault", type=Path, metavar="FOLDER", help="the vault, or else:")
    command.add_argument("--plan", type=Path, metavar="PLAN.toml", help="a plan, whose vault it is")
    _overrides(command)


def _signature(command: argparse.ArgumentParser) -> None:
    """Name and note; both enter the manifest and the report."""
    command.add_argument(
        "--by", required=True, metavar="NAME", help="who decides; published in the manifest"
    )
    command.add_argument(
        "--note", default="", metavar="TEXT", help="one line; published in the manifest"
    )


def _overrides(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY.PATH=VALUE",
        dest="overrides",
        help="override any key of the plan; may be given more than once; paths given here start at the current folder",
    )
