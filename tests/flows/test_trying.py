"""`crowdcover try`: the numbers of a release under each setting, and nothing left behind."""

import hashlib
import json
import shutil
import tempfile
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InputError
from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.flows.trying import build_setting_plans, list_settings, try_settings
from crowdcover.kinds.sampling import sample_rows
from crowdcover.storage.encryption.encryption import KEY, new_key
from crowdcover.storage.encryption.plain_copies import WORK
from crowdcover.storage.vault.dry_run_vault import PREFIX
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import Order, people
from tests.flows.processes import command, crowdcover
from tests.support.releases import tree
from tests.support.visits import visited, visits


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where a setting is tried; nothing of it may stay."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.glob(f"{PREFIX}*")) == []


def outcomes(order, levels=(), weights=(), sample=None, seed=1, changes=()):
    before = tree(order.folder)
    each = list_settings(levels, weights)
    found = [
        one
        for _, one in try_settings(
            build_setting_plans(order.plan, changes, each), each, sample, seed
        )
    ]
    assert tree(order.folder) == before
    return found


def numbers(outcome):
    return {each.key: each.value for each in outcome.numbers}


def test_every_level_with_every_weight():
    assert list_settings([], []) == [{}]
    assert list_settings([3, 5], []) == [{"k": 3}, {"k": 5}]
    assert list_settings([3, 5], ["columns", "bits"]) == [
        {"k": 3, "weights": "columns"},
        {"k": 5, "weights": "columns"},
        {"k": 3, "weights": "bits"},
        {"k": 5, "weights": "bits"},
    ]


def manifest_of(order, *changes):
    """What a release with the secrets of `try` states."""
    plan = ReleasePlan.load(order.plan, changes)
    order.document = json.loads(plan.model_dump_json(exclude_unset=True))
    order.write()
    order.fix_seed(hashlib.sha256(b"try 1").digest())
    return json.loads(
        (order.folder / release_plan(plan).folder / "manifest.json").read_text("utf-8")
    )


@pytest.mark.long
@pytest.mark.parametrize("k", [3, 6])
def test_the_numbers_are_those_of_a_release(tmp_path, k):
    order = Order(tmp_path / "a")
    (outcome,) = outcomes(order, [k])
    manifest = manifest_of(order, f"privacy.k={k}")
    attacks = {
        name: each["success"] for name, each in manifest["attacks"].items() if "success" in each
    }
    assert numbers(outcome) == {
        "utility": manifest["utility"]["suppression"],
        "ncp": manifest["utility"]["gcp"],
        "cells_exact": manifest["utility"]["cells_exact"],
        "beyond_k": manifest["protection"]["over_protection"]["median"],
        "most_beyond_k": manifest["protection"]["over_protection"]["max"],
        "uniform": manifest["protection"]["sensitive"]["diagnosis"]["uniform"] / 90,
        "attack": max(
            each for name, each in attacks.items() if not name.startswith("insider who knows")
        ),
    }
    assert (outcome.refusal_text, outcome.code) == ("", 0)
    stated = outcome.as_json()
    assert stated["per_column"] == manifest["utility"]["per_column"]
    assert stated["unique_records"] == manifest["protection"]["unique_records"]


@pytest.mark.long
def test_the_same_seed_shows_the_same_numbers(tmp_path):
    order = Order(tmp_path / "a")
    one, two, three = (
        [numbers(each) for each in outcomes(order, [3, 6], sample=60, seed=seed)]
        for seed in (7, 7, 8)
    )
    assert one == two
    assert one != three


@pytest.mark.long
def test_an_encrypted_vault_shows_the_same_numbers(tmp_path, monkeypatch):
    """With a vault key every new vault is encrypted, also the one in which a setting is tried."""
    order = Order(tmp_path / "a")
    (plain,) = outcomes(order, [3])
    (tmp_path / "work").mkdir(mode=0o700)
    monkeypatch.setenv(WORK, str(tmp_path / "work"))
    monkeypatch.setenv(KEY, new_key()[0])
    (sealed,) = outcomes(order, [3])
    assert (sealed.refusal_text, sealed.code) == ("", 0)
    assert numbers(sealed) == numbers(plain)
    assert not list((tmp_path / "work").iterdir())


