import csv
import gzip
import hashlib
import json
import os
import shutil
import stat
from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anon_core.errors import GuaranteeError, InfeasibleError, InputError
from anon_core.tables.cells import write_cells
from crowdcover.flows.release import release
from crowdcover.kinds.table.pipeline.encode import load_encoded
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.refusals import BusyError, FolderError, SecondReleaseError
from crowdcover.storage.vault.run import Stored
from tests.flows.asking import ask, have_ended, until
from tests.flows.orders import FILES as FOLDER
from tests.flows.orders import JUDGES, RARE, SEED, STAGES, Order, data_bytes, people
from tests.flows.processes import FORKS, finish, hold, start
from tests.naive import matchable
from tests.support.audits import audit_release
from tests.support.releases import (
    QUASI,
    SHOWN,
    allowed,
    attributes,
    change,
    fits,
    manifest,
    released_rows,
)
from tests.typed import typed

FILES = set(FOLDER)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# ---------------------------------------------------------------- what is published


def test_the_folder_holds_these_files_and_no_others(released):
    assert {path.name for path in released.folder_of_v1.iterdir()} == FILES
    assert released.versions == ["v1"]
    assert {path.name for path in released.releases.iterdir()} == {".vault", "v1"}


def test_a_release_is_open_and_its_vault_is_not(released):
    assert mode(released.folder_of_v1) == 0o755
    assert {mode(path) for path in released.folder_of_v1.iterdir()} == {0o644}
    inside = [released.vault, *released.vault.rglob("*")]
    assert {mode(path) for path in inside if path.is_dir()} == {0o700}
    assert {mode(path) for path in inside if path.is_file()} == {0o600}


def test_csv_and_parquet_hold_the_same_table(released):
    parquet = pl.read_parquet(released.folder_of_v1 / "data.parquet")
    packed = (released.folder_of_v1 / "data.csv.gz").read_bytes()
    text = gzip.decompress(packed)
    book = json.loads((released.folder_of_v1 / "codebook.json").read_text("utf-8"))
    assert typed(pl.read_csv(text, infer_schema=False), book).equals(parquet)
    assert parquet.columns == text.decode().splitlines()[0].split(",") == SHOWN
    # no name and no time inside: equal rows are equal bytes
    assert packed[3:8] == b"\0\0\0\0\0"


def test_keys_are_distinct_random_and_sorted(released):
    keys = released.rows()["key"].to_list()
    assert len(set(keys)) == 90
    assert keys == sorted(keys)
    assert all(len(key) == 16 and set(key) <= set("0123456789abcdef") for key in keys)


def test_the_vault_knows_who_sits_where_and_the_release_does_not(released):
    pairs = released.keys_of_records()
    assert pairs.columns == ["record", "key"]
    assert pairs["record"].to_list() == list(range(90))
    assert sorted(pairs["key"]) == released.rows()["key"].to_list()
    assert not (released.folder_of_v1 / "matching.parquet").exists()


def test_every_person_has_one_row_that_is_true_of_them(released):
    source = people()
    row_of = {row["key"]: number for number, row in enumerate(released_rows(released.folder_of_v1))}
    rows = released_rows(released.folder_of_v1)
    fit = fits(released.folder_of_v1, source)
    for record, key in released.keys_of_records().iter_rows():
        row = rows[row_of[key]]
        assert fit[record, row_of[key]]
        assert (row["diagnosis"], row["note"]) == source[record][4:6]


def test_the_crowds_are_as_large_as_demanded_by_a_slow_judge(released):
    fit = fits(released.folder_of_v1, people())
    said = manifest(released.folder_of_v1)["privacy"]
    assert fit.sum(axis=1).min() >= 4
    assert said["compatible_min_margin"] == fit.sum(axis=1).min() - 4
    assert matchable(fit).sum(axis=1).min() >= 4
    assert (said["records"], said["k_min"], said["k_max"]) == (90, 4, 4)
    assert said["below_k"] == said["matchable_below_k"] == said["untruthful_rows"] == 0


def test_a_rare_city_never_stands_alone(released):
    cells = [row["city"] for row in released_rows(released.folder_of_v1) if RARE in row["city"]]
    assert cells
    assert all("|" in cell for cell in cells)


