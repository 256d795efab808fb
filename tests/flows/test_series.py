"""Versions of one series: rows that stay, people who come, change and go, and what is refused."""

import gzip
import itertools
import json

import numpy as np
import polars as pl
import pytest

from anon_core.errors import GuaranteeError, InputError
from crowdcover.flows import cli
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.version_files import SINCE
from crowdcover.storage.approval.approval import Approval, Decision, WaitingError
from crowdcover.storage.ledger.ledger import Ledger
from crowdcover.storage.series.series import Series
from crowdcover.storage.upkeep.run_states import list_run_states
from crowdcover.storage.upkeep.verification import inspect_vault
from crowdcover.storage.vault.files import file_sha256, read_json, write_json
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.vault import Vault
from tests.codebooks import keeps_schema
from tests.flows.orders import SEED, Order, columns, people
from tests.support.audits import audit_release
from tests.support.series import (
    SERIES,
    K,
    frame,
    months,
    registry,
    release_all,
    series_of,
    withdraw,
)
from tests.typed import write_typed


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Four versions of 200 people."""
    order = registry(tmp_path_factory.mktemp("registry"))
    return order, release_all(order, months())


@pytest.mark.long
def test_every_version_is_published_and_audited(released):
    order, folders = released
    assert [folder.name for folder in folders] == ["v1", "v2", "v3", "v4"]
    for folder in folders:
        audit = audit_release(folder, order.plan)
        assert audit.passed, audit.sentence()
        assert keeps_schema(read_json(folder / "codebook.json"))
        names = [finding.guarantee for finding in audit.findings]
        assert {"crowds in every version", "histories", "withdrawn rows"} <= set(names)
    promise = read_json(folders[-1] / "manifest.json")["privacy"]["promise"]
    assert promise[-2:] == ["crowds in every version", "histories"]


def test_rows_stay_byte_for_byte_or_never_return(released):
    _, folders = released
    lines = [set(gzip.decompress((f / "data.csv.gz").read_bytes()).splitlines()) for f in folders]
    keys = [set(frame(folder)["key"]) for folder in folders]
    for number, folder in enumerate(folders[1:], start=1):
        rows = frame(folder)
        old = rows.filter(pl.col(SINCE) <= number)["key"].to_list()
        assert set(old) == keys[number] & keys[number - 1]
        stay = {line for line in lines[number] if line[:16].decode() in set(old)}
        assert len(stay) == len(old)
        assert stay <= lines[number - 1]
        gone = set.union(*keys[:number]) - keys[number - 1]
        assert not gone & keys[number]


def test_counts_add_up(released):
    order, folders = released
    sources = list(months())
    for folder, source in zip(folders, sources, strict=True):
        told, rows = series_of(folder), frame(folder).height
        assert told["source_rows"] == len(source)
        assert rows == told["frozen"] + told["batch"] == len(source) - told["held_back"]
        assert told["batch"] == told["new"] + told["returned"] + told["reissued"]
        assert told["reissued"] == told["changed"] + told["pulled"]
        assert told["below_k"] == told["histories_below_k"] == 0
    assert folders[0].parent == order.releases


def test_everyone_has_a_true_row_in_every_version(released):
    """From the vault's last list of rows: each chain has one row a version, and it fits."""
    order, folders = released
    last = Series(Vault(order.vault), "people").last
    rows = pl.read_parquet(last.run.path / "assemble" / "rows.parquet")
    for number, folder in enumerate(folders, start=1):
        there = rows.filter(
            (pl.col("#born") <= number) & (pl.col("#died").is_null() | (pl.col("#died") > number))
        )
        assert there["#chain"].n_unique() == there.height
        assert set(there["#key"]) == set(frame(folder)["key"])


@pytest.mark.long
def test_the_same_source_gives_no_new_version(released_once):
    order = released_once(registry)
    first = order.folder_of_v1
    assert order.release() == first
    order.write_source(sorted(people(60), reverse=True))
    second = order.release()
    assert second == first  # other bytes, nobody changed
    assert order.versions == ["v1"]


def test_a_few_new_people_wait_until_they_can_hide(released_once):
    order = released_once(registry)
    first = order.folder_of_v1
    order.write_source(people(60) + people(K - 1, draws=5, first=500))
    assert order.release() == first
    order.write_source(people(60) + people(K + 1, draws=5, first=500))
    second = order.release()
    told = series_of(second)
    assert (told["new"], told["pulled"], told["held_back"]) == (K + 1, 0, 0)
    assert frame(second).height == 60 + K + 1


