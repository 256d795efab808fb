"""Unexpected failures: messages and tracebacks may contain values, so both stay in the vault."""

import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polars.exceptions import PanicException

from anon_core.errors import AnonymityError
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.storage.vault.endings import keep_ending
from crowdcover.storage.vault.files import write_private
from crowdcover.storage.vault.refusals import FolderError


class StageError(AnonymityError):
    """A stage failed unexpectedly; its traceback is in the vault."""


@contextmanager
def keep_failures(folder: Path, stage: str) -> Iterator[None]:
    """Keep the traceback of an unexpected error of the work inside in the vault.

    What ended the work is noted in the run. Refusals pass without their cause. A full disk is
    named. Any other error becomes a StageError that contains no value.
    """
    refusal: AnonymityError
    try:
        yield
        return
    except AnonymityError as known:
        refusal = known
        # Whatever logs the refusal logs its chain, too, and foreign errors in it may quote cells.
        refusal.__cause__ = refusal.__context__ = None
    # PanicException is no Exception: unnamed here, a panic would pass with its cells.
    except (Exception, PanicException) as error:
        if is_full(error):
            refusal = FolderError(
                describe_full_disk(f"stage {stage}", [folder, Path(tempfile.gettempdir())])
            )
        else:
            name = type(error).__name__
            refusal = StageError(
                f"stage {stage} failed with {name}; {_store_traceback(folder, stage)}"
            )
    keep_ending(folder, stage, refusal)
    try:
        raise refusal
    finally:
        refusal.__context__ = None  # Python makes the foreign error its context, which holds values


def _store_traceback(folder: Path, stage: str) -> str:
    """Store the current traceback in the vault; return where it is."""
    path = folder / f"failure-{stage}.txt"
    try:
        write_private(path, traceback.format_exc().encode())
    except OSError as error:
        return f"its traceback could not be kept in the vault ({type(error).__name__})"
    return f"its traceback is in the vault: {folder.name}/{path.name}"
