"""`crowdcover audit`: recompute every guarantee of a release."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from anon_core.errors import escape_unprintable
from crowdcover.flows.commands.command import (
    Command,
    add_json_option,
    add_plan_option,
    add_release_argument,
)

if TYPE_CHECKING:
    from crowdcover.kinds.judge.audit import Audit


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

    require_release(options.release)
    plan = ReleasePlan.load(options.plan, options.overrides)
    report = recompute_guarantees(options.release, plan)
    affected = list_affected(report) if options.affected else []
    if options.json:
        findings = [asdict(each) for each in report.findings]
        print(printable_json({"holds": report.passed, "findings": findings, "affected": affected}))
    else:
        if not options.quiet:
            _print_findings(options.release.name, report, plan.kind.name)
        if options.affected:
            _print_affected(affected, report.is_of_version)
        print(escape_unprintable(report.sentence()))
    if report.passed:
        return 0
    from crowdcover.flows.look.told_events import tell_server

    broken = sum(finding.broken for finding in report.findings)
    facts = {"version": options.release.name, "broken": broken, "findings": len(report.findings)}
    tell_server("audit.failed", [plan.name], **facts)
    return 4


def _print_findings(name: str, report: "Audit", kind: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from crowdcover.kinds import words_called
    from crowdcover.reports.findings import sentence_of_finding
    from crowdcover.reports.terminal.printing import create_console

    title, words = escape_unprintable(f"Audit of {name}"), words_called(kind)
    table = Table("Guarantee", "Holds", "Counted", title=title, show_lines=True)
    for finding in report.findings:
        holds = "NO" if finding.broken else "yes" if finding.passed else "not required"
        expected = Text.assemble(
            (finding.guarantee, "bold"), "\n", sentence_of_finding(finding.guarantee, words)
        )
        table.add_row(expected, holds, escape_unprintable(finding.detail))
    create_console().print(table)


def _print_affected(affected: Sequence[Mapping[str, Any]], is_of_version: bool) -> None:
    from rich.table import Table

    from crowdcover.reports.terminal.printing import print_tables

    new = ", of those new in this version" if is_of_version else ""
    title = f"Private: records whose crowd shows one value{new}"
    table = Table("One value of", "Column", "Level", "Records", "Of", title=title)
    for each in affected:
        names = [escape_unprintable(each[key]) for key in ("sensitive", "column")]
        for level in each["levels"]:
            numbers = [f"{level[key]:,}" for key in ("affected", "records")]
            table.add_row(*names, escape_unprintable(level["level"]), *numbers)
        if each["fewer"]:
            table.add_row(*names, f"{each['fewer']} levels with fewer than k", "-", "-")
    print_tables([table])


COMMAND = Command(
    "audit",
    "recompute every guarantee of a release from its source and its files",
    "crowdcover audit releases/adult/v1 --plan adult.toml",
    arguments,
    run,
)
