"""Serve plans as Prefect deployments."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import prefect
from prefect.deployments.runner import RunnerDeployment
from prefect.schedules import Cron
from prefect.utilities.annotations import freeze

from crowdcover.flows.care import care
from crowdcover.flows.launch.scheduled_names import name_scheduled_runs
from crowdcover.flows.release import release
from crowdcover.kinds.section import PlanError

FIELDS = 5


@dataclass(frozen=True)
class Schedule:
    """When a plan runs: five fields of cron, by the clock of a time zone."""

    cron: str
    timezone: str


def parse_schedules(
    names: Sequence[str], stated: Sequence[str], timezone: str
) -> Mapping[str, Schedule]:
    """The schedule of each plan that has one.

    `stated` are crons for all plans, and NAME=CRON for one plan; the latter goes first.
    """
    try:
        ZoneInfo(timezone)
    # ValueError: a name such as ../x. OSError: a name such as Europe, which is a folder.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise PlanError("--timezone is not known; give a name such as Europe/Rome or UTC") from None
    found: dict[str, Schedule] = {}
    of_all = [each for each in stated if "=" not in each]
    of_one = [each.partition("=")[::2] for each in stated if "=" in each]
    if len(of_all) > 1:
        raise PlanError("--cron for all plans is given twice; name a plan: --cron NAME='0 2 1 * *'")
    # Crons of one plan come last, so they replace the one of all plans.
    for name, cron in [*((name, cron) for cron in of_all for name in names), *of_one]:
        if name not in names:
            raise PlanError(
                f"--cron names a plan that is not served; the plans are: {', '.join(names)}"
            )
        refuse_wrong_cron(cron)
        found[name] = Schedule(cron, timezone)
    return found


def refuse_wrong_cron(cron: str, option: str = "--cron") -> None:
    """Refuse what is no cron of five fields, and what names no day, such as 30 February.

    Prefect takes six fields, too, with the seconds last; other programs write them first.
    """
    from prefect.server.schemas.schedules import CronSchedule

    try:
        if len(cron.split()) != FIELDS:
            raise ValueError
        schedule = CronSchedule(cron=cron)
    except ValueError:
        raise PlanError(
            f"{option} must be five fields: minute hour day month weekday, e.g. '0 2 1 * *'"
        ) from None
    try:
        # 30 February is well formed: only the search for its next date fails.
        asyncio.run(schedule.get_dates(1))
    except ValueError:
        raise PlanError(
            f"{option} names a day that never comes; correct its day and month"
        ) from None


@dataclass(frozen=True)
class CareOrder:
    """When the vaults and releases of all plans are looked after, and where backups go."""

    schedule: Schedule
    backups: Path | None
    recipient: str | None

    def to_deployment(self, name: str, plan: Path) -> RunnerDeployment:
        """The deployment of one plan."""
        stated = {"backups": self.backups and str(self.backups), "recipient": self.recipient}
        known = {key: value for key, value in stated.items() if value is not None}
        found = care.to_deployment(
            name=name,
            schedule=Cron(self.schedule.cron, timezone=self.schedule.timezone),
            parameters={"plan": freeze(str(plan)), **known},
            concurrency_limit=1,
            description=f"Verifies and backs up the vault of **{name}**, audits what stands.",
            tags=["crowdcover"],
        )
        return cast("RunnerDeployment", found)


def serve_plans(
    plans: Mapping[str, Path],
    when: Mapping[str, Schedule],
    workers: int,
    order: CareOrder | None = None,
    *,
    quiet: bool,
) -> None:
    """Serve plans by their files, a deployment each, until stopped; `workers` run at a time.

    With an order for care each plan has a second deployment, of the same name.
    """
    deployments = [
        release.to_deployment(
            name=name,
            schedule=Cron(when[name].cron, timezone=when[name].timezone) if name in when else None,
            # `freeze` closes the field in Prefect's pages only: see `refuse_another`.
            parameters={"plan": freeze(str(path))},
            # Of this deployment; `hold_plan_slot` covers other deployments of the plan.
            concurrency_limit=1,
            description=describe_deployment(name),
            tags=["crowdcover"],
        )
        for name, path in plans.items()
    ]
    cared = [] if order is None else [order.to_deployment(*plan) for plan in plans.items()]
    with name_scheduled_runs({name: each.timezone for name, each in when.items()}):
        prefect.serve(
            *cast("list[RunnerDeployment]", deployments),
            *cared,
            limit=workers,
            # A stop of the service leaves the schedules as they are; Prefect would pause them.
            pause_on_shutdown=False,
            print_starting_message=not quiet,
        )


def describe_deployment(name: str) -> str:
    """What Prefect says of a deployment."""
    return (
        f"Makes and publishes the next version of **{name}**.\n\n"
        "A run may be given:\n"
        "- `accept`: drift to accept in this run, by the name of a limit or a column, such as "
        '`{"city": {"limit": 1, "note": "a new district"}}`. The note is published.\n'
        "- `partition`: which partition of the source is new, such as `2014-03`."
    )
