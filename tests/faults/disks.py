"""Disks that are full or read-only, and folders that are closed: for the vault or the releases."""

import contextlib
import random
import subprocess

from anon_core.errors import AnonymityError
from tests.faults.runs import after, expected, ordered

LARGE = 4096  # KiB
TOO_SMALL = {"vault": (16, 400), "releases": (16, 64)}  # KiB; a whole run needs more


class NoMountError(Exception):
    """This account may not mount a file system."""


@contextlib.contextmanager
def disk(folder, kilobytes):
    """A file system of its own that has this size."""
    folder.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=False, capture_output=True)


def full(folder, which, seed):
    """A disk that fills up at a random place of the course, and then has room again."""
    whole, _ = expected(seed)
    with disk(folder / "disk", LARGE):
        order = _on(folder, which, seed)
        size = random.Random(f"{which} {seed}").randint(*TOO_SMALL[which])
        _mount("-o", f"remount,size={size}k", folder / "disk")
        refusal = _refused(order)
        clear = refusal is None or ("is full (" in refusal and "run again" in refusal)
        _mount("-o", f"remount,size={LARGE}k", folder / "disk")
        return after(order, whole, refusal is not None, clear)


def read_only(folder, which, seed):
    """A disk that is mounted read-only before a run, or before what it publishes."""
    whole, _ = expected(seed)
    with disk(folder / "disk", LARGE):
        order = _on(folder, which, seed)
        _mount("-o", "remount,ro", folder / "disk")
        refusal = _refused(order)
        clear = refusal is not None and "read-only" in refusal and str(folder / "disk") in refusal
        _mount("-o", "remount,rw", folder / "disk")
        return after(order, whole, refusal is not None, clear)


def _on(folder, which, seed):
    """An order whose vault or releases are on the disk."""
    order = ordered(folder / "order", seed)
    place = folder / "disk" / which
    order.write(publish={{"vault": "vault", "releases": "path"}[which]: str(place)})
    if which == "releases":
        order.releases = place / "people"
    else:
        order.vault = place
        order.fix_seed(seed.to_bytes(32, "little"))
    return order


def _refused(order):
    """The refusal of a release; None if it was published."""
    try:
        order.release()
    except AnonymityError as refusal:
        return str(refusal)
    return None


def _mount(*arguments):
    done = subprocess.run(
        ["mount", *map(str, arguments)], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise NoMountError(done.stderr)
