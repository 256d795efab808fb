"""Releases with an encrypted vault: the same bytes, and nothing readable in the vault."""

import pytest

from flows.audit import audit_release
from tasks.vault import sealing
from tasks.vault.files import read_private
from tasks.vault.workroom import WORK, discard
from tests.flows.orders import Order, data_bytes, people

PUBLIC = {"vault.json", "ledger.sqlite", "lock"}


@pytest.fixture
def key(monkeypatch, tmp_path):
    """A key in the environment, and a folder for plain copies."""
    secret, public = sealing.new_key()
    monkeypatch.setenv(sealing.KEY, secret)
    (tmp_path / "work").mkdir(mode=0o700)
    monkeypatch.setenv(WORK, str(tmp_path / "work"))
    yield public
    discard()
    assert not list((tmp_path / "work").iterdir())


def secrets_of(order):
    """What must not be readable in the vault: cells, identifiers, the seed and keys."""
    rows = people()
    texts = {str(cell) for row in rows for cell in (row[0], row[5])} | {"rare-Atlantis"}
    keys = [
        read_private(order.vault / name)
        for name in ("ledger.key", "folders.key")
        if (order.vault / name).exists()
    ]
    seeds = [read_private(path) for path in order.vault.glob("runs/*/seed")]
    return [text.encode() for text in texts] + keys + seeds


def assert_unreadable(order):
    found = secrets_of(order)
    for path in order.vault.rglob("*"):
        if not path.is_file():
            continue
        content = path.read_bytes()
        plain = path.name in PUBLIC
        assert plain or content.startswith(sealing.HEADER), path
        assert path.stat().st_mode & 0o777 == 0o600
        assert not [
            True for secret in found if secret in content or secret.hex().encode() in content
        ], path


def test_same_bytes_with_and_without_encryption(key, tmp_path, monkeypatch):
    sealed = Order(tmp_path / "sealed").fix_seed()
    sealed.release()
    assert_unreadable(sealed)
    assert audit_release(sealed.folder_of_v1, sealed.plan).passed
    monkeypatch.delenv(sealing.KEY)
    plain = Order(tmp_path / "plain").fix_seed()
    plain.release()
    assert data_bytes(plain.folder_of_v1) == data_bytes(sealed.folder_of_v1)
    assert not any(
        path.read_bytes().startswith(sealing.HEADER)
        for path in plain.vault.rglob("*")
        if path.is_file()
    )
