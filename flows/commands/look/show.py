"""`crowdcover show`: what a release guarantees and keeps, on one screen or at length."""

import argparse

from anon_core.errors import escape_unprintable
from crowdcover.flows.commands.command import Command, add_json_option, add_release_argument
from crowdcover.flows.printed_json import printable_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release."""
    add_release_argument(parser)
    add_json_option(parser, "the manifest")
    parser.add_argument("--all", action="store_true", help="print every number, not one screen")


def run(options: argparse.Namespace) -> int:
    """Print a release's manifest for people, or as JSON."""
    from crowdcover.flows.look.named_release import (
        print_first_screen,
        print_manifest,
        read_manifest,
    )
    from crowdcover.storage.series.retractions import notice_of

    manifest, notice = read_manifest(options.release), notice_of(options.release)
    if options.json:
        print(printable_json(manifest if notice is None else {**manifest, "retracted": notice}))
        return 0
    alarm = ""
    if notice is not None:
        words = f"RETRACTED by {notice['by']} at {notice['at']}: {notice['reason']}"
        alarm = escape_unprintable(words)
    if not options.all:
        print_first_screen(manifest, escape_unprintable(str(options.release)), alarm)
        return 0
    print_manifest(manifest)
    if alarm:
        print(alarm)
    return 0


COMMAND = Command(
    "show",
    "print what a release guarantees and how much information it keeps",
    "crowdcover show releases/adult/v1 --json",
    arguments,
    run,
)
