"""`crowdcover retract`: take back a release that was never handed out."""

import argparse

from crowdcover.flows.commands.command import (
    Command,
    add_json_option,
    add_plan_option,
    add_release_argument,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release, its vault and ledger, and the decision."""
    add_release_argument(parser)
    add_plan_option(parser, "a plan that names the vault and the ledger")
    parser.add_argument(
        "--by", required=True, metavar="NAME", help="your name; kept in the vault and the folder"
    )
    parser.add_argument(
        "--reason", required=True, metavar="TEXT", help="one line; kept with your name"
    )
    add_json_option(parser, "what was done")


COMMAND = Command(
    "retract",
    "take back a release that was never handed out",
    "crowdcover retract releases/people/v1 --plan people.toml "
    '--by "Ada Lovelace" --reason "k was too small; never sent"',
    arguments,
    "crowdcover.flows.vault.retraction:retract_release",
)
