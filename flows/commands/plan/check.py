"""`crowdcover check`: what is wrong with plans, without their data."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_json_option, add_set_option
from crowdcover.flows.printed_json import print_refusal, printable_json

REFUSED = 2


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the plans, and a file with the names of the source's columns."""
    parser.add_argument("plans", type=Path, nargs="+", metavar="PLAN.toml", help="plans to check")
    parser.add_argument(
        "--columns",
        metavar="FILE[#TABLE]",
        help="names of the source's columns: a list, a CSV header, a Table Schema or Data Package, "
        "a data contract (ODCS) or a schema.yml of dbt",
    )
    add_json_option(parser, "what is refused")
    add_set_option(parser)


def run(options: argparse.Namespace) -> int:
    """Tell all refusals of each plan; 2 if there are any."""
    from crowdcover.flows.plan.checking import list_refusals

    told = {
        str(path): list_refusals(path, options.overrides, options.columns) for path in options.plans
    }
    if options.json:
        plans = [{"plan": path, "refusals": list(refusals)} for path, refusals in told.items()]
        print(printable_json({"plans": plans}))
    else:
        for path, refusals in told.items():
            for refusal in refusals:
                print_refusal(f"{path}: {refusal}")
            if not refusals and not options.quiet:
                print(f"{path}: nothing is refused")
    return REFUSED if any(told.values()) else 0


COMMAND = Command(
    "check",
    "tell all that is wrong with plans, without their data: in git hooks and on build servers",
    "crowdcover check plans/people.toml --columns people.schema.json",
    arguments,
    run,
)