def test_the_manifest_holds_what_the_contract_names(released):
    document = manifest(released.folder_of_v1)
    assert set(document) == {
        "crowdcover",
        "software",
        "texts",
        "name",
        "version",
        "created",
        "plan_sha256",
        "source",
        "columns",
        "checks",
        "anonymizer",
        "privacy",
        "utility",
        "protection",
        "attacks",
        "iterations",
        "timings",
        "peak_memory_bytes",
        "files",
    }
    assert (document["name"], document["version"]) == ("people", "v1")
    assert document["source"] == {"kind": "table", "rows": 90, "columns": 7}
    assert document["privacy"]["promise"] == [
        "compatible crowds", "matchable crowds", "truthful rows", "even seats"
    ]  # fmt: skip
    assert document["anonymizer"] == {
        "name": "local-search", "effort": 0, "loss": "rank", "exact": 0.0, "seats": "even",
        "part": 20_000,
    }  # fmt: skip
    assert {"utility", "cover_edges", "seconds"} <= set(document["iterations"][0])
    assert set(document["timings"]) == set(STAGES)
    assert document["peak_memory_bytes"] > 2**20
    assert set(document["files"]) == FILES - {"manifest.json"}
    for name, digest in document["files"].items():
        assert hashlib.sha256((released.folder_of_v1 / name).read_bytes()).hexdigest() == digest


def test_utility_is_what_a_reader_counts(released):
    book = attributes(released.folder_of_v1)
    rows = released_rows(released.folder_of_v1)
    sizes = {name: [len(allowed(book[name], row[name])) for row in rows] for name in QUASI}
    ordinal = {name: book[name]["encoding"] == "ordinal" for name in QUASI}
    hidden = sum(size - ordinal[name] for name in QUASI for size in sizes[name] if size > 1)
    features = sum(book[name]["features"] for name in QUASI)
    said = manifest(released.folder_of_v1)["utility"]
    assert said["features"] == features
    assert said["suppression"] == pytest.approx(1 - hidden / (90 * features))
    assert said["cells_exact"] == pytest.approx(
        np.mean([size == 1 for name in QUASI for size in sizes[name]])
    )
    loss = {
        name: np.mean([(s - 1) / (len(book[name]["labels"]) - 1) for s in sizes[name]])
        for name in QUASI
    }
    assert said["gcp"] == pytest.approx(np.mean(list(loss.values())))
    assert said["per_column"].keys() == set(QUASI)
    assert all(said["per_column"][name]["ncp"] == pytest.approx(loss[name]) for name in QUASI)


@pytest.mark.long
@pytest.mark.parametrize("formats", [["csv"], ["parquet"]])
def test_one_format_is_enough(tmp_path, formats):
    """Typed columns that are carried along are found true in either format."""
    order = Order(tmp_path, publish={"formats": formats})
    typed = pl.read_csv(order.source, infer_schema=False).with_columns(
        when=pl.Series([datetime(2020, 1, 1, 12, 0, number % 60, 5) for number in range(90)]),
        day=pl.Series(
            [None if number == 3 else date(2020, 1, 1 + number % 28) for number in range(90)]
        ),
        share=pl.Series([number / 7 * 10.0 ** (number - 45) for number in range(90)]),
        flag=pl.Series([None if number % 3 == 0 else number % 2 == 0 for number in range(90)]),
        text=pl.Series(["" if number % 2 else 'a "b", c\nd' for number in range(90)]),
        sort=pl.Series(
            [None if number % 4 == 0 else f"\r{number % 3}" for number in range(90)],
            dtype=pl.Categorical,
        ),
    )
    typed = typed.with_columns(pl.col("text").alias('of "what", so'))
    typed.write_parquet(tmp_path / "people.parquet")
    carried = {name: {"role": "keep"} for name in typed.columns[7:]}
    order.write(source={"path": "people.parquet"}, columns=carried)
    folder = order.release()
    names = {"csv": "data.csv.gz", "parquet": "data.parquet"}
    assert {path.name for path in folder.iterdir()} == FILES - (
        set(names.values()) - {names[formats[0]]}
    )
    found = audit_release(folder, order.plan)
    assert found.passed, found.sentence()


