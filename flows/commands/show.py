"""`crowdcover show`: what a release guarantees and keeps."""

import argparse

from anon_core.errors import escape_unprintable
from flows.commands.command import Command, as_json, printable_json, release_folder


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release."""
    release_folder(parser)
    as_json(parser, "the manifest")


def run(options: argparse.Namespace) -> int:
    """Print a release's manifest for people, or as JSON."""
    from flows.named_release import read_manifest
    from storage.series.retractions import notice_of

    manifest, notice = read_manifest(options.release), notice_of(options.release)
    if options.json:
        print(printable_json(manifest if notice is None else {**manifest, "retracted": notice}))
        return 0
    from rich.console import Console

    from kinds import words_of
    from reports import summary

    summary.print_release(manifest, Console(), words_of(manifest))
    if notice is not None:
        told = f"RETRACTED by {notice['by']} at {notice['at']}: {notice['reason']}"
        print(escape_unprintable(told))
    return 0


COMMAND = Command(
    "show",
    "print what a release guarantees and how much information it keeps",
    "crowdcover show releases/adult/v1 --json",
    arguments,
    run,
)
