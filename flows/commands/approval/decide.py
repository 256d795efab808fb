"""`crowdcover approve`, `reject` and `reopen`: a person's decision about a waiting release."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_set_option


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a run and its vault."""
    parser.add_argument(
        "run_id", metavar="RUN_ID", help="16 hex digits that the waiting release printed"
    )
    parser.add_argument("--vault", type=Path, metavar="FOLDER", help="the vault; or give --plan")
    parser.add_argument(
        "--plan", type=Path, metavar="PLAN.toml", help="a plan that names the vault"
    )
    add_set_option(parser)


def add_decision_arguments(parser: argparse.ArgumentParser) -> None:
    """Add name and note, too; both are published in the manifest and the report."""
    add_run_arguments(parser)
    parser.add_argument("--by", metavar="NAME", help="your name; published in the manifest")
    parser.add_argument(
        "--note", default="", metavar="TEXT", help="one line; published in the manifest"
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="your private key, where publish.approvers registers you; --by may be left out",
    )


def add_approval_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a decision that somebody signed elsewhere, too."""
    add_decision_arguments(parser)
    parser.add_argument(
        "--take",
        type=Path,
        nargs="?",
        # `IN_COPY` of flows.vault.decisions, a module that is imported only when the command runs.
        const=Path("."),
        metavar="FILE",
        help="take up a decision that `crowdcover sign` wrote: this file, or from publish.reports",
    )


APPROVE = Command(
    "approve",
    "approve a release that waits for approval; shows its numbers first",
    "crowdcover approve 0123456789abcdef --plan people.toml "
    '--by "Ada Lovelace" --note "read and agreed"',
    add_approval_arguments,
    "crowdcover.flows.vault.decisions:approve_release",
)
REJECT = Command(
    "reject",
    "reject a release that waits for approval; nothing is published",
    "crowdcover reject 0123456789abcdef --vault vault "
    '--by "Ada Lovelace" --note "raise k for villages"',
    add_decision_arguments,
    "crowdcover.flows.vault.decisions:reject_release",
)
REOPEN = Command(
    "reopen",
    "ask again for an approval that was rejected or not given in time",
    "crowdcover reopen 0123456789abcdef --plan people.toml",
    add_run_arguments,
    "crowdcover.flows.vault.decisions:reopen_approval",
)
