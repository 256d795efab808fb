"""`crowdcover try`: utility and risks under several settings, side by side."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from anon_core.errors import escape_unprintable
from crowdcover.flows.commands.command import (
    Command,
    add_json_option,
    add_set_option,
    positive_integer,
)
from crowdcover.flows.printed_json import printable_json, printable_line

_WIDE = 110  # where standard output is no terminal


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the plan, the settings and the sample."""
    parser.add_argument("plan", type=Path, metavar="PLAN.toml")
    parser.add_argument(
        "--k",
        type=positive_integer,
        nargs="+",
        default=[],
        metavar="K",
        help="levels of k for everyone, in place of privacy.k (default: as the plan states)",
    )
    parser.add_argument(
        "--weights",
        nargs="+",
        default=[],
        metavar="WEIGHTS",
        help="values of anonymizer.weights, such as columns, cells, bits",
    )
    parser.add_argument(
        "--sample",
        type=positive_integer,
        metavar="N",
        help="try on about so many random rows, or users of a matrix (default: all)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="S",
        help="of the sample and of all chance, so that numbers can be repeated "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--partition",
        metavar="LABEL",
        help="partition of the source that is tried, such as 2014-03",
    )
    add_json_option(parser, "the numbers")
    parser.add_argument(
        "--lines",
        action="store_true",
        help="print each setting as a line of JSON as soon as it is measured",
    )
    add_set_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print a line for each setting; the code of the first refusal where none gives numbers."""
    from crowdcover.flows.runs.partitions import format_partition_settings
    from crowdcover.flows.trying import build_setting_plans, list_settings, try_settings
    from crowdcover.reports.comparison import Line, build_settings_table
    from crowdcover.reports.terminal.printing import print_tables

    stated = list_settings(options.k, options.weights)
    part = [] if options.partition is None else format_partition_settings(options.partition)
    plans = build_setting_plans(options.plan, [*options.overrides, *part], stated)
    name = plans[0].name
    found = []
    for rows, outcome in try_settings(plans, stated, options.sample, options.seed):
        found.append((rows, outcome))
        if not options.quiet:
            print(f"{outcome.label}: {outcome.seconds:.1f} s", file=sys.stderr, flush=True)
        if options.lines:
            print(printable_line({"records": rows, **outcome.as_json()}), flush=True)
    outcomes = [outcome for _, outcome in found]
    # A setting that was refused tells 0 records.
    rows = max(number for number, _ in found)
    drawn = None if options.sample is None else {"records": rows, "seed": options.seed}
    if options.json:
        listed = [outcome.as_json() for outcome in outcomes]
        print(printable_json({"name": name, "records": rows, "sample": drawn, "settings": listed}))
    elif not options.lines:
        print(f"{name}: {_describe_sample(rows, drawn)}; nothing was published, nothing was stored")
        shown = [Line(each.stated, each.numbers) for each in outcomes]
        print_tables([build_settings_table(shown)], piped=_WIDE)
        for outcome in outcomes:
            if outcome.refusal_text:
                print(f"{outcome.label}: {escape_unprintable(outcome.refusal_text)}")
    numbers = any(outcome.numbers for outcome in outcomes)
    return 0 if numbers else next(outcome.code for outcome in outcomes)


def _describe_sample(rows: int, drawn: Mapping[str, int] | None) -> str:
    """What the numbers are about."""
    if not rows:
        return "no setting gives a release"
    if drawn is None:
        return f"{rows:,} records"
    return f"a sample of {rows:,} records (seed {drawn['seed']}); all records keep more"


COMMAND = Command(
    "try",
    "show utility and risks of a plan under several settings; publishes nothing",
    "crowdcover try people.toml --k 3 5 10 20 --weights columns bits",
    arguments,
    run,
)
