"""Keys of encrypted vaults, and files that are truncated, altered or under another key."""

import io
import os

import pytest

from tasks.vault import sealing
from tasks.vault.files import (
    file_sha256,
    holds_files,
    read_json,
    read_private,
    readable,
    write_json,
    write_private,
    written_aside,
    written_by_name,
)
from tasks.vault.sealing import KEY, KEY_BLOCK, KEY_FILE, DamagedError, Seal, SealedError
from tasks.vault.storage import Vault
from tasks.vault.workroom import WORK, discard, room_of, sweep

CONTENT = b"ident-00001\n" * 20_000


@pytest.fixture(autouse=True)
def _work(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir(mode=0o700)
    monkeypatch.setenv(WORK, str(tmp_path / "work"))
    yield
    discard()


@pytest.fixture
def vault(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY, sealing.new_key()[0])
    return Vault(tmp_path / "vault").open()


def test_a_new_vault_is_encrypted_where_a_key_is_given(vault):
    path = vault.runs / "secret"
    write_private(path, CONTENT)
    assert path.read_bytes().startswith(sealing.HEADER)
    assert CONTENT[:12] not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_private(path) == CONTENT
    assert Seal.read(vault.path).recipient == sealing.recipient_of_key()


def test_a_key_that_was_copied_into_a_new_vault_is_encrypted(tmp_path, monkeypatch):
    """As vaults do that share a ledger."""
    (tmp_path / "vault").mkdir(mode=0o700)
    path = tmp_path / "vault" / "ledger.key"
    path.write_bytes(bytes(32))
    monkeypatch.setenv(KEY, sealing.new_key()[0])
    Vault(tmp_path / "vault").open()
    assert path.read_bytes().startswith(sealing.HEADER)
    assert read_private(path) == bytes(32)


def test_a_vault_without_a_key_is_plain(tmp_path):
    vault = Vault(tmp_path / "vault").open()
    write_json(vault.runs / "run.json", {"a": 1})
    assert (vault.runs / "run.json").read_text() == '{\n  "a": 1\n}\n'
    assert readable(vault.runs / "run.json") == vault.runs / "run.json"


def test_a_plain_vault_stays_plain_where_a_key_is_given(tmp_path, monkeypatch):
    vault = Vault(tmp_path / "vault").open()
    monkeypatch.setenv(KEY, sealing.new_key()[0])
    write_private(vault.open().runs / "secret", CONTENT)
    assert (vault.runs / "secret").read_bytes() == CONTENT


def test_hashes_are_of_the_plain_bytes(vault, tmp_path):
    write_private(vault.runs / "secret", CONTENT)
    (tmp_path / "plain").write_bytes(CONTENT)
    sha256 = file_sha256(tmp_path / "plain")
    assert file_sha256(vault.runs / "secret") == sha256
    assert holds_files(vault.runs, {"secret": sha256})


def test_what_is_written_in_other_ways_is_encrypted_too(vault):
    with written_aside(vault.runs / "aside") as handle:
        handle.writelines([CONTENT, CONTENT])
    with written_by_name(vault.runs / "named") as path:
        assert not path.is_relative_to(vault.path)
        path.write_bytes(CONTENT)
    for name, content in (("aside", 2 * CONTENT), ("named", CONTENT)):
        assert (vault.runs / name).read_bytes().startswith(sealing.HEADER)
        assert readable(vault.runs / name).read_bytes() == content


def test_a_copy_follows_its_file(vault):
    write_private(vault.runs / "secret", b"one")
    assert readable(vault.runs / "secret").read_bytes() == b"one"
    write_private(vault.runs / "secret", b"two")
    assert readable(vault.runs / "secret").read_bytes() == b"two"


@pytest.mark.parametrize("left", [0, 10, 100, 220, 70_000, -1])
def test_every_truncation_is_found(vault, left):
    path = vault.runs / "secret"
    write_private(path, CONTENT)
    content = path.read_bytes()
    path.write_bytes(content[:left] if left != -1 else content[:-1])
    if left < len(sealing.HEADER) and left != -1:
        assert read_private(path) != CONTENT  # no longer an encrypted file
        return
    for reading in (read_private, readable, file_sha256):
        with pytest.raises(DamagedError, match="truncated or was altered; restore it"):
            reading(path)


def test_every_altered_byte_is_found(vault):
    path = vault.runs / "secret"
    write_private(path, b"the seed")
    content = path.read_bytes()
    for at in range(len(sealing.HEADER), len(content)):
        changed = bytearray(content)
        changed[at] ^= 1
        path.write_bytes(changed)
        with pytest.raises((DamagedError, SealedError)):
            read_private(path)


def test_a_damaged_record_counts_as_a_damaged_one_of_a_plain_vault(vault):
    """`Run.once` makes such a stage again; a missing key must never do that."""
    path = vault.runs / "stage.json"
    write_json(path, {"a": 1})
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="truncated"):
        read_json(path)
    assert not issubclass(SealedError, ValueError)
    assert not issubclass(SealedError, OSError)


