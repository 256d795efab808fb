"""`crowdcover key`: the key pair of a person who decides about releases, or of who signs them."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what to do, the files and the name."""
    parser.add_argument("what", choices=["new", "show"], help="make a pair, or show a public key")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="new: where to write the private key"
    )
    parser.add_argument("--key", type=Path, metavar="FILE", help="show: the private key")
    parser.add_argument(
        "--public",
        action="store_true",
        help="print the public key alone, for crowdcover verify",
    )
    parser.add_argument(
        "--pem", action="store_true", help="print the public key as PEM, for other tools"
    )
    parser.add_argument(
        "--name",
        default="you@example.org",
        metavar="NAME",
        help="who you are, in the line for the plan (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the line for publish.approvers of a plan, or the public key alone."""
    from anon_core.errors import escape_unprintable
    from crowdcover.flows.vault.signatures import format_approver_line
    from crowdcover.kinds.section import PlanError
    from crowdcover.storage.approval.signing_keys import as_pem, new_key, public_of, read_key

    alone = options.public or options.pem
    given = (options.output is not None, options.key is not None)
    if given != (options.what == "new", options.what == "show"):
        raise PlanError("give `key new --output FILE`, or `key show --key FILE`")
    if options.what == "show":
        public = public_of(read_key(options.key))
    else:
        public = new_key(options.output)
        if not options.quiet and not alone:
            print(f"wrote {options.output}, readable by you only; the line for the plan, under")
            print("[publish.approvers]:")
    if options.pem:
        print(as_pem(public), end="")
    else:
        print(
            public
            if options.public
            else escape_unprintable(format_approver_line(options.name, public))
        )
    return 0


COMMAND = Command(
    "key",
    "make the key that signs decisions or releases; prints the line for the plan",
    "crowdcover key new --output ada.key --name ada@example.org",
    arguments,
    run,
)
