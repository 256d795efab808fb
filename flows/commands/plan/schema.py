"""`crowdcover schema`: the JSON Schema of plans, for editors."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command
from crowdcover.kinds import KINDS


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kind of data and the file."""
    parser.add_argument(
        "--kind",
        choices=list(KINDS),
        help="plans of this kind of data only (default: source.kind of a plan decides)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE.json",
        help="write to this file, or replace an older schema there",
    )


def run(options: argparse.Namespace) -> int:
    """Print the schema, or write it to a file."""
    from crowdcover.flows.plan.schema import format_schema, plan_schema, write_schema

    schema = plan_schema(options.kind)
    if options.output is None:
        print(format_schema(schema), end="")
    else:
        write_schema(options.output, schema)
    return 0


COMMAND = Command(
    "schema",
    "print the JSON Schema of plans, with which editors check a plan and complete its keys",
    "crowdcover schema --kind table --output crowdcover.table.schema.json",
    arguments,
    run,
)
