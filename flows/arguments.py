"""The commands of `crowdcover`, their arguments and their help."""

import argparse
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

from kinds import KINDS

Command = Callable[[argparse.Namespace], int]

EXAMPLES = {
    "release": "crowdcover release examples/adult.toml --set privacy.k=10",
    "audit": "crowdcover audit releases/adult/v1 --plan adult.toml",
    "show": "crowdcover show releases/adult/v1 --json",
    "plan": "crowdcover plan people.csv > people.toml",
    "measure": "crowdcover measure friends.csv --triangles --json",
    "serve": 'crowdcover serve people.toml --cron "0 2 1 * *"',
    "approve": "crowdcover approve 0123456789abcdef --plan people.toml "
    '--by "Ada Lovelace" --note "read and agreed"',
    "reject": "crowdcover reject 0123456789abcdef --vault vault "
    '--by "Ada Lovelace" --note "raise k for villages"',
    "reopen": "crowdcover reopen 0123456789abcdef --plan people.toml",
    "retract": "crowdcover retract releases/people/v1 --plan people.toml "
    '--by "Ada Lovelace" --reason "k was too small; never sent"',
    "withdraw": "crowdcover withdraw leavers.txt --plan people.toml",
    "demo": "crowdcover demo",
}


def parser(runs: Mapping[str, Command]) -> argparse.ArgumentParser:
    """The parser of all commands; `runs` gives the function of each command by name."""
    whole = argparse.ArgumentParser(
        prog="crowdcover",
        description="Turn private data into a release in which each person hides among at "
        "least as many rows as the plan demands.",
        epilog="Exit codes: 0 done, 2 plan refused, 3 source refused, 4 a guarantee does not "
        "hold, 5 a cluster failed, 6 waits for approval, 1 any other failure.",
    )
    whole.add_argument("--version", action="version", version=f"crowdcover {version('crowdcover')}")
    commands = whole.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, does: str) -> argparse.ArgumentParser:
        description = does[0].upper() + does[1:] + "."
        command = commands.add_parser(
            name, help=does, description=description, epilog="Example: " + EXAMPLES[name]
        )
        command.add_argument("--quiet", action="store_true", help="print results and errors only")
        command.set_defaults(run=runs[name])
        return command

    command = add(
        "release", "make and publish the release of each plan; prints the release folders last"
    )
    command.add_argument(
        "plans",
        type=Path,
        nargs="+",
        metavar="PLAN.toml",
        help="plans to release; several run at the same time",
    )
    command.add_argument(
        "--workers",
        type=_positive,
        default=2,
        help="how many plans run at the same time (default: %(default)s)",
    )
    command.add_argument(
        "--partition",
        metavar="LABEL",
        help="partition of the source whose rows are new, such as 2014-03",
    )
    command.add_argument(
        "--backfill",
        metavar="FIRST..LAST",
        help="one version for each partition of a range, such as 2013-08..2015-12, in order; "
        "partitions that were released are skipped",
    )
    _overrides(command)
    command = add("audit", "recompute every guarantee of a release from its source and its files")
    command.add_argument(
        "release", type=Path, metavar="RELEASE_DIR", help="folder of the published release"
    )
    command.add_argument(
        "--plan", type=Path, required=True, metavar="PLAN.toml", help="plan of the release"
    )
    _overrides(command)
    command = add("show", "print what a release guarantees and how much information it keeps")
    command.add_argument(
        "release", type=Path, metavar="RELEASE_DIR", help="folder of the published release"
    )
    command.add_argument("--json", action="store_true", help="print the manifest as JSON")
    command = add("plan", "write a commented starter plan for a table to standard output")
    command.add_argument(
        "source",
        metavar="SOURCE",
        help="CSV (.gz), Parquet or Arrow file, or the URI of a database: "
        "postgresql://..., sqlite:///..., duckdb:///...",
    )
    command.add_argument(
        "--kind",
        choices=list(KINDS),
        default="table",
        help="what the source holds (default: %(default)s)",
    )
    command.add_argument(
        "--query", metavar="SQL", help="the SELECT that gives the table, if SOURCE is a database"
    )
    command.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first row of a CSV file holds names, or holds cells (default: look)",
    )
    command.add_argument(
        "--names",
        type=lambda text: text.split(","),
        default=[],
        metavar="A,B,...",
        help="names of all columns of a CSV file without a header, in order",
    )
    command.add_argument(
        "--output", type=Path, metavar="PLAN.toml", help="write to this new file; never overwrites"
    )
    _measured(add("measure", "count the triangles of a graph; no plan, no release"))
    command = add("serve", "run a plan as a Prefect deployment until stopped")
    _plan_arguments(command)
    command.add_argument("--cron", metavar='"M H D M W"', help="schedule in UTC (five fields)")
    for name, does in (
        ("approve", "approve a release that waits for approval; shows its numbers first"),
        ("reject", "reject a release that waits for approval; nothing is published"),
        ("reopen", "ask again for an approval that was rejected or not given in time"),
    ):
        command = add(name, does)
        _waiting(command)
        if name != "reopen":
            _signature(command)
    command = add("retract", "take back a release that was never handed out")
    _retracted(command)
    command = add("withdraw", "leave people out of all later versions of a series")
    command.add_argument(
        "file", type=Path, metavar="IDENTIFIERS", help="text file, one identifier a line"
    )
    command.add_argument(
        "--plan", type=Path, required=True, metavar="PLAN.toml", help="plan of the series"
    )
    command.add_argument("--json", action="store_true", help="print the counts as JSON")
    _overrides(command)
    command = add("demo", "release a real survey from an installed dependency; needs no network")
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


