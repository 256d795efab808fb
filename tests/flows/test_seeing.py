"""`runs`, `waiting` and `diff`: what a vault and two releases have to show."""

import json
import shutil

import pytest

from anon_core.errors import AnonymityError, GuaranteeError
from crowdcover.storage.approval.approval import WaitingError
from tests.flows.orders import RARE, Order, people
from tests.flows.processes import command
from tests.reports.browsed import Page
from tests.support.approvals import decided, pass_time


def listed(order):
    done = command("runs", "--vault", order.vault, "--json")
    assert done.code == 0, done.err
    values = [cell for row in people() for cell in row[::6] if cell]
    assert not [value for value in (RARE, *values) if value in done.out]
    return json.loads(done.out)["runs"]


def waiting(*arguments):
    done = command("waiting", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)["waiting"]


@pytest.mark.slow
def test_a_run_from_the_first_refusal_to_the_retraction(tmp_path):
    order = Order(tmp_path, publish={"approval": "required"}, checks={"min_utility": 1.0})
    with pytest.raises(GuaranteeError):
        order.release()
    (entry,) = listed(order)
    assert (entry["state"], entry["stage"], entry["rows"]) == ("refused", "check", 90)
    assert "publication refused; " in entry["reason"]
    assert entry["words"].startswith("refused at check: publication refused")
    assert (entry["name"], entry["kind"], entry["run"]) == ("people", "table", order.run.path.name)
    assert waiting("--vault", order.vault) == []

    order.write(checks={"min_utility": 0.0})
    with pytest.raises(WaitingError):
        order.release()
    (entry,) = listed(order)
    (question,) = waiting("--vault", order.vault, "--plan", order.plan)
    assert entry["words"] == f"waits for approval until {question['until']}"
    assert question["decide"].startswith(f"crowdcover approve {order.run.path.name} --vault ")
    assert question["report"] == str(order.run.path / "approval.html")
    assert question["verdict"] in Page((order.run.path / "approval.html").read_text("utf-8")).text
    shown = command("waiting", "--plan", order.plan).out
    assert "crowdcover approve" in shown
    assert question["verdict"] in shown
    with order.run.hold_lock():
        assert listed(order)[0]["state"] == "running"

    decided(order, "reject")
    assert listed(order)[0]["words"].startswith("refused at approved: rejected by Ada Lovelace at")
    decided(order, "reopen", by=())
    pass_time(order, days=8)
    assert listed(order)[0]["state"] == "late"
    assert waiting("--plan", order.plan) == []
    with pytest.raises(GuaranteeError, match="nobody approved"):
        order.release()
    with pytest.raises(WaitingError):
        order.release()
    decided(order, "approve")
    assert listed(order)[0]["state"] == "approved"
    folder = order.release()
    assert listed(order)[0]["words"] == "published v1"
    assert "published v1" in command("runs", "--vault", order.vault).out
    (folder / "report.html").unlink()
    (folder / "manifest.json").rename(folder / "moved")
    assert listed(order)[0]["words"] == "published v1 (gone or changed)"
    (folder / "moved").rename(folder / "manifest.json")
    done = command("retract", folder, "--plan", order.plan, "--by", "Ada", "--reason", "k too low")
    assert done.code == 0, done.err
    (entry,) = listed(order)
    assert (entry["state"], entry["reason"]) == ("retracted", "k too low")
    assert entry["words"].startswith("v1 was retracted by Ada at 20")


