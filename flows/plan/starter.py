"""Starter plans: their text, as `crowdcover plan` prints it, and the new file that holds it."""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from crowdcover.flows.plan.schema import FILE, LINE, plan_schema, refuse_other, write_schema
from crowdcover.kinds import kind_called
from crowdcover.kinds.base import Listener, say_nothing
from crowdcover.kinds.section import PlanError, source_called, toml_text
from crowdcover.storage.source.drivers import split_file_address
from crowdcover.storage.source.sources import Source


def build_starter_plan(
    options: argparse.Namespace, folder: Path | None = None, tell: Listener = say_nothing
) -> str:
    """The starter plan of the source that the arguments of a command name.

    `folder` is where the plan will lie, if that is known. The path of a source in this folder, or
    below it, then starts there, so that plan and data can be moved together. Other paths are whole.
    `tell` hears what is done.
    """
    source = replace(source_called(options.source, options.query), sheet=options.sheet)
    if isinstance(source.path, Path):
        source = replace(source, path=source.path.resolve())
    text = kind_called(options.kind).starter(source, options.header, options.names, tell)
    if folder is not None:
        text = _shorten_place(text, source, folder.resolve())
    file = FILE.format(kind=options.kind)
    command = f"crowdcover schema --kind {options.kind} --output {file}"
    return f"{LINE}{file}\n# Editors check the plan with that file: {command}\n{text}"


def find_printed_folder() -> Path | None:
    """The folder of the file that standard output is written to; None of a terminal or a pipe."""
    try:
        path = Path(os.readlink("/proc/self/fd/1"))
        return path.parent if path.is_file() else None
    except OSError:
        return None


def _shorten_place(text: str, source: Source, folder: Path) -> str:
    """A starter plan whose source lies in the plan's folder, named from there."""
    start, whole = "", source.path
    if (local := split_file_address(source.uri or "")) is not None:
        start, whole = local[0], Path(local[1]).resolve()
    if not isinstance(whole, Path) or not whole.is_relative_to(folder):
        return text
    key = "uri" if start else "path"
    stated, short = (
        f"\n{key} = {toml_text(start + str(each))}\n" for each in (whole, whole.relative_to(folder))
    )
    return text.replace(stated, short, 1)


def write_new_plan(text: str, path: Path, kind: str) -> None:
    """Write a starter plan to a new file, with the schema that editors check it with.

    Refused: a file that is there.
    """
    file = path.parent / FILE.format(kind=kind)
    # Before the plan is written: its first line would name a file that is no schema.
    refuse_other(file)
    try:
        with path.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except OSError:
        raise PlanError(f"{path} exists or cannot be written; choose another --output") from None
    write_schema(file, plan_schema(kind))
