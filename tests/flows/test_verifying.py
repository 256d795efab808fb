"""A signed folder is verified with a public key alone; one byte changed anywhere fails."""

import base64
import gzip
import json
import os
import random
import shutil
import subprocess

import fsspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from crowdcover.flows.look.signatures import read_public_key, verify_release
from crowdcover.kinds.section import PlanError
from crowdcover.storage.approval import attestation
from crowdcover.storage.approval.attestation import build_envelope, hash_folder_files
from crowdcover.storage.approval.signing_keys import (
    PREFIX,
    as_pem,
    key_id,
    new_key,
    public_of,
    read_key,
    sign_content,
)
from crowdcover.storage.places.credentials import CredentialsError
from crowdcover.storage.places.objects import ObjectPath
from crowdcover.storage.shelf.content import hash_released_file
from crowdcover.storage.shelf.layout import SIGNATURE
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.refusals import FolderError
from tests.flows.orders import FILES, Order
from tests.flows.processes import command
from tests.support.audits import audit_release
from tests.support.series import registry

FLIPS = 40  # of each file
FLIPS_OF_SIGNATURE = 400  # its form has more ways to be nearly right


def broken(folder, *keys):
    return [finding.guarantee for finding in verify_release(folder, keys) if finding.broken]


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "release.key"
    new_key(path)
    return path


@pytest.fixture(scope="module")
def public(key):
    return public_of(read_key(key))


@pytest.fixture(scope="module")
def signed(tmp_path_factory, key):
    """A signed release that no test may change."""
    order = Order(tmp_path_factory.mktemp("signed"), publish={"signing_key": f"file:{key}"})
    order.release()
    return order


@pytest.fixture
def copy(signed, tmp_path):
    return shutil.copytree(signed.folder_of_v1, tmp_path / "v1")


# ---------------------------------------------------------------- what is found


@pytest.mark.long
def test_a_signed_folder_is_verified_without_source_and_vault(signed, copy, public, tmp_path):
    assert {path.name for path in copy.iterdir()} == {*FILES, SIGNATURE}
    assert broken(copy, public) == []
    (tmp_path / "public.pem").write_text(as_pem(public))
    done = command("verify", copy, "--key", tmp_path / "public.pem")
    assert (done.code, done.last_line) == (0, "v1 is as it was signed")
    assert len(done.out.splitlines()) == 6
    done = command("verify", copy, "--unsigned", "--json")
    assert (done.code, json.loads(done.out)["verified"]) == (0, True)
    found = audit_release(signed.folder_of_v1, signed.plan)
    assert found.passed, found.sentence()
    assert "signature as published" in [each.guarantee for each in found.findings]


@pytest.mark.long
@pytest.mark.parametrize("name", [*FILES, SIGNATURE])
def test_one_changed_byte_fails(copy, public, name):
    content = (copy / name).read_bytes()
    chance = random.Random(name)
    flips = FLIPS_OF_SIGNATURE if name == SIGNATURE else FLIPS
    places = [0, len(content) - 1, *chance.sample(range(len(content)), flips)]
    for place in places:
        other = bytes([content[place] ^ 1 << chance.randrange(8)])
        (copy / name).write_bytes(content[:place] + other + content[place + 1 :])
        assert broken(copy, public), place
    (copy / name).write_bytes(content)
    assert broken(copy, public) == []


def added(folder):
    (folder / "more.txt").write_text("")


def hidden(folder):
    (folder / ".more").write_text("more")


def nested(folder):
    (folder / "more").mkdir()


def linked(folder):
    (folder / "report.html").rename(folder.parent / "report.html")
    (folder / "report.html").symlink_to(folder.parent / "report.html")


def removed(folder):
    (folder / "dcat.jsonld").unlink()


def renamed(folder):
    (folder / "dcat.jsonld").rename(folder / "dcat.json")


def swapped(folder):
    (folder / "dcat.jsonld").rename(folder / "aside")
    (folder / "croissant.json").rename(folder / "dcat.jsonld")
    (folder / "aside").rename(folder / "croissant.json")


def without_manifest(folder):
    (folder / "manifest.json").unlink()


def taken_back(folder):
    (folder / "retracted.json").write_text("{}")


def without_signature(folder):
    (folder / SIGNATURE).unlink()


def signed_twice(folder):
    line = json.loads((folder / SIGNATURE).read_text())
    line["signatures"] *= 2
    (folder / SIGNATURE).write_text(json.dumps(line, separators=(",", ":")) + "\n")


def longer(folder):
    (folder / SIGNATURE).write_bytes((folder / SIGNATURE).read_bytes() + b"\n")


