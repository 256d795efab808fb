"""`crowdcover serve`: a plan as a Prefect deployment."""

import argparse
from pathlib import Path

from flows.commands.command import Command, overrides


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the plan and its schedule."""
    parser.add_argument("plan", type=Path, metavar="PLAN.toml")
    overrides(parser)
    parser.add_argument("--cron", metavar='"M H D M W"', help="schedule in UTC (five fields)")


def run(options: argparse.Namespace) -> int:
    """Poll for scheduled and manual runs until stopped."""
    from flows.plan.plan import ReleasePlan

    plan = ReleasePlan.load(options.plan, options.overrides)
    from flows.frozen import freeze
    from flows.partitions import require_named
    from flows.serving import on_prefect, serve

    require_named(plan)
    on_prefect(lambda: serve(plan.name, freeze(plan), options.cron, quiet=options.quiet))
    return 0


COMMAND = Command(
    "serve",
    "run a plan as a Prefect deployment until stopped",
    'crowdcover serve people.toml --cron "0 2 1 * *"',
    arguments,
    run,
)
