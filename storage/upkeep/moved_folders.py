"""Folders of releases that stand elsewhere than when a vault was backed up."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from storage.vault.files import read_json, write_json
from storage.vault.run import RELEASES
from storage.vault.vault import LEDGER, Vault

_Place = Callable[[str], str]


def move_releases(vault: Vault, old: str, new: str) -> int:
    """Let a vault that nobody uses yet know its releases below `new` instead of `old`.

    Both are absolute paths, or places in object storage. Returns how many records were changed.
    """

    def place(text: str) -> str:
        return move_place(text, old, new)

    changed = _of_ledger(vault.path / LEDGER, place)
    for path in sorted(vault.runs.glob(f"*/{RELEASES}")):
        marks = read_json(path)
        changed += _replace_record(
            path, marks, {place(parent): mark for parent, mark in marks.items()}
        )
    for path in sorted(vault.runs.glob("*/retracted.json")):
        record = read_json(path)
        moved = [
            {**each, "folder": place(each["folder"]), "place": place(each["place"])}
            for each in record["retractions"]
        ]
        changed += _replace_record(path, record, {**record, "retractions": moved})
    for path in sorted(vault.path.glob("series/*/*/version.json")):
        record = read_json(path)
        changed += _replace_record(
            path, record, {**record, "parent": place(str(record.get("parent", "")))}
        )
    return changed


def move_place(text: str, old: str, new: str) -> str:
    """A place below `old` as it is below `new`; others stay."""
    # The slashes keep /data/releases2 out of /data/releases.
    below = f"{text}/".removeprefix(f"{old}/")
    return text if below == f"{text}/" else f"{new}/{below}".rstrip("/")


def _replace_record(path: Path, before: dict[str, Any], after: dict[str, Any]) -> int:
    if before == after:
        return 0
    write_json(path, after)
    return 1


def _of_ledger(path: Path, place: _Place) -> int:
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as ledger, ledger:
        entered = [folder for (folder,) in ledger.execute("select distinct folder from releases")]
        moved = [(place(folder), folder) for folder in entered if place(folder) != folder]
        ledger.executemany("update releases set folder = ? where folder = ?", moved)
    return len(moved)
