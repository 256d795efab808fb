"""`crowdcover retract`: take back a release that was never handed out."""

import argparse

from flows.commands.command import Command, as_json, plan_option, release_folder


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release, its vault and ledger, and the decision."""
    release_folder(parser)
    plan_option(parser, "a plan that names the vault and the ledger")
    parser.add_argument(
        "--by", required=True, metavar="NAME", help="your name; kept in the vault and the folder"
    )
    parser.add_argument(
        "--reason", required=True, metavar="TEXT", help="one line; kept with your name"
    )
    as_json(parser, "what was done")


COMMAND = Command(
    "retract",
    "take back a release that was never handed out",
    "crowdcover retract releases/people/v1 --plan people.toml "
    '--by "Ada Lovelace" --reason "k was too small; never sent"',
    arguments,
    "flows.vault.retraction:retract_release",
)