@pytest.mark.parametrize(
    "spoil",
    [
        added, hidden, nested, linked, removed, renamed, swapped, without_manifest, taken_back,
        without_signature, signed_twice, longer,
    ],
    ids=lambda spoil: spoil.__name__,
)  # fmt: skip
def test_a_folder_of_other_files_fails(copy, public, spoil):
    spoil(copy)
    assert broken(copy, public)
    assert command("verify", copy, "--key", public).code == 4


def test_a_folder_that_was_taken_back_says_so(copy, public):
    taken_back(copy)
    assert "not retracted" in broken(copy, public)


def test_without_a_key_the_manifest_tells_damage(copy):
    assert broken(copy) == []
    (copy / "report.html").write_bytes((copy / "report.html").read_bytes() + b" ")
    assert broken(copy) == ["every file"]


@pytest.mark.parametrize(
    "change",
    [
        {"source": "x"},
        {"source": {"kind": "cube"}},
        {"source": None},
        {"privacy": 3},
    ],
    ids=str,
)
def test_a_manifest_that_somebody_wrote_is_a_finding(copy, change):
    """Its hashes agree with the files; nothing else of it can be relied on."""
    manifest = json.loads((copy / "manifest.json").read_text("utf-8"))
    (copy / "manifest.json").write_text(json.dumps(manifest | change), "utf-8")
    assert broken(copy) == ["manifest"]
    done = command("show", copy)
    assert (done.code, done.err) == (
        3, "crowdcover: a manifest.json is damaged; give a release as it was published\n"
    )  # fmt: skip


