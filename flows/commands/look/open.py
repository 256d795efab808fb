"""`crowdcover open`: a page on this machine for a source, a plan or a release."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_source_options


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is opened, and how a source is written."""
    parser.add_argument(
        "opened",
        metavar="SOURCE | PLAN.toml | RELEASE_DIR",
        help="a table, as `crowdcover plan` takes it; a plan; or the folder of a release",
    )
    add_source_options(parser)
    parser.add_argument(
        "--diff",
        action="append",
        default=[],
        metavar="RELEASE_DIR",
        help="another release that the page may compare with, as `crowdcover diff` does; it may be "
        "given several times",
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="your private key: decisions in the page are signed with it",
    )


COMMAND = Command(
    "open",
    "show a source, a plan or a release in a page that only this machine can open",
    "crowdcover open people.csv",
    arguments,
    "crowdcover.flows.page.opening:open_page",
)
