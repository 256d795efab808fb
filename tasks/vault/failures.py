"""Unforeseen failures: their messages and tracebacks may carry values, so both stay in the vault."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from polars.exceptions import PanicException

from anon_core.errors import AnonymityError
from tasks.vault.storage import write_private

Result = TypeVar("Result")


class StageError(AnonymityError):
    """A stage failed in an unforeseen way; what exactly lies in the vault."""


def failures_kept(folder: Path, stage: str, work: Callable[[], Result]) -> Result:
    """Do the work; let refusals pass without what caused them, and turn anything else into an error that tells no value."""
    refusal: AnonymityError
    try:
        return work()
    except AnonymityError as known:
        refusal = known
        refusal.__cause__ = refusal.__context__ = None
    except (Exception, PanicException) as error:
        refusal = StageError(
            f"stage {stage} failed with {type(error).__name__}; {_kept(folder, stage)}"
        )
    raise refusal  # out here: what is raised in place carries the foreign error as its context


def _kept(folder: Path, stage: str) -> str:
    """Keep the traceback of the error at hand in the vault and say where."""
    path = folder / f"failure-{stage}.txt"
    try:
        write_private(path, traceback.format_exc().encode())
    except OSError as error:
        return f"its traceback could not be kept in the vault ({type(error).__name__})"
    return f"its traceback lies in the vault: {folder.name}/{path.name}"
