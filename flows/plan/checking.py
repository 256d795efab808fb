"""Check a plan without its data: what `crowdcover check` says, in the words of a release."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePosixPath

import polars as pl

from anon_core.errors import AnonymityError
from crowdcover.flows.plan.column_files import ListedColumns, read_columns_file
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError, refuse_together
from crowdcover.storage.source.column_names import require_distinct_names
from crowdcover.storage.source.sources import Source, name_formats


def list_refusals(path: Path, overrides: Sequence[str], columns: str | None) -> tuple[str, ...]:
    """All that a release of a plan would refuse before it reads the source, as far as it is known.

    The first one is what the release says. `columns` names a file with the names of the source's
    columns: then what a release refuses by these is told, too. Neither the source nor the vault is
    opened.
    """
    try:
        with name_formats():
            plan = ReleasePlan.load(path, overrides)
            listed = None if columns is None else _read_columns(plan, columns)
            refuse_together(
                (partial(_check_names, plan, listed), partial(_check_types, plan, listed))
            )
    except PlanError as error:
        return error.refusals
    except AnonymityError as error:  # such as a frozen plan that is encrypted, without its key
        return (str(error),)
    return ()


def _read_columns(plan: ReleasePlan, place: str) -> ListedColumns:
    source: Source = plan.data.source
    return read_columns_file(place, source.separator, (plan.name, *_list_names(source)))


def _check_names(plan: ReleasePlan, listed: ListedColumns | None) -> None:
    if listed is None:
        return
    source: Source = plan.data.source
    names = require_distinct_names(listed.names)
    # A file without a header has no names to compare: a release compares their number.
    nameless = source.has_option("header") and not source.header
    plan.data.check_header(source.add_points(len(names) if nameless else names))


def _check_types(plan: ReleasePlan, listed: ListedColumns | None) -> None:
    """Text has no types: what a document calls a number is text in a CSV file."""
    source: Source = plan.data.source
    if source.is_text:
        plan.rules.check_types(plan.data, lambda _: pl.String())
    elif source.is_typed and listed is not None:
        plan.rules.check_types(plan.data, listed.types.get)


def _list_names(source: Source) -> list[str]:
    """What documents may call the table of a source: the name of its file."""
    return [] if source.path is None else [PurePosixPath(str(source.path)).name.partition(".")[0]]
