"""The signature of a release folder: an in-toto statement about every file, in a DSSE envelope.

`release.intoto.jsonl` is one line: the envelope with the statement and one Ed25519 signature. The
statement names each other file of the folder, manifest.json among them, with its SHA-256. Its
predicate is in-toto's "release". Both are written in one way only, so that no byte of the file is
free.

    https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
    https://github.com/in-toto/attestation/blob/main/spec/predicates/release.md
    https://github.com/secure-systems-lab/dsse/blob/master/protocol.md
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdcover.storage.approval.signing_keys import (
    PREFIX,
    is_valid_signature,
    key_id,
    public_of,
    sign_content,
)
from crowdcover.storage.places.place import read_start
from crowdcover.storage.shelf.content import hash_released_file
from crowdcover.storage.shelf.layout import SIGNATURE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/release/v0.1"
PAYLOAD = "application/vnd.in-toto+json"
_LONGEST = 1 << 20  # bytes of an envelope


@dataclass(frozen=True)
class Signed:
    """What a signature says: which release, and the SHA-256 of each file. `key` made it."""

    name: str
    version: str
    files: Mapping[str, str]
    key: str


def build_envelope(
    key: "Ed25519PrivateKey", name: str, version: str, files: Mapping[str, str]
) -> bytes:
    """The signed statement about these files, as the signature's file holds it."""
    payload = _build_payload(name, version, files)
    return _format_envelope(
        payload, key_id(public_of(key)), sign_content(key, _encode_pre_authentication(payload))
    )


def signature_in(folder: Path, keys: Sequence[str]) -> tuple[Signed | None, str]:
    """What the signature of a folder says if one of these public keys made it; else why not."""
    try:
        content = read_start(folder / SIGNATURE, _LONGEST + 1)
    except OSError:
        return None, f"there is no {SIGNATURE}: not signed, or no longer"
    try:
        line = json.loads(content)
        payload = base64.b64decode(line["payload"], validate=True)
        stated = line["signatures"][0]
        made = PREFIX + stated["sig"]
        known = {key_id(key): key for key in keys}
        # The id only selects among the keys that the reader gave; it proves nothing.
        named = str(stated["keyid"])
        signed = _parse_payload(payload, known.get(named, ""))
        # Blanks, further keys or a second signature would be bytes that nobody signed.
        same = content == _format_envelope(payload, named, made)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None, f"{SIGNATURE} is no signature, or not in its one form"
    if not same:
        return None, f"{SIGNATURE} is not in its one form: it was changed"
    if not signed.key:
        return None, "another key signed it than the one that was given"
    if not is_valid_signature(signed.key, made, _encode_pre_authentication(payload)):
        return None, "the signature is not of this statement: the folder was changed, or forged"
    return signed, ""


def list_stray_names(folder: Path) -> list[str]:
    """Names of what is in a folder and is no plain file."""
    return sorted(path.name for path in folder.iterdir() if path.is_symlink() or not path.is_file())


def _build_payload(name: str, version: str, files: Mapping[str, str]) -> bytes:
    """The statement: canonical JSON, subjects by name."""
    subjects = [{"name": each, "digest": {"sha256": files[each]}} for each in sorted(files)]
    statement = {
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PREDICATE,
        "predicate": {"purl": f"pkg:generic/{name}@{version}"},
    }
    return json.dumps(statement, separators=(",", ":")).encode("ascii")


def _parse_payload(payload: bytes, key: str) -> Signed:
    """What a statement says; ValueError and the like where it is not one in its one form."""
    statement: Any = json.loads(payload)
    purl = str(statement["predicate"]["purl"])
    name, _, version = purl.removeprefix("pkg:generic/").rpartition("@")
    files = {str(each["name"]): str(each["digest"]["sha256"]) for each in statement["subject"]}
    if _build_payload(name, version, files) != payload:
        raise ValueError(SIGNATURE)
    return Signed(name, version, files, key)


def _format_envelope(payload: bytes, named: str, made: str) -> bytes:
    """The one form of an envelope: its statement, the id of the key, the signature."""
    document = {
        "payloadType": PAYLOAD,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {"keyid": named, "sig": made.removeprefix(PREFIX)},
        ],
    }
    return json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n"


def _encode_pre_authentication(payload: bytes) -> bytes:
    """What is signed: DSSE's pre-authentication encoding of type and statement."""
    kind = PAYLOAD.encode()
    # With their lengths, type and statement cannot be shifted into each other.
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def hash_folder_files(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of a folder but the signature."""
    return {
        path.name: hash_released_file(path)
        for path in sorted(folder.iterdir())
        if path.name != SIGNATURE
    }
