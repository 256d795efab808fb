"""From a plan file to a release: the plan is checked, frozen in its vault, and released."""

import logging
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from crowdcover.flows.launch.standing import find_untouched_release
from crowdcover.storage.places.place import Place, place_of
from crowdcover.tasks.orchestration.json_lines import format_line, write_line, writes_json_logs
from crowdcover.tasks.orchestration.memory import keep_all_objects

if TYPE_CHECKING:
    from crowdcover.flows.plan.plan import ReleasePlan


def load_ready_plan(path: Path, overrides: Sequence[str], text: str | None = None) -> "ReleasePlan":
    """Load the plan; what can be refused without a server is refused here.

    `text` is what the file will hold, of a plan that is not written yet.
    """
    with keep_all_objects():
        from crowdcover.flows.plan.plan import ReleasePlan
        from crowdcover.flows.runs.partitions import require_partition
        from crowdcover.storage.source.sources import read_source_header

    plan = ReleasePlan.load(path, overrides, text)
    plan.check_machine()
    require_partition(plan)
    # None for what would have to be read in full, such as a query: the flow looks at that itself.
    if (names := read_source_header(plan.data.source)) is not None:
        plan.data.check_header(names)
    return plan


def frozen_release(path: Path, overrides: Sequence[str], *, quiet: bool) -> Place:
    """Release a plan in this process; the release folder.

    It is a flow run where Prefect has a server. What stands as the plan wants it needs no run.
    """
    plan = load_ready_plan(path, overrides)
    if (folder := find_untouched_release(plan)) is not None:
        from crowdcover.flows.loading import load_as_planned

        said = [f"published before and unchanged since: {folder.name}"]
        if sentence := load_as_planned(plan, folder):
            said.append(sentence)
        if not quiet:
            as_json = writes_json_logs()
            lines = [format_line(logging.INFO, line) if as_json else line for line in said]
            sys.stderr.write("\n".join(lines) + "\n")
        return folder
    from crowdcover.flows.runs.known_plan import freeze_plan

    frozen = freeze_plan(plan)
    from crowdcover.tasks.orchestration.terminal import watch_on_terminal

    with (
        watch_on_terminal(quiet=quiet, plain=writes_json_logs()),
        # The kernels compile while Prefect or the stages are imported.
        compile_beside(plan, quiet=quiet),
    ):
        from crowdcover.tasks.orchestration.named_server import find_server_address

        if address := find_server_address():
            return place_of(_release_in_prefect(frozen, plan, address, quiet=quiet))
        return place_of(release_alone(plan, quiet=quiet))


def compile_beside(plan: "ReleasePlan", *, quiet: bool) -> AbstractContextManager[None]:
    """Compile the kernels of a release while the block runs; a line says so, unless `quiet`."""
    from crowdcover.kinds.base import say_nothing  # `plan` has loaded it

    return plan.kind.compile_kernels(say_nothing if quiet else partial(write_line, logging.INFO))


def release_alone(plan: "ReleasePlan", *, quiet: bool) -> str:
    """Release a plan without Prefect, where no server is named; the release folder."""
    with keep_all_objects():
        from crowdcover.flows.course import release_plan
        from crowdcover.tasks.orchestration.events import about_plan
        from crowdcover.tasks.orchestration.named_server import SERVER_VARIABLE
        from crowdcover.tasks.orchestration.plain_log import write_plain_log
        from crowdcover.tasks.orchestration.stage import log_line

    with (
        _end_by_sigterm(),
        about_plan(plan.name),
        write_plain_log(quiet=quiet),
    ):
        log_line(f"no Prefect server is named ({SERVER_VARIABLE}): the vault alone keeps this run")
        return release_plan(plan).folder


@contextmanager
def _end_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the work inside as Ctrl-C does: a batch job that nobody watches is cancelled.

    Prefect does the same for its flow runs. Threads take no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _release_in_prefect(frozen: Path, plan: "ReleasePlan", address: str, *, quiet: bool) -> str:
    """Release a plan in a flow run of this process; the release folder."""
    with keep_all_objects():
        from crowdcover.flows.launch.prefect_failures import refuse_prefect_failures
        from crowdcover.flows.release import release
        from crowdcover.flows.runs.parameters import hand_on_plan
        from crowdcover.tasks.orchestration.named_server import await_server
        from crowdcover.tasks.orchestration.terminal import find_screen

    if (screen := find_screen()) is not None:
        screen.take_console()
    hand_on_plan(frozen, plan)
    await_server(address, quiet=quiet)
    with refuse_prefect_failures():
        return str(release(str(frozen)))
