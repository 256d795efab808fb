"""Keys of encrypted vaults, and files that are truncated, altered or under another key."""

import io
import os
import shutil

import pytest

from crowdcover.storage.encryption import encryption
from crowdcover.storage.encryption.encryption import (
    KEY,
    KEY_BLOCK,
    KEY_FILE,
    DamagedError,
    Seal,
    SealedError,
)
from crowdcover.storage.encryption.plain_copies import (
    WORK,
    discard_plain_copies,
    room_of,
    sweep_plain_copies,
)
from crowdcover.storage.vault.files import (
    file_sha256,
    find_readable_path,
    holds_files,
    how_to_read,
    open_private_replacement,
    open_replacement_path,
    read_json,
    read_private,
    readable_folder,
    write_json,
    write_private,
)
from crowdcover.storage.vault.vault import Vault

CONTENT = b"ident-00001\n" * 20_000


@pytest.fixture(autouse=True)
def _work(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir(mode=0o700)
    monkeypatch.setenv(WORK, str(tmp_path / "work"))
    yield
    discard_plain_copies()


@pytest.fixture
def vault(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY, encryption.new_key()[0])
    return Vault(tmp_path / "vault").open()


def test_a_new_vault_is_encrypted_where_a_key_is_given(vault):
    path = vault.runs / "secret"
    write_private(path, CONTENT)
    assert path.read_bytes().startswith(encryption.HEADER)
    assert CONTENT[:12] not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_private(path) == CONTENT
    assert Seal.read(vault.path).recipient == encryption.recipient_of_key()


def test_the_command_that_reads_a_file_can_be_pasted(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY, encryption.new_key()[0])
    vault = Vault(tmp_path / "a b").open()
    told = how_to_read(vault.runs / "1 2" / "page.html")
    command = f"crowdcover vault read 'runs/1 2/page.html' --vault '{vault.path}'"
    assert told == f"it by: {command} --output page.html"


def test_a_key_that_was_copied_into_a_new_vault_is_encrypted(tmp_path, monkeypatch):
    """As vaults do that share a ledger."""
    (tmp_path / "vault").mkdir(mode=0o700)
    path = tmp_path / "vault" / "ledger.key"
    path.write_bytes(bytes(32))
    monkeypatch.setenv(KEY, encryption.new_key()[0])
    Vault(tmp_path / "vault").open()
    assert path.read_bytes().startswith(encryption.HEADER)
    assert read_private(path) == bytes(32)


def test_a_vault_without_a_key_is_plain(tmp_path):
    vault = Vault(tmp_path / "vault").open()
    write_json(vault.runs / "run.json", {"a": 1})
    assert (vault.runs / "run.json").read_text() == '{\n  "a": 1\n}\n'
    assert find_readable_path(vault.runs / "run.json") == vault.runs / "run.json"


def test_a_plain_vault_stays_plain_where_a_key_is_given(tmp_path, monkeypatch):
    vault = Vault(tmp_path / "vault").open()
    monkeypatch.setenv(KEY, encryption.new_key()[0])
    write_private(vault.open().runs / "secret", CONTENT)
    assert (vault.runs / "secret").read_bytes() == CONTENT


def test_hashes_are_of_the_plain_bytes(vault, tmp_path):
    write_private(vault.runs / "secret", CONTENT)
    (tmp_path / "plain").write_bytes(CONTENT)
    sha256 = file_sha256(tmp_path / "plain")
    assert file_sha256(vault.runs / "secret") == sha256
    assert holds_files(vault.runs, {"secret": sha256})


def test_what_is_written_in_other_ways_is_encrypted_too(vault):
    with open_private_replacement(vault.runs / "aside") as handle:
        handle.writelines([CONTENT, CONTENT])
    with open_replacement_path(vault.runs / "named") as path:
        assert not path.is_relative_to(vault.path)
        path.write_bytes(CONTENT)
    for name, content in (("aside", 2 * CONTENT), ("named", CONTENT)):
        assert (vault.runs / name).read_bytes().startswith(encryption.HEADER)
        assert find_readable_path(vault.runs / name).read_bytes() == content


def test_a_copy_follows_its_file(vault):
    write_private(vault.runs / "secret", b"one")
    assert find_readable_path(vault.runs / "secret").read_bytes() == b"one"
    write_private(vault.runs / "secret", b"two")
    assert find_readable_path(vault.runs / "secret").read_bytes() == b"two"


# The age format: a header, a nonce, chunks of 64 KiB with a tag each; the last one says so.
CHUNK, NONCE = 65_536 + 16, 16


def chunks_of(content):
    """Header with nonce, and the chunks of an encrypted CONTENT."""
    start = len(content) - (len(CONTENT) + 16 * -(-len(CONTENT) // 65_536))
    return content[:start], [content[at : at + CHUNK] for at in range(start, len(content), CHUNK)]


def refused(path):
    for reading in (read_private, file_sha256):
        with pytest.raises(DamagedError, match="truncated or was altered"):
            reading(path)


@pytest.mark.parametrize("left", [0, 10, 21, 22, 100, 220, 70_000, -1, "chunk", "nonce"])
def test_every_truncation_is_found(vault, left):
    path = vault.runs / "secret"
    write_private(path, CONTENT)
    head, (first, *_) = chunks_of(path.read_bytes())
    left = {"chunk": len(head + first), "nonce": len(head)}.get(left, left)
    path.write_bytes(path.read_bytes()[:left])
    words = "is not encrypted, and its vault is" if 0 <= left < 22 else "truncated or was altered"
    for reading in (read_private, find_readable_path, file_sha256):
        with pytest.raises(DamagedError, match=rf"{words}.*; restore it"):
            reading(path)


@pytest.mark.parametrize(
    "order", [[1, 0, 2, 3], [0, 2, 3], [0, 1, 1, 2, 3], [0, 1, 2, 3, 3], [0, 1, 3], [3]], ids=str
)
def test_chunks_in_another_order_are_found(vault, order):
    path = vault.runs / "secret"
    write_private(path, CONTENT)
    head, chunks = chunks_of(path.read_bytes())
    assert len(chunks) == 4
    path.write_bytes(head + b"".join(chunks[number] for number in order))
    refused(path)


def test_parts_of_two_files_are_no_file(vault):
    """Both are encrypted to the same key."""
    one, two = vault.runs / "one", vault.runs / "two"
    write_private(one, CONTENT)
    write_private(two, CONTENT[::-1])
    (head, chunks), (others, changed) = chunks_of(one.read_bytes()), chunks_of(two.read_bytes())
    for content in (
        head + b"".join(changed),
        head + b"".join([*chunks[:2], *changed[2:]]),
        head[:-NONCE] + others[-NONCE:] + b"".join(chunks),
        one.read_bytes() + two.read_bytes(),
    ):
        one.write_bytes(content)
        refused(one)


def test_a_seed_of_which_bytes_are_missing_draws_nothing(tmp_path):
    """In a plain vault, too: whoever knows that it is empty knows all that it draws."""
    run = Vault(tmp_path / "plain").run("plan", "source")
    for content in (b"", bytes(31), bytes(33)):
        (run.path / "seed").write_bytes(content)
        for reading in (lambda: run.seed, lambda: run.seal):
            with pytest.raises(DamagedError, match="bytes, 32 are required; restore it"):
                reading()


def test_every_altered_byte_is_found(vault):
    path = vault.runs / "secret"
    write_private(path, b"the seed")
    content = path.read_bytes()
    for at in range(len(encryption.HEADER), len(content)):
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
    monkeypatch.setenv(KEY, encryption.new_key()[0])
    with pytest.raises(SealedError, match="is encrypted to another key"):
        read_private(vault.runs / "secret")
    with pytest.raises(SealedError, match="is not the key of the vault"):
        vault.open()
    monkeypatch.delenv(KEY)
    with pytest.raises(SealedError, match="no key is given; set CROWDCOVER_VAULT_KEY_FILE"):
        vault.open()


def test_a_key_file(tmp_path, monkeypatch):
    secret, public = encryption.new_key()
    path = tmp_path / "vault.key"
    path.write_text(f"# public key: {public}\n{secret}\n")
    path.chmod(0o600)
    monkeypatch.setenv(KEY_FILE, str(path))
    assert encryption.recipient_of_key() == public
    path.chmod(0o640)
    with pytest.raises(SealedError, match="open to others; chmod it to 600"):
        encryption.load_environment_keys()
    path.unlink()
    with pytest.raises(SealedError, match="cannot be read"):
        encryption.load_environment_keys()


@pytest.mark.parametrize("text", ["", "# nothing", "AGE-SECRET-KEY-1NONE", "age1abc", "x" * 70])
def test_texts_that_are_no_keys(monkeypatch, text):
    monkeypatch.setenv(KEY, text or " ")
    with pytest.raises(SealedError, match="holds no key of the age format") as told:
        encryption.load_environment_keys()
    assert "NONE" not in str(told.value)


def test_two_places_are_refused(monkeypatch):
    monkeypatch.setenv(KEY, encryption.new_key()[0])
    monkeypatch.setenv(KEY_FILE, "somewhere")
    with pytest.raises(SealedError, match="set one of them"):
        encryption.load_environment_keys()


def test_a_block_that_is_not_there(monkeypatch):
    monkeypatch.setattr("importlib.import_module", lambda _: None)
    monkeypatch.setenv(KEY_BLOCK, "no such block")
    with pytest.raises(SealedError, match="Secret block 'no such block' cannot be loaded"):
        encryption.load_environment_keys()


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
        encryption.encrypt_stream(io.BytesIO(CONTENT), target, public)
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
        os._exit(0 if sweep_plain_copies(vault.path) == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert room.folder.exists()
    assert not dead.exists()


def test_plain_copies_of_one_folder_lie_in_one_place(vault, tmp_path, monkeypatch):
    """Also where the disk fills up meanwhile: what it holds already is not moved."""
    stage = vault.runs / "stage"
    stage.mkdir()
    for name in "abc":
        write_private(stage / name, CONTENT)
    free = iter([1 << 60, 0, 0, 0, 0, 0, 0])
    usage = shutil.disk_usage(tmp_path)
    room_of(vault.path)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage._replace(free=next(free)))
    folder = readable_folder(stage)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == dict.fromkeys(
        "abc", CONTENT
    )
    assert len(list((tmp_path / "work").iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_named(vault, monkeypatch, tmp_path):
    monkeypatch.setenv(WORK, str(tmp_path / "none"))
    write_private(vault.runs / "secret", CONTENT)
    with pytest.raises(SealedError, match="set CROWDCOVER_VAULT_WORK to a private folder"):
        find_readable_path(vault.runs / "secret")