@pytest.mark.long
@pytest.mark.parametrize("formats", [["csv", "parquet"], ["parquet"]])
def test_texts_that_look_like_cells_come_through(tmp_path, formats):
    """Dots, bars, stars, quotes, line breaks and our label of missing, as values and names."""
    texts = [
        "b..c",
        "..",
        "a|b",
        "|",
        "*",
        "\\",
        "(missing)",
        "x,y",
        'q"q',
        "né",
        "日本",
        "line\nbreak",
        "\t'",
        "1e5",
        "NaN",
        "1..2",
    ]
    source = pl.DataFrame(
        {
            'of "him", so': [texts[number % 16] for number in range(90)],
            "a|b..c": [texts[number % 7 + 3] for number in range(90)],
            "*": [texts[(5 * number) % 16] for number in range(90)],
        }
    )
    order = Order(tmp_path, publish={"formats": formats}, source={"path": "odd.csv"})
    source.write_csv(tmp_path / "odd.csv")
    quasi = {"role": "quasi", "kind": "categorical"}
    order.document["columns"] = {
        'of "him", so': quasi,
        "a|b..c": {**quasi, "encoding": "ordinal", "order": texts[3:10]},
        "*": {"role": "keep"},
    }
    order.write()
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert sorted(order.rows()["*"].to_list()) == sorted(text.strip() for text in source["*"])


NAMES = ("^a$", "^x.*$", "^b$", "*", "a\nb", "[/red]", "<i>")


@pytest.mark.long
def test_names_that_look_like_patterns_are_names(tmp_path):
    order = Order(tmp_path)
    columns = dict(zip(NAMES, order.document["columns"].values(), strict=True))
    columns["*"], columns["^b$"] = {"role": "keep"}, {"role": "sensitive"}
    lines = order.source.read_text().splitlines(keepends=True)
    with order.source.open("w", newline="") as handle:
        csv.writer(handle).writerow(NAMES)
        handle.writelines(lines[1:])
    order.document["columns"] = columns
    order.write()
    order.release()
    assert order.rows().columns == ["key", *NAMES[1:-1]]
    assert audit_release(order.folder_of_v1, order.plan).passed


def test_another_k_for_everyone_holds_too(tmp_path):
    rows = [(*row[:5], str(2 + number % 6), row[6]) for number, row in enumerate(people())]
    order = Order(tmp_path, rows, privacy={"k": {"column": "note"}})
    folder = order.release()
    demanded = np.array([2 + number % 6 for number in range(90)])
    crowd = fits(folder, rows).sum(axis=1)
    assert (crowd >= demanded).all()
    said = manifest(folder)["privacy"]
    assert (said["k_min"], said["k_max"]) == (2, 7)
    assert said["compatible_min_margin"] == (crowd - demanded).min()


# ---------------------------------------------------------------- the order of the source


@pytest.mark.long
def test_rows_stand_where_chance_put_them(released_once):
    order = released_once(Order, seed=SEED)
    place = {key: number for number, key in enumerate(order.rows()["key"])}
    places = [place[key] for key in order.keys_of_records()["key"]]
    own = np.corrcoef(places, np.arange(90))[0, 1]
    # the correlation has a deviation of 1 / sqrt(89) = 0.106; the seed is fixed
    assert abs(own) < 3 * 0.106


def test_people_sit_in_each_others_rows(released_once):
    """A row is made of one person and given to another whom it fits."""
    order = released_once(Order, seed=SEED)
    stage = order.run.path / "anonymize"
    table, source_row = load_encoded(Stored(order.run.path / "binarize", ""))
    own = write_cells(table, np.load(stage / "made.npz")["hidden"])
    made_of = list(zip(*(own[name] for name in QUASI), strict=True))
    given = dict(zip(order.rows()["key"], order.rows().select(QUASI).iter_rows(), strict=True))
    assert source_row.tolist() == list(range(90))
    moved = sum(
        given[key] != made_of[record] for record, key in order.keys_of_records().iter_rows()
    )
    assert moved > 20


