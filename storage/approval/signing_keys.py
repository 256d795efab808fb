"""Ed25519 keys: of people who decide, and of those who sign releases.

The private key is PEM (PKCS #8), as OpenSSL writes it, in a file of its owner or where a plan says
that a secret lies. Keys and signatures stand in texts as `ed25519:` and base64. A public key may
also be PEM (SubjectPublicKeyInfo).
"""

import base64
import binascii
import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from crowdcover.storage.places.credentials import CredentialsError, secret_of
from crowdcover.storage.places.place import read_start
from crowdcover.storage.vault.refusals import FolderError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PREFIX = "ed25519:"
PUBLIC_BYTES, SIGNATURE_BYTES = 32, 64
_LONGEST = 4096  # bytes of a key file
# Points of small order, without their sign bit: anybody can forge a signature under such a "key".
# All zeros, as a placeholder in a plan has, is one of them.
WEAK = {
    bytes.fromhex(text)
    for text in (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
}


def new_key(path: Path) -> str:
    """Make a key pair; write the private key to a new file, mode 0600; return the public key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    content = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    try:
        # open sets the mode: with a later chmod others could read the key for a moment.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
            handle.write(content)
    except OSError as error:
        raise FolderError(
            f"{path} exists or cannot be written ({type(error).__name__}); name another --output: "
            "a key is never overwritten"
        ) from None
    return public_of(key)


def read_key(path: Path) -> "Ed25519PrivateKey":
    """Read a private key; refused if other accounts can read its file."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        content = read_start(path, _LONGEST)
    except OSError as error:
        raise FolderError(
            f"the key {path} cannot be read ({type(error).__name__}); give the file that "
            "`crowdcover key new` wrote"
        ) from None
    if mode & 0o077:
        raise FolderError(f"the key {path} is open to other accounts; run chmod 600 on it")
    key = _parse_private_key(content)
    if key is None:
        raise FolderError(
            f"{path} is no Ed25519 private key without a password; make one with "
            "`crowdcover key new --output FILE`"
        )
    return key


def key_at(reference: str) -> "Ed25519PrivateKey":
    """The private key at a place that a plan names; of a file its modes are looked at, too."""
    how, _, name = reference.partition(":")
    if how == "file":
        return read_key(Path(name).expanduser())
    key = _parse_private_key(secret_of(reference, "private key").encode())
    if key is None:
        raise CredentialsError(
            f"{reference} holds no Ed25519 private key without a password; put the content of the "
            "file there that `crowdcover key new --output FILE` writes"
        )
    return key


def _parse_private_key(content: bytes) -> "Ed25519PrivateKey | None":
    """The key in a PEM text, None where there is none."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        key = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError):
        return None
    return key if isinstance(key, Ed25519PrivateKey) else None


def public_of(key: "Ed25519PrivateKey") -> str:
    """The public key, as plans state it."""
    return PREFIX + base64.b64encode(key.public_key().public_bytes_raw()).decode()


def as_pem(public: str) -> str:
    """A public key as other tools read it."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    raw = _decode_base64(public, PUBLIC_BYTES)
    assert raw is not None
    return (
        Ed25519PublicKey.from_public_bytes(raw)
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def public_in(text: str) -> str | None:
    """The public key that a text states, as PEM or as plans do; None where it states none."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    stated = text.strip()
    if is_public(stated):
        return stated
    try:
        key = serialization.load_pem_public_key(stated.encode())
    except (ValueError, TypeError, UnicodeError):
        return None
    if not isinstance(key, Ed25519PublicKey):
        return None
    return PREFIX + base64.b64encode(key.public_bytes_raw()).decode()


def key_id(public: str) -> str:
    """Names a public key in envelopes: SHA-256 of its SubjectPublicKeyInfo in DER."""
    # PEM is DER in base64 between two marks, so these lines decode to the DER bytes.
    lines = as_pem(public).splitlines()[1:-1]
    return hashlib.sha256(base64.b64decode("".join(lines))).hexdigest()


def sign_content(key: "Ed25519PrivateKey", content: bytes) -> str:
    """The signature of these bytes."""
    return PREFIX + base64.b64encode(key.sign(content)).decode()


def is_valid_signature(public: str, signature: str, content: bytes) -> bool:
    """Whether a signature of these bytes was made with the private key of this public one."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    known, made = _decode_base64(public, PUBLIC_BYTES), _decode_base64(signature, SIGNATURE_BYTES)
    if known is None or made is None or _is_weak(known):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(known).verify(made, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_public(text: str) -> bool:
    """Whether a text states a public key, under which only the holder of the private key signs."""
    key = _decode_base64(text, PUBLIC_BYTES)
    return key is not None and not _is_weak(key)


def _is_weak(key: bytes) -> bool:
    # Bit 255 is the sign of x; points of small order are weak with either sign.
    return bytes([*key[:-1], key[-1] & 0x7F]) in WEAK


def _decode_base64(text: object, length: int) -> bytes | None:
    """The bytes of a key or signature, if the text is one and is written in the one usual way."""
    if not isinstance(text, str) or not text.startswith(PREFIX):
        return None
    try:
        content = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (ValueError, binascii.Error):
        return None
    # b64decode ignores spare bits of the last sign, so a key could be written in several ways.
    same = PREFIX + base64.b64encode(content).decode() == text
    return content if same and len(content) == length else None
