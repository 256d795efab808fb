"""OpenLineage events of a release: what is told when it starts, ends, is refused or waits."""

import json
import sys

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows.release import release
from crowdcover.storage.approval.approval import WaitingError
from crowdcover.storage.approval.signing_keys import new_key
from crowdcover.storage.source.sources import Source
from crowdcover.tasks.orchestration.lineage import Name, name_source, place_name
from tests.flows.orders import Order, people

openlineage = pytest.importorskip("openlineage.client", reason="crowdcover[lineage] is left out")


@pytest.fixture
def events(tmp_path, monkeypatch):
    """The events that OpenLineage's own file transport wrote."""
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(tmp_path / "events"))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")

    def read():
        lines = (tmp_path / "events").read_text().splitlines()
        return [json.loads(line) for line in lines]

    return read


def test_a_release_tells_where_it_came_from(tmp_path, events):
    order = Order(tmp_path / "order")
    folder = order.release()
    start, complete = events()
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert complete["job"]["name"] == "people"
    (source,) = start["inputs"]
    assert (source["namespace"], source["name"]) == ("file", str(order.source))
    assert start["outputs"] == []
    (made,) = complete["outputs"]
    assert (made["namespace"], made["name"]) == ("file", str(folder))
    assert made["facets"]["version"]["datasetVersion"] == "v1"
    assert made["outputFacets"]["outputStatistics"]["rowCount"] == 90
    came = made["facets"]["columnLineage"]["fields"]
    assert set(came) == {"age", "city", "smokes", "diagnosis", "note"}
    masked = {
        name: each["inputFields"][0]["transformations"][0]["masking"] for name, each in came.items()
    }
    assert masked == {
        "age": True, "city": True, "smokes": True, "diagnosis": False, "note": False
    }  # fmt: skip


@pytest.mark.long
def test_a_release_that_cannot_be_described_is_published_all_the_same(
    tmp_path, events, monkeypatch
):
    def fail(_):
        raise OSError

    monkeypatch.setattr("crowdcover.flows.runs.lineage.read_document", fail)
    order = Order(tmp_path / "order")
    assert (order.release() / "manifest.json").is_file()
    assert [(each["eventType"], each["outputs"]) for each in events()] == [
        ("START", []), ("COMPLETE", [])
    ]  # fmt: skip


def test_the_files_of_a_signed_release_are_counted(tmp_path, events):
    new_key(tmp_path / "release.key")
    order = Order(tmp_path / "a", publish={"signing_key": f"file:{tmp_path / 'release.key'}"})
    folder = order.release()
    (made,) = events()[-1]["outputs"]
    told = made["outputFacets"]["outputStatistics"]["fileCount"]
    assert told == len(list(folder.iterdir()))


def test_no_value_is_told(tmp_path, events):
    Order(tmp_path / "order").release()
    text = json.dumps(events())
    for row in people():
        for value in (row[0], *row[4:]):
            assert value not in text
    assert "kiel" not in text


@pytest.mark.long
def test_a_refusal_says_why_and_waiting_is_no_failure(tmp_path, events):
    order = Order(tmp_path / "order", checks={"min_utility": 0.999})
    with pytest.raises(GuaranteeError):
        order.release()
    assert [each["eventType"] for each in events()] == ["START", "FAIL"]
    assert "publication refused" in events()[1]["run"]["facets"]["errorMessage"]["message"]
    order = Order(tmp_path / "waiting", publish={"approval": "required"})
    with pytest.raises(WaitingError):
        order.release()
    assert [each["eventType"] for each in events()][2:] == ["START", "ABORT"]
    assert "errorMessage" not in events()[3]["run"]["facets"]


@pytest.mark.long
def test_nothing_is_sent_where_nothing_is_configured(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "openlineage.client", None)  # an import would fail
    Order(tmp_path / "order").release()
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    order = Order(tmp_path / "other")
    order.release()
    assert "OpenLineage" not in caplog.text


def test_a_server_that_does_not_answer_stops_no_release(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(tmp_path / "no" / "folder"))
    with caplog.at_level("INFO", logger="crowdcover"):
        folder = release.fn(str(Order(tmp_path / "order").plan))
    assert folder.endswith("v1")
    assert "no OpenLineage event" in caplog.text


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (Source(uri="postgresql://ada:pw@db.example:5433/people?password=pw", query="select 1"),
         Name("postgres://db.example:5433", "people")),
        (Source(uri="duckdb:////data/people.duckdb", query="select 1"),
         Name("file", "//data/people.duckdb")),
        (Source(uri="bigquery://project/people", query="select 1"),
         Name("bigquery://project", "people")),
    ],
)  # fmt: skip
def test_names_of_sources(source, name):
    assert name_source(source)._replace(
        name=name_source(source).name.replace("//", "/")
    ) == name._replace(name=name.name.replace("//", "/"))


def test_names_of_objects():
    assert place_name("s3://bucket/a/people.csv") == Name("s3://bucket", "a/people.csv")