@pytest.mark.long
def test_a_permuted_source_gives_the_same_release_up_to_the_secrets(tmp_path, monkeypatch):
    """Only the secret permutation breaks ties: undo it, and the rows are the same."""
    order = Order(tmp_path / "first").fix_seed()
    order.release()
    moved = np.random.default_rng(5).permutation(90)
    second = Order(tmp_path / "second", [people()[record] for record in moved]).fix_seed()
    back = np.argsort(moved)
    drawn = secret_streams.draw_permutation
    monkeypatch.setattr(
        secret_streams, "draw_permutation", lambda *arguments: back[drawn(*arguments)]
    )
    second.release()

    one, two = order.rows(), second.rows()
    assert one["key"].equals(two["key"])
    for name in ("diagnosis", "note"):
        assert sorted(one[name]) == sorted(two[name])
    assert one.select(QUASI).sort(QUASI).equals(two.select(QUASI).sort(QUASI))
    files = [data_bytes(each.folder_of_v1)["codebook.json"] for each in (order, second)]
    assert files[0] == files[1]
    said = [manifest(each.folder_of_v1) for each in (order, second)]
    for name in ("privacy", "utility", "source"):
        assert said[0][name] == said[1][name]


# ---------------------------------------------------------------- versions


@pytest.mark.long
def test_versions_count_up_and_are_never_overwritten(released_once):
    order = released_once()
    first = order.folder_of_v1
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in first.iterdir()}
    (order.releases / "v7").mkdir()
    (order.releases / "v8").write_text("in the way")
    (order.releases / "vast").touch()
    order.write_source(people(draws=4, first=90))
    assert order.release() == order.releases / "v9"
    assert manifest(order.releases / "v9")["version"] == "v9"
    assert {
        path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in first.iterdir()
    } == before


def test_two_vaults_give_two_different_releases(released_once):
    order = released_once(Order, seed=SEED)
    second = Order(order.folder, publish={"vault": "second", "path": "others"})
    second.vault = order.folder / "second"
    assert second.fix_seed(SEED[::-1]).release() == order.folder / "others" / "people" / "v1"
    pairs = [order.keys_of_records(), second.keys_of_records()]
    assert not set(pairs[0]["key"]) & set(pairs[1]["key"])
    # the ties that decide what is hidden are broken in another order
    hidden = [
        np.load(each.run.path / "anonymize" / "made.npz")["hidden"] for each in (order, second)
    ]
    assert (hidden[0] != hidden[1]).any()


# ---------------------------------------------------------------- the same order again


def test_the_same_order_again_is_the_same_release(released_once):
    order = released_once()
    first = order.folder_of_v1
    files = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in first.iterdir()}
    times = order.stage_times()
    assert set(times) == set(STAGES)
    assert order.release() == first
    assert {
        path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in first.iterdir()
    } == files
    assert order.stage_times() == times
    assert order.versions == ["v1"]


def test_a_release_that_was_deleted_comes_back_with_the_same_rows(released_once):
    order = released_once()
    first = order.folder_of_v1
    times, rows = order.stage_times(), data_bytes(first)
    shutil.rmtree(first)
    assert order.release() == first
    assert data_bytes(first) == rows
    assert order.stage_times() == times
    assert audit_release(first, order.plan).passed


def lose(path):
    path.unlink()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("data.parquet", change),
        ("data.csv.gz", lose),
        ("codebook.json", change),
        ("report.html", lose),
        ("manifest.json", change),
        ("manifest.json", lose),
    ],
)
def test_a_release_that_was_tampered_with_is_left_and_published_anew(released_once, name, spoil):
    order = released_once()
    first = order.folder_of_v1
    rows = data_bytes(first)
    spoil(first / name)
    left = {path.name: path.read_bytes() for path in first.iterdir()}
    assert order.release() == order.releases / "v2"
    assert data_bytes(order.releases / "v2") == rows
    assert {path.name: path.read_bytes() for path in first.iterdir()} == left
    assert order.release() == order.releases / "v2"


@pytest.mark.long
@pytest.mark.parametrize(
    ("stage", "file"),
    [
        ("ingest", "table.parquet"),
        ("validate-ingested", "stage.json"),
        ("binarize", "bits.npz"),
        ("anonymize", "data.parquet"),
        ("anonymize", "matching.parquet"),
        ("check", "crowds.npz"),
    ],
)
def test_a_damaged_stage_is_made_again_and_nothing_else(released_once, stage, file):
    order = released_once()
    first = order.folder_of_v1
    rows, times = data_bytes(first), order.stage_times()
    path = order.run.path / stage / file
    path.write_bytes(path.read_bytes()[:-7] + b"damaged")
    shutil.rmtree(first)
    order.release()
    assert data_bytes(first) == rows
    changed = {name for name, when in order.stage_times().items() if when != times[name]}
    assert changed == {stage}


