"""Whoever changes a release together with the vault's memory of it is found by the file itself."""

import gzip
import hashlib
import json
import os
import shutil

import pytest

from crowdcover.storage.vault.files import read_json, write_json
from tests.flows.orders import Order
from tests.flows.processes import command
from tests.support.audits import audit_release


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


@pytest.mark.long
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


FORM = "form of the manifest"


def rewrite(order, folder, text):
    """Change the manifest; let the vault vouch for it."""
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    memory = order.run.path / "releases.json"
    marks = read_json(memory)
    for mark in marks.values():
        mark["files"]["manifest.json"] = hashlib.sha256(text.encode()).hexdigest()
    write_json(memory, marks)


def read(folder):
    return (folder / "manifest.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("{", '{\n  "name": "x",', 1),
        lambda text: text.replace('"source": {', '"source": {\n    "rows": 7,', 1),
        lambda text: text.replace("  ", " "),
        lambda text: text + " ",
        lambda text: text.replace("people", "\\u0070eople", 1),
    ],
    ids=["a key twice", "a key twice below", "other blanks", "a blank more", "an escape"],
)
def test_another_way_to_write_the_manifest(order, folder, spoil):
    rewrite(order, folder, spoil(read(folder)))
    told = found(order, folder)
    assert set(told) == {FORM}
    assert told[FORM] == "the manifest says something twice or is written in another way"


def places(document, place=()):
    """Every object of a document, the first of each list, as the keys that lead to it."""
    if isinstance(document, list):
        yield from places(document[0], (*place, 0)) if document else ()
    if isinstance(document, dict):
        yield place
        for name, below in document.items():
            yield from places(below, (*place, name))


@pytest.mark.long
def test_a_key_more_anywhere_in_the_manifest(order, folder):
    manifest = json.loads(read(folder))
    every = list(places(manifest))
    assert {(), ("source",), ("columns", "age"), ("anonymizer",), ("timings",)} < set(every)
    assert {("privacy",), ("utility", "per_column", "age"), ("iterations", 0)} < set(every)
    for place in every:
        spoiled = json.loads(read(order.folder / "kept"))
        at = spoiled
        for name in place:
            at = at[name]
        at["note"] = "text"
        rewrite(order, folder, json.dumps(spoiled, indent=2, ensure_ascii=False) + "\n")
        told = found(order, folder)
        assert set(told) & {FORM, "numbers as measured", "files as published"}, place


@pytest.mark.parametrize("name", ["source", "columns", "timings", "privacy", "checks"])
def test_a_text_where_the_manifest_has_keys(order, folder, name):
    manifest = json.loads(read(folder))
    manifest[name] = "text"
    rewrite(order, folder, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    assert "1 of its keys and values are none" in found(order, folder)[FORM]


def test_verify_finds_a_key_that_stands_in_the_manifest_twice(order, folder):
    assert command("verify", folder, "--unsigned").code == 0
    rewrite(order, folder, read(folder).replace("{", '{\n  "name": "x",', 1))
    done = command("verify", folder, "--unsigned")
    assert done.code == 4
    assert "the manifest says something twice or is written in another way" in done.out


def link(path, beside):
    path.rename(beside)
    path.symlink_to(beside)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder, beside: link(folder / "data.parquet", beside),
        lambda folder, beside: link(folder / "manifest.json", beside),
        lambda folder, _: (folder / "more").symlink_to("data.parquet"),
        lambda folder, _: (folder / "more").symlink_to("nowhere"),
        lambda folder, _: (folder / "more").mkdir(),
        lambda folder, _: os.mkfifo(folder / "more"),
        lambda folder, _: ((folder / "data.csv.gz").unlink(), os.mkfifo(folder / "data.csv.gz")),
    ],
    ids=["data", "manifest", "one more", "a dead one", "a folder", "a pipe", "a pipe for data"],
)
def test_what_is_no_plain_file_is_not_read(order, folder, tmp_path, spoil):
    spoil(folder, tmp_path / "beside")
    told = "1 links, folders or devices in place of plain files; nothing was read"
    assert found(order, folder) == {"files as published": told}


def test_the_folder_itself_may_be_named_by_a_link(order, folder, tmp_path):
    rewrite(order, folder, read(folder))
    (tmp_path / "latest").symlink_to(folder)
    audit = audit_release(tmp_path / "latest", order.plan)
    assert audit.passed, audit.sentence()


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
