"""`crowdcover release`: run the flow of one plan, of several, or of many partitions."""

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from anon_core.errors import AnonymityError, escape_unprintable
from crowdcover.flows.commands.command import (
    Command,
    add_json_option,
    add_set_option,
    positive_integer,
)
from crowdcover.flows.launch.one_plan import frozen_release, load_ready_plan
from crowdcover.flows.printed_json import print_refusal, printable_json
from crowdcover.storage.places.place import Place


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the plans, and which partitions of their sources are new."""
    parser.add_argument(
        "plans",
        type=Path,
        nargs="+",
        metavar="PLAN.toml",
        help="plans to release; several run at the same time",
    )
    parser.add_argument(
        "--workers",
        type=positive_integer,
        default=2,
        help="how many plans run at the same time (default: %(default)s)",
    )
    parser.add_argument(
        "--partition",
        metavar="LABEL",
        help="partition of the source whose rows are new, such as 2014-03",
    )
    parser.add_argument(
        "--backfill",
        metavar="FIRST..LAST",
        help="one version for each partition of a range, such as 2013-08..2015-12, in order; "
        "partitions that were released are skipped",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="read, check and estimate; refuse what a release would refuse before the anonymizer "
        "starts; publish and store nothing",
    )
    add_json_option(parser, "what --dry-run found")
    add_set_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print the release folder last; one line for each plan or partition."""
    if options.dry_run:
        return _rehearse_plans(options)
    if options.json:
        from crowdcover.kinds.section import PlanError

        raise PlanError("--json belongs to --dry-run; a release prints its folder")
    if options.partition is not None or options.backfill is not None:
        return _release_partitions(options)
    if len(options.plans) == 1:
        print(frozen_release(options.plans[0], options.overrides, quiet=options.quiet))
        return 0
    outcomes = _release_plans(
        options.plans, options.overrides, options.workers, quiet=options.quiet
    )
    for path, (code, words) in zip(options.plans, outcomes, strict=True):
        if code:
            print_refusal(f"{path}: {words}")
        else:
            print(words)
    return next((code for code, _ in outcomes if code), 0)


def _release_partitions(options: argparse.Namespace) -> int:
    """One version of one partition, or one for each of a range."""
    from crowdcover.kinds.section import PlanError

    if len(options.plans) > 1 or None not in (options.partition, options.backfill):
        raise PlanError("give one plan, and either --partition or --backfill")
    from crowdcover.flows.plan.plan import ReleasePlan
    from crowdcover.flows.runs.partitions import backfill_partitions, format_partition_settings

    path, changes = options.plans[0], options.overrides

    def release_one(named: Sequence[str]) -> Place:
        return frozen_release(path, [*changes, *named], quiet=options.quiet)

    if options.partition is not None:
        print(release_one(format_partition_settings(options.partition)))
        return 0
    for label, result in backfill_partitions(
        ReleasePlan.load(path, changes), options.backfill, release_one
    ):
        if isinstance(result, AnonymityError):
            print_refusal(f"{label}: {result}")
        else:
            print(result, flush=True)
    return 0


def _rehearse_plans(options: argparse.Namespace) -> int:
    """What each release would begin with; the refusal of one plan stops the command."""
    from crowdcover.kinds.section import PlanError

    if options.backfill is not None:
        raise PlanError("--dry-run takes one version: give --partition instead of --backfill")
    named = []
    if options.partition is not None:
        if len(options.plans) > 1:
            raise PlanError("give one plan, and either --partition or --backfill")
        from crowdcover.flows.runs.partitions import format_partition_settings

        named = format_partition_settings(options.partition)
    # All plans are checked before the first source is read in full.
    plans = [load_ready_plan(path, [*options.overrides, *named]) for path in options.plans]
    from dataclasses import asdict

    from crowdcover.flows.rehearsing import rehearse_release
    from crowdcover.reports.terminal.rehearsal import list_rehearsal_lines

    for plan in plans:
        document = {"name": plan.name, **asdict(rehearse_release(plan))}
        if options.json:
            print(printable_json(document))
        else:
            print("\n".join(map(escape_unprintable, list_rehearsal_lines(document))))
    return 0


def _release_plans(
    paths: Sequence[Path], changes: Sequence[str], workers: int, *, quiet: bool
) -> list[tuple[int, str]]:
    """The exit code of each plan, with its release folder or refusal. A refusal stops no other."""
    from crowdcover.flows.outcome import exit_code
    from crowdcover.flows.runs.known_plan import freeze_plan
    from crowdcover.kinds.section import PlanError

    if find_spec("prefect_dask") is None:
        raise PlanError(
            "more than one plan needs Dask, which is not installed: pip install 'crowdcover[dask]'"
        )
    plans, outcomes = {}, {}
    for number, path in enumerate(paths):
        try:
            plan = load_ready_plan(path, changes)
            plans[number] = plan.name, freeze_plan(plan)
        except AnonymityError as refusal:
            outcomes[number] = exit_code(refusal), str(refusal)
    # Dask takes seconds to import: not if every plan was refused.
    if plans:
        from crowdcover.flows.launch.many_plans import release_all

        released = release_all(list(plans.values()), workers, quiet=quiet)
        # Keys are places on the command line: refused plans have left gaps among them.
        outcomes |= zip(plans, released, strict=True)
    return [outcomes[number] for number in range(len(paths))]


COMMAND = Command(
    "release",
    "make and publish the release of each plan; prints the release folders last",
    "crowdcover release examples/adult.toml --set privacy.k=10",
    arguments,
    run,
    patient=True,
)