def test_another_version_publishes_the_same_rows_again(released_once, monkeypatch):
    order = released_once()
    first = order.folder_of_v1
    rows = data_bytes(first)
    shutil.rmtree(first)
    monkeypatch.setattr("crowdcover.storage.vault.build.CODE_VERSION", "next")
    drawn = secret_streams.distinct_keys
    monkeypatch.setattr(
        secret_streams,
        "distinct_keys",
        lambda seed, label, size: drawn(seed, f"{label} of the next", size),
    )
    assert data_bytes(order.release()) == rows


def test_another_build_finds_a_release_that_stands(released_once, monkeypatch):
    order = released_once()
    first = order.folder_of_v1
    content = {path.name: path.read_bytes() for path in first.iterdir()}
    monkeypatch.setattr("crowdcover.storage.vault.build.hash_packages", lambda *_: "another")
    assert order.release() == first
    assert {path.name: path.read_bytes() for path in first.iterdir()} == content


@pytest.mark.long
def test_another_build_makes_what_was_left_half_way_anew(tmp_path, monkeypatch):
    order = Order(tmp_path, checks={"min_utility": 1.0})
    with pytest.raises(GuaranteeError):
        order.release()
    rows, times = (order.run.path / "anonymize/data.parquet").read_bytes(), order.stage_times()
    with pytest.raises(GuaranteeError):
        order.release()
    again = order.stage_times()
    assert {name for name in STAGES if again[name] != times[name]} == set()
    monkeypatch.setattr("crowdcover.storage.vault.build.hash_packages", lambda *_: "zq7-build")
    order.write(checks={"min_utility": 0.1})
    release_folder = order.release()
    again = order.stage_times()
    assert {name for name in STAGES if again[name] == times[name]} == set()
    assert (release_folder / "data.parquet").read_bytes() == rows  # the hash decides no byte
    for path in release_folder.iterdir():
        assert b"zq7-build" not in path.read_bytes()


def test_threads_and_memory_change_nothing(tmp_path):
    releases = []
    for threads in (1, 2):
        order = Order(
            tmp_path / str(threads), compute={"threads": threads, "memory": f"{threads}GiB"}
        ).fix_seed()
        releases.append(data_bytes(order.release()))
    assert releases[0] == releases[1]


def test_where_it_runs_and_what_is_required_is_no_other_plan(released_once):
    order = released_once()
    first = order.folder_of_v1
    order.write(compute={"threads": 1, "memory": "1GiB"}, checks={"min_utility": 0.1})
    assert order.release() == first
    shutil.copy(order.source, order.folder / "moved.csv")
    order.write(source={"path": "moved.csv"})
    assert order.release() == first
    assert order.versions == ["v1"]


def test_a_release_that_does_not_reach_a_stricter_check_stands_and_is_refused(released_once):
    order = released_once()
    first = order.folder_of_v1
    files = {path.name: path.read_bytes() for path in first.iterdir()}
    order.write(checks={"min_utility": 0.999})
    with pytest.raises(
        GuaranteeError,
        match=r"v1 was published before and stays as it is; utility .* is below checks",
    ) as caught:
        order.release()
    assert "min_utility = 0.999; ease [checks] to keep it" in str(caught.value)
    assert {path.name: path.read_bytes() for path in first.iterdir()} == files
    assert order.versions == ["v1"]
    order.write(checks={"min_utility": manifest(first)["utility"]["suppression"]})
    assert order.release() == first


def test_a_second_place_gets_the_same_rows(released_once):
    order = released_once()
    first = order.folder_of_v1
    times = order.stage_times()
    order.write(publish={"path": "elsewhere"})
    second = order.release()
    assert second == order.folder / "elsewhere" / "people" / "v1"
    assert data_bytes(second) == data_bytes(first)
    assert order.stage_times() == times
    assert order.release() == second
    order.write(publish={"path": "releases"})
    assert order.release() == first
    assert order.versions == ["v1"]


# ---------------------------------------------------------------- another order for the same table

