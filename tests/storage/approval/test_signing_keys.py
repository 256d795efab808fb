"""Ed25519 keys of people: their files, their texts and what they verify."""

import base64
import os
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from crowdcover.flows.look.signatures import read_public_key
from crowdcover.kinds.section import PlanError
from crowdcover.storage.approval.attestation import signature_in
from crowdcover.storage.approval.signing_keys import (
    WEAK,
    is_public,
    is_valid_signature,
    new_key,
    public_of,
    read_key,
    sign_content,
)
from crowdcover.storage.shelf.layout import SIGNATURE
from crowdcover.storage.vault.refusals import FolderError

# RFC 8032, section 7.1, test 2.
PUBLIC = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="


@pytest.fixture
def path(tmp_path):
    new_key(tmp_path / "ada.key")
    return tmp_path / "ada.key"


def test_a_key_is_its_owners_and_never_overwritten(path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_bytes()
    with pytest.raises(FolderError, match=r"exists or cannot be written \(FileExistsError\)"):
        new_key(path)
    assert path.read_bytes() == content
    assert content.startswith(b"-----BEGIN PRIVATE KEY-----")


@pytest.mark.parametrize("umask", [0, 0o077])
def test_the_umask_opens_no_key(tmp_path, umask):
    before = os.umask(umask)
    try:
        new_key(tmp_path / "key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o610])
def test_a_key_that_others_can_read_is_refused(path, mode):
    path.chmod(mode)
    with pytest.raises(FolderError, match="is open to other accounts; run chmod 600"):
        read_key(path)


def test_of_a_file_without_an_end_only_the_start_is_read(tmp_path):
    for name in ("key", SIGNATURE):
        (tmp_path / name).touch(mode=0o600)
        os.truncate(tmp_path / name, 1 << 42)  # a hole, which no memory holds
    with pytest.raises(FolderError, match="is no Ed25519 private key"):
        read_key(tmp_path / "key")
    with pytest.raises(PlanError, match="--key takes a public key"):
        read_public_key(str(tmp_path / "key"))
    signed, why = signature_in(tmp_path, [PUBLIC])
    assert signed is None
    assert "is no signature" in why


def test_what_is_no_key_is_refused_without_its_content(tmp_path):
    path = tmp_path / "key"
    with pytest.raises(FolderError, match=r"cannot be read \(FileNotFoundError\)"):
        read_key(path)
    for content in (b"", b"secret words", b"-----BEGIN PRIVATE KEY-----\nAAAA\n"):
        path.write_bytes(content)
        path.chmod(0o600)
        with pytest.raises(FolderError, match="is no Ed25519 private key") as caught:
            read_key(path)
        assert "secret" not in str(caught.value)


def test_only_the_right_key_signs_the_right_bytes(path, tmp_path):
    key = read_key(path)
    other = new_key(tmp_path / "other.key")
    made = sign_content(key, b"agreed")
    assert is_valid_signature(public_of(key), made, b"agreed")
    assert not is_valid_signature(public_of(key), made, b"agreed ")
    assert not is_valid_signature(other, made, b"agreed")
    for place in (10, 40, 80):
        forged = made[:place] + ("A" if made[place] != "A" else "B") + made[place + 1 :]
        assert not is_valid_signature(public_of(key), forged, b"agreed")


def test_the_vector_of_the_standard():
    assert is_public(PUBLIC)
    signature = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    text = "ed25519:" + base64.b64encode(signature).decode()
    assert is_valid_signature(PUBLIC, text, b"\x72")
    assert not is_valid_signature(PUBLIC, text, b"\x73")


@pytest.mark.parametrize(
    "text",
    ["", "ed25519:", PUBLIC.removeprefix("ed25519:"), PUBLIC + "A", PUBLIC[:-2] + "x=", 7, None,
     "rsa:" + PUBLIC[8:], PUBLIC.replace("=", ""), PUBLIC + "\n"],
)  # fmt: skip
def test_what_is_no_public_key(text):
    assert not is_public(text)
    assert not is_valid_signature(text, "ed25519:AA==", b"")


def test_keys_under_which_anybody_signs_are_none(path):
    """Points of small order: without a private key, each of 100 messages has a signature."""
    one = bytes([1, *bytes(31)])
    forged = one + bytes(32)
    for number in range(100):
        Ed25519PublicKey.from_public_bytes(one).verify(forged, b"%d" % number)
    signature = "ed25519:" + base64.b64encode(forged).decode()
    for point in WEAK:
        for sign_bit in (0, 0x80):
            key = bytes([*point[:-1], point[-1] | sign_bit])
            text = "ed25519:" + base64.b64encode(key).decode()
            assert not is_public(text)
            assert not is_valid_signature(text, signature, b"1")
    assert is_public(public_of(read_key(path)))
