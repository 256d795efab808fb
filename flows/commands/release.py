"""`crowdcover release`: run the flow of one plan, of several, or of many partitions."""

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from anon_core.errors import AnonymityError
from flows.commands.command import Command, overrides, positive
from flows.frozen import freeze, frozen_release, ready
from tasks.places.place import Place


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
        type=positive,
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
    overrides(parser)


def run(options: argparse.Namespace) -> int:
    """Print the release folder last; one line for each plan or partition."""
    if options.partition is not None or options.backfill is not None:
        return _partitions(options)
    if len(options.plans) == 1:
        print(frozen_release(options.plans[0], options.overrides, quiet=options.quiet))
        return 0
    outcomes = _many(options.plans, options.overrides, options.workers)
    for path, (code, words) in zip(options.plans, outcomes, strict=True):
        print(
            f"crowdcover: {path}: {words}" if code else words,
            file=sys.stderr if code else sys.stdout,
        )
    return next((code for code, _ in outcomes if code), 0)


def _partitions(options: argparse.Namespace) -> int:
    """One version of one partition, or one for each of a range."""
    from kinds.section import PlanError

    if len(options.plans) > 1 or None not in (options.partition, options.backfill):
        raise PlanError("give one plan, and either --partition or --backfill")
    from flows.partitions import at, backfilled
    from flows.plan.plan import ReleasePlan

    path, changes = options.plans[0], options.overrides

    def made(named: Sequence[str]) -> Place:
        return frozen_release(path, [*changes, *named], quiet=options.quiet)

    if options.partition is not None:
        print(made(at(options.partition)))
        return 0
    for label, result in backfilled(ReleasePlan.load(path, changes), options.backfill, made):
        waits = isinstance(result, AnonymityError)
        words = f"crowdcover: {label}: {result}" if waits else str(result)
        print(words, file=sys.stderr if waits else sys.stdout, flush=True)
    return 0


def _many(paths: Sequence[Path], changes: Sequence[str], workers: int) -> list[tuple[int, str]]:
    """The exit code of each plan, with its release folder or refusal. A refusal stops no other."""
    from flows.outcome import exit_code
    from kinds.section import PlanError

    if find_spec("prefect_dask") is None:
        raise PlanError(
            "more than one plan needs Dask, which is not installed: pip install 'crowdcover[dask]'"
        )
    plans, outcomes = {}, {}
    for number, path in enumerate(paths):
        try:
            plan = ready(path, changes)
            plans[number] = plan.name, freeze(plan)
        except AnonymityError as refusal:
            outcomes[number] = exit_code(refusal), str(refusal)
    if plans:
        from flows.releases import release_all
        from flows.serving import on_prefect

        outcomes |= zip(
            plans, on_prefect(lambda: release_all(list(plans.values()), workers)), strict=True
        )
    return [outcomes[number] for number in range(len(paths))]


COMMAND = Command(
    "release",
    "make and publish the release of each plan; prints the release folders last",
    "crowdcover release examples/adult.toml --set privacy.k=10",
    arguments,
    run,
)