CHANGES = {
    "k": {"privacy": {"k": 5}},
    "a role": {"columns": {"note": {"role": "drop"}}},
    "bins": {"columns": {"age": {"role": "quasi", "kind": "numeric", "bins": "none"}}},
    "a weight": {"columns": {"age": {"role": "quasi", "kind": "numeric", "weight": 2.0}}},
    "the anonymizer": {"anonymizer": {"effort": 2}},
    "what is missing": {"source": {"missing": ["ulm"]}},
    "formats": {"publish": {"formats": ["csv"]}},
    "the name": {"name": "others"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_second_release_of_the_same_table_is_refused(released_once, change):
    order = released_once()
    first = order.folder_of_v1
    before = order.document
    order.document = json.loads(json.dumps(before))
    order.write(**change)
    with pytest.raises(SecondReleaseError, match="two releases of one table can be intersected"):
        order.release()
    assert [path.name for path in order.releases.parent.glob("*/[!.]*")] == ["v1"]
    order.document = before
    order.write()
    assert order.release() == first


def test_a_second_release_can_be_allowed(released_once):
    order = released_once()
    nothing_else = {name: {"role": "drop"} for name in ("note", "diagnosis")}
    order.write(privacy={"k": 5}, columns=nothing_else, publish={"allow_second_release": True})
    assert order.release() == order.releases / "v2"
    assert manifest(order.releases / "v2")["privacy"]["k_min"] == 5
    assert order.release() == order.releases / "v2"


def test_a_second_release_is_refused_though_the_first_was_deleted(tmp_path):
    order = Order(tmp_path)
    shutil.rmtree(order.release())
    order.write(privacy={"k": 5})
    with pytest.raises(SecondReleaseError):
        order.release()


@pytest.mark.long
def test_a_second_release_is_refused_though_both_began_before_either_ended(tmp_path, monkeypatch):
    """The first plan publishes while the second is at work."""
    import crowdcover.flows.course as module

    order = Order(tmp_path)
    other = Order(tmp_path, privacy={"k": 5})
    other.plan = tmp_path / "other.toml"
    other.write()
    order.write()
    ran = []
    made = module.check

    def check(*arguments):
        if not ran:
            ran.append(True)
            order.release()
        return made(*arguments)

    monkeypatch.setattr(module, "check", check)
    with pytest.raises(SecondReleaseError):
        other.release()
    assert order.versions == ["v1"]
    assert manifest(order.folder_of_v1)["privacy"]["k_min"] == 4


@pytest.mark.long
def test_a_release_of_the_same_name_by_somebody_else_is_not_taken_for_ones_own(
    tmp_path, monkeypatch
):
    """Stopped just before the rename; before it goes on, another table takes the version."""
    import crowdcover.storage.shelf.folders as module

    order = Order(tmp_path)
    rename = os.rename

    def stop_at_v1(aside, final):
        if Path(final).name == "v1":
            raise OSError("stopped")
        rename(aside, final)

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "rename", stop_at_v1)
        with pytest.raises(FolderError, match="nothing could be published"):
            order.release()
    assert order.versions == []

    def be_slower(aside, final):
        if Path(final).name == "v1":
            Path(final).mkdir()
            (Path(final) / "manifest.json").touch()
        rename(aside, final)

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "rename", be_slower)
        with pytest.raises(FolderError, match=r"another writer published in .* meanwhile"):
            order.release()
    shutil.rmtree(order.folder_of_v1)
    other = Order(tmp_path, people(draws=9, first=90), source={"path": "other.csv"})
    other.source.rename(tmp_path / "other.csv")
    assert other.release() == order.folder_of_v1
    mine = Order(tmp_path)
    assert mine.release() == order.releases / "v2"
    assert audit_release(order.releases / "v2", mine.plan).passed


# ---------------------------------------------------------------- refusals


@pytest.mark.long
def test_a_run_that_is_under_way_is_not_joined(server, tmp_path):
    order = Order(tmp_path)
    ready, done = FORKS.Event(), FORKS.Event()
    process, files = start(hold, order.run, ready, done)
    assert ready.wait(60)
    with pytest.raises(BusyError, match="another process is at work on this plan and source"):
        order.release()
    assert order.stage_times() == {}
    done.set()
    assert finish(process, files).code == 0
    assert order.release() == order.folder_of_v1


