"""Tables of runs and of waiting releases, for a terminal."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, moment, printable

if TYPE_CHECKING:
    from rich.table import Table

WHERE = re.compile(r"; every \w+ lies in the vault: \S+$")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
COLOURS = {
    "published": "green",
    "waits": "yellow",
    "approved": "yellow",
    "running": "cyan",
    "refused": "red",
    "failed": "red",
}


def list_run_lines(entries: Sequence[Mapping[str, Any]]) -> "Table":
    """One line for each run; the order is the caller's."""
    from rich.text import Text

    table = _build_table("Run", "Plan", "Kind", "State", "Rows", "Since")
    for entry in entries:
        table.add_row(
            entry["run"],
            printable(entry["name"]) or "not recorded",
            entry["kind"],
            Text(
                _with_times(printable(_state_without_reason(entry))),
                style=COLOURS.get(entry["state"], ""),
            ),
            Text(count(entry["rows"]), justify="right"),
            moment(entry["since"]),
        )
    return table


def list_waiting_lines(entries: Sequence[Mapping[str, Any]]) -> list["Table"]:
    """A block of lines for each release that waits."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    blocks = []
    for entry in entries:
        block = Table(box=box.SIMPLE, show_header=False, pad_edge=False, title_justify="left")
        block.title = Text(printable(f"{entry['name']}, run {entry['run']}"), style="bold")
        block.add_column(no_wrap=True)
        block.add_column(no_wrap=True)  # places and commands are copied from here
        shown = {
            **entry,
            "rows": count(entry["rows"]),
            "asked": moment(entry["asked"]),
            "until": moment(entry["until"]),
            "requested_by": entry["requested_by"] or "not recorded",
        }
        for name, label in load_messages("crowdcover.reports").name_entries("waiting").items():
            if shown[name]:
                block.add_row(label, printable(shown[name]))
        blocks.append(block)
    return blocks


def list_reason_lines(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each run that has a reason, without the place of the verdicts."""
    return [
        _with_times(f"{entry['run']}: {printable(WHERE.sub('', entry['reason']))}")
        for entry in entries
        if entry["reason"]
    ]


def _state_without_reason(entry: Mapping[str, Any]) -> str:
    """The state without its reason, which stands below the table."""
    reason = entry["reason"]
    return str(entry["words"].removesuffix(f": {reason}") if reason else entry["words"])


def _with_times(words: str) -> str:
    """A sentence with its times to the minute."""
    return _TIME.sub(lambda found: moment(found[0]), words)


def _build_table(*headings: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=heading not in ("Plan", "State"))
    return table
