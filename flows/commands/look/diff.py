"""`crowdcover diff`: what changed between two releases."""

import argparse

from crowdcover.flows.commands.command import Command, add_json_option
from crowdcover.flows.printed_json import printable_json
from crowdcover.storage.places.place import place_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two releases."""
    for name, which in (("old", "earlier"), ("new", "later")):
        help_ = f"folder of the {which} release, or its place in object storage"
        parser.add_argument(name, type=place_of, metavar=name.upper(), help=help_)
    parser.add_argument(
        "--values", action="store_true", help="with --json: name new and gone categories, too"
    )
    add_json_option(parser, "every change")


def run(options: argparse.Namespace) -> int:
    """Print what changed, for people or as JSON."""
    from crowdcover.flows.look.differences import compare_releases

    changes = compare_releases(options.old, options.new, values=options.values)
    if options.json:
        print(printable_json(changes))
        return 0
    from crowdcover.kinds import words_called
    from crowdcover.reports.terminal import difference
    from crowdcover.reports.terminal.printing import print_tables

    if not options.quiet:
        words = words_called(changes["kind"])
        print_tables(difference.build_difference_tables(changes, words))
    print(difference.summarize_difference(changes))
    return 0


COMMAND = Command(
    "diff",
    "compare two published releases: columns, crowds, loss per column, drift",
    "crowdcover diff releases/people/v1 releases/people/v2",
    arguments,
    run,
)