@pytest.mark.long
def test_too_little_utility_publishes_nothing_and_lowering_the_floor_recomputes_nothing(tmp_path):
    order = Order(tmp_path, checks={"min_utility": 0.999})
    with pytest.raises(
        GuaranteeError,
        match=r"publication refused; utility 0\.\d+ is below checks\.min_utility = 0\.999",
    ):
        order.release()
    assert not order.releases.exists()
    times = order.stage_times()
    assert set(times) == {*STAGES, "require"}
    order.write(checks={"min_utility": 0.1})
    assert order.release() == order.folder_of_v1
    assert order.stage_times() == {**times, "require": order.stage_times()["require"]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("sections", "refusal", "words"),
    [
        ({"privacy": {"k": 91}}, InfeasibleError, "90 of 90 records demand k > 90"),
        (
            {"columns": {"note": {"role": "keep", "kind": "numeric"}}},
            InputError,
            "'note': 90 of 90 values are no finite numbers",
        ),
        (
            {"columns": {"city": {"role": "quasi", "kind": "binary"}}},
            InputError,
            "ingested: .* hold; failed: .*city",
        ),
        (
            {"columns": {"city": {"role": "quasi", "kind": "categorical", "missing": "refuse"}}},
            InputError,
            "city",
        ),
        (
            {"privacy": {"k": {"by": "smokes", "levels": {"yes": 3}}}},
            InputError,
            "'smokes': .* that levels do not name",
        ),
    ],
)
def test_what_cannot_be_released_is_refused_in_words(tmp_path, sections, refusal, words):
    order = Order(tmp_path, **sections)
    with pytest.raises(refusal, match=words):
        order.release()
    assert not order.releases.exists()


@pytest.mark.long
def test_a_file_that_is_changed_in_place_between_ingest_and_check_is_refused(tmp_path, monkeypatch):
    import crowdcover.kinds.table.pipeline.ingest as module

    order, reading = Order(tmp_path), module.read_table
    before = order.source.read_bytes()

    def read_table(*arguments, **options):
        answer = reading(*arguments, **options)
        order.source.write_bytes(before + b"ident,44,ulm,yes,flu,note,junk\n")
        return answer

    monkeypatch.setattr(module, "read_table", read_table)
    with pytest.raises(
        InputError, match=r"the source file was changed in place after .*restore it"
    ):
        order.release()
    assert not order.releases.exists()
    order.source.write_bytes(before)
    times = order.stage_times()
    assert order.release() == order.folder_of_v1
    assert order.stage_times().items() > times.items()


@pytest.mark.long
def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    order = Order(tmp_path, publish={"path": "people.csv"})
    with pytest.raises(
        FolderError, match=r"nothing could be published in .*people\.csv.*; correct publish\.path"
    ):
        order.release()
    assert list(order.vault.glob("runs/*/*/stage.json")) == []  # refused before the work
    order.write(publish={"path": "releases"})
    assert order.release() == order.folder_of_v1


def test_a_folder_for_reports_that_cannot_be_written_is_found_before_the_work(tmp_path):
    order = Order(tmp_path, publish={"approval": "required", "reports": "people.csv"})
    with pytest.raises(FolderError, match=r"report could not be copied to publish\.reports .*csv"):
        order.release()
    assert list(order.vault.glob("runs/*/*/stage.json")) == []


@pytest.mark.long
def test_rows_that_change_after_they_were_checked_are_not_published(tmp_path, monkeypatch):
    order = Order(tmp_path)
    monkeypatch.setattr(
        "crowdcover.flows.course.refuse_rejected",
        lambda run: change(run.path / "anonymize" / "data.csv.gz"),
    )
    with pytest.raises(
        GuaranteeError, match=r"the vault's data\.csv\.gz changed after it was checked"
    ):
        order.release()
    assert not list(order.releases.iterdir())
    monkeypatch.undo()
    assert order.release() == order.folder_of_v1