@pytest.mark.long
def test_no_release_takes_up_what_was_tried(tmp_path, monkeypatch):
    """A killed `try` leaves its folder, whose secrets follow from --seed."""
    order, left = Order(tmp_path / "a"), tmp_path / "left"
    each = list_settings([], [])
    kept = ReleasePlan.load(order.plan, [f"publish.vault={left}"])
    keeps = SimpleNamespace(rmtree=lambda path, **_: shutil.move(path, left))
    monkeypatch.setattr("crowdcover.flows.trying.shutil", keeps)
    list(try_settings([kept], each, None, 1))
    monkeypatch.undo()
    (run,) = Vault(left).every_run()
    assert (run.path / "seed").read_bytes() == hashlib.sha256(b"try 1").digest()
    release_plan(kept)
    seeds = {each.path.name: (each.path / "seed").read_bytes() for each in Vault(left).every_run()}
    assert len(set(seeds.values())) == 2
    assert seeds.pop(run.path.name) not in seeds.values()


@pytest.mark.long
def test_a_greater_k_keeps_less(tmp_path):
    kept = [numbers(each)["utility"] for each in outcomes(Order(tmp_path / "a"), [2, 5, 20])]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[-1]


@pytest.mark.long
def test_a_setting_that_is_refused_stops_no_other(tmp_path):
    order = Order(tmp_path / "a", checks={"min_utility": 0.9})
    small, large, more = outcomes(order, [2, 20, 91])
    assert (small.refusal_text, small.code) == ("", 0) or small.numbers
    assert large.code == 4
    assert large.refusal_text.startswith("would be refused: utility 0.")
    assert large.numbers
    assert (more.numbers, more.code) == ((), 2)
    assert more.refusal_text.startswith("refused: 90 of 90 records demand k > 90; ")


@pytest.mark.long
def test_a_release_that_was_published_is_not_looked_at(tmp_path):
    order = Order(tmp_path / "a")
    order.release()
    assert [each.code for each in outcomes(order, [3, 4])] == [0, 0]


def test_a_plan_that_is_refused_is_refused(tmp_path):
    order = Order(tmp_path / "a", anonymizer={"name": "adaptive"})
    with pytest.raises(PlanError, match="weights"):
        outcomes(order, [3], ["heavy"])
    with pytest.raises(PlanError, match=r"privacy\.k = 1 protects nobody"):
        outcomes(order, [1])
    with pytest.raises(PlanError, match="privacy must be a table"):
        outcomes(order, [5], changes=["privacy=3"])
    with pytest.raises(InputError, match="--sample asks for 91 rows and the source has 90"):
        outcomes(order, sample=91)


def test_a_sample_of_people_has_all_their_rows(tmp_path):
    rows = [row for row in people() for _ in range(2)]
    order = Order(tmp_path / "a", rows, privacy={"person": "ssn"})
    each = list_settings([4], [])
    ((records, outcome),) = try_settings(build_setting_plans(order.plan, (), each), each, 61, 3)
    assert records == 62
    assert outcome.numbers


def pairs(folder):
    """A plan of a matrix and of a graph, of the same pairs."""
    folder.mkdir()
    chance = np.random.default_rng(5)
    ends = {(int(a), int(b)) for a, b in chance.integers(0, 40, (400, 2)) if a < b}
    text = "".join(f"u{a},i{b}\n" for a, b in sorted(ends))
    (folder / "pairs.csv").write_text("user,item\n" + text)
    (folder / "matrix.toml").write_text(
        'name = "m"\n[source]\nkind = "matrix"\npath = "pairs.csv"\n'
        '[columns]\nuser = "user"\nitem = "item"\nkeyed = false\n[privacy]\nk = 2\n'
    )
    (folder / "graph.toml").write_text(
        'name = "g"\n[source]\nkind = "graph"\npath = "pairs.csv"\n'
        '[columns]\nu = "user"\nv = "item"\n[privacy]\nk = 2\n'
    )
    return folder


