"""Check the catalogue files of release folders with the validators of their formats.

Runs in the environment that tests/reports/catalogue/requirements.txt makes, and imports nothing of
crowdcover: `python validators.py FOLDER...` prints a line for each file, and exits with 1 if one is
not valid.
"""

import hashlib
import io
import json
import sys
from pathlib import Path

SIGNATURE = "release.intoto.jsonl"
HERE = Path(__file__).parent
SHAPES = sorted(HERE.glob("dcat-ap-*.ttl"))


def frictionless(folder):
    """Descriptor, sizes, hashes and every row of the CSV file; of the Parquet file the schema."""
    import frictionless as fl

    file = folder / "datapackage.json"
    with fl.system.use_context(trusted=True):
        package = fl.Package.from_descriptor(str(file))
        for name in [each.name for each in package.resources if each.format == "parquet"]:
            _same_columns(folder, package.get_resource(name))
            package.remove_resource(name)
        report = package.validate()
    assert report.valid, report.flatten(["code", "message"])
    read = [each.stats["rows"] for each in report.tasks if each.type == "table"]
    assert all(read), "a table without rows"


def _same_columns(folder, resource):
    """That a Parquet file has the columns of its Table Schema, of these types."""
    import pyarrow.parquet as pq

    found = pq.read_schema(folder / resource.path)
    stated = {each.name: each.type for each in resource.schema.fields}
    assert stated == {each.name: _table_type(each.type) for each in found}, resource.path


def _table_type(kind):
    import pyarrow.types as types

    tests = {
        "boolean": types.is_boolean,
        "integer": types.is_integer,
        "number": lambda kind: types.is_floating(kind) or types.is_decimal(kind),
        "date": types.is_date,
        "datetime": types.is_timestamp,
        "array": lambda kind: types.is_list(kind) or types.is_large_list(kind),
        "object": types.is_struct,
    }
    return next((name for name, test in tests.items() if test(kind)), "string")


def croissant(folder):
    """The JSON-LD, and the rows as mlcroissant reads them."""
    import mlcroissant

    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert not issues.errors, issues.errors
    allowed = ("license",)  # of the plan, which may leave it out
    strange = [each for each in issues.warnings if not any(f'/{name}"' in each for name in allowed)]
    assert not strange, strange
    rows = sum(1 for _ in dataset.records("rows"))
    stated = dataset.metadata.record_sets[0].description
    assert f"{rows} published rows" == stated.partition(";")[0], (rows, stated)
    document = json.loads((folder / "croissant.json").read_text())
    responsible = [key for key in document if key.startswith("rai:")]
    for key in responsible:
        assert key in KNOWN_RAI, key
    assert "rai:personalSensitiveInformation" in responsible


KNOWN_RAI = {
    f"rai:{name}"
    for name in (
        "dataCollection", "dataCollectionTimeframe", "dataManipulationProtocol",
        "personalSensitiveInformation", "dataLimitations", "dataBiases", "dataUseCases",
        "dataReleaseMaintenancePlan",
    )
}  # fmt: skip


def dcat(folder):
    """The graph against the shapes of DCAT-AP 3.0.1."""
    import pyshacl
    import rdflib

    graph = rdflib.Graph().parse(folder / "dcat.jsonld", format="json-ld")
    shapes = rdflib.Graph()
    for file in SHAPES:
        shapes.parse(file, format="turtle")
    conforms, _, text = pyshacl.validate(graph, shacl_graph=shapes, allow_warnings=False)
    assert conforms, text
    named = rdflib.Namespace("http://www.w3.org/ns/dcat#")
    addresses = list(graph.objects(predicate=named.downloadURL))
    assert addresses
    for address in addresses:
        assert Path(str(address).removeprefix("file://")).is_file(), "an address leads nowhere"


def spdx(folder):
    """The elements against the classes, types and counts of the model of SPDX 3.0.1."""
    from spdx_python_model import v3_0_1 as model

    objects = model.SHACLObjectSet()
    with (folder / "method.spdx3.json").open() as handle:
        model.JSONLDDeserializer().read(handle, objects)
    known = {str(each._id) for each in objects.foreach()}
    missing = objects.link()
    assert not missing, missing
    assert known
    model.JSONLDSerializer().write(objects, io.BytesIO())  # checks what must be there


def signature(folder):
    """The DSSE envelope, with the public key that lies beside the folder, and its statement."""
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import SSlibKey

    public = load_pem_public_key((folder.parent / "public.pem").read_bytes())
    document = json.loads((folder / SIGNATURE).read_text())
    key = SSlibKey.from_crypto(public, keyid=document["signatures"][0]["keyid"])
    read = Envelope.from_dict(document)
    read.verify([key], 1)
    statement = json.loads(read.payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    for subject in statement["subject"]:
        content = (folder / subject["name"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == subject["digest"]["sha256"]


CHECKS = {
    "datapackage.json": frictionless,
    "croissant.json": croissant,
    "dcat.jsonld": dcat,
    "method.spdx3.json": spdx,
    SIGNATURE: signature,
}


def main(folders):
    """Print a line for each file."""
    wrong = 0
    for folder in map(Path, folders):
        for name, check in CHECKS.items():
            if not (folder / name).exists() and name == SIGNATURE:
                continue
            try:
                check(folder)
            except Exception as error:  # noqa: BLE001 - validators raise anything
                wrong += 1
                print(f"WRONG {folder.name} {name}: {type(error).__name__}: {error}")
            else:
                print(f"ok {folder.name} {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
