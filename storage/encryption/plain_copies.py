"""Plain copies of files of an encrypted vault: in a private folder that ends with its process.

The folder lies where CROWDCOVER_VAULT_WORK says, else in memory (/dev/shm) if there is room, else
in the folder of temporary files. It is locked as long as its process lives. What a killed process
left behind is removed by the next process that reads from the same vault.
"""

import atexit
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from crowdcover.storage.encryption.encryption import SealedError, decrypt_stream

WORK = "CROWDCOVER_VAULT_WORK"
MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it are made by mkdtemp
SPARE = 4  # a folder in memory must have room for so many copies of a file
_HELD = "lock"
_lock = threading.RLock()


@dataclass
class Room:
    """The plain copies that this process has of one vault."""

    vault: Path
    folder: Path
    held: IO[bytes]
    seen: dict[Path, tuple[int, int, int]] = field(default_factory=dict)

    def place(self, path: Path) -> Path:
        """Where the plain form of a path of the vault lies; its folder exists."""
        place = self.folder / path.absolute().relative_to(self.vault)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    def copy(self, path: Path) -> Path:
        """A plain copy of an encrypted file as it is now."""
        with _lock:
            about = path.stat()
            now = (about.st_ino, about.st_mtime_ns, about.st_size)
            place = self.place(path)
            if self.seen.get(place) != now or not place.exists():
                aside = place.with_name(f".{place.name}.plain")
                aside.unlink(missing_ok=True)
                with path.open("rb") as source, create_private_file(aside) as target:
                    decrypt_stream(source, target, str(path))
                # A reader of the old copy keeps it; a half-written copy never has the name.
                os.rename(aside, place)
                self.seen[place] = now
            return place


_rooms: dict[tuple[int, Path], Room] = {}
_swept: set[tuple[int, Path]] = set()


def plain_copy(vault: Path, path: Path) -> Path:
    """A plain copy of an encrypted file of this vault."""
    with _lock:
        return room_of(vault, path.stat().st_size).copy(path)


def plain_place(vault: Path, path: Path, needed: int = 0) -> Path:
    """Where a file or folder of `needed` bytes is made before it enters the vault, or copied."""
    with _lock:
        return room_of(vault, needed).place(path)


def room_of(vault: Path, needed: int = 0) -> Room:
    """The room of this process for a vault; made anew where the disk has too little room."""
    # A forked process needs a room of its own: its parent removes this one at its end.
    key = (os.getpid(), vault)
    with _lock:
        room = _rooms.get(key)
        if room is None or not room.folder.exists():
            sweep_plain_copies(vault)
            room = _rooms[key] = _create_room(vault, needed)
        elif needed * SPARE > shutil.disk_usage(room.folder).free:
            # What was copied before stays where it is: somebody may read it.
            atexit.register(_remove_room, os.getpid(), room)
            room = _rooms[key] = _create_room(vault, needed)
        return room


def sweep_plain_copies(vault: Path) -> int:
    """Remove what killed processes left of this vault, once a process; returns how many folders."""
    key = (os.getpid(), vault)
    if key in _swept:
        return 0
    _swept.add(key)
    bases = {*_list_base_folders(), MEMORY, Path(tempfile.gettempdir())}
    found = {path for base in bases for path in base.glob(f"{_build_folder_prefix(vault)}*")}
    return sum(remove_ended(path) for path in found)


def discard_plain_copies(vault: Path | None = None) -> None:
    """Remove the plain copies of this process: of a vault, or of all."""
    with _lock:
        for key in [key for key in _rooms if key[0] == os.getpid() and vault in (None, key[1])]:
            _remove_room(key[0], _rooms.pop(key))


def _create_room(vault: Path, needed: int) -> Room:
    for base in _list_base_folders():
        # At least 256 MiB: in containers /dev/shm often has 64 MiB.
        if base == MEMORY and shutil.disk_usage(base).free < max(needed * SPARE, 1 << 28):
            continue
        try:
            return _create_room_in(vault, base)
        except OSError:
            continue
    raise SealedError(
        f"the vault {vault} is encrypted, and no folder for its plain copies can be made; set "
        f"{WORK} to a private folder with room"
    )


def _create_room_in(vault: Path, base: Path) -> Room:
    folder, held = create_locked_folder(_build_folder_prefix(vault), base)
    room = Room(vault, folder, held)
    atexit.register(_remove_room, os.getpid(), room)
    return room


def create_locked_folder(prefix: str, base: Path) -> tuple[Path, IO[bytes]]:
    """A new private folder, and the lock that says that its process lives.

    Whoever sweeps meanwhile may take it: then another one is made.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=base))
        try:
            held = create_private_file(folder / _HELD)
        except FileNotFoundError:
            continue
        fcntl.flock(held, fcntl.LOCK_EX)
        # Gone: a sweep held the lock first, so this lock is of a file that has no name.
        if (folder / _HELD).exists():
            return folder, held
        held.close()


def remove_ended(folder: Path) -> bool:
    """Remove a locked folder of this account if its process has ended."""
    try:
        about = folder.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
            return False
        if not any(folder.iterdir()):  # killed before its lock was made
            folder.rmdir()
            return True
        with (folder / _HELD).open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return False
    return True


def _remove_room(process: int, room: Room) -> None:
    if process == os.getpid():  # a forked process uses other folders
        shutil.rmtree(room.folder, ignore_errors=True)
        room.held.close()


def _list_base_folders() -> list[Path]:
    named = os.environ.get(WORK)
    return [Path(named)] if named else [MEMORY, Path(tempfile.gettempdir())]


def _build_folder_prefix(vault: Path) -> str:
    name = hashlib.sha256(os.fsencode(os.path.realpath(vault))).hexdigest()[:16]
    return f"crowdcover-{name}-"


def create_private_file(path: Path) -> IO[bytes]:
    """A new file, mode 0600; refused if there is one."""
    return open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b")
