"""`crowdcover serve`: plans as Prefect deployments."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_set_option, positive_integer


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the plans and their schedules."""
    parser.add_argument("plans", type=Path, nargs="+", metavar="PLAN.toml")
    add_set_option(parser)
    parser.add_argument(
        "--cron",
        action="append",
        default=[],
        metavar='[NAME=]"M H D M W"',
        help="schedule of all plans, or of the plan of that name (five fields); may be repeated",
    )
    parser.add_argument(
        "--timezone",
        default="UTC",
        metavar="ZONE",
        help="time zone of the schedules, such as Europe/Rome (default: %(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=positive_integer,
        default=1,
        help="how many plans run at the same time (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Poll for scheduled and manual runs until stopped."""
    from crowdcover.flows.plan.plan import ReleasePlan
    from crowdcover.kinds.section import PlanError

    plans = [ReleasePlan.load(path, options.overrides) for path in options.plans]
    for plan in plans:
        plan.check_machine()
    names = [plan.name for plan in plans]
    if len(set(names)) < len(names):
        raise PlanError("two plans have the same name; give each a name of its own, or serve one")
    from crowdcover.flows.launch.deployments import parse_schedules, serve_plans
    from crowdcover.flows.launch.one_plan import freeze_plan
    from crowdcover.flows.launch.prefect_failures import refuse_prefect_failures
    from crowdcover.flows.runs.partitions import require_partition

    when = parse_schedules(names, options.cron, options.timezone)
    for plan in plans:
        # A schedule names no partition. A run that a person starts may name one.
        if plan.name in when:
            require_partition(plan)
    # Runs read the frozen copies, so an edit of the plan while it is served changes none of them.
    frozen = {plan.name: freeze_plan(plan) for plan in plans}
    with refuse_prefect_failures():
        serve_plans(frozen, when, options.workers, quiet=options.quiet)
    return 0


COMMAND = Command(
    "serve",
    "run plans as Prefect deployments until stopped",
    'crowdcover serve people.toml firms.toml --cron "0 2 1 * *" --timezone Europe/Rome',
    arguments,
    run,
)
