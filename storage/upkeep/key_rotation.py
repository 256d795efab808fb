"""A new key for all files of a vault; also the first encryption of a plain vault, and the way back.

vault.json names the new key first, and says that a rotation is under way. Then each file is
replaced by one under the new key, in one step. Last, vault.json says that the rotation is done.
Whoever has both keys reads every file at every moment; a rotation that was stopped goes on when it
is called again.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_core.errors import AnonymityError
from crowdcover.storage.encryption.encryption import (
    PARTS,
    SEAL,
    Seal,
    SealedError,
    decrypt_stream,
    is_encrypted,
    is_sealed,
    load_environment_keys,
)
from crowdcover.storage.upkeep.backup import backups_held
from crowdcover.storage.vault.files import is_partial, open_private_replacement, write_json
from crowdcover.storage.vault.vault import REMOVED, Vault


class RotationError(AnonymityError):
    """The vault cannot be rotated."""


@dataclass(frozen=True)
class Rotated:
    """What a rotation did: files that it wrote, and files that were under the new key already."""

    written: int
    bytes: int
    kept: int


def rotate_keys(vault: Vault, new: Sequence[Any]) -> Rotated:
    """Put every file under the first of the new keys; under none: the vault becomes plain.

    The keys before are those of the environment. What stopped backups and prunes left goes first:
    it is not encrypted anew. Refused: a vault at work, a folder that is no vault, keys that do not
    open the vault, a damaged file.
    """
    if not vault.runs.is_dir():
        raise RotationError(f"{vault.path} is no vault; give the folder that publish.vault names")
    recipient = str(new[0].to_public()) if new else None
    before = Seal.read(vault.path)
    if before is None and recipient is None:
        raise RotationError(f"{vault.path} is not encrypted; nothing is to be done")
    keys = [*load_environment_keys(), *new]
    _require_stated(vault, before, keys)
    with vault.at_rest(), backups_held(vault):
        shutil.rmtree(vault.path / REMOVED, ignore_errors=True)
        for path in list_encrypted_files(
            vault
        ):  # a damaged file would stop the rotation halfway, for good
            _require_readable(path, keys)
        # Before any file: unless it rotates, an encrypted vault refuses plain files.
        write_json(vault.path / SEAL, Seal(recipient, rotating=True).document())
        written = [_rewrite_file(path, keys, new) for path in list_encrypted_files(vault)]
        if recipient is None:
            # Last: without it encrypted files would be read as plain ones.
            (vault.path / SEAL).unlink()
        else:
            write_json(vault.path / SEAL, Seal(recipient).document())
    sizes = [size for size in written if size is not None]
    return Rotated(len(sizes), sum(sizes), len(written) - len(sizes))


def _require_stated(vault: Vault, before: Seal | None, keys: Sequence[Any]) -> None:
    """Refuse keys without the one that vault.json names: some files are under it."""
    stated = None if before is None else before.recipient
    if before is None or stated is None or stated in {str(key.to_public()) for key in keys}:
        return
    remedy = (
        "a rotation to it was stopped; give this key by --to to end it first"
        if before.rotating
        else "give it as the vault's key"
    )
    raise SealedError(f"the vault {vault.path} is encrypted to {stated}; {remedy}")


def list_encrypted_files(vault: Vault) -> Iterator[Path]:
    """The files that an encrypted vault encrypts. Half-written ones of ended processes are removed.

    The caller holds `Vault.at_rest`.
    """
    for leftover in filter(is_partial, vault.path.iterdir()):
        leftover.unlink()
    for part in sorted(PARTS):
        top = vault.path / part
        for path in sorted([top, *top.rglob("*")] if top.exists() else []):
            # exists: the folder around it may just have been removed as half-made.
            if is_partial(path) and path.exists():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            elif path.is_file() and is_sealed(path.relative_to(vault.path)):
                yield path


def _require_readable(path: Path, keys: Sequence[Any]) -> None:
    if is_encrypted(path):
        with path.open("rb") as source:
            decrypt_stream(source, _Nothing(), str(path), keys)


def _rewrite_file(path: Path, keys: Sequence[Any], new: Sequence[Any]) -> int | None:
    """Put a file under the key that vault.json names; its size, None where it was before."""
    about = path.stat()
    encrypted = is_encrypted(path)
    if _is_done(path, encrypted, new):
        return None
    with path.open("rb") as source, open_private_replacement(path) as target:
        if encrypted:
            decrypt_stream(source, target, str(path), keys)
        else:
            shutil.copyfileobj(source, target)
    # The times stay, since prune takes them for the age of a run.
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    return path.stat().st_size


def _is_done(path: Path, encrypted: bool, new: Sequence[Any]) -> bool:
    if not new or not encrypted:
        return not new and not encrypted
    # A file of age does not name its recipient: only a try tells which key it is under.
    try:
        with path.open("rb") as source:
            decrypt_stream(source, _Nothing(), str(path), new)
    except SealedError:
        return False
    return True


class _Nothing:
    """A stream that keeps nothing."""

    def write(self, part: Any) -> int:
        return len(part)

    def flush(self) -> None:
        """Nothing is held."""
