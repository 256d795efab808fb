"""`crowdcover plan`: a starter plan that proposes a role for every column."""

import argparse
from dataclasses import replace
from pathlib import Path

from crowdcover.flows.commands.command import Command
from crowdcover.kinds import KINDS


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the source and how it is written."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="file of CSV, Parquet, Arrow or JSON lines, a workbook, or the URI of a database: "
        "postgresql://..., sqlite:///..., duckdb:///...",
    )
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
    parser.add_argument(
        "--output", type=Path, metavar="PLAN.toml", help="write to this new file; never overwrites"
    )


def run(options: argparse.Namespace) -> int:
    """Print the plan, or write it to a new file, with the schema that editors check it with."""
    from crowdcover.flows.plan.schema import FILE, LINE, plan_schema, refuse_other, write_schema
    from crowdcover.kinds import kind_called
    from crowdcover.kinds.section import PlanError, source_called

    source = replace(source_called(options.source, options.query), sheet=options.sheet)
    text = kind_called(options.kind).starter(source, options.header, options.names)
    file = FILE.format(kind=options.kind)
    command = f"crowdcover schema --kind {options.kind} --output {file}"
    text = f"{LINE}{file}\n# Editors check the plan with that file: {command}\n{text}"
    if options.output is None:
        print(text, end="")
        return 0
    # Before the plan is written: its first line would name a file that is no schema.
    refuse_other(options.output.parent / file)
    try:
        with options.output.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except OSError:
        raise PlanError(
            f"{options.output} exists or cannot be written; choose another --output"
        ) from None
    write_schema(options.output.parent / file, plan_schema(options.kind))
    return 0


COMMAND = Command(
    "plan",
    "write a commented starter plan for a table to standard output",
    "crowdcover plan people.csv > people.toml",
    arguments,
    run,
)
