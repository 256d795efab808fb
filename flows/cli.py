"""The `crowdcover` command.

Prefect and Great Expectations take seconds to import, so only commands that run a flow do that.
"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anon_core.errors import AnonymityError, escaped
from flows.arguments import Command, parser
from tasks.vault.room import full, is_full

if TYPE_CHECKING:
    from flows.plan.plan import ReleasePlan

Result = TypeVar("Result")

# crowdcover is an application: these top-level names are common in other projects.
PACKAGES = ("flows", "kinds", "tasks", "validations", "reports", "anon_core")
QUIET_DEFAULTS = {
    # No telemetry: nothing about private data leaves the machine.
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "GX_ANALYTICS_ENABLED": "false",
    # Prefect's temporary server starts slowly on a busy machine.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with the code that docs/commands.md states."""
    options = parser(COMMANDS).parse_args(arguments)
    for name, value in QUIET_DEFAULTS.items():
        os.environ.setdefault(name, value)
    if options.quiet:
        os.environ.update(PREFECT_LOGGING_LEVEL="CRITICAL", PREFECT_LOGGING_ROOT_LEVEL="CRITICAL")
    try:
        code = options.run(options)
        sys.stdout.flush()  # here a reader that went away can be answered, at exit it cannot
    except AnonymityError as refusal:
        print(f"crowdcover: {refusal}", file=sys.stderr)
        from flows.outcome import exit_code

        code = exit_code(refusal)
    except KeyboardInterrupt:
        print("crowdcover: stopped; run the same command again to go on", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - polars panics are no Exceptions
        print(f"crowdcover: {_unforeseen(error)}", file=sys.stderr)
        code = 1
    sys.exit(code)


def _unforeseen(error: BaseException) -> str:
    """Where an error was raised, without its message: that may quote cells."""
    if is_full(error):
        named = getattr(error, "filename", None)
        return full("the command", [Path(named).parent if isinstance(named, str) else Path.cwd()])
    where = traceback.extract_tb(error.__traceback__)
    ours = [
        frame for frame in where if Path(frame.filename).is_relative_to(Path(__file__).parents[1])
    ] or where
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    package = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
    if package in PACKAGES:
        return (
            f"another package named {package!r} hides the one of crowdcover; "
            "install crowdcover in an environment of its own"
        )
    return f"unforeseen {type(error).__name__} at {place}; please report it"


# ---------------------------------------------------------------- commands


def release(options: argparse.Namespace) -> int:
    """Run the flow and print the release folder last; one line for each plan or partition."""
    if options.partition is not None or options.backfill is not None:
        return _release_partitions(options)
    if len(options.plans) == 1:
        print(_release(options.plans[0], options.overrides, quiet=options.quiet))
        return 0
    outcomes = _release_many(options.plans, options.overrides, options.workers)
    for path, (code, words) in zip(options.plans, outcomes, strict=True):
        print(
            f"crowdcover: {path}: {words}" if code else words,
            file=sys.stderr if code else sys.stdout,
        )
    return next((code for code, _ in outcomes if code), 0)


def _release(plan_path: Path, overrides: Sequence[str], *, quiet: bool) -> Path:
    plan = _ready(plan_path, overrides)
    named = plan.name if plan.partition is None else f"{plan.name} {plan.partition.at}"
    frozen = _freeze(plan)
    with plan.kind.compiling(quiet=quiet):
        from flows.release import release as flow
        from flows.serving import on_prefect

        return Path(on_prefect(lambda: flow.with_options(flow_run_name=named)(str(frozen))))


def _release_partitions(options: argparse.Namespace) -> int:
    """One version of one partition, or one for each of a range."""
    from kinds.section import PlanError

    if len(options.plans) > 1 or None not in (options.partition, options.backfill):
        raise PlanError("give one plan, and either --partition or --backfill")
    from flows.partitions import at, backfilled
    from flows.plan.plan import ReleasePlan

    path, overrides = options.plans[0], options.overrides

    def made(named: Sequence[str]) -> Path:
        return _release(path, [*overrides, *named], quiet=options.quiet)

    if options.partition is not None:
        print(made(at(options.partition)))
        return 0
    for label, result in backfilled(ReleasePlan.load(path, overrides), options.backfill, made):
        waits = isinstance(result, AnonymityError)
        words = f"crowdcover: {label}: {result}" if waits else str(result)
        print(words, file=sys.stderr if waits else sys.stdout, flush=True)
    return 0


def _release_many(
    paths: Sequence[Path], overrides: Sequence[str], workers: int
) -> list[tuple[int, str]]:
    """The exit code of each plan, with its release folder or refusal. A refusal stops no other."""
    from flows.outcome import exit_code
    from kinds.section import PlanError

    if find_spec("prefect_dask") is None:
        raise PlanError(
            "more than one plan needs Dask, which is not installed: pip install 'crowdcover[dask]'"
        )
    ready, outcomes = {}, {}
    for number, path in enumerate(paths):
        try:
            plan = _ready(path, overrides)
            ready[number] = plan.name, _freeze(plan)
        except AnonymityError as refusal:
            outcomes[number] = exit_code(refusal), str(refusal)
    if ready:
        from flows.releases import release_all
        from flows.serving import on_prefect

        outcomes |= zip(
            ready, on_prefect(lambda: release_all(list(ready.values()), workers)), strict=True
        )
    return [outcomes[number] for number in range(len(paths))]


def _ready(plan_path: Path, overrides: Sequence[str]) -> "ReleasePlan":
    """The plan; what can be refused without a server is refused here."""
    from flows.partitions import require_named
    from flows.plan.plan import ReleasePlan
    from tasks.source.sources import header

    plan = ReleasePlan.load(plan_path, overrides)
    plan.check_engine()
    require_named(plan)
    if (names := header(plan.data.source)) is not None:
        plan.data.check_header(names)
    return plan


def _freeze(plan: "ReleasePlan") -> Path:
    """The plan as it was understood, in the vault."""
    from tasks.vault.storage import Vault

    return plan.freeze(Vault(Path(plan.publish.vault)).open().path / "plans")


def audit(options: argparse.Namespace) -> int:
    """Print every finding; 4 if one does not hold."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from flows.audit import audited, read_manifest
    from flows.plan.plan import ReleasePlan
    from kinds import words_called
    from reports.findings import sentence

    read_manifest(options.release)
    plan = ReleasePlan.load(options.plan, options.overrides)
    report, words = audited(options.release, plan), words_called(plan.kind.name)
    title = f"Audit of {options.release.name}"
    table = Table("Guarantee", "Holds", "Counted", title=title, show_lines=True)
    for finding in report.findings:
        holds = "NO" if finding.broken else "yes" if finding.passed else "not required"
        expected = Text.assemble(
            (finding.guarantee, "bold"), "\n", sentence(finding.guarantee, words)
        )
        table.add_row(expected, holds, Text(escaped(finding.detail)))
    if not options.quiet:
        Console().print(table)
    print(escaped(report.sentence()))
    return 0 if report.passed else 4


def show(options: argparse.Namespace) -> int:
    """Print a release's manifest for people, or as JSON."""
    from flows.audit import STATED, read_manifest
    from tasks.vault.retracting import notice_of

    manifest, notice = read_manifest(options.release, STATED), notice_of(options.release)
    if options.json:
        print(_printable_json(manifest if notice is None else {**manifest, "retracted": notice}))
        return 0
    from rich.console import Console

    from kinds import words_of
    from reports import summary

    summary.terminal(manifest, Console(), words_of(manifest))
    if notice is not None:
        told = f"RETRACTED by {notice['by']} at {notice['at']}: {notice['reason']}"
        print(escaped(told))
    return 0


def _printable_json(document: Mapping[str, Any]) -> str:
    """JSON that reads back the same and holds no sign that could rewrite a terminal."""
    lines = json.dumps(document, indent=2, ensure_ascii=False).split("\n")
    return "\n".join(
        line
        if line.isprintable()
        else "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line)
        for line in lines
    )


def starter_plan(options: argparse.Namespace) -> int:
    """Propose a role for every column."""
    from kinds import kind_called
    from kinds.section import PlanError, source_called

    source = source_called(options.source, options.query)
    text = kind_called(options.kind).starter(source, options.header, options.names)
    if options.output is None:
        print(text, end="")
        return 0
    try:
        with options.output.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except OSError:
        raise PlanError(
            f"{options.output} exists or cannot be written; choose another --output"
        ) from None
    return 0


def measure(options: argparse.Namespace) -> int:
    """Print the triangles of a graph for people, or as JSON."""
    from flows.measuring import measured, sentences

    numbers = measured(options)
    print(_printable_json(numbers) if options.json else "\n".join(sentences(numbers)))
    return 0


def serve(options: argparse.Namespace) -> int:
    """Poll for scheduled and manual runs until stopped."""
    from flows.plan.plan import ReleasePlan

    plan = ReleasePlan.load(options.plan, options.overrides)
    from flows.partitions import require_named
    from flows.serving import on_prefect
    from flows.serving import serve as serving

    require_named(plan)

    on_prefect(lambda: serving(plan.name, _freeze(plan), options.cron, quiet=options.quiet))
    return 0


def decide(what: str, options: argparse.Namespace) -> int:
    """Approve or reject a release that waits, or ask once more."""
    from flows import decisions

    how = {"approve": decisions.approve, "reject": decisions.reject, "reopen": decisions.reopen}
    return how[what](options)


def retract(options: argparse.Namespace) -> int:
    """Take back a release that was never handed out."""
    from flows import retracting

    return retracting.retract(options)


def withdraw(options: argparse.Namespace) -> int:
    """Leave people out of all later versions of a series."""
    from flows import withdrawing

    return withdrawing.withdraw(options)


def demo(options: argparse.Namespace) -> int:
    """Release the Fair survey of 1978 (6,366 women) and show the result."""
    from rich.console import Console

    from flows.audit import read_manifest
    from kinds import words_of
    from kinds.table.demo import demo_plan
    from reports import summary

    folder = _release(demo_plan(options.folder), [], quiet=options.quiet)
    if not options.quiet:
        manifest = read_manifest(folder)
        summary.terminal(manifest, Console(), words_of(manifest))
        print("open", folder / "report.html")
    print(folder)
    return 0


COMMANDS: dict[str, Command] = {
    "release": release,
    "audit": audit,
    "show": show,
    "plan": starter_plan,
    "measure": measure,
    "serve": serve,
    **{what: partial(decide, what) for what in ("approve", "reject", "reopen")},
    "retract": retract,
    "withdraw": withdraw,
    "demo": demo,
}

if __name__ == "__main__":
    main()