def test_a_maker_that_breaks_its_promise_is_stopped_at_the_gate(tmp_path, monkeypatch):
    """Rows that tell too much are refused whoever wrote them."""
    import crowdcover.kinds.table.pipeline.write as module

    shown = module.list_shown_cells

    def tell_all(table, hidden):
        return shown(table, np.zeros_like(hidden))

    monkeypatch.setattr(module, "list_shown_cells", tell_all)
    order = Order(tmp_path)
    with pytest.raises(
        GuaranteeError, match=r"publication refused; broken: .*compatible crowds"
    ) as caught:
        order.release()
    assert RARE not in str(caught.value)
    assert not order.releases.exists()


# ---------------------------------------------------------------- what Prefect shows


@pytest.mark.long
def test_prefect_shows_the_run_its_stages_and_its_artifacts(server, tmp_path):
    order = Order(tmp_path)
    release.with_options(flow_run_name=f"seen {tmp_path}")(str(order.plan))
    (run,) = ask("/flow_runs/filter", {"flow_runs": {"name": {"any_": [f"seen {tmp_path} v1"]}}})
    assert run["state"]["type"] == "COMPLETED"
    assert run["parameters"] == {"plan": str(order.plan), "accept": None, "partition": None}
    this = {"flow_runs": {"id": {"any_": [run["id"]]}}}
    tasks = until(
        lambda: ask("/task_runs/filter", this),
        lambda runs: have_ended(runs, 8),
    )
    started = sorted(tasks, key=lambda task: task["start_time"])
    names = [task["name"] for task in started]
    borders = ["validate ingested", "validate binarized"]
    assert names == [
        "ingest",
        borders[0],
        "encode",
        borders[1],
        "identify",
        "anonymize",
        "check",
        "publish",
    ]
    artifacts = {artifact["key"]: artifact for artifact in ask("/artifacts/filter", this)}
    verdicts = {f"verdict-people-{stage}" for stage in JUDGES}
    assert set(artifacts) == {"anonymize-people", "release-people", *verdicts}
    assert artifacts["anonymize-people"]["type"] == "progress"
    assert float(artifacts["anonymize-people"]["data"]) == 100
    assert "4 of 4 expectations hold" in artifacts["verdict-people-validate-ingested"]["data"]
    words = artifacts["release-people"]["data"]
    assert "The privacy promise holds" in words
    assert "k = 4 for everyone" in words
    said = manifest(order.folder_of_v1)["utility"]["suppression"]
    assert f"{said:.3f}" in words
    logs = until(
        lambda: ask("/logs/filter", {"logs": {"flow_run_id": {"any_": [run["id"]]}}}),
        lambda lines: any("published 90 rows as people v1" in line["message"] for line in lines),
    )
    messages = "\n".join(line["message"] for line in logs)
    for words in (
        "ingested 90 rows, 5 of 7 columns",
        "iteration 1 of at most 11",
        "guarantees hold",
        "published 90 rows",
    ):
        assert words in messages


@pytest.mark.long
def test_a_refusal_is_the_runs_final_state_without_a_traceback(server, tmp_path):
    order = Order(tmp_path, privacy={"k": 91})
    with pytest.raises(InfeasibleError):
        release.with_options(flow_run_name=f"refused {tmp_path}")(str(order.plan))
    (run,) = ask("/flow_runs/filter", {"flow_runs": {"name": {"any_": [f"refused {tmp_path}"]}}})
    assert run["state"]["type"] == "FAILED"
    assert "90 of 90 records demand k > 90" in run["state"]["message"]
    logs = until(
        lambda: ask("/logs/filter", {"logs": {"flow_run_id": {"any_": [run["id"]]}}}),
        lambda lines: any("Finished in state Refused" in line["message"] for line in lines),
    )
    assert not any("Traceback" in line["message"] for line in logs)


@pytest.mark.long
def test_rows_that_share_an_identifier_are_refused(tmp_path):
    """They would count as several people, who hide among each other."""
    twice = [*people(), *people(5)]
    order = Order(tmp_path, twice)
    with pytest.raises(
        InputError, match=r"'ssn' is an identifier, and 10 of 95 rows share"
    ) as told:
        order.release()
    assert not any(row[0] in str(told.value) for row in twice)
    order.write(privacy={"rows_are_people": True})
    order.release()
    assert order.rows().height == 95


def test_a_missing_identifier_is_no_repeated_one(tmp_path):
    order = Order(
        tmp_path, [("", *row[1:]) if number < 4 else row for number, row in enumerate(people())]
    )
    order.release()
    assert order.rows().height == 90
