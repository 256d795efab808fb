"""Serve a plan as a Prefect deployment; turn failures of Prefect into refusals."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from prefect.client.schemas.schedules import CronSchedule
from prefect.settings import PREFECT_HOME

from anon_core.errors import AnonymityError
from flows.release import release
from kinds.section import PlanError
from tasks.vault.room import full, is_full

Result = TypeVar("Result")


def on_prefect(work: Callable[[], Result]) -> Result:
    """Do the work; raise any error but an AnonymityError as a failure of Prefect."""
    try:
        return work()
    except AnonymityError:
        raise
    except Exception as error:  # noqa: BLE001 - Prefect raises many types
        raise AnonymityError(
            full("Prefect", [PREFECT_HOME.value()])
            if is_full(error)
            else f"Prefect could not run the flow ({type(error).__name__}); "
            "check PREFECT_API_URL, or unset it to run without a server"
        ) from None


def serve(name: str, plan: Path, cron: str | None, *, quiet: bool) -> None:
    """Serve a frozen plan as a deployment until stopped."""
    try:
        _ = cron is None or CronSchedule(cron=cron)
    except ValueError:
        raise PlanError(
            "--cron must be five fields: minute hour day month weekday, e.g. '0 2 1 * *'"
        ) from None
    release.serve(
        name=name,
        cron=cron,
        parameters={"plan": str(plan)},
        limit=1,
        pause_on_shutdown=False,
        print_starting_message=not quiet,
    )