def test_a_data_file_that_somebody_wrote_is_a_finding(copy):
    manifest = json.loads((copy / "manifest.json").read_text("utf-8"))
    (copy / "data.parquet").write_bytes(b"PAR1 no rows PAR1")
    manifest["files"]["data.parquet"] = hash_released_file(copy / "data.parquet")
    (copy / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert broken(copy) == ["data files"]


# ---------------------------------------------------------------- the publisher's own faults


def resign(folder, key, name="people", version="v1"):
    """What whoever holds the key may do: sign whatever the folder holds."""
    (folder / SIGNATURE).write_bytes(
        build_envelope(read_key(key), name, version, hash_folder_files(folder))
    )


def other_version(folder, key):
    resign(folder, key, version="v2")


def other_name(folder, key):
    resign(folder, key, name="poople")


def other_catalogue(folder, key):
    content = (folder / "dcat.jsonld").read_bytes()
    (folder / "dcat.jsonld").write_bytes(content.replace(b"dcat:Dataset", b"dcat:dataset"))
    resign(folder, key)


def other_form(folder, key):
    packed = (folder / "data.csv.gz").read_bytes()
    (folder / "data.csv.gz").write_bytes(packed + gzip.compress(b"", mtime=0))
    resign(folder, key)


def other_statement(folder, key):
    """A statement in another form than the only one, signed all the same."""
    line = json.loads((folder / SIGNATURE).read_text())
    statement = json.loads(base64.b64decode(line["payload"]))
    statement["predicate"]["note"] = "x"
    payload = json.dumps(statement, separators=(",", ":")).encode()
    made = sign_content(read_key(key), attestation._encode_pre_authentication(payload))
    named = key_id(public_of(read_key(key)))
    (folder / SIGNATURE).write_bytes(attestation._format_envelope(payload, named, made))


@pytest.mark.parametrize(
    ("spoil", "finding"),
    [
        (other_version, "name and version"),
        (other_name, "name and version"),
        (other_catalogue, "catalogue"),
        (other_form, "form of the files"),
        (other_statement, "signature"),
    ],
)
def test_what_the_key_signed_is_looked_at_too(copy, key, public, spoil, finding):
    resign(copy, key)
    assert broken(copy, public) == []
    spoil(copy, key)
    assert finding in broken(copy, public)


def test_the_audit_knows_the_signature_that_was_made(tmp_path, key):
    """An older one by the same key is no longer the one that was published."""
    order = Order(tmp_path, publish={"signing_key": f"file:{key}"})
    folder = order.release()
    resign(folder, key, version="v0")
    found = [each.guarantee for each in audit_release(folder, order.plan).broken]
    assert found == ["manifest as published", "signature as published"]
    (folder / SIGNATURE).unlink()
    details = {each.guarantee: each.detail for each in audit_release(folder, order.plan).broken}
    assert details["signature as published"] == f"{SIGNATURE} is missing"


def test_type_and_statement_are_signed_as_dsse_says(copy, public):
    """DSSEv1, length and text of the type, length and text of the payload, between blanks."""
    line = json.loads((copy / SIGNATURE).read_text())
    payload = base64.b64decode(line["payload"])
    kind = line["payloadType"]
    said = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    raw = base64.b64decode(public.removeprefix(PREFIX))
    signature = base64.b64decode(line["signatures"][0]["sig"])
    Ed25519PublicKey.from_public_bytes(raw).verify(signature, said)  # raises


def test_another_key_fails(copy, public, tmp_path):
    other = new_key(tmp_path / "other.key")
    assert broken(copy, other) == ["signature"]
    assert broken(copy, other, public) == []  # a team that changes keys gives both


def test_the_signature_of_another_release_fails(copy, public, key, tmp_path):
    order = Order(tmp_path / "other", publish={"signing_key": f"file:{key}"})
    shutil.copy(order.release() / SIGNATURE, copy / SIGNATURE)
    assert broken(copy, public) == ["every file"]


def test_names_that_an_attacker_chose_are_printed_harmlessly(copy, public):
    (copy / "\x1b[2Jall is well").write_text("")
    done = command("verify", copy, "--key", public)
    assert done.code == 4
    assert "\x1b" not in done.out


def test_openssl_verifies_the_signature(copy, public, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: its answer is left out")
    line = json.loads((copy / SIGNATURE).read_text())
    payload = base64.b64decode(line["payload"])
    kind = line["payloadType"].encode()
    said = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    (tmp_path / "said").write_bytes(said)
    (tmp_path / "sig").write_bytes(base64.b64decode(line["signatures"][0]["sig"]))
    (tmp_path / "public.pem").write_text(as_pem(public))
    check = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "public.pem", "-rawin"]
    check += ["-in", "said", "-sigfile", "sig"]
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    (tmp_path / "said").write_bytes(said.replace(b"people", b"poople"))
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode != 0


@pytest.mark.parametrize("text", ["", "ed25519:short", "nowhere.pem", "manifest.json"])
def test_what_is_no_public_key_is_refused(text):
    with pytest.raises(PlanError, match="--key takes a public key"):
        read_public_key(text)


# ---------------------------------------------------------------- where releases stand


@pytest.mark.long
def test_a_version_in_object_storage(tmp_path, key, public, monkeypatch):
    monkeypatch.setattr("crowdcover.storage.places.place.STARTS", ("memory://",))
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    publish = {"path": "memory://bucket/releases", "signing_key": f"file:{key}"}
    folder = Order(tmp_path, publish=publish).release()
    assert isinstance(folder, ObjectPath)
    assert broken(folder, public) == []
    report = (folder / "report.html").read_bytes()
    (folder / "report.html").write_bytes(report[:-2] + b"?\n")
    assert broken(folder, public) == ["every file"]
    store.store.clear()


@pytest.mark.long
def test_versions_of_a_series(tmp_path, key, public):
    order = registry(tmp_path, publish={"signing_key": f"file:{key}"})
    folder = order.release()
    assert broken(folder, public) == []
    found = audit_release(folder, order.plan)
    assert found.passed, found.sentence()


# ---------------------------------------------------------------- the private key


def test_the_key_stands_nowhere_but_in_its_place(signed, key):
    lines = key.read_text().splitlines()[1]
    raw = read_key(key).private_bytes_raw()
    for path in signed.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert raw not in content
            assert lines.encode() not in content


@pytest.mark.long
def test_a_key_in_the_environment(tmp_path, key, public, monkeypatch):
    order = Order(tmp_path, publish={"signing_key": "env:RELEASE_KEY"})
    monkeypatch.delenv("RELEASE_KEY", raising=False)
    with pytest.raises(CredentialsError, match="no private key was found at env:RELEASE_KEY"):
        order.release()
    assert not list(order.vault.glob("runs/*"))  # refused before any work
    monkeypatch.setenv("RELEASE_KEY", "no key")
    with pytest.raises(CredentialsError, match="holds no Ed25519 private key"):
        order.release()
    monkeypatch.setenv("RELEASE_KEY", key.read_text())
    assert broken(order.release(), public) == []


def test_a_key_that_others_can_read_is_refused(tmp_path, key):
    shutil.copy(key, tmp_path / "open.key")
    os.chmod(tmp_path / "open.key", 0o644)
    order = Order(tmp_path / "o", publish={"signing_key": f"file:{tmp_path / 'open.key'}"})
    with pytest.raises(FolderError, match="open to other accounts"):
        order.release()
    order.write(publish={"signing_key": "release.key"})
    with pytest.raises(PlanError, match=r"publish\.signing_key must be 'env:NAME'"):
        order.release()


def test_another_key_makes_no_other_release(signed, tmp_path):
    """Who signs decides nothing about the rows: the plan is the same."""
    before = read_json(signed.folder_of_v1 / "manifest.json")["plan_sha256"]
    order = Order(tmp_path)
    assert read_json(order.release() / "manifest.json")["plan_sha256"] == before
