"""A vault to rehearse in: it knows all that the real one knows, and the real one learns nothing.

The shadow is a private folder outside of the vault, removed at the end. Its files are links to
those of the vault. What a stage writes takes the place of a link, never of the file behind it. What
is written in place is copied: the ledger. Locks are left out.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anon_core.errors import AnonymityError
from crowdcover.storage.encryption.encryption import LOCK
from crowdcover.storage.encryption.plain_copies import (
    create_locked_folder,
    discard_plain_copies,
    remove_ended,
    sweep_plain_copies,
)
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.vault import LEDGER, Vault, refuse_open_folder

PREFIX, INSIDE = "crowdcover-rehearsal-", "work"
# What goes with the shadow.
KEPT = re.compile(r"; (every \w+ lies|its traceback is) in the vault: \S+")


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder of the system for temporary files, mode 0700; removed with all that is in it.

    What killed processes left of such folders goes, too, with the plain copies of their vaults.
    """
    base = Path(tempfile.gettempdir())
    for left in base.glob(f"{PREFIX}*"):
        # The path of a vault leads to its plain copies, so they go before the folder.
        with suppress(OSError):  # of other accounts
            for vault in (left / INSIDE).glob("*"):
                sweep_plain_copies(vault)
        remove_ended(left)
    folder, held = create_locked_folder(PREFIX, base)
    try:
        (folder / INSIDE).mkdir(mode=0o700)
        yield folder / INSIDE
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        held.close()


@contextmanager
def open_shadow(vault: Vault) -> Iterator[Vault]:
    """The shadow of a vault that may not be there yet; refused where the vault would be.

    A refusal of the work inside names the vault, not the shadow.
    """
    _refuse_unusable_vault(vault)
    with private_folder() as folder:
        like = Vault(folder / vault.path.name)
        if vault.path.is_dir():
            _link_vault_files(vault.path, like.path)
        try:
            yield like.open()
        except AnonymityError as error:
            # The shadow is gone when a person reads this, so the message names the vault.
            text = str(error).replace(str(like.path), str(vault.path))
            refusal = type(error)(KEPT.sub("", text))
        else:
            return
        finally:
            discard_plain_copies(like.path)
    raise refusal


def _refuse_unusable_vault(vault: Vault) -> None:
    """Refuse what `Vault.open` refuses, and change nothing."""
    path = vault.path
    try:
        there = next(each for each in (path, *path.absolute().parents) if each.exists())
        if not there.is_dir():
            raise FileExistsError if there == path else NotADirectoryError
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError
        if there == path:
            refuse_open_folder(path)
    except OSError as error:
        raise FolderError(
            f"publish.vault {path} cannot be used ({type(error).__name__}); name another folder"
        ) from None


def _link_vault_files(source: Path, target: Path) -> None:
    """Make the folders of a vault anew, with links to its files."""
    target.mkdir(mode=0o700)
    for path in source.iterdir():
        beside = target / path.name
        if path.is_dir():
            _link_vault_files(path, beside)
        # SQLite writes in place: through a link it would change the ledger of the vault.
        elif path.name in (LEDGER, f"{LEDGER}-journal"):
            shutil.copy(path, beside)
        # A link would open the lock of the real run, and the rehearsal would hold it.
        elif path.name != LOCK:
            beside.symlink_to(path.absolute())
