"""`crowdcover measure`: numbers of a graph, without a plan."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import (
    Command,
    add_json_option,
    positive_integer,
    size_in_bytes,
)
from crowdcover.flows.printed_json import printable_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the graph and what is measured of it."""
    parser.add_argument(
        "graph",
        type=Path,
        metavar="GRAPH",
        help="list of edges: CSV, SNAP text (.gz), Parquet or Arrow; the first two columns are "
        "their ends",
    )
    parser.add_argument(
        "--triangles",
        action="store_true",
        required=True,
        help="triangles, transitivity and clustering",
    )
    parser.add_argument(
        "--uncertain",
        action="store_true",
        help="the third column holds the probability of each edge",
    )
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first row of a text file holds names, or an edge (default: look)",
    )
    parser.add_argument(
        "--threads", type=positive_integer, default=0, metavar="N", help="threads (default: all)"
    )
    add_json_option(parser, "the numbers")
    _add_listing_options(parser)


def _add_listing_options(parser: argparse.ArgumentParser) -> None:
    listing = parser.add_argument_group("listing, for graphs that no memory holds")
    listing.add_argument(
        "--list",
        type=Path,
        metavar="FOLDER",
        help="write each triangle once into Parquet files of a new folder",
    )
    listing.add_argument(
        "--method",
        choices=("ec", "vc"),
        help="Bermuda-EC or -VC (default: ec): ec sends less, but a reducer reads all that it was "
        "sent again for each --memory of its edges; vc keeps messages until their last use, which "
        "is better where few reducers have little memory",
    )
    listing.add_argument(
        "--engine",
        choices=("local", "dask"),
        help="threads of this process, or Dask workers (default: local)",
    )
    listing.add_argument(
        "--workers",
        type=positive_integer,
        metavar="N",
        help="processes of a Dask cluster on this machine (default: 2)",
    )
    listing.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="of a running Dask cluster, whose workers see FOLDER",
    )
    listing.add_argument(
        "--reducers",
        type=positive_integer,
        metavar="K",
        help="tasks that write the triangles (default: 64)",
    )
    listing.add_argument(
        "--memory",
        type=size_in_bytes,
        metavar="SIZE",
        help="what each reducer holds at most (default: 64MiB)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the triangles of a graph for people, or as JSON."""
    from crowdcover.flows.look.triangles import format_measures, measure_graph

    numbers = measure_graph(options)
    print(printable_json(numbers) if options.json else "\n".join(format_measures(numbers)))
    return 0


COMMAND = Command(
    "measure",
    "count the triangles of a graph, or list them; no plan, no release",
    "crowdcover measure friends.csv --triangles --json",
    arguments,
    run,
)
