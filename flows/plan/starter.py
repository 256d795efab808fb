"""Starter plans: their text, as `crowdcover plan` prints it, and the new file that holds it."""

import argparse
from dataclasses import replace
from pathlib import Path

from crowdcover.flows.plan.schema import FILE, LINE, plan_schema, refuse_other, write_schema
from crowdcover.kinds import kind_called
from crowdcover.kinds.section import PlanError, source_called


def build_starter_plan(options: argparse.Namespace) -> str:
    """The starter plan of the source that the arguments of a command name."""
    source = replace(source_called(options.source, options.query), sheet=options.sheet)
    text = kind_called(options.kind).starter(source, options.header, options.names)
    file = FILE.format(kind=options.kind)
    command = f"crowdcover schema --kind {options.kind} --output {file}"
    return f"{LINE}{file}\n# Editors check the plan with that file: {command}\n{text}"


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
