"""What a command of `crowdcover` is, and the arguments that several share."""

import argparse
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdcover.flows.plan.named_overlay import Overlay
from crowdcover.flows.plan.sizes import parse_size
from crowdcover.kinds import KINDS
from crowdcover.storage.places.place import place_of


@dataclass(frozen=True)
class Command:
    """A command: what it does in one line, an example, its arguments, its work.

    `run` prints results to standard output and returns the exit code. It may be named as
    "module:function": then the module, which may take long, is imported when the command runs.
    `patient`: it runs flows, and asks a server of Prefect that is away for minutes.
    """

    name: str
    does: str
    example: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int] | str
    patient: bool = False

    def add_to(self, commands: Any) -> None:
        """Add the command to the subparsers of `crowdcover`."""
        parser = commands.add_parser(
            self.name,
            help=self.does,
            description=self.does[0].upper() + self.does[1:] + ".",
            epilog="Example: " + self.example,
        )
        parser.add_argument(
            "--quiet",
            action="store_true",
            # A default here would undo the --quiet of the command that this is a step of.
            default=argparse.SUPPRESS,
            help="print results and errors only",
        )
        parser.set_defaults(run=self.execute, patient=self.patient)
        self.arguments(parser)

    def execute(self, options: argparse.Namespace) -> int:
        """Do what the command does; returns its exit code."""
        run = pkgutil.resolve_name(self.run) if isinstance(self.run, str) else self.run
        return int(run(options))


def positive_integer(text: str) -> int:
    """Read a whole number of at least 1."""
    # argparse turns the ValueError of a text that is no number into its refusal.
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def size_in_bytes(text: str) -> int:
    """Read a size, such as 64MiB."""
    size = parse_size(text)
    if size is None:
        raise argparse.ArgumentTypeError("must be a number and a unit, as 64MiB")
    return size


def add_release_argument(parser: argparse.ArgumentParser) -> None:
    """Add the folder of a release."""
    parser.add_argument(
        "release",
        type=place_of,
        metavar="RELEASE_DIR",
        help="folder of the published release, or its place in object storage",
    )


def add_plan_option(parser: argparse.ArgumentParser, help_: str) -> None:
    """Add --plan, which must be given, and --set."""
    parser.add_argument("--plan", type=Path, required=True, metavar="PLAN.toml", help=help_)
    add_set_option(parser)


def add_vault_options(parser: argparse.ArgumentParser) -> None:
    """Add vaults, by their folder or by a plan; each may be given several times."""
    for name, metavar, help_ in (
        ("--vault", "FOLDER", "a vault; may be repeated"),
        ("--plan", "PLAN.toml", "a plan that names a vault; may be repeated"),
    ):
        parser.add_argument(name, type=Path, action="append", metavar=metavar, help=help_)
    add_set_option(parser)


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """Add how a source is written of which a starter plan is made."""
    parser.add_argument(
        "--kind",
        choices=list(KINDS),
        default="table",
        help="what the source holds (default: %(default)s)",
    )
    parser.add_argument(
        "--query", metavar="SQL", help="the SELECT that gives the table, if SOURCE is a database"
    )
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first row of a CSV file holds names, or holds cells (default: look)",
    )
    parser.add_argument(
        "--names",
        type=lambda text: text.split(","),
        default=[],
        metavar="A,B,...",
        help="names of all columns of a CSV file without a header, in order",
    )
    parser.add_argument("--sheet", metavar="NAME", help="the sheet of a workbook that has several")


def add_set_option(parser: argparse.ArgumentParser) -> None:
    """Add --set, and --env for plans with overlays."""
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        type=Overlay,
        metavar="NAME",
        dest="overrides",
        help="put the keys of [env.NAME] of the plan in place of its others, such as --env prod",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY.PATH=VALUE",
        dest="overrides",
        help="override a key of the plan; may be repeated; paths start at the current folder",
    )


def add_json_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")
