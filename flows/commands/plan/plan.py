"""`crowdcover plan`: a starter plan that proposes a role for every column."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_source_options


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the source, how it is written, and the file of the plan."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="file of CSV, Parquet, Arrow or JSON lines, a workbook, or the URI of a database: "
        "postgresql://..., sqlite:///..., duckdb:///...",
    )
    add_source_options(parser)
    parser.add_argument(
        "--output", type=Path, metavar="PLAN.toml", help="write to this new file; never overwrites"
    )


def run(options: argparse.Namespace) -> int:
    """Print the plan, or write it to a new file, with the schema that editors check it with."""
    from crowdcover.flows.plan.starter import (
        build_starter_plan,
        find_printed_folder,
        write_new_plan,
    )

    folder = find_printed_folder() if options.output is None else options.output.parent
    text = build_starter_plan(options, folder)
    if options.output is None:
        print(text, end="")
    else:
        write_new_plan(text, options.output, options.kind)
    return 0


COMMAND = Command(
    "plan",
    "write a commented starter plan for a table to standard output",
    "crowdcover plan people.csv > people.toml",
    arguments,
    run,
)
