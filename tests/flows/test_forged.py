"""Whoever changes a release together with the vault's memory of it is found by the file itself."""

import gzip
import hashlib
import json
import shutil

import pytest

from flows.audit import audit_release
from tasks.vault.storage import read_json, write_json
from tests.flows.orders import Order


@pytest.fixture(scope="module")
def order(tmp_path_factory):
    made = Order(tmp_path_factory.mktemp("forged"))
    made.release()
    shutil.copytree(made.folder_of_v1, made.folder / "kept")
    return made


@pytest.fixture
def folder(order):
    yield order.folder_of_v1
    shutil.rmtree(order.folder_of_v1)
    shutil.copytree(order.folder / "kept", order.folder_of_v1)


def forge(order, folder, name, content):
    """Change a file; let the manifest vouch for it, and the vault for the manifest."""
    (folder / name).write_bytes(content)
    manifest = read_json(folder / "manifest.json")
    manifest["files"][name] = hashlib.sha256(content).hexdigest()
    write_json(folder / "manifest.json", manifest)
    memory = order.run.path / "releases.json"
    marks = read_json(memory)
    for mark in marks.values():
        mark["files"]["manifest.json"] = hashlib.sha256(
            (folder / "manifest.json").read_bytes()
        ).hexdigest()
    write_json(memory, marks)


def found(order, folder):
    return {each.guarantee: each.detail for each in audit_release(folder, order.plan).broken}


def test_a_forgery_of_nothing_is_none(order, folder):
    forge(order, folder, "report.html", (folder / "report.html").read_bytes())
    assert found(order, folder) == {}


def before_the_footer(content):
    size = int.from_bytes(content[-8:-4], "little")
    return content[: -8 - size] + b"more" + content[-8 - size :]


def after_the_magic(content):
    """All offsets of the footer lead elsewhere then: no reader finds a row."""
    return content[:4] + b"more" + content[4:]


@pytest.mark.parametrize("spoil", [before_the_footer, after_the_magic])
def test_bytes_of_a_parquet_file_that_no_reader_shows(order, folder, spoil):
    content = (folder / "data.parquet").read_bytes()
    forge(order, folder, "data.parquet", spoil(content))
    assert set(found(order, folder)) & {"no traces in the files", "readable files"}


def test_a_second_gzip_member(order, folder):
    content = (folder / "data.csv.gz").read_bytes() + gzip.compress(b"", mtime=0)
    forge(order, folder, "data.csv.gz", content)
    assert found(order, folder) == {
        "no traces in the files": "the gzip file goes on after its rows",
    }


def test_a_gzip_header_of_another_writer(order, folder):
    content = bytearray((folder / "data.csv.gz").read_bytes())
    content[9] = 7
    forge(order, folder, "data.csv.gz", bytes(content))
    assert "names another writer" in found(order, folder)["no traces in the files"]


@pytest.mark.parametrize("more", ['"note": "x", ', '"note": "x", "note": "y", '])
def test_more_keys_of_the_codebook(order, folder, more):
    text = (folder / "codebook.json").read_text()
    forge(order, folder, "codebook.json", ("{" + more + text[1:]).encode())
    assert "codebook of the source" in found(order, folder)


def test_a_key_of_the_codebook_that_stands_there_twice(order, folder):
    text = (folder / "codebook.json").read_text()
    first = json.dumps(next(iter(json.loads(text))))
    forge(order, folder, "codebook.json", ("{" + first + ': "x", ' + text[1:]).encode())
    assert "form of the codebook" in found(order, folder)


def test_another_text_in_the_report(order, folder):
    content = (folder / "report.html").read_bytes()
    assert b"The privacy promise holds" in content
    other = content.replace(b"The privacy promise holds", b"The privacy promise always holds")
    forge(order, folder, "report.html", other)
    assert set(found(order, folder)) == {"report", "catalogue"}  # which states the report's hash


def test_another_text_in_the_catalogue(order, folder):
    content = (folder / "datapackage.json").read_bytes()
    forge(order, folder, "datapackage.json", content.replace(b"Anonymized by", b"anonymized by"))
    assert set(found(order, folder)) == {"catalogue"}
