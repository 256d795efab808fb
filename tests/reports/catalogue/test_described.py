"""The catalogue files of a small release, against its bytes, its codebook and its plan."""

import hashlib
import json

import pytest

from tests.flows.orders import FILES, Order, columns

CATALOGUE = ("croissant.json", "datapackage.json", "dcat.jsonld", "method.spdx3.json")
DATA = ("data.parquet", "data.csv.gz")
# Of the columns of tests/flows/orders.py: the type of data.parquet, and that of data.csv.gz.
TYPES = {
    "key": ("string", "string"),
    "age": ("object", "string"),
    "city": ("array", "string"),
    "smokes": ("array", "string"),
    "diagnosis": ("string", "string"),
    "note": ("string", "string"),
    "count": ("integer", "integer"),
    "share": ("number", "number"),
}
DESCRIBED = sorted(set(FILES) - {*CATALOGUE, "manifest.json"})


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    order = Order(tmp_path_factory.mktemp("described"))
    header, *rows = order.source.read_text("utf-8").splitlines()
    more = [f"{row},{number},{number / 4}" for number, row in enumerate(rows)]
    order.source.write_text("\n".join([f"{header},count,share", *more]), "utf-8")
    order.write(
        columns={"count": {"role": "keep", "kind": "numeric"}}
        | {"share": {"role": "keep", "kind": "numeric"}}
    )
    folder = order.release()
    return folder, {name: json.loads((folder / name).read_text("utf-8")) for name in CATALOGUE}


def hashes(folder):
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in DESCRIBED}


def sizes(folder):
    return {name: (folder / name).stat().st_size for name in DESCRIBED}


@pytest.mark.long
def test_datapackage(release):
    folder, told = release
    resources = {each["path"]: each for each in told["datapackage.json"]["resources"]}
    assert sorted(resources) == DESCRIBED
    assert {name: each["hash"] for name, each in resources.items()} == {
        name: f"sha256:{digest}" for name, digest in hashes(folder).items()
    }
    assert {name: each["bytes"] for name, each in resources.items()} == sizes(folder)
    roles = {"key": "key"} | {
        name: stated["role"]
        for name, stated in columns().items()
        if stated["role"] in ("quasi", "sensitive", "keep")
    }
    roles |= {"count": "keep", "share": "keep"}
    for place, name in enumerate(DATA):
        schema = resources[name]["schema"]
        assert schema["primaryKey"] == ["key"]
        assert {each["name"]: each["type"] for each in schema["fields"]} == {
            column: types[place] for column, types in TYPES.items()
        }
        assert {each["name"]: each["crowdcover:role"] for each in schema["fields"]} == roles


def test_croissant(release):
    folder, told = release
    files = {each["@id"]: each for each in told["croissant.json"]["distribution"]}
    assert {name: each["sha256"] for name, each in files.items()} == hashes(folder)
    assert {name: each["contentSize"] for name, each in files.items()} == {
        name: f"{size} B" for name, size in sizes(folder).items()
    }
    (rows,) = told["croissant.json"]["recordSet"]
    stated = {"string": "sc:Text", "integer": "sc:Integer", "number": "sc:Float"}
    assert {each["name"]: each["dataType"] for each in rows["field"]} == {
        column: stated[types[1]] for column, types in TYPES.items()
    }
    assert {each["source"]["fileObject"]["@id"] for each in rows["field"]} == {"data.csv.gz"}
    ids = {each["name"]: each["@id"] for each in rows["field"]}
    assert rows["key"] == [{"@id": ids["key"]}]


def test_dcat(release):
    folder, told = release
    found = {each["dct:title"]: each for each in told["dcat.jsonld"]["dcat:distribution"]}
    assert sorted(found) == sorted(DATA)
    for name, each in found.items():
        assert each["spdx:checksum"]["spdx:checksumValue"]["@value"] == hashes(folder)[name]
        assert each["dcat:byteSize"]["@value"] == str(sizes(folder)[name])
    pages = {each["@id"] for each in told["dcat.jsonld"]["foaf:page"]}
    assert pages == set(DESCRIBED) - set(DATA)


def test_spdx(release):
    folder, told = release
    elements = told["method.spdx3.json"]["@graph"]
    found = {each["name"]: each for each in elements if each["type"] == "software_File"}
    assert {name: each["verifiedUsing"][0]["hashValue"] for name, each in found.items()} == hashes(
        folder
    )
    (contains,) = [each for each in elements if each.get("relationshipType") == "contains"]
    assert sorted(contains["to"]) == sorted(each["spdxId"] for each in found.values())


def test_all_formats_name_the_same_release(release):
    _, told = release
    dataset = next(
        each
        for each in told["method.spdx3.json"]["@graph"]
        if each["type"] == "dataset_DatasetPackage"
    )
    urn = told["datapackage.json"]["id"]
    assert urn == told["croissant.json"]["identifier"] == told["dcat.jsonld"]["@id"]
    assert dataset["spdxId"].startswith(urn)
