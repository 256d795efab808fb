"""`crowdcover withdraw`: leave people out of all later versions of a series."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_json_option, add_plan_option


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file of identifiers and the series."""
    parser.add_argument(
        "file", type=Path, metavar="IDENTIFIERS", help="text file, one identifier a line"
    )
    add_plan_option(parser, "plan of the series")
    parser.add_argument(
        "--unpublished",
        action="store_true",
        help="also if none of them ever had a row: they get none later",
    )
    add_json_option(parser, "the counts")


COMMAND = Command(
    "withdraw",
    "leave people out of all later versions of a series",
    "crowdcover withdraw leavers.txt --plan people.toml",
    arguments,
    "crowdcover.flows.vault.withdrawal:withdraw_people",
)
