"""`crowdcover assess`: how well people hide in a table, whoever made it."""

import argparse

from crowdcover.flows.commands.command import Command, add_json_option, positive_integer


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the table, its columns, and what it shall reach."""
    parser.add_argument("table", metavar="FILE", help="a file, as `crowdcover plan` takes it")
    for name, help_ in (
        ("--quasi", "columns that others may know"),
        ("--sensitive", "columns that nobody shall link to a person"),
        ("--suppressed", "texts that stand for every value (default: * and nothing at all)"),
        ("--text", "columns whose texts are no numbers, dates or intervals"),
    ):
        parser.add_argument(
            name,
            type=lambda text: text.split(","),
            required=name == "--quasi",
            default=["*", ""] if name == "--suppressed" else [],
            metavar="A,B,...",
            help=help_,
        )
    parser.add_argument(
        "--k", type=positive_integer, metavar="N", help="rows that each group shall have"
    )
    parser.add_argument(
        "--person", metavar="COLUMN", help="which rows are of one person; groups count people"
    )
    parser.add_argument(
        "--source",
        metavar="FILE",
        help="what the table was made of: how many rows each record fits",
    )
    parser.add_argument(
        "--subsets",
        type=positive_integer,
        default=0,
        metavar="N",
        help="look at every set of at most so many quasi-identifiers",
    )
    parser.add_argument(
        "--population",
        metavar="N|FILE",
        help="how many people the table was drawn from, or a file of all of them",
    )
    add_json_option(parser, "all numbers")


COMMAND = Command(
    "assess",
    "measure k, l, t, uniques and crowds of any table",
    "crowdcover assess table.csv --quasi age,zip --sensitive illness --k 5",
    arguments,
    "crowdcover.flows.look.assessed_table:print_assessment",
)
