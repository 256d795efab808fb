"""`crowdcover serve`: plans as Prefect deployments."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from crowdcover.flows.commands.command import Command, add_set_option, positive_integer

if TYPE_CHECKING:
    from crowdcover.flows.launch.deployments import CareOrder


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
    parser.add_argument(
        "--care",
        metavar='"M H D M W"',
        help="when vaults and releases of all plans are looked after: see docs/how-to/care.md",
    )
    parser.add_argument(
        "--backups", type=Path, metavar="FOLDER", help="with --care: a folder for backups"
    )
    parser.add_argument(
        "--recipient",
        metavar="age1...",
        help="with --backups: public key that backups are encrypted to, if not the vault's own",
    )


def run(options: argparse.Namespace) -> int:
    """Poll for scheduled and manual runs until stopped."""
    from crowdcover.flows.plan.plan import ReleasePlan
    from crowdcover.kinds.section import PlanError
    from crowdcover.tasks.orchestration.named_server import (
        SERVER_VARIABLE,
        await_server,
        find_server_address,
    )

    plans = [ReleasePlan.load(path, options.overrides) for path in options.plans]
    for plan in plans:
        plan.check_machine()
    if (address := find_server_address()) is None:
        raise PlanError(
            f"serve needs a server of Prefect that stays: start one, and set {SERVER_VARIABLE} to "
            "its address, such as http://127.0.0.1:4200/api"
        )
    names = [plan.name for plan in plans]
    if len(set(names)) < len(names):
        raise PlanError("two plans have the same name; give each a name of its own, or serve one")
    from crowdcover.flows.launch.deployments import parse_schedules, serve_plans
    from crowdcover.flows.launch.prefect_failures import refuse_prefect_failures
    from crowdcover.flows.runs.known_plan import freeze_plan
    from crowdcover.flows.runs.partitions import require_partition

    order = _read_care_order(options)
    when = parse_schedules(names, options.cron, options.timezone)
    for plan in plans:
        # A schedule names no partition. A run that a person starts may name one.
        if plan.name in when:
            require_partition(plan)
    # A run reads the plan's own file as it is then. What --set and --env state stands in no file,
    # so such a plan is kept as it was understood.
    files = options.plans if not options.overrides else [freeze_plan(plan) for plan in plans]
    # Links stay: a cluster changes a plan by leading its link elsewhere.
    named = {
        plan.name: Path(os.path.abspath(path)) for plan, path in zip(plans, files, strict=True)
    }
    await_server(address, quiet=options.quiet)
    with refuse_prefect_failures():
        serve_plans(named, when, options.workers, order, quiet=options.quiet)
    return 0


def _read_care_order(options: argparse.Namespace) -> "CareOrder | None":
    """When care is due, and where backups go; refused: backups that nothing makes."""
    from crowdcover.flows.launch.deployments import CareOrder, Schedule, refuse_wrong_cron
    from crowdcover.kinds.section import PlanError

    if options.recipient is not None and options.backups is None:
        raise PlanError("--recipient belongs to --backups FOLDER")
    if options.care is None:
        if options.backups is not None:
            raise PlanError("--backups belongs to --care, which says when they are made")
        return None
    refuse_wrong_cron(options.care, "--care")
    backups = None if options.backups is None else options.backups.resolve()
    return CareOrder(Schedule(options.care, options.timezone), backups, options.recipient)


COMMAND = Command(
    "serve",
    "run plans as Prefect deployments until stopped",
    'crowdcover serve people.toml firms.toml --cron "0 2 1 * *" --timezone Europe/Rome',
    arguments,
    run,
    patient=True,
)
