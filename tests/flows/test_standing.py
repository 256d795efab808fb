"""Releases, ledgers and series that an older build began go on: audit, next version, rerun."""

import csv
import tarfile
import unicodedata
from pathlib import Path

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.judge.drift import DriftError
from crowdcover.storage.places.place import place_of
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.refusals import SecondReleaseError
from tests.flows.orders import Order, people
from tests.support.audits import audit_release

ARCHIVE = Path(__file__).parent / "older" / "standing.tar.xz"
NEW = [(f"new-{n}", str(20 + 2 * n), "ulm", "no", "b0", "ill-1") for n in range(8)]


@pytest.fixture
def standing(tmp_path):
    """The folder with plans, sources, releases and vaults, as if it had been made here."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="tar")
    folder = tmp_path / "standing"
    for path in folder.glob("vault-*/**/*.json"):  # a series stays in its folder
        path.write_text(path.read_text("utf-8").replace("/srv/standing", str(folder)), "utf-8")
    return folder


def release(folder, name):
    return Path(place_of(release_plan(ReleasePlan.load(folder / f"{name}.toml")).folder))


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.reader(handle))


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(rows)


def otherwise(ident):
    """The identifier as another system would spell it."""
    return unicodedata.normalize("NFC", ident.removesuffix(".0").lower().replace("jose", "Jose"))


@pytest.mark.long
def test_they_pass_their_audit_but_for_one_that_was_never_right(standing):
    for name, version in (("once", 1), ("registry", 1), ("registry", 3), ("mini", 2)):
        audit = audit_release(
            standing / "releases" / name / f"v{version}", standing / f"{name}.toml"
        )
        assert audit.passed, (name, version, audit.sentence())
    audit = audit_release(standing / "releases" / "mini" / "v3", standing / "mini.toml")
    assert "1 of 27 people who ever had a row have fewer than k histories" in audit.sentence()


def test_a_rerun_gives_what_stands(standing):
    assert release(standing, "once").name == "v1"
    assert release(standing, "registry").name == "v3"


def test_the_ledger_knows_its_people(standing):
    """As they were spelt in any case; the ledger has nothing else of them."""
    source, plan = standing / "once.csv", standing / "once.toml"
    head, *rows = rows_of(source)
    write(source, [head, *rows[:-1]])
    plan.write_text(plan.read_text("utf-8").replace("k = 4", "k = 5"), "utf-8")
    with pytest.raises(SecondReleaseError, match="59 people of this source"):
        release(standing, "once")


@pytest.mark.long
def test_a_series_goes_on_by_the_spelling_that_it_began_with(standing):
    write(standing / "registry.csv", [*rows_of(standing / "registry.csv"), *NEW])
    fourth = release(standing, "registry")
    section = read_json(fourth / "manifest.json")["series"]
    assert (section["new"], section["frozen"] > 0, section["left"]) == (8, True, 0)
    assert audit_release(fourth, standing / "registry.toml").passed


def test_a_series_that_is_spelt_otherwise_is_refused_as_drift(standing):
    head, *rows = rows_of(standing / "registry.csv")
    write(standing / "registry.csv", [head, *[[otherwise(row[0]), *row[1:]] for row in rows]])
    plan = standing / "registry.toml"
    loose = "{rows = 1, new_categories = 1, gone_categories = 1, shift = 1, utility = 1}"
    plan.write_text(plan.read_text("utf-8").replace('"off"', loose), "utf-8")
    with pytest.raises(DriftError, match="are identifiers spelt otherwise"):
        release(standing, "registry")


@pytest.mark.long
def test_a_broken_series_goes_on_if_the_plan_states_it(standing):
    joined = [(f"N{n}", "m", "sailor", "1", "5") for n in range(4)]
    write(standing / "mini.csv", [*rows_of(standing / "mini.csv"), *joined])
    with pytest.raises(GuaranteeError, match="allow_short_histories = 1"):
        release(standing, "mini")
    plan = standing / "mini.toml"
    plan.write_text(plan.read_text("utf-8") + "\nallow_short_histories = 1\n", "utf-8")
    fourth = release(standing, "mini")
    assert audit_release(fourth, plan).passed


@pytest.mark.long
def test_what_an_earlier_default_made_stands(tmp_path):
    order = Order(tmp_path, anonymizer={"name": "adaptive"})
    folder = order.release()
    order.document["anonymizer"] = {}
    order.write()
    assert order.release() == folder
    assert audit_release(folder, order.plan).passed
    order.write_source(people(first=90))
    made = read_json(Path(order.release()) / "manifest.json")["anonymizer"]["name"]
    assert made == "local-search"


@pytest.mark.long
def test_a_series_goes_on_with_the_default_that_it_began_with(tmp_path):
    person = {"k": 4, "person": "ssn"}
    order = Order(tmp_path, privacy=person, anonymizer={"name": "adaptive"}, series={})
    order.release()
    order.document["anonymizer"] = {}
    order.write()
    order.write_source(people(first=90))
    folder = order.release()
    assert folder.name == "v2"
    assert read_json(Path(folder) / "manifest.json")["anonymizer"]["name"] == "adaptive"
    assert audit_release(folder, order.plan).passed
