"""Folders of releases that stand elsewhere than when a vault was backed up."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tasks.vault.files import read_json, write_json
from tasks.vault.storage import LEDGER, RELEASES, Vault

Place = Callable[[str], str]


def move_releases(vault: Vault, old: Path, new: Path) -> int:
    """Let a vault that nobody uses yet know its releases below `new` instead of `old`.

    Returns how many records were changed.
    """

    def place(text: str) -> str:
        path = Path(text)
        return str(new / path.relative_to(old)) if path.is_relative_to(old) else text

    changed = _of_ledger(vault.path / LEDGER, place)
    for path in sorted(vault.runs.glob(f"*/{RELEASES}")):
        marks = read_json(path)
        changed += _replaced(path, marks, {place(parent): mark for parent, mark in marks.items()})
    for path in sorted(vault.runs.glob("*/retracted.json")):
        told = read_json(path)
        moved = [
            {**each, "folder": place(each["folder"]), "place": place(each["place"])}
            for each in told["retractions"]
        ]
        changed += _replaced(path, told, {**told, "retractions": moved})
    for path in sorted(vault.path.glob("series/*/*/version.json")):
        told = read_json(path)
        changed += _replaced(path, told, {**told, "parent": place(str(told.get("parent", "")))})
    return changed


def _replaced(path: Path, before: dict[str, Any], after: dict[str, Any]) -> int:
    if before == after:
        return 0
    write_json(path, after)
    return 1


def _of_ledger(path: Path, place: Place) -> int:
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as ledger, ledger:
        entered = [folder for (folder,) in ledger.execute("select distinct folder from releases")]
        moved = [(place(folder), folder) for folder in entered if place(folder) != folder]
        ledger.executemany("update releases set folder = ? where folder = ?", moved)
    return len(moved)