def _measured(command: argparse.ArgumentParser) -> None:
    """Add the arguments that name a graph and what is measured of it."""
    command.add_argument(
        "graph",
        type=Path,
        metavar="GRAPH",
        help="list of edges: CSV, SNAP text (.gz), Parquet or Arrow; the first two columns are "
        "their ends",
    )
    command.add_argument(
        "--triangles",
        action="store_true",
        required=True,
        help="triangles, transitivity and clustering",
    )
    command.add_argument(
        "--uncertain",
        action="store_true",
        help="the third column holds the probability of each edge",
    )
    command.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first row of a text file holds names, or an edge (default: look)",
    )
    command.add_argument(
        "--threads",
        type=_positive,
        default=0,
        metavar="N",
        help="threads (default: all)",
    )
    command.add_argument("--json", action="store_true", help="print the numbers as JSON")


def _plan_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("plan", type=Path, metavar="PLAN.toml")
    _overrides(command)


def _waiting(command: argparse.ArgumentParser) -> None:
    """Add the arguments that name a run and its vault."""
    command.add_argument(
        "run_id", metavar="RUN_ID", help="16 hex digits that the waiting release printed"
    )
    command.add_argument("--vault", type=Path, metavar="FOLDER", help="the vault; or give --plan")
    command.add_argument(
        "--plan", type=Path, metavar="PLAN.toml", help="a plan that names the vault"
    )
    _overrides(command)


def _signature(command: argparse.ArgumentParser) -> None:
    """Add name and note; both are published in the manifest and the report."""
    command.add_argument(
        "--by", required=True, metavar="NAME", help="your name; published in the manifest"
    )
    command.add_argument(
        "--note", default="", metavar="TEXT", help="one line; published in the manifest"
    )


def _retracted(command: argparse.ArgumentParser) -> None:
    """Add the arguments that name a release, its vault and ledger, and the decision."""
    command.add_argument(
        "release", type=Path, metavar="RELEASE_DIR", help="folder of the published release"
    )
    command.add_argument(
        "--plan",
        type=Path,
        required=True,
        metavar="PLAN.toml",
        help="a plan that names the vault and the ledger",
    )
    command.add_argument(
        "--by", required=True, metavar="NAME", help="your name; kept in the vault and the folder"
    )
    command.add_argument(
        "--reason", required=True, metavar="TEXT", help="one line; kept with your name"
    )
    command.add_argument("--json", action="store_true", help="print what was done as JSON")
    _overrides(command)


def _overrides(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY.PATH=VALUE",
        dest="overrides",
        help="override a key of the plan; may be repeated; paths start at the current folder",
    )
