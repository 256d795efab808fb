"""Encryption at rest: the files of a vault in the age format, and the key that reads them.

    <vault>/vault.json      the recipient (public key) of an encrypted vault; plain vaults have none

Files are encrypted one by one to the recipient. Names, sizes and times stay visible. Whoever has
the key reads a file without crowdcover, too: `age -d -i KEY_FILE FILE`. The key comes from the
environment, from a file, or from a Secret block of Prefect; it is never written here.
"""

import errno
import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import IO, Any

from anon_core.errors import AnonymityError

SEAL = "vault.json"
HEADER = b"age-encryption.org/v1\n"
KEY, KEY_FILE, KEY_BLOCK = (
    "CROWDCOVER_VAULT_KEY",
    "CROWDCOVER_VAULT_KEY_FILE",
    "CROWDCOVER_VAULT_KEY_BLOCK",
)
SECRET = "AGE-SECRET-KEY-"  # noqa: S105 - how a key begins, no key
# What is encrypted, as the first part of a path in the vault. Locks are empty, and the ledger holds
# digests under a key that is encrypted.
PARTS = {"plans", "runs", "series", "ledger.key", "folders.key"}
LOCK = "lock"


class SealedError(AnonymityError):
    """The vault is encrypted, and its key is missing, unreadable or another one."""


# A ValueError: readers treat a damaged record as they treat one of a plain vault.
class DamagedError(AnonymityError, ValueError):
    """An encrypted file is truncated or was altered."""


