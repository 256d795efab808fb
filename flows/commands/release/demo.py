"""`crowdcover demo`: a whole release of a real survey, without network."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command


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
    from crowdcover.flows.launch.one_plan import frozen_release
    from crowdcover.flows.look.named_release import print_first_screen, read_manifest
    from crowdcover.kinds.table.starter.demo import demo_plan

    folder = frozen_release(demo_plan(options.folder), [], quiet=options.quiet)
    if not options.quiet:
        print_first_screen(read_manifest(folder), str(folder))
    print(folder)
    return 0


COMMAND = Command(
    "demo",
    "release a real survey from an installed dependency; needs no network",
    "crowdcover demo",
    arguments,
    run,
    patient=True,
)
