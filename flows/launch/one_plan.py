"""From a plan file to a flow run: the plan is checked, frozen in its vault, and released."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crowdcover.flows.launch.standing import find_untouched_release
from crowdcover.flows.printed_json import writes_json_logs
from crowdcover.storage.places.place import Place, place_of
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


def freeze_plan(plan: "ReleasePlan") -> Path:
    """Write the plan as it was understood into its vault; its file."""
    from crowdcover.storage.vault.vault import Vault

    return plan.freeze(Vault(Path(plan.publish.vault)).open().path / "plans")


def frozen_release(path: Path, overrides: Sequence[str], *, quiet: bool) -> Place:
    """Release a plan in a flow run of this process; the release folder.

    What stands as the plan wants it needs no run.
    """
    plan = load_ready_plan(path, overrides)
    if (folder := find_untouched_release(plan)) is not None:
        from crowdcover.flows.loading import load_as_planned

        said = [f"published before and unchanged since: {folder.name}"]
        if sentence := load_as_planned(plan, folder):
            said.append(sentence)
        if not quiet:
            sys.stderr.write("\n".join(said) + "\n")
        return folder
    frozen = freeze_plan(plan)
    from crowdcover.tasks.orchestration.terminal import find_screen, watch_on_terminal

    with (
        watch_on_terminal(quiet=quiet, plain=writes_json_logs()),
        plan.kind.compile_kernels(quiet=quiet),
    ):
        # Prefect takes seconds to import, and the kernels compile meanwhile.
        with keep_all_objects():
            from crowdcover.flows.launch.own_server import run_own_server
            from crowdcover.flows.launch.prefect_failures import refuse_prefect_failures
            from crowdcover.flows.release import release
            from crowdcover.flows.runs.parameters import hand_on_plan

        if (screen := find_screen()) is not None:
            screen.take_console()
        hand_on_plan(frozen, plan)
        with refuse_prefect_failures(), run_own_server():
            return place_of(str(release(str(frozen))))