@pytest.mark.long
def test_matrices_and_graphs_have_numbers_of_their_own(tmp_path):
    folder = pairs(tmp_path / "a")
    each = list_settings([2, 4], [])
    for name, keys in (
        ("matrix", ["jaccard", "false", "missing", "beyond_k", "most_beyond_k", "attack"]),
        (
            "graph",
            ["degree_error", "discrepancy", "below", "beyond_k", "least_beyond_k", "attack"],
        ),
    ):
        orders = build_setting_plans(folder / f"{name}.toml", (), each)
        found = [outcome for _, outcome in try_settings(orders, each, None, 1)]
        assert [list(numbers(outcome)) for outcome in found] == [keys, keys]
        assert found[0].refusal_text == ""


def test_samples_of_matrices_and_graphs(tmp_path):
    folder = pairs(tmp_path / "a")
    orders = build_setting_plans(folder / "matrix.toml", (), [{}])
    ((records, outcome),) = try_settings(orders, [{}], 100, 1)
    assert outcome.numbers
    assert records < 40  # users
    with pytest.raises(PlanError, match="--sample: a part of a graph has other crowds"):
        list(try_settings(build_setting_plans(folder / "graph.toml", (), [{}]), [{}], 20, 1))


@pytest.mark.long
def test_the_command_tells_people_and_programs(tmp_path):
    order = Order(tmp_path / "a", anonymizer={"name": "adaptive"})
    arguments = ("try", order.plan, "--k", 3, 91, "--weights", "columns", "bits")
    told = crowdcover(*arguments)
    assert told.code == 0
    assert told.out.startswith("people: 90 records; nothing was published, nothing was stored\n")
    assert "k = 91, weights = bits: refused: 90 of 90 records demand k > 90" in told.out
    assert "k = 3, weights = bits: " in told.err
    document = json.loads(crowdcover(*arguments, "--json", "--quiet").out)
    assert [(each["k"], each["weights"]) for each in document["settings"]] == [
        (3, "columns"), (91, "columns"), (3, "bits"), (91, "bits"),
    ]  # fmt: skip
    assert [each["exit_code"] for each in document["settings"]] == [0, 2, 0, 2]
    assert document["sample"] is None
    assert not order.vault.exists()
    refused = crowdcover("try", order.plan, "--k", 91, "--quiet")
    assert (refused.code, refused.err) == (2, "")
    lines = crowdcover("try", order.plan, "--k", 91, 92, "--quiet", "--lines").out.splitlines()
    assert [json.loads(line)["exit_code"] for line in lines] == [2, 2]


@pytest.mark.parametrize(
    "arguments", [["--k", "0"], ["--k", "x"], ["--k"], ["--sample", "0"], ["--weights"]], ids=str
)
def test_wrong_arguments(tmp_path, arguments):
    order = Order(tmp_path / "a")
    refusal = crowdcover("try", order.plan, *arguments)
    assert (refusal.code, refusal.out) == (2, "")
    assert "error: argument" in refusal.err


@given(
    owners=st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=1, max_size=30),
    seed=st.integers(0, 9),
    data=st.data(),
)
def test_a_sample_has_whole_owners_in_the_order_of_the_source(owners, seed, data):
    number = data.draw(st.integers(1, len(owners)))
    frame = pl.DataFrame({"row": range(len(owners)), "owner": pl.Series(owners, dtype=pl.Int64)})
    plain = sample_rows(frame, number, seed)
    assert plain.height == number
    found = sample_rows(frame, number, seed, "owner")
    for each in (plain, found):
        assert each["row"].to_list() == sorted(each["row"].to_list())
    taken = set(found["row"].to_list())
    for owner in set(owners) - {None}:
        rows = {row for row, each in enumerate(owners) if each == owner}
        assert rows <= taken or not rows & taken
    largest = max([1, *(owners.count(owner) for owner in set(owners) - {None})])
    assert number <= found.height < number + largest
    assert found.equals(sample_rows(frame, number, seed, "owner"))


def test_one_partition_of_a_divided_source_is_tried(tmp_path):
    rows = visits()
    order = visited(tmp_path / "a", rows)
    refused = command("try", order.plan, "--quiet")
    assert (refused.code, refused.out) == (2, "")
    assert "say of which partition the version shall be: give --partition LABEL" in refused.err
    told = command("try", order.plan, "--k", 2, "--partition", "2014-02", "--quiet", "--json")
    assert told.code == 0, told.err
    assert json.loads(told.out)["records"] == sum(row[6].startswith("2014-02") for row in rows)
