"""`crowdcover sign`: decide about a waiting release without access to the vault."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from crowdcover.flows.commands.command import Command

if TYPE_CHECKING:
    from crowdcover.storage.approval.officer_copy import Copy


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the copy of the report, the decision and the key."""
    parser.add_argument(
        "report", type=Path, metavar="REPORT_DIR", help="folder that the waiting release named"
    )
    parser.add_argument("--decision", choices=["approve", "reject"], required=True)
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="your private key")
    parser.add_argument(
        "--by", metavar="NAME", help="your name; published (default: as the plan registers you)"
    )
    parser.add_argument(
        "--note", default="", metavar="TEXT", help="one line; published in the manifest"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the signed decision to this new file"
    )


def run(options: argparse.Namespace) -> int:
    """Show the numbers, sign, and write the decision beside the report."""
    from anon_core.errors import escape_unprintable
    from crowdcover.flows.vault.signatures import sign_copy
    from crowdcover.storage.approval.officer_copy import Copy

    copy = Copy.read(options.report)
    if not options.quiet:
        show_copy_summary(copy)
    stated = (options.decision, options.by, options.note)
    decision, path = sign_copy(copy, options.key, stated, options.output)
    taken = "the next run of the release takes it up"
    if options.output is not None:
        taken = "send it to who runs the release, for crowdcover approve RUN_ID --take FILE"
    print(escape_unprintable(f"signed: {decision.sentence}"))
    print(f"wrote {path}; {taken}")
    return 0


def show_copy_summary(copy: "Copy") -> None:
    """Print the numbers to decide about: counts, shares and column names, no values."""
    from anon_core.errors import escape_unprintable
    from crowdcover.flows.look.named_release import print_manifest
    from crowdcover.storage.approval.officer_copy import REPORT

    print_manifest(copy.request.question.manifest)
    print(escape_unprintable(f"asked by {copy.request.asker or 'nobody who is recorded'}"))
    print("read", copy.folder / REPORT)


COMMAND = Command(
    "sign",
    "sign a decision about a waiting release in its copied report; needs no vault",
    "crowdcover sign reports/people/0123456789abcdef-89ab01234567 --decision approve "
    '--key ada.key --note "read and agreed"',
    arguments,
    run,
)
