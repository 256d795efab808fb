"""Folders of a plan: room, modes, keys of the vault, and approvals whose time runs."""

import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from anon_core.errors import AnonymityError
from crowdcover.reports.quantities import size
from crowdcover.storage.approval.approval import Approval
from crowdcover.storage.vault.secret_streams import SEED_BYTES
from crowdcover.storage.vault.vault import FOLDERS_KEY, LEDGER_KEY, Vault
from crowdcover.tasks.doctor.look import Look

_LITTLE = 2**30  # bytes free below which there is a warning
TOO_LITTLE = 64 * 2**20
AHEAD = 300.0  # seconds that a file may be from the future: clocks of two machines differ


def check_room(what: str, folder: Path, source: int) -> Look:
    """Whether a folder can be written, and has room; `source` is the size of the source, if known.

    A run writes the source typed, encoded and as rows, each at most about as large as it.
    """
    # The nearest folder that exists: a release makes those below it.
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        means = "no run can write there"
        return Look(what, "wrong", f"{there} cannot be written", means, "name another folder")
    free = shutil.disk_usage(there).free
    needed = max(_LITTLE, 3 * source)
    found = f"{size(free)} free"
    if free < TOO_LITTLE or free < source:
        means = f"a run needs up to {size(needed)}"
        return Look(what, "wrong", found, means, "make room, or name another folder")
    if free < needed:
        return Look(what, "warning", found, f"a run may need {size(needed)}", "make room")
    return Look(what, "ok", found)


def check_vault(folder: Path) -> Iterator[Look]:
    """Modes, owner, keys and clock of a vault, and approvals that are asked for."""
    if not folder.is_dir():
        yield Look("vault", "ok", "not there yet: the first release makes it")
        return
    if not os.access(folder, os.R_OK | os.X_OK):
        means, do = "no run can use it", "run as the account that owns the vault"
        yield Look("vault", "wrong", "this account cannot read it", means, do)
        return
    yield _check_modes(folder)
    yield _check_keys(folder)
    yield _check_clock(folder)
    yield from _check_approvals(Vault(folder))


def _check_modes(folder: Path) -> Look:
    """Whether only the owner may read the vault, and the owner is who runs this."""
    about = _list_states(folder)
    # A link shows mode 777 whatever it leads to.
    opened = sum(bool(each.st_mode & 0o077) and not stat.S_ISLNK(each.st_mode) for each in about)
    foreign = sum(each.st_uid != os.geteuid() for each in about)
    if opened:
        do = f"chmod -R go= {folder}, and find out who read it"
        finding = f"{opened} of {len(about)} files and folders are open to others"
        return Look("vault modes", "wrong", finding, "others may read secrets of the releases", do)
    if foreign:
        finding = f"{foreign} of {len(about)} files and folders belong to another account"
        do = "run as the account that owns the vault"
        return Look("vault modes", "wrong", finding, "a run may fail to read or replace them", do)
    return Look("vault modes", "ok", f"{len(about)} files and folders, open to their owner only")


def _check_keys(folder: Path) -> Look:
    """Whether the keys and the seeds of all runs are there and whole."""
    runs = [path.parent for path in folder.glob("runs/[!.]*/run.json")]
    needed = [run / "seed" for run in runs]
    if any((run / "releases.json").exists() for run in runs):
        needed += [folder / LEDGER_KEY, folder / FOLDERS_KEY]
    lost = [path for path in needed if not _is_whole_key(path)]
    if lost:
        names = ", ".join(sorted({path.name for path in lost}))
        means = "runs cannot be repeated or audited, nobody can be recognised in the ledger"
        finding = f"{len(lost)} of {len(needed)} are missing or cut off ({names})"
        return Look("vault keys", "wrong", finding, means, "restore the vault from its backup")
    return Look("vault keys", "ok", f"{len(needed)} of {len(needed)} there")


def _is_whole_key(path: Path) -> bool:
    with suppress(OSError):
        about = path.stat()
        return stat.S_ISREG(about.st_mode) and about.st_size >= SEED_BYTES
    return False


def _list_states(folder: Path) -> list[os.stat_result]:
    """A folder and all in it; without what a run beside this look has taken away meanwhile."""
    inside = (Path(place, name) for place, *names in os.walk(folder) for name in chain(*names))
    found = []
    for path in chain((folder,), inside):
        with suppress(FileNotFoundError):
            found.append(path.lstat())
    return found


def _check_clock(folder: Path) -> Look:
    """Whether a file of the vault is from the future: then the clock was set back."""
    newest = max((each.st_mtime for each in _list_states(folder)), default=0.0)
    ahead = newest - time.time()
    if ahead > AHEAD:
        means = "deadlines of approvals and the order of releases follow the clock"
        finding = f"the vault was written {ahead / 3600:.1f} hours in the future"
        return Look("clock", "warning", finding, means, "set the clock of this machine")
    return Look("clock", "ok", "no file of the vault is from the future")


def _check_approvals(known: Vault) -> Iterator[Look]:
    """Requests for approval that nobody has decided, with the time that is left."""
    for run in known.every_run():
        what = f"approval of {run.path.name}"
        try:
            last = Approval.of(run).last
        except AnonymityError as refusal:
            do = "restore it, or remove it to ask again"
            yield Look(what, "wrong", str(refusal), "no approval of this run counts", do)
            continue
        if last is None or last.decision is not None or last.ended:
            continue
        if last.late:
            do = f"crowdcover reopen {run.path.name}, or run the release again"
            yield Look(what, "warning", f"not given until {last.until}", "nothing is published", do)
        else:
            do = f"crowdcover approve {run.path.name}, or reject"
            finding = f"waits until {last.until}"
            yield Look(what, "warning", finding, "nothing is published before", do)
