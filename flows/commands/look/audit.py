"""`crowdcover audit`: recompute every guarantee of a release."""

import argparse

from anon_core.errors import escape_unprintable
from crowdcover.flows.commands.command import Command, add_plan_option, add_release_argument


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release and its plan."""
    add_release_argument(parser)
    add_plan_option(parser, "plan of the release")


def run(options: argparse.Namespace) -> int:
    """Print every finding; 4 if one does not hold."""
    from rich.table import Table
    from rich.text import Text

    from crowdcover.flows.look.audit import recompute_guarantees
    from crowdcover.flows.look.named_release import require_release
    from crowdcover.flows.plan.plan import ReleasePlan
    from crowdcover.kinds import words_called
    from crowdcover.reports.findings import sentence_of_finding
    from crowdcover.reports.terminal.printing import create_console

    require_release(options.release)
    plan = ReleasePlan.load(options.plan, options.overrides)
    report, words = recompute_guarantees(options.release, plan), words_called(plan.kind.name)
    title = escape_unprintable(f"Audit of {options.release.name}")
    table = Table("Guarantee", "Holds", "Counted", title=title, show_lines=True)
    for finding in report.findings:
        holds = "NO" if finding.broken else "yes" if finding.passed else "not required"
        expected = Text.assemble(
            (finding.guarantee, "bold"), "\n", sentence_of_finding(finding.guarantee, words)
        )
        table.add_row(expected, holds, escape_unprintable(finding.detail))
    if not options.quiet:
        create_console().print(table)
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
