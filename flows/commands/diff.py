"""`crowdcover diff`: what changed between two releases."""

import argparse
from pathlib import Path

from flows.commands.command import Command, as_json, printable_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two releases."""
    parser.add_argument("old", type=Path, metavar="OLD", help="folder of the earlier release")
    parser.add_argument("new", type=Path, metavar="NEW", help="folder of the later release")
    parser.add_argument(
        "--values", action="store_true", help="with --json: name new and gone categories, too"
    )
    as_json(parser, "every change")


def run(options: argparse.Namespace) -> int:
    """Print what changed, for people or as JSON."""
    from flows.comparing import compared

    told = compared(options.old, options.new, values=options.values)
    if options.json:
        print(printable_json(told))
        return 0
    from rich.console import Console

    from reports import difference

    if not options.quiet:
        for table in difference.tables(told):
            Console().print(table)
    print(difference.sentence(told))
    return 0


COMMAND = Command(
    "diff",
    "compare two published releases: columns, crowds, loss per column, drift",
    "crowdcover diff releases/people/v1 releases/people/v2",
    arguments,
    run,
)
