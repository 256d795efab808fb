"""`crowdcover audit`: recompute every guarantee of a release."""

import argparse

from anon_core.errors import escape_unprintable
from crowdcover.flows.commands.command import (
    Command,
    add_json_option,
    add_plan_option,
    add_release_argument,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release and its plan."""
    add_release_argument(parser)
    add_plan_option(parser, "plan of the release")
    parser.add_argument(
        "--affected",
        action="store_true",
        help="of a table: also which levels have people whose crowd shows one sensitive value; "
        "private, and never fewer than k of them",
    )
    add_json_option(parser, "the findings")


def run(options: argparse.Namespace) -> int:
    """Print every finding; 4 if one does not hold."""
    from crowdcover.flows.look.audit import list_affected, recompute_guarantees
    from crowdcover.flows.look.named_release import require_release
    from crowdcover.flows.plan.plan import ReleasePlan
    from crowdcover.flows.printed_json import printable_json
    from crowdcover.kinds import words_called
    from crowdcover.reports.findings import build_affected_table, build_findings_table
    from crowdcover.reports.terminal.printing import create_console

    require_release(options.release)
    plan = ReleasePlan.load(options.plan, options.overrides)
    report, words = recompute_guarantees(options.release, plan), words_called(plan.kind.name)
    affected = list_affected(report) if options.affected else []
    if options.json:
        print(printable_json({**report.as_json(), "affected": affected}))
    else:
        if not options.quiet:
            title = escape_unprintable(f"Audit of {options.release.name}")
            create_console().print(build_findings_table(title, report.findings, words))
        if options.affected:
            create_console().print(build_affected_table(affected))
        print(escape_unprintable(report.sentence()))
    if report.passed:
        return 0
    from crowdcover.flows.look.told_events import tell_server

    broken = sum(finding.broken for finding in report.findings)
    facts = {"version": options.release.name, "broken": broken, "findings": len(report.findings)}
    tell_server("audit.failed", [plan.name], **facts)
    return 4


COMMAND = Command(
    "audit",
    "recompute every guarantee of a release from its source and its files",
    "crowdcover audit releases/adult/v1 --plan adult.toml",
    arguments,
    run,
)