@dataclass(frozen=True)
class Seal:
    """What vault.json states.

    Attributes
    ----------
    recipient : str or None
        Public key that files are encrypted to; None while a vault becomes plain again.
    rotating : bool
        Some files are still under the key before.
    """

    recipient: str | None
    rotating: bool = False
    format: str = "age"

    @classmethod
    def read(cls, vault: Path) -> "Seal | None":
        """Of this vault; None if it is plain. Refused: a file that states no recipient."""
        try:
            return cls(**json.loads((vault / SEAL).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            raise SealedError(
                f"{vault / SEAL} cannot be read, so nothing can be kept there; restore it from a "
                "backup of the vault"
            ) from None

    def document(self) -> dict[str, Any]:
        """As it is written."""
        return asdict(self)


def vault_around(path: Path) -> Path | None:
    """The encrypted vault in whose encrypted parts a path lies; None if there is none."""
    # As text: a run asks this for each file that it reads, and Path costs ten times as much.
    whole = os.path.join(os.getcwd(), path)
    end = len(whole)
    while (end := whole.rfind("/", 0, end)) >= 0:
        if os.path.exists(f"{whole[:end]}/{SEAL}"):
            vault = Path(whole[:end] or "/")
            return vault if is_sealed(PurePath(whole).relative_to(vault)) else None
    return None


def is_sealed(inside: PurePath) -> bool:
    """Whether a path, relative to an encrypted vault, is one of those that are encrypted."""
    return inside.parts[0] in PARTS and not is_lock(inside) and not is_of_job(inside)


# By place, not by name: a series may be called `lock`.
def is_lock(inside: PurePath) -> bool:
    """Whether a path, relative to its vault, is a lock: of publishing, a run, a series or parts."""
    match inside.parts:
        case ("runs", name) | ("runs" | "series", _, name) | ("series", _, "parts", name):
            return name == LOCK
    return False


def is_of_job(inside: PurePath) -> bool:
    """Whether a path, relative to its vault, is in a folder of a run that batch jobs use.

    Jobs have no key, so these folders stay plain.
    """
    match inside.parts:
        case ("runs", _, "job" | "job-logs", *_):
            return True
    return False


def recipient_for(path: Path) -> str | None:
    """The recipient of a file that is written now; None where it stays plain."""
    vault = vault_around(path)
    seal = None if vault is None else Seal.read(vault)
    return None if seal is None else seal.recipient


def is_encrypted(path: Path) -> bool:
    """Whether a file begins as encrypted files do."""
    with path.open("rb") as handle:
        return handle.read(len(HEADER)) == HEADER


def encrypt_stream(source: IO[bytes], target: IO[bytes], recipient: str) -> None:
    """Encrypt a stream."""
    import pyrage

    try:
        pyrage.encrypt_io(source, target, [_parse_recipient(recipient)])
    except pyrage.EncryptError as error:
        failed = _of_the_system(error)
    else:
        return
    raise failed


def decrypt_stream(
    source: IO[bytes], target: Any, named: str, keys: Sequence[Any] | None = None
) -> None:
    """Decrypt a stream with the keys that are given, or those of the environment.

    Refused: no key, another key, and a stream that is not whole. Nothing of a chunk that was
    altered is written. `named` is the file in the message.
    """
    import pyrage

    held = load_environment_keys() if keys is None else keys
    if not held:
        raise SealedError(f"{named} is encrypted, and no key is given; {_explain_keys()}")
    try:
        pyrage.decrypt_io(source, target, list(held))
    except pyrage.DecryptError as error:
        other = "No matching keys" in str(error)
    except OSError as error:
        if error.errno is not None:
            raise  # of the disk, not of the content
        other = False
    else:
        return
    if other:
        raise SealedError(
            f"{named} is encrypted to another key than the one that is given; give the key of this "
            "vault (while a rotation is unfinished, the old and the new one, a line each)"
        )
    raise DamagedError(f"{named} is truncated or was altered; restore it from a backup")


def decrypt_bytes(content: bytes, named: str, keys: Sequence[Any] | None = None) -> bytes:
    """The plain bytes of an encrypted file; its key is one of these, or of the environment."""
    plain = io.BytesIO()
    decrypt_stream(io.BytesIO(content), plain, named, keys)
    return plain.getvalue()


def refuse_plain(path: Path) -> None:
    """Refuse a plain file where a vault encrypts: cut short, or put there by who has no key."""
    vault = vault_around(path)
    seal = None if vault is None else Seal.read(vault)
    if seal is not None and not seal.rotating:
        raise DamagedError(
            f"{path} is not encrypted, and its vault is: it was truncated or replaced; restore it "
            "from a backup. If you know its content, crowdcover vault rotate encrypts it"
        )


def require_key(vault: Path) -> None:
    """Refuse an encrypted vault without its key, and one whose vault.json is gone."""
    seal = Seal.read(vault)
    if seal is None:
        # Without vault.json it would count as plain, and new secrets would be plain.
        secrets = [vault / "ledger.key", vault / "folders.key", *vault.glob("runs/*/seed")]
        if any(path.exists() and is_encrypted(path) for path in secrets):
            raise SealedError(
                f"{vault} is encrypted, and its {SEAL} is gone; restore {SEAL} from a backup"
            )
        return
    if not (held := load_environment_keys()):
        raise SealedError(f"the vault {vault} is encrypted, and no key is given; {_explain_keys()}")
    known = {str(each.to_public()) for each in held}
    if seal.rotating and seal.recipient not in known:
        raise SealedError(
            f"the vault {vault} is being rotated to another key, and that was stopped before its "
            "end; run crowdcover vault rotate again"
        )
    if seal.recipient is not None and seal.recipient not in known:
        raise SealedError(
            f"the key that is given is not the key of the vault {vault}; its public key is "
            f"{seal.recipient}"
        )


def key_is_given() -> bool:
    """Whether the environment names a key."""
    return any(os.environ.get(name) for name in (KEY, KEY_FILE, KEY_BLOCK))


def recipient_of_key() -> str:
    """The public key of the key of the environment."""
    return str(load_environment_keys()[0].to_public())


def load_environment_keys() -> list[Any]:
    """The keys of the environment; none where it names none. Refused: more than one place."""
    named = [name for name in (KEY, KEY_FILE, KEY_BLOCK) if os.environ.get(name)]
    if not named:
        return []
    if len(named) > 1:
        raise SealedError(f"{' and '.join(named)} are set; set one of them")
    value = os.environ[named[0]]
    if named[0] == KEY:
        return list(_parse_keys(value, KEY))
    if named[0] == KEY_FILE:
        return keys_in(Path(value), KEY_FILE)
    return list(_parse_keys(_load_block_key(value), KEY_BLOCK))


def keys_in(path: Path, named: str) -> list[Any]:
    """The keys in a file that nobody else may read."""
    try:
        if path.stat().st_mode & 0o077:
            raise SealedError(f"{named}: {path} is open to others; chmod it to 600")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise SealedError(f"{named}: {path} cannot be read; give the path of a key file") from None
    return list(_parse_keys(text, named))


def new_key() -> tuple[str, str]:
    """Draw a key; returns it and its public key."""
    from pyrage import x25519

    identity = x25519.Identity.generate()
    return str(identity), str(identity.to_public())


# Cached: each file that is read asks for the keys again.
@lru_cache
def _parse_keys(text: str, named: str) -> tuple[Any, ...]:
    """The keys in a text, one a line; lines with # are remarks."""
    import pyrage

    lines = [line.strip() for line in text.splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    try:
        found = tuple(pyrage.x25519.Identity.from_str(key) for key in keys)
    except pyrage.IdentityError:
        found = ()
    if not found:
        raise SealedError(
            f"{named} holds no key of the age format, a line that begins with {SECRET}1; "
            "`crowdcover vault key` makes one"
        )
    return found


@lru_cache
def _load_block_key(name: str) -> str:
    """The key in a Secret block of Prefect."""
    from importlib import import_module

    try:
        return str(import_module("prefect.blocks.system").Secret.load(name).get())
    except Exception as error:
        reason = type(error).__name__
    raise SealedError(
        f"{KEY_BLOCK}: the Secret block {name!r} cannot be loaded ({reason}); check its name and "
        "PREFECT_API_URL"
    )


@lru_cache
def _parse_recipient(text: str) -> Any:
    import pyrage

    try:
        return pyrage.x25519.Recipient.from_str(text)
    except pyrage.RecipientError:
        pass
    raise SealedError("a recipient is no public key of the age format; it begins with age1")


def _of_the_system(error: Exception) -> OSError:
    """The error of the disk behind one of the library, which passes its words only."""
    number = re.search(r"\[Errno (\d+)\]", str(error))
    code = int(number[1]) if number else errno.EIO
    return OSError(code, os.strerror(code))


def _explain_keys() -> str:
    """How a key is given."""
    return f"set {KEY_FILE} to its file, or {KEY} or {KEY_BLOCK}"
