"""`crowdcover verify`: check a release folder with a public key alone."""

import argparse

from anon_core.errors import escape_unprintable
from crowdcover.flows.commands.command import Command, add_json_option, add_release_argument
from crowdcover.flows.printed_json import printable_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release and the keys that may have signed it."""
    add_release_argument(parser)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument(
        "--key",
        action="append",
        metavar="PUBLIC",
        help="public key of who signs, or a file that holds it; may be repeated: one must fit",
    )
    given.add_argument(
        "--unsigned",
        action="store_true",
        help="compare with the hashes of the manifest; this tells damage, not forgery",
    )
    add_json_option(parser, "the findings")


def run(options: argparse.Namespace) -> int:
    """Print a line for each finding and the result last; 4 if one does not hold."""
    from crowdcover.flows.look.signatures import read_public_key, verify_release

    findings = verify_release(
        options.release, [read_public_key(text) for text in options.key or ()]
    )
    broken = [finding for finding in findings if finding.broken]
    if options.json:
        listed = [
            {"what": each.guarantee, "holds": each.passed, "detail": each.detail}
            for each in findings
        ]
        print(printable_json({"verified": not broken, "findings": listed}))
        return 4 if broken else 0
    if not options.quiet:
        for each in findings:
            # `--`: not required and not passed, such as a catalogue with other texts.
            holds = "NO" if each.broken else "ok" if each.passed else "--"
            print(escape_unprintable(f"{holds:3} {each.guarantee}: {each.detail}"))
    kept = "as it was signed" if options.key else "as its manifest says; nobody vouches for that"
    # Without a valid signature nothing says how the release was published.
    unknown = any(finding.guarantee == "signature" for finding in broken)
    lost = "NOT verified" if unknown else "NOT as it was published"
    what = lost if broken else kept
    print(escape_unprintable(f"{options.release.name} is {what}"))
    return 4 if broken else 0


COMMAND = Command(
    "verify",
    "check every byte of a release with a public key; needs no source, plan or vault",
    "crowdcover verify releases/people/v1 --key ed25519:...",
    arguments,
    run,
)
