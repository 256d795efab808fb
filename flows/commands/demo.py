"""`crowdcover demo`: a whole release of a real survey, without network."""

import argparse
from pathlib import Path

from flows.commands.command import Command


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add where to write."""
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("crowdcover-demo"),
        help="where to write (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Release the Fair survey of 1978 (6,366 women) and show the result."""
    from rich.console import Console

    from flows.frozen import frozen_release
    from flows.named_release import read_manifest
    from kinds import words_of
    from kinds.table.starter.demo import demo_plan
    from reports import summary

    folder = frozen_release(demo_plan(options.folder), [], quiet=options.quiet)
    if not options.quiet:
        manifest = read_manifest(folder)
        summary.print_release(manifest, Console(), words_of(manifest))
        print("open", folder / "report.html")
    print(folder)
    return 0


COMMAND = Command(
    "demo",
    "release a real survey from an installed dependency; needs no network",
    "crowdcover demo",
    arguments,
    run,
)