@pytest.mark.slow
def test_a_source_that_is_refused_and_a_stage_that_stops(tmp_path, monkeypatch):
    order = Order(tmp_path, privacy={"k": 91})
    with pytest.raises(AnonymityError):
        order.release()
    (entry,) = listed(order)
    assert (entry["state"], entry["rows"]) == ("refused", 90)
    assert entry["stage"] == "encode"
    order.write(privacy={"k": 3})

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("crowdcover.kinds.table.kind.load_encoded", stopped)
    with pytest.raises(KeyboardInterrupt):
        order.release()
    monkeypatch.undo()
    states = {entry["state"]: entry["words"] for entry in listed(order)}
    assert states["unfinished"] == "unfinished at anonymize"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("runs",), 2, "give --vault FOLDER or --plan PLAN.toml"),
        (("waiting", "--vault", "."), 1, "is no vault; name the folder of publish.vault"),
        (("runs", "--vault", "gone"), 1, "there is no vault "),
        (("runs", "--vault", ".", "--set", "name=x"), 2, "--set changes a plan"),
        (("diff", ".", "."), 2, "holds no release: it has no manifest.json"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(arguments, code, words):
    done = command(*arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err


@pytest.mark.slow
def test_what_changed_between_two_releases(released, tmp_path):
    order = Order(tmp_path, [(*row[:5], "a note", row[6]) for row in people(draws=5, first=500)])
    order.document["columns"]["note"] = {"role": "sensitive"}
    del order.document["columns"]["smokes"]
    order.document["columns"]["smokes"] = {"role": "drop"}
    order.write(privacy={"k": 3})
    new = order.release()
    done = command("diff", released.folder_of_v1, new, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["same_plan"] is False
    assert told["columns"]["changed"]["note"] == {"role": ["keep", "sensitive"]}
    assert told["columns"]["changed"]["smokes"]["role"] == ["quasi", "drop"]
    assert told["numbers"]["k_min"] == [4, 3]
    assert told["numbers"]["rows"] == [90, 90]
    assert told["per_column"]["smokes"]["ncp"][1] is None
    assert told["published"]["note"] == {
        "new_count": 1, "gone_count": 90, "at_least": 1.0, "at_most": 1.0,
    }  # fmt: skip
    assert told["published"]["city"]["at_least"] <= told["published"]["city"]["at_most"]
    assert "a note" not in done.out
    named = json.loads(command("diff", released.folder_of_v1, new, "--json", "--values").out)
    assert named["published"]["note"]["new"] == ["a note"]
    shown = command("diff", released.folder_of_v1, new)
    assert "another plan; 2 columns were added, removed or have another role" in shown.last_line
    assert "Loss per column" in shown.out
    same = json.loads(command("diff", new, new, "--json").out)
    assert same["same_plan"] is True
    assert all(each.get("at_least", 0.0) == 0.0 for each in same["published"].values())


@pytest.mark.long
@pytest.mark.parametrize(
    ("part", "change", "words"),
    [
        ("data.parquet", None, "the files of v1 are not those that its manifest.json names"),
        ("data.csv.gz", b"cut", "the files of v1 are not those that its manifest.json names"),
        ("codebook.json", b"{}", "the files of v1 are not those that its manifest.json names"),
        ("manifest.json", b"[]", "is no manifest of a release, or it is damaged"),
        ("manifest.json", {"privacy": 3}, "a manifest.json is damaged"),
        ("manifest.json", {"utility": {"per_column": [1]}}, "a manifest.json is damaged"),
        ("manifest.json", {"columns": [1], "source": "x"}, "a manifest.json is damaged"),
        ("manifest.json", {"files": ["codebook.json"]}, "a manifest.json is damaged"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_damaged_release_is_not_compared(released, tmp_path, part, change, words):
    whole = released.folder_of_v1
    damaged = shutil.copytree(whole, tmp_path / "v1")
    if change is None:
        (damaged / part).unlink()
    elif isinstance(change, bytes):
        (damaged / part).write_bytes(change)
    else:
        stated = json.loads((damaged / part).read_text("utf-8"))
        (damaged / part).write_text(json.dumps(stated | change), "utf-8")
    for folders in ((whole, damaged), (damaged, whole)):
        done = command("diff", *folders)
        assert (done.code, done.out) == (3, "")
        assert words in done.err


def test_cells_of_two_formats_are_not_compared_and_that_is_told(released, tmp_path):
    sides = []
    for name, gone in (("parquet", "data.csv.gz"), ("csv", "data.parquet")):
        folder = shutil.copytree(released.folder_of_v1, tmp_path / name)
        (folder / gone).unlink()
        stated = json.loads((folder / "manifest.json").read_text("utf-8"))
        del stated["files"][gone]
        (folder / "manifest.json").write_text(json.dumps(stated), "utf-8")
        sides.append(folder)
    done = command("diff", *sides)
    assert done.code == 0
    assert done.last_line.endswith(
        "; the cells were not compared: no data file of both can be read"
    )
    assert json.loads(command("diff", *sides, "--json").out)["unread"] is True


@pytest.mark.parametrize("arguments", [("diff",), ("runs",)], ids=str)
def test_a_narrow_terminal_cuts_nothing(released, monkeypatch, arguments):
    folder = released.folder_of_v1
    given = {"diff": (folder, folder), "runs": ("--vault", released.vault)}[arguments[0]]

    def shown(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        done = command(*arguments, *given)
        assert done.code == 0
        return sorted(word for word in done.out.split() if "─" not in word)

    assert shown(20) == shown(40) == shown(300)
