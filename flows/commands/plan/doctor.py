"""`crowdcover doctor`: what a run needs of this machine, and what to do where it is missing."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_json_option, add_set_option
from crowdcover.flows.printed_json import printable_json

MARKS = {"ok": "ok", "warning": "warning", "wrong": "WRONG"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the plan, which decides what is needed."""
    parser.add_argument(
        "--plan", type=Path, metavar="PLAN.toml", help="a plan that is to run on this machine"
    )
    add_set_option(parser)
    add_json_option(parser, "what was found")


def run(options: argparse.Namespace) -> int:
    """Print a line for each look; 1 if something is wrong that the plan needs."""
    from crowdcover.flows.look.machine import list_looks
    from crowdcover.flows.plan.plan import ReleasePlan
    from crowdcover.kinds.section import PlanError
    from crowdcover.tasks.doctor.look import count_wrong_looks

    if options.overrides and options.plan is None:
        raise PlanError("--set changes a plan; give one with --plan")
    plan = None if options.plan is None else ReleasePlan.load(options.plan, options.overrides)
    found = []
    # Each line is printed at once: some looks wait for a server or start ranks.
    for look in list_looks(plan):
        found.append(look)
        if not options.json and not (options.quiet and look.state == "ok"):
            print(f"{MARKS[look.state]:<8}{look.what}: {look.found}", flush=True)
            for words in filter(None, (look.means, look.do)):
                print(f"{'':<8}  {words}", flush=True)
    if options.json:
        listed = [look.as_json() for look in found]
        print(printable_json({"wrong": count_wrong_looks(found), "looks": listed}))
    return 1 if count_wrong_looks(found) else 0


COMMAND = Command(
    "doctor",
    "look at versions, MPI, Slurm, Dask, Prefect server, disks and vault before a run",
    "crowdcover doctor --plan people.toml",
    arguments,
    run,
)
