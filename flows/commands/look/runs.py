"""`crowdcover runs`: the runs of a vault and the state of each."""

import argparse

from crowdcover.flows.commands.command import Command, add_json_option, add_vault_options
from crowdcover.flows.printed_json import printable_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the vaults."""
    add_vault_options(parser)
    add_json_option(parser, "the runs")


def run(options: argparse.Namespace) -> int:
    """Print one line for each run."""
    from crowdcover.flows.look.named_vault import list_named_vaults
    from crowdcover.flows.look.vault_lists import list_vault_runs

    found = list_vault_runs(list_named_vaults(options))
    if options.json:
        print(printable_json({"runs": found}))
        return 0
    from crowdcover.reports.terminal import run_list
    from crowdcover.reports.terminal.printing import print_tables

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
