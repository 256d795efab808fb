"""Whether the ledger of a vault and its runs say the same. Nothing is written."""

import sqlite3
from contextlib import closing
from typing import Any

from crowdcover.storage.encryption.encryption import DamagedError
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.ledger.transaction import open_ledger_transaction
from crowdcover.storage.source.values import FOREIGN_ERRORS
from crowdcover.storage.upkeep.verification import RESTORE, Report
from crowdcover.storage.vault.vault import LEDGER, LEDGER_KEY

REBUILT = "run a release or an audit: what the ledger lacks is entered from the runs"
_ABOUT = "select name, value from about"
_ENTRIES = "select run, folder, version, published from releases order by folder, version"
_Rows = list[tuple[Any, ...]]


def look_at_ledger(report: Report, ledger: Ledger) -> None:
    """Compare key, entries and runs.

    A shared ledger holds releases of other vaults, too: entries without a run are none of ours.
    """
    place = "the ledger at publish.ledger" if ledger.uri else LEDGER
    try:
        visible = {
            (run.seal, str(release.folder.parent), release.folder.name)
            for run in ledger.vault.by_seal().values()
            for release in run.ever_visible()
        }
        seals = set(ledger.vault.by_seal())
    except (OSError, DamagedError, ValueError, KeyError, TypeError, AttributeError):
        return  # the runs' own damage is in the report
    if ledger.uri is None and not (ledger.vault.path / LEDGER).exists():
        if visible:
            report.add(place, f"it is missing, and {len(visible)} releases are not in it", REBUILT)
        return
    if (rows := _read_ledger(report, ledger, place)) is None:
        return
    about, entries = rows
    report.looked_at["entries of the ledger"] = len(entries)
    key = ledger.vault.path / LEDGER_KEY
    stated = {str(name): value for name, value in about}.get("key")
    try:
        other = stated is not None and (not key.exists() or stated != ledger.key_print)
    except (OSError, DamagedError):
        return
    if other:
        report.add(LEDGER_KEY, "it is not the key that the ledger was begun with", RESTORE)
        return
    entered = {(run, folder, version) for run, folder, version, _ in entries}
    for _, folder, version in sorted(visible - entered):
        report.add(place, f"it lacks the release {folder}/{version}", REBUILT)
    if ledger.uri is None:
        for run, folder, version, published in entries:
            if run not in seals and published:
                report.add(
                    place,
                    f"it lists {folder}/{version}, whose run is not in this vault",
                    "restore the run from a backup; without it later releases of these people "
                    "cannot be compared",
                )


def _read_ledger(report: Report, ledger: Ledger, place: str) -> tuple[_Rows, _Rows] | None:
    """What the ledger holds; None where it cannot be read."""
    try:
        if ledger.uri is not None:
            with open_ledger_transaction(ledger.vault.path / LEDGER, ledger.uri) as ask:
                return ask(_ABOUT), ask(_ENTRIES)
        # Opened here and read-only: a transaction of the ledger would make what is missing.
        file = (ledger.vault.path / LEDGER).absolute().as_uri()
        with closing(sqlite3.connect(f"{file}?mode=ro", uri=True, timeout=10)) as connection:
            sound = connection.execute("pragma integrity_check").fetchall()
            rows = [connection.execute(query).fetchall() for query in (_ABOUT, _ENTRIES)]
    except FOREIGN_ERRORS as error:
        report.add(place, f"it cannot be read ({type(error).__name__})", _describe_remedy(ledger))
        return None
    if sound != [("ok",)]:
        report.add(place, "SQLite finds it damaged", _describe_remedy(ledger))
    return rows[0], rows[1]


def _describe_remedy(ledger: Ledger) -> str:
    if ledger.uri is not None:
        return "check publish.ledger"
    return "move it away: it is built anew from the runs when the next release or audit runs"