def test_another_key_and_none(vault, monkeypatch):
    write_private(vault.runs / "secret", CONTENT)
    monkeypatch.setenv(KEY, sealing.new_key()[0])
    with pytest.raises(SealedError, match="is encrypted to another key"):
        read_private(vault.runs / "secret")
    with pytest.raises(SealedError, match="is not the key of the vault"):
        vault.open()
    monkeypatch.delenv(KEY)
    with pytest.raises(SealedError, match="no key is given; set CROWDCOVER_VAULT_KEY_FILE"):
        vault.open()


def test_a_key_file(tmp_path, monkeypatch):
    secret, public = sealing.new_key()
    path = tmp_path / "vault.key"
    path.write_text(f"# public key: {public}\n{secret}\n")
    path.chmod(0o600)
    monkeypatch.setenv(KEY_FILE, str(path))
    assert sealing.recipient_of_key() == public
    path.chmod(0o640)
    with pytest.raises(SealedError, match="open to others; chmod it to 600"):
        sealing.identities()
    path.unlink()
    with pytest.raises(SealedError, match="cannot be read"):
        sealing.identities()


@pytest.mark.parametrize("text", ["", "# nothing", "AGE-SECRET-KEY-1NONE", "age1abc", "x" * 70])
def test_texts_that_are_no_keys(monkeypatch, text):
    monkeypatch.setenv(KEY, text or " ")
    with pytest.raises(SealedError, match="holds no key of the age format") as told:
        sealing.identities()
    assert "NONE" not in str(told.value)


def test_two_places_are_refused(monkeypatch):
    monkeypatch.setenv(KEY, sealing.new_key()[0])
    monkeypatch.setenv(KEY_FILE, "somewhere")
    with pytest.raises(SealedError, match="set one of them"):
        sealing.identities()


def test_a_block_that_is_not_there(monkeypatch):
    monkeypatch.setattr("importlib.import_module", lambda _: None)
    monkeypatch.setenv(KEY_BLOCK, "no such block")
    with pytest.raises(SealedError, match="Secret block 'no such block' cannot be loaded"):
        sealing.identities()


def test_a_seal_that_cannot_be_read(vault):
    (vault.path / "vault.json").write_text("{")
    for work in (vault.open, lambda: write_private(vault.runs / "secret", b"")):
        with pytest.raises(SealedError, match="restore it from a backup"):
            work()


def test_what_a_full_disk_says(vault):
    public = Seal.read(vault.path).recipient
    with (
        open("/dev/full", "wb", buffering=0) as target,
        pytest.raises(OSError, match="No space left on device") as told,
    ):
        sealing.encrypt(io.BytesIO(CONTENT), target, public)
    assert told.value.errno == 28


# ---------------------------------------------------------------- the private folder


def test_the_folder_of_a_living_process_stays(vault, tmp_path):
    room = room_of(vault.path)
    assert room.folder.stat().st_mode & 0o777 == 0o700
    dead = tmp_path / "work" / room.folder.name.replace(room.folder.name[-8:], "deadbeef")
    dead.mkdir(mode=0o700)
    (dead / "lock").touch(mode=0o600)
    (dead / "rows.parquet").write_bytes(CONTENT)
    process = os.fork()
    if not process:  # a process of its own looks once
        os._exit(0 if sweep(vault.path) == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert room.folder.exists()
    assert not dead.exists()


def test_a_folder_that_cannot_be_made_is_named(vault, monkeypatch, tmp_path):
    monkeypatch.setenv(WORK, str(tmp_path / "none"))
    write_private(vault.runs / "secret", CONTENT)
    with pytest.raises(SealedError, match="set CROWDCOVER_VAULT_WORK to a private folder"):
        readable(vault.runs / "secret")
