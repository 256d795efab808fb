"""`crowdcover runs`: the runs of a vault and the state of each."""

import argparse

from flows.commands.command import Command, as_json, printable_json, vaults


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the vaults."""
    vaults(parser)
    as_json(parser, "the runs")


def run(options: argparse.Namespace) -> int:
    """Print one line for each run."""
    from flows import seeing

    found = seeing.runs(seeing.vaults(options))
    if options.json:
        print(printable_json({"runs": found}))
        return 0
    from reports import seen
    from reports.printing import printed

    if found:
        printed([seen.runs(found)])
        for line in seen.reasons(found):
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