@pytest.mark.long
def test_someone_who_leaves_takes_others_along(tmp_path):
    order = registry(tmp_path)
    before = frame(order.release())
    order.write_source(people(60)[1:])
    second = order.release()
    told, rows = series_of(second), frame(second)
    assert told["left"] == 1
    assert told["pulled"] >= K - 1
    withdrawn = set(before["key"]) - set(rows["key"])
    assert len(withdrawn) == 1 + told["pulled"] >= K
    assert rows.height == 59


@pytest.mark.long
def test_someone_who_comes_back_is_the_same_record(tmp_path):
    order = registry(tmp_path)
    everyone = people(60)
    others = people(K, draws=5, first=500)
    folders = release_all(order, [everyone, everyone[1:], everyone + others])
    assert len(folders) == len(set(folders))
    assert frame(folders[-1]).height == 60 + K
    told = series_of(folders[-1])
    assert (told["new"], told["returned"], told["records_ever"]) == (K, 1, 60 + K)
    assert audit_release(folders[-1], order.plan).passed


@pytest.mark.long
def test_drift_compares_whole_sources(tmp_path):
    order = registry(tmp_path, checks={"drift": {"rows": 0.3}})
    order.release()
    order.write_source(people(30))
    with pytest.raises(GuaranteeError, match="compared with version 1, there are 30 rows"):
        order.release()


def test_another_plan_over_these_people_is_a_second_release(released_once):
    order = released_once(registry)
    other = Order(order.folder / "other", people(60)[:50])
    other.write(publish={"vault": str(order.vault)})
    with pytest.raises(SecondReleaseError, match="50 people of this source were released already"):
        other.release()


# ---------------------------------------------------------------- withdrawing


