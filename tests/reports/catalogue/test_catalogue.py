"""Every catalogue file passes the validator of its format, and a spoiled one does not."""

import json
import shutil
import subprocess
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.kinds.catalogued import CATALOGUE
from crowdcover.storage.approval.signing_keys import as_pem, new_key
from crowdcover.storage.shelf.layout import SIGNATURE
from tests.contract.runs import Runs
from tests.flows.orders import Order, columns, people
from tests.kinds.graph.orders import GraphOrder
from tests.kinds.matrix.orders import MatrixOrder
from tests.support.series import registry
from tests.support.validators import VALIDATORS

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
ABOUT = {
    "title": "People of a town, “as they said”",
    "publisher": "Town office",
    "licence": "CC-BY-4.0 OR ODbL-1.0",
    "population": "people who live there",
    "as_of": "2026-01-31",
    "recipient": "anyone",
    "contact": "ada@example.org",
    "answers_until": "2027-12-31",
}


def validated(*folders):
    """The lines that the validators print."""
    python = VALIDATORS / "bin" / "python"
    assert python.exists(), f"no validators at {VALIDATORS}; make them with `make validators`"
    done = subprocess.run(
        [python, HERE / "validators.py", *folders], capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(("ok ", "WRONG "))]
    assert (done.returncode == 0) == all(line.startswith("ok ") for line in lines), done.stderr
    return lines


def typed(folder):
    """A release with columns of all types, names that hold any sign, and one format."""
    order = Order(folder, publish={"formats": ["parquet"]}, about=ABOUT)
    ages, cities = zip(*[(row[1], row[2]) for row in people()], strict=True)
    number = range(len(ages))
    pl.DataFrame(
        {
            "age": ages,
            'city / "place", ^a$': cities,
            "flag": [each % 3 == 0 for each in number],
            "born": [date(1950 + each % 50, 1, 1) for each in number],
            "when": pl.Series(number).cast(pl.Datetime("us")),
            "share": [each / 7 for each in number],
            "count": number,
        }
    ).write_parquet(folder / "people.parquet")
    order.document["columns"] = {
        "age": {"role": "quasi", "kind": "numeric"},
        'city / "place", ^a$': {"role": "quasi", "kind": "categorical"},
        **{name: {"role": "keep"} for name in ("flag", "born", "when", "share", "count")},
    }
    order.write(source={"path": "people.parquet"})
    return order


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Releases of every kind."""
    room = tmp_path_factory.mktemp("described")
    public = new_key(room / "release.key")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ANONYMIZERS, "smooth", Runs)
        only_csv = {"formats": ["csv"], "signing_key": f"file:{room / 'release.key'}"}
        made = {
            "table": Order(room / "table").release(),
            "stated": Order(room / "stated", about=ABOUT, publish=only_csv).release(),
            "typed": typed(room / "typed").release(),
            "series": registry(room / "series").release(),
            "matrix": MatrixOrder(room / "matrix").release(),
            "graph": GraphOrder(room / "graph").release(),
        }
    folders = {name: shutil.copytree(at, room / "all" / name) for name, at in made.items()}
    (room / "all" / "public.pem").write_text(as_pem(public))
    return folders


def test_every_file_is_valid(folders):
    assert "ssn" in columns()
    expected = {f"ok {name} {file}" for name in folders for file in CATALOGUE}
    assert set(validated(*folders.values())) == {*expected, f"ok stated {SIGNATURE}"}


def test_each_validator_finds_what_is_wrong(folders, tmp_path):
    folder = shutil.copytree(folders["stated"], tmp_path / "spoiled")
    shutil.copy(folders["stated"].parent / "public.pem", tmp_path)

    def spoil(name, edit):
        document = json.loads((folder / name).read_text())
        edit(document)
        (folder / name).write_text(json.dumps(document))

    spoil("datapackage.json", lambda told: told["resources"][0]["schema"]["fields"].pop())
    spoil("croissant.json", lambda told: told["distribution"][0].pop("@id"))
    spoil("dcat.jsonld", lambda told: told["dcat:distribution"][0].pop("dcat:accessURL"))
    spoil("method.spdx3.json", lambda told: told["@graph"][0].pop("created"))
    spoil(SIGNATURE, lambda told: told["signatures"][0].update(sig=f"AAAA{told['payload'][:84]}"))
    assert {line.split(":")[0] for line in validated(folder)} == {
        f"WRONG spoiled {name}" for name in (*CATALOGUE, SIGNATURE)
    }


def test_a_catalogue_tells_no_value(folders):
    """Names of columns and numbers only: no city of the table, no item, no vertex."""
    for name in ("table", "matrix", "graph"):
        for file in CATALOGUE:
            text = (folders[name] / file).read_text()
            for value in ("ulm", "kiel", "illness-1", "note-3", "Pitem", "Pnode", "Pperson"):
                assert value not in text, (name, file)


def test_the_same_release_is_described_by_the_same_bytes(folders):
    from crowdcover.flows.look.documents import catalogue_finding
    from crowdcover.kinds import kind_called

    for name, kind in (("series", "table"), ("matrix", "matrix"), ("graph", "graph")):
        manifest = json.loads((folders[name] / "manifest.json").read_text())
        (finding,) = catalogue_finding(folders[name], kind_called(kind), manifest)
        assert finding.passed, (name, finding.detail)
