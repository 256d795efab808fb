"""`crowdcover waiting`: the releases that wait for a person's decision."""

import argparse

from crowdcover.flows.commands.command import Command, add_json_option, add_vault_options
from crowdcover.flows.printed_json import printable_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the vaults."""
    add_vault_options(parser)
    add_json_option(parser, "what waits")


def run(options: argparse.Namespace) -> int:
    """Print what waits, until when, and the command to decide."""
    from crowdcover.flows.look.named_vault import list_named_vaults
    from crowdcover.flows.look.vault_lists import list_waiting_releases

    found = list_waiting_releases(list_named_vaults(options))
    if options.json:
        print(printable_json({"waiting": found}))
        return 0
    from crowdcover.reports.terminal import run_list
    from crowdcover.reports.terminal.printing import print_tables

    print_tables(run_list.list_waiting_lines(found))
    if not found:
        print("nothing waits for a decision")
    return 0


COMMAND = Command(
    "waiting",
    "list the releases that wait for a person: since when, until when, and how to decide",
    "crowdcover waiting --vault vault --plan people.toml",
    arguments,
    run,
)
