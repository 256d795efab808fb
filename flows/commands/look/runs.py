"""`crowdcover runs`: the runs of a vault and the state of each."""

import argparse

from flows.commands.command import Command, add_json_option, add_vault_options
from flows.printed_json import printable_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the vaults."""
    add_vault_options(parser)
    add_json_option(parser, "the runs")


def run(options: argparse.Namespace) -> int:
    """Print one line for each run."""
    from flows.look.named_vault import list_named_vaults
    from flows.look.vault_lists import list_vault_runs

    found = list_vault_runs(list_named_vaults(options))
    if options.json:
        print(printable_json({"runs": found}))
        return 0
    from reports.terminal import run_list
    from reports.terminal.printing import print_tables

    if found:
        print_tables([run_list.list_run_lines(found)])
        for line in run_list.list_reason_lines(found):
            print(line)
    else:
        print("no runs")
    return 0


COMMAND = Command(
    "runs",
    "list the runs of a vault: what is published, waits, was refused or is unfinished",
    "crowdcover runs --plan people.toml",
    arguments,
    run,
)