def everything_in(folder):
    """All that the files of a folder hold, unpacked."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        yield path, content
        if path.suffix == ".gz":
            yield path, gzip.decompress(content)
        if path.suffix == ".parquet":
            for column in pl.read_parquet(path, glob=False):
                values = column.drop_nulls().to_list()
                yield (
                    path,
                    b"\n".join(v if isinstance(v, bytes) else str(v).encode() for v in values),
                )
        if path.suffix == ".npz":
            with np.load(path) as arrays:
                for array in arrays.values():
                    yield path, array.tobytes()


@pytest.mark.long
def test_a_withdrawn_person_leaves_no_trace(tmp_path, capsys):
    rows = people(60)
    person = ("ident-erase-me", 79, "Erasetown", "yes", "illness-erased", "note-erased", "junk")
    order = registry(tmp_path, [*rows, person], columns=_pooled())
    first = order.release()
    names = [b"ident-erase-me", b"Erasetown", b"illness-erased", b"note-erased"]
    seen = {name for _, content in everything_in(order.vault) for name in names if name in content}
    assert seen == set(names)  # so that the search below can find something
    withdraw(order, "ident-erase-me", more=("--json",))
    assert json.loads(capsys.readouterr().out)["in_the_last_version"] == 1
    second = order.release()  # the source still names the person
    assert second != first
    for place in (order.vault, second):
        for path, content in everything_in(place):
            for name in names:
                assert name not in content, path
    assert frame(second).height + series_of(second)["held_back"] == 60
    for folder in (first, second):
        audit = audit_release(folder, order.plan)
        assert audit.passed, audit.sentence()
    order.write_source([*people(60), person])
    assert order.release() == second


@pytest.mark.long
def test_a_batch_that_was_given_up_leaves_no_trace(tmp_path):
    """A version waits for approval; then the person withdraws, and the batch is another one."""
    person = ("ident-erase-me", 79, "ulm", "yes", "illness-erased", "note-erased", "junk")
    order = registry(tmp_path, publish={"approval": "required"})
    _approved_release(order)
    order.write_source([*people(60), person, *people(K, draws=5, first=500)])
    with pytest.raises(WaitingError):
        order.release()
    series = Series(Vault(order.vault), "people")
    given_up = series.find_version_in_work(2).run
    assert any(b"note-erased" in content for _, content in everything_in(given_up.path))
    (given_up.path / "failure-check.txt").write_text("note-erased")
    (order.vault / "runs" / "failure-release.txt").write_text("note-erased")
    withdraw(order, "ident-erase-me")
    _approved_release(order)
    assert series.last.number == 2
    left = {path.name for path in given_up.path.iterdir()}
    assert left <= {"run.json", "docs", "gates.json", "ended.json", "lock"}
    for path, content in everything_in(order.vault):
        assert b"note-erased" not in content, path


def _approved_release(order):
    with pytest.raises(WaitingError):
        order.release()
    series = Series(Vault(order.vault), "people")
    number = 1 if series.last is None else series.last.number + 1
    Approval.of(series.find_version_in_work(number).run).decide(
        Decision.of(approved=True, by="Ada", note="")
    )
    return order.release()


def _pooled():
    """Without this a category of one person stands in the codebook of the batch."""
    return {**columns(), "city": {"role": "quasi", "kind": "categorical", "rare": "pool"}}


def test_withdrawing_tells_counts_only(released_once, capsys):
    order = released_once(registry)
    withdraw(order, "ident-00003", "nobody-at-all")
    out = capsys.readouterr().out
    assert "2 people by 'ssn' are withdrawn from people; 1 of them have rows" in out
    assert "00003" not in out
    withdraw(order, "ident-00003")
    assert "1 were withdrawn before" in capsys.readouterr().out
    withdraw(order, code=3)
    assert "names nobody" in capsys.readouterr().err
    order.document.pop("series")
    order.write()
    withdraw(order, "ident-00003", code=2)
    assert "the plan has no [series]" in capsys.readouterr().err


# ---------------------------------------------------------------- what an audit finds


def rewritten(folder, rows):
    """Publish other rows in a folder, with hashes that agree."""
    from crowdcover.kinds.rows import write_csv

    write_typed(rows, folder)
    write_csv(rows, folder / "data.csv.gz")
    manifest = read_json(folder / "manifest.json")
    manifest["files"] = {name: file_sha256(folder / name) for name in manifest["files"]}
    write_json(folder / "manifest.json", manifest)


def altered(rows, folders):
    """A frozen row tells another diagnosis."""
    place = rows.with_row_index().filter(pl.col(SINCE) == 1)["index"][0]
    values = rows["diagnosis"].to_list()
    values[place] = "illness-0" if values[place] != "illness-0" else "illness-1"
    return rows.with_columns(diagnosis=pl.Series(values))


def returned(rows, folders):
    """A withdrawn row is there again."""
    gone = frame(folders[0]).join(rows, on="key", how="anti")
    return pl.concat([rows, gone[:1]]).sort("key")


def moved(rows, folders):
    """Two frozen rows exchange their keys."""
    keys, (one, other) = rows["key"].to_list(), np.flatnonzero(rows[SINCE] == 1)[:2]
    keys[one], keys[other] = keys[other], keys[one]
    return rows.with_columns(key=pl.Series(keys)).sort("key")


def dropped(rows, folders):
    """A frozen row is missing."""
    return rows.filter(~((pl.col(SINCE) == 1) & (pl.int_range(pl.len()) == pl.len() // 2))).slice(1)


def invented(rows, folders):
    """A row that nobody was given."""
    return pl.concat([rows, rows[:1].with_columns(key=pl.lit("f" * 16))]).sort("key")


@pytest.mark.long
@pytest.mark.parametrize("corrupt", [altered, returned, moved, dropped, invented])
def test_rows_over_versions_cannot_be_altered(released, tmp_path, corrupt):
    import shutil

    order, folders = released
    copy = tmp_path / "people" / "v4"
    shutil.copytree(folders[-1], copy)
    rows = frame(copy)
    rewritten(copy, corrupt(rows, folders))
    broken = {finding.guarantee for finding in audit_release(_at(order, copy), order.plan).broken}
    expected = {"returned": "withdrawn rows"}.get(corrupt.__name__, "rows as before")
    assert expected in broken
    assert "manifest as published" in broken


def _at(order, copy):
    """Put a copy where the release stands, for the audit knows it by its place."""
    import shutil

    place = order.releases / "v4"
    aside = copy.parent / "whole"
    if not aside.exists():
        shutil.copytree(place, aside)
    shutil.rmtree(place)
    shutil.copytree(copy, place)
    return place


@pytest.fixture(autouse=True)
def restored(request, tmp_path):
    """Give the shared release its bytes back."""
    yield
    import shutil

    aside = tmp_path / "people" / "whole"
    if aside.exists():
        order, _ = request.getfixturevalue("released")
        shutil.rmtree(order.releases / "v4")
        shutil.copytree(aside, order.releases / "v4")


def test_a_batch_of_one_is_refused():
    """A cell in which one record came or went alone leaves nobody to hide among."""
    from crowdcover.kinds.table.judge import versions as judge
    from crowdcover.kinds.table.version_fits import NO_FITS

    n = 6
    fits = NO_FITS.also(np.arange(0, n * n + 1, n), np.tile(np.arange(n, dtype=np.int32), n))
    rows = pl.DataFrame(
        {
            "#chain": range(n),
            "#person": range(n),
            "#born": pl.Series([1] * n, dtype=pl.Int32),
            "#died": pl.Series([2] + [None] * (n - 1), dtype=pl.Int32),
            "#k": pl.Series([3] * n, dtype=pl.Int32),
            "#constant": pl.Series([b"x"] * n, dtype=pl.Binary),
        }
    )
    rows = judge.of_records(rows, (), None)
    (cells, histories), section, _ = judge.of_crowds(rows, fits)
    assert cells.broken
    assert section["below_k"] == 1
    assert section["least_margin"] == -2
    assert histories.broken
    (cells, _), section, _ = judge.of_crowds(judge.rewind_history(rows, 1), fits)
    assert not cells.broken
    assert section["cells"] == 1


# ---------------------------------------------------------------- what a plan may say


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ({"series": {"record": "age"}}, "series.record: column 'age' must have role"),
        ({"series": {"record": "ssn", "constant": ["age"]}}, "is not carried"),
        ({"series": {}}, "needs series.record"),
        ({"privacy": {"k": {"uniform": [2, 4], "seed": 1}}}, "a k that a record keeps"),
        ({"publish": {"allow_second_release": True}}, "does not belong to [series]"),
        ({"anonymizer": {"seats": "even"}}, "no even chances"),
        ({"series": {"record": "ssn", "follow": 1}}, "unknown key series.follow"),
    ],
)
def test_what_a_series_cannot_keep(tmp_path, sections, expected):
    order = registry(tmp_path, **sections)
    with pytest.raises(PlanError) as refused:
        order.release()
    assert expected in str(refused.value)


@pytest.mark.parametrize("name", ["since", "#owner", "#key", "#goes"])
def test_names_of_columns_that_files_of_versions_have_themselves(tmp_path, name):
    order = registry(tmp_path)
    order.write(columns={name: {"role": "keep"}})
    with pytest.raises(PlanError, match=f"columns.{name}: .*rename it in the source or drop it"):
        order.release()
    order.write(columns={name: {"role": "drop"}})
    ReleasePlan.load(order.plan)


def test_what_earlier_rows_tell_stays_in_one_process(tmp_path):
    order = registry(tmp_path, anonymizer={"name": "k-member"}, compute={"engine": "dask"})
    with pytest.raises(PlanError, match=r"does not run on compute.engine = 'dask'; allowed: local"):
        ReleasePlan.load(order.plan)


def test_the_default_method_is_one_whose_crowds_are_apart(tmp_path):
    order = registry(tmp_path, anonymizer={})
    del order.document["anonymizer"]
    order.write()
    assert ReleasePlan.load(order.plan).anonymizer_settings["name"] == "k-member"
    order.write(series={}, privacy={"k": K, "person": "ssn"})
    del order.document["series"]["record"]
    order.write()
    assert ReleasePlan.load(order.plan).anonymizer_settings["name"] == "local-search"


def test_another_plan_goes_on_with_no_series(released_once):
    order = released_once(registry)
    order.write(privacy={"k": K + 1})
    with pytest.raises(PlanError, match="begun under another plan"):
        order.release()


def test_records_that_cannot_be_told_apart(tmp_path):
    rows = people(20)
    order = registry(tmp_path, [*rows, rows[0], ("", *rows[1][1:])])
    with pytest.raises(InputError, match="of 22 rows 1 have no value there and 2 share"):
        order.release()


# ---------------------------------------------------------------- approval and retraction


@pytest.mark.long
def test_a_version_waits_for_approval(tmp_path):
    order = registry(tmp_path, publish={"approval": "required"})
    with pytest.raises(WaitingError):
        order.release()
    series = Series(Vault(order.vault), "people")
    assert series.last is None
    run = series.find_version_in_work(1).run
    Approval.of(run).decide(Decision.of(approved=True, by="Ada", note=""))
    order.write_source(people(60)[3:])  # the decision is about the rows of before
    first = order.release()
    assert frame(first).height == 60
    with pytest.raises(WaitingError):
        order.release()


@pytest.mark.long
def test_the_version_after_a_retracted_one_still_counts_it(released_once, capsys):
    order = released_once(registry)
    first = order.folder_of_v1
    with pytest.raises(SystemExit) as ended:
        cli.main(
            [
                "retract",
                str(first),
                "--plan",
                str(order.plan),
                "--by",
                "Ada",
                "--reason",
                "never sent",
            ]
        )
    assert ended.value.code == 0
    order.write_source(people(60)[1:])
    second = order.release()
    assert second.name == "v2"
    assert series_of(second)["frozen"] < 59
    assert audit_release(second, order.plan).passed


def test_a_damaged_vault_is_named(released_once):
    order = released_once(registry)
    last = Series(Vault(order.vault), "people").last
    (last.run.path / "assemble" / "rows.parquet").write_bytes(b"")
    order.write_source(people(60)[1:])
    with pytest.raises(Exception, match="lacks what it kept of version 1"):
        order.release()


def test_the_ledger_knows_everyone_of_a_series(released):
    order, _ = released
    vault = Vault(order.vault)
    ledger = Ledger(vault, lambda *_: None)
    assert len(ledger._transact(lambda ask: ask("select run from releases"))) == 4


@pytest.mark.long
def test_the_first_version_names_columns_that_may_change_every_month(released_once):
    order = released_once(registry)
    notes = read_json(order.vault / "series/people/1/split/stage.json")["facts"]["notes"]
    told = [note for note in notes if "before the series begins" in note]
    assert len(told) == 1
    assert "column 'note' is carried as it is, and 100% of its values differ" in told[0]
    order.write_source(people(60)[1:])
    order.release()
    notes = read_json(order.vault / "series/people/2/split/stage.json")["facts"]["notes"]
    assert not [note for note in notes if "before the series begins" in note]


# ---------------------------------------------------------------- what never changes links rows


@pytest.mark.long
def test_records_with_too_few_histories_wait(tmp_path, monkeypatch):
    """Values of one person link rows: whoever would be known by that gets no row in this batch."""
    waited = []
    wait = Series.wait
    monkeypatch.setattr(
        Series, "wait", lambda *given: waited.append(len(given[-1])) or wait(*given)
    )
    seeds = (SEED[:30] + number.to_bytes(2) for number in itertools.count())
    monkeypatch.setattr("crowdcover.storage.vault.secret_streams.new_seed", lambda: next(seeds))
    order = registry(tmp_path, series={**SERIES, "constant": ["diagnosis"]})
    folders = release_all(order, months(3, 60, change=0.25))
    assert waited
    for folder in folders:
        told = series_of(folder)
        assert told["histories_below_k"] == told["below_k"] == 0
        assert audit_release(folder, order.plan).passed
    assert any(series_of(folder)["linked_below_k"] for folder in folders)


@pytest.mark.long
def test_a_carried_value_that_everyone_shares_links_nobody(tmp_path):
    rows = [(*row[:4], "ill", *row[5:]) for row in people(60)]
    order = registry(tmp_path, rows, series={**SERIES, "constant": ["diagnosis"]})
    order.release()
    order.write_source(rows[2:])
    told = series_of(order.release())
    assert told["linked_below_k"] == told["histories_below_k"] == 0


@pytest.mark.long
def test_a_value_that_was_said_to_be_constant_changes(tmp_path):
    """The vault would count histories that nobody has."""
    order = registry(tmp_path, series={**SERIES, "constant": ["diagnosis"]})
    order.release()
    rows = people(60)
    order.write_source([(*rows[0][:4], "illness-9", *rows[0][5:]), *rows[1:]])
    with pytest.raises(InputError, match="1 records have another value in 'diagnosis'"):
        order.release()


@pytest.mark.long
def test_why_a_first_version_was_refused_stays_when_the_plan_changes(tmp_path):
    order = registry(tmp_path, checks={"min_utility": 1.0})
    with pytest.raises(GuaranteeError, match=r"below checks\.min_utility") as refusal:
        order.release()
    (refused,) = Vault(order.vault).every_run()
    page = order.vault / "runs" / str(refusal.value).rpartition("vault: ")[2]
    told = page.read_bytes()
    order.write(privacy={"k": K + 1}, checks={"min_utility": 0.1})
    first = order.release()
    assert order.release() == first
    assert page.read_bytes() == told
    assert not (refused.path / "seed").exists()
    assert not list(refused.path.glob("*/stage.json"))
    state = {each.run.path.name: each.state for each in list_run_states(Vault(order.vault))}
    assert state[refused.path.name].word == "given up"
    assert "before, it was refused at check: publication refused" in state[refused.path.name].words
    assert not inspect_vault(Vault(order.vault)).damage


def test_diff_of_versions_says_why_cells_are_not_compared(released, capsys):
    _, folders = released
    with pytest.raises(SystemExit) as end:
        cli.main(["diff", "--quiet", str(folders[0]), str(folders[1])])
    assert end.value.code == 0
    told = capsys.readouterr().out
    assert "cells were not compared: each batch of a series has groups of its own" in told
    assert "no data file" not in told
