"""Remove from a vault what no later audit, intersection or series needs.

Kept, whatever its age: all runs that published or retracted something, with every stage that an
audit, drift or the intersection with later releases reads; runs that wait for a decision; runs of
series; keys, the ledger, decisions and plans.

Removed, once older than a limit: runs that published nothing, pages of verdicts, tracebacks, logs
of batch jobs. Of a rejected run the decision stays, so that the same rows are refused again.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from anon_core.errors import AnonymityError
from crowdcover.storage.approval.approval import Approval
from crowdcover.storage.encryption.encryption import SealedError
from crowdcover.storage.series.retractions import Retractions
from crowdcover.storage.series.series import ABANDONED, Series
from crowdcover.storage.vault.files import UNREADABLE
from crowdcover.storage.vault.refusals import BusyError
from crowdcover.storage.vault.run import Run
from crowdcover.storage.vault.vault import REMOVED, Vault

DECIDED = {
    "run.json",
    "seed",
    "approval.json",
    "ended.json",
    "lock",
}  # what stays of a rejected run
Forget = Callable[[Run], None]


@dataclass(frozen=True)
class Removal:
    """A file or folder that nobody needs."""

    path: Path
    why: str
    bytes: int
    run: Run | None = None  # no process may be at work on it


def list_removals(vault: Vault, keep: timedelta) -> list[Removal]:
    """What would be removed now, older than `keep`. Runs with a damaged record are left alone."""
    found: list[Removal] = []
    of_series = runs_of_series(vault)
    for run in vault.every_run():
        try:
            found += _of_run(run, keep, in_series=run.path.name in of_series)
        except SealedError:
            raise
        # `verify` names the damage. Whether the run is needed is not known, so it stays.
        except (AnonymityError, *UNREADABLE):
            continue
    folders = [vault.runs, *vault.path.glob("series/*/[0-9]*")]
    for folder in folders:
        found += _list_old_removals(folder.glob("failure-*.txt"), "traceback", keep)
    if (vault.path / REMOVED).exists():
        found += _list_old_removals(
            [vault.path / REMOVED], "left by a prune that was stopped", timedelta()
        )
    return found


def apply_removals(vault: Vault, keep: timedelta, forget: Forget) -> list[Removal]:
    """Remove it; `forget` lets the ledger forget a run that published nothing.

    Runs at work are left alone. What was stopped is removed by the next call.
    """
    done = []
    aside = vault.path / REMOVED
    for removal in list_removals(vault, keep):
        if removal.path == aside:
            shutil.rmtree(aside, ignore_errors=True)
            done.append(removal)
            continue
        # The list is older than the removal: a run may be at work or gone by now.
        with suppress(BusyError, FileNotFoundError):
            if removal.run is None:
                _remove_path(removal.path, aside)
            elif removal.path == removal.run.path:
                _run_removed(vault, removal.run, aside, keep, forget)
            else:
                with removal.run.hold_lock():
                    _remove_path(removal.path, aside)
            done.append(removal)
    shutil.rmtree(aside, ignore_errors=True)
    return done


def runs_of_series(vault: Vault) -> set[str]:
    """Names of the runs that a series knows: of its versions, and of the one that is coming."""
    names: set[str] = set()
    for path in vault.path.glob("series/*"):
        for version in Series(vault, path.name).list_versions():
            names |= {version.run.path.name, *version.about.get(ABANDONED, ())}
    return names


def _of_run(run: Run, keep: timedelta, *, in_series: bool) -> list[Removal]:
    last = Approval.of(run).last
    needed = bool(run.ever_visible() or Retractions.of(run).all or in_series)
    if needed:
        return [
            *_list_old_removals([run.path / "docs"], "page of verdicts", keep),
            *_list_old_removals([run.path / "job-logs"], "logs of batch jobs", keep),
            *_list_old_removals(run.path.glob("failure-*.txt"), "traceback", keep),
        ]
    late = last is not None and (last.ended or last.late)
    if last is not None and not late and (last.decision is None or last.decision.approved):
        return []  # it waits for a decision, or for the run that publishes it
    if _compute_age(run.path) < keep:
        return []
    if last is not None and last.decision is not None and not last.decision.approved:
        rest = [path for path in run.path.iterdir() if path.name not in DECIDED]
        return [
            Removal(path, "of a rejected run", _count_bytes(path), run) for path in sorted(rest)
        ]
    return [Removal(run.path, "a run that published nothing", _count_bytes(run.path), run)]


def _run_removed(vault: Vault, run: Run, aside: Path, keep: timedelta, forget: Forget) -> None:
    """Remove a run as a whole, unless it was published or is at work by now."""
    with vault.lock_publishing(), run.hold_lock():
        # Looked at again under both locks: the run may have published since it was listed.
        if run.ever_visible() or _compute_age(run.path) < keep:
            raise BusyError(run.path.name)
        # The ledger first: a kill then leaves a run to prune, not an entry without a run.
        forget(run)
        _remove_path(run.path, aside)


def _remove_path(path: Path, aside: Path) -> None:
    """Take a name away in one step, so that nothing half removed is found."""
    aside.mkdir(mode=0o700, exist_ok=True)
    place = aside / f"{path.parent.name}-{path.name}"
    if place.exists():
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    os.rename(path, place)
    shutil.rmtree(place) if place.is_dir() else place.unlink()


def _list_old_removals(
    paths: "Iterator[Path] | list[Path]", why: str, keep: timedelta
) -> list[Removal]:
    return [
        Removal(path, why, _count_bytes(path))
        for path in sorted(paths)
        if path.exists() and _compute_age(path) >= keep
    ]


def _compute_age(path: Path) -> timedelta:
    """How long ago anything in it was last written."""
    files = [each for each in path.rglob("*") if each.is_file() and each.name != "lock"]
    # Of files: the time of a folder does not change when a file below it is written.
    latest = max(each.stat().st_mtime for each in files or [path])
    return timedelta(seconds=time.time() - latest)


def _count_bytes(path: Path) -> int:
    return sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file())
