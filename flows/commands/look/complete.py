"""`crowdcover complete`: plain tables from a release, for tools that read nothing else."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_release_argument, positive_integer


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release, how many tables are drawn, and the file."""
    add_release_argument(parser)
    parser.add_argument(
        "--draws",
        type=positive_integer,
        default=5,
        metavar="N",
        help="completed tables (default: 5)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed (default: 0)")
    parser.add_argument(
        "--relations",
        action="store_true",
        help="keep relations between columns: draw each cell given the other cells of its row; "
        "needs the extra `models`",
    )
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="file to write: .csv, .csv.gz or .parquet; with several draws its column `draw` "
        "numbers them",
    )


COMMAND = Command(
    "complete",
    "draw plain tables from a release: each cell with one value that it allows",
    "crowdcover complete releases/adult/v1 --draws 5 --output completed.csv",
    arguments,
    "crowdcover.flows.look.completed_tables:print_completed_tables",
)
