"""JSON lines: one object a line, its keys the names of the columns."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.file_bytes import File, read_bytes
from crowdcover.storage.source.formats.base import Dialect, Format
from crowdcover.storage.source.formats.cells import type_column
from crowdcover.storage.source.packing import HEAD_BYTES


class JsonLines(Format):
    """Objects, one a line; a key that a line lacks is 'not given' there."""

    name: ClassVar[str] = "json lines"
    ends: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")

    def fits(self, head: bytes) -> bool:
        """The first line that is not blank is an object, or begins one and is very long."""
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        line, ended, _ = text.partition(b"\n")
        if not line.startswith(b"{"):
            return False
        try:
            return isinstance(json.loads(line), dict)
        except ValueError:
            # The head may end within a long first line, which then is no JSON.
            cut_off = not ended and len(head) >= HEAD_BYTES
            return cut_off and line[1:].lstrip().startswith(b'"')

    def names(self, file: File, dialect: Dialect) -> list[str] | int:
        """All keys, in the order in which they occur first."""
        return _list_keys(_read_objects(file))

    def columns(
        self, file: File, dialect: Dialect, width: int, places: Sequence[int]
    ) -> pl.DataFrame:
        """Columns in the types of their values."""
        rows = list(_read_objects(file))
        names = _list_keys(rows)
        return pl.DataFrame(
            {
                str(place): type_column(
                    names[place].strip(), [row.get(names[place]) for row in rows]
                )
                for place in places
            }
        )


def _list_keys(rows: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _read_objects(file: File) -> Iterator[dict[str, Any]]:
    data = read_bytes(file)
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            yield _parse_object(line, number)


def _parse_object(line: bytes, number: int) -> dict[str, Any]:
    """One line; refused: what is no object, or an object with a key twice."""
    refusal = f"line {number} of the source is no JSON object; write one object a line"
    try:
        # By default json takes the last of two equal keys, and NaN: cells would change unseen.
        found = json.loads(
            line, object_pairs_hook=_without_doubles, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        pass
    else:
        if isinstance(found, dict):
            return found
    raise InputError(refusal)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


def _refuse_constant(_name: str) -> Any:
    raise ValueError("JSON has no NaN and no Infinity")
