"""A correct release passes the audit; a spoiled one fails, and the audit says why."""

import gzip
import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdcover.flows import cli
from crowdcover.storage.vault.files import read_json, write_json
from tests.flows.orders import Order, people
from tests.support.audits import audit_release
from tests.support.releases import attributes, fits, level
from tests.typed import text_rows, write_typed

QUASI = ("age", "city", "smokes")


def audit(folder, order, capsys, *arguments):
    """Exit code and printed words of the command."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["audit", str(folder), "--plan", str(order.plan), *arguments])
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def broken(words):
    """The guarantees that the last line names as broken."""
    last = words.rstrip("\n").rpartition("\n")[2]
    assert last.startswith("broken: "), last
    return {part.partition(" (")[0] for part in last.removeprefix("broken: ").split("); ")}


@dataclass
class Copy:
    """A copy of a correct release, to be spoiled."""

    folder: Path
    order: Order

    @property
    def rows(self):
        return text_rows(self.folder)

    @property
    def row_of(self):
        """Place of each person's row."""
        place = {key: number for number, key in enumerate(self.rows["key"])}
        return [place[key] for key in self.order.keys_of_records()["key"]]

    def write(self, rows):
        """Replace the rows in both formats."""
        write_typed(rows, self.folder)
        self.write_csv(rows)

    def write_csv(self, rows):
        (self.folder / "data.csv.gz").write_bytes(gzip.compress(rows.write_csv().encode(), mtime=0))

    def set(self, column, row, value):
        """Replace one cell."""
        values = self.rows[column].to_list()
        values[row] = value
        self.write(self.rows.with_columns(pl.Series(column, values, dtype=pl.String)))

    def change(self, name, edit):
        """Edit a JSON file."""
        document = read_json(self.folder / name)
        edit(document)
        write_json(self.folder / name, document)

    def refresh(self):
        """Let the manifest vouch for the files as they are now."""
        names = [path.name for path in self.folder.iterdir() if path.name != "manifest.json"]
        hashes = {
            name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
            for name in sorted(names)
        }
        self.change("manifest.json", lambda document: document.update(files=hashes))


@pytest.fixture(autouse=True)
def without_server(monkeypatch):
    """The server of these tests need not run: else each audit says that it could not be told."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)


@pytest.fixture
def copy(released, tmp_path):
    shutil.copytree(released.folder_of_v1, tmp_path / "v1")
    return Copy(tmp_path / "v1", released)


# ---------------------------------------------------------------- ways to spoil a release


def another_persons_value(copy):
    """One exact cell gets a value that its person does not have."""
    rows, row_of = copy.rows, copy.row_of
    record = next(r for r, row in enumerate(row_of) if rows["smokes"][row] in ("yes", "no"))
    copy.set("smokes", row_of[record], "no" if people()[record][3] == "yes" else "yes")


def unmask(copy):
    """One person after the other is shown as they are, until a crowd is too small."""
    book = {a["name"]: a for a in read_json(copy.folder / "codebook.json")["attributes"]}
    rows, row_of = copy.rows, copy.row_of
    columns = {name: rows[name].to_list() for name in QUASI}
    for record in range(30):
        person = dict(zip(("age", "city", "smokes"), people()[record][1:4], strict=True))
        edges = book["age"]["inner_edges"]
        level = (
            int(np.searchsorted(edges, float(person["age"]), side="left"))
            + book["age"]["has_missing"]
        )
        columns["age"][row_of[record]] = book["age"]["labels"][level]
        columns["city"][row_of[record]] = person["city"] or "(missing)"
        columns["smokes"][row_of[record]] = person["smokes"]
    copy.write(rows.with_columns([pl.Series(name, values) for name, values in columns.items()]))


def drop_row(copy):
    copy.write(copy.rows[1:])


def copy_row(copy):
    copy.write(pl.concat([copy.rows, copy.rows[-1:]]))


def copy_row_under_a_new_key(copy):
    last = copy.rows[-1:].with_columns(key=pl.lit("f" * 16))
    copy.write(pl.concat([copy.rows, last]))


def replace_row_by_copy(copy):
    """As many rows and keys as before, but one stands twice."""
    rows = copy.rows
    copy.write(pl.concat([rows[:-1], rows[:1].with_columns(key=pl.lit(rows["key"][-1]))]))


def add_identifiers(copy):
    copy.write(copy.rows.with_columns(ssn=pl.Series([row[0] for row in people()])))


def put_identifiers_first(copy):
    copy.write(copy.rows.select(pl.Series("ssn", [row[0] for row in people()]), pl.all()))


def lose_a_column(copy):
    copy.write(copy.rows.drop("city"))


def lose_the_keys(copy):
    copy.write(copy.rows.drop("key"))


def rename_a_column(copy):
    copy.write(copy.rows.rename({"city": "town"}))


def swap_columns(copy):
    copy.write(copy.rows.select("key", "city", "age", "smokes", "diagnosis", "note"))


def swap_sensitive_values(copy):
    """Two persons of different illness change places."""
    rows = copy.rows
    values = rows["diagnosis"].to_list()
    other = next(number for number, value in enumerate(values) if value != values[0])
    values[0], values[other] = values[other], values[0]
    copy.write(rows.with_columns(pl.Series("diagnosis", values)))


def swap_keys(copy):
    """Rows that differ change keys: everybody finds a row, but not the own one."""
    rows = copy.rows
    copy.write(
        pl.concat([rows.select("key"), rows.select(pl.exclude("key")).reverse()], how="horizontal")
    )


def empty_a_sensitive_value(copy):
    copy.set("diagnosis", 3, None)


def reuse_a_key(copy):
    copy.set("key", 1, copy.rows["key"][0])


def invent_a_key(copy):
    copy.set("key", 89, "f" * 16)


def lose_a_key(copy):
    copy.set("key", 89, None)


def reorder(copy):
    copy.write(copy.rows.reverse())


def change_csv_only(copy):
    copy.write_csv(copy.rows.with_columns(note=pl.lit("other")))


def reorder_csv_only(copy):
    copy.write_csv(copy.rows.reverse())


def change_parquet_only(copy):
    write_typed(copy.rows.with_columns(note=pl.lit("other")), copy.folder)


def unreadable_cell(copy):
    copy.set("city", 4, "ulm|Atlantis")


def empty_cell(copy):
    copy.set("age", 4, None)


def interval_upside_down(copy):
    labels = next(
        a["labels"]
        for a in read_json(copy.folder / "codebook.json")["attributes"]
        if a["name"] == "age"
    )
    copy.set("age", 4, f"{labels[5]}..{labels[2]}")


def widen_every_cell(copy):
    """Nothing is told that is wrong, but less than the manifest claims."""
    copy.write(copy.rows.with_columns([pl.lit("*").alias(name) for name in QUASI]))


def numbers_for_texts(copy):
    write_typed(copy.rows.with_columns(diagnosis=pl.lit(1)), copy.folder)


def lists_for_texts(copy):
    copy.rows.with_columns(note=pl.Series([["ulm", "bonn"]] * 90)).write_parquet(
        copy.folder / "data.parquet"
    )


def texts_for_typed_cells(copy):
    copy.rows.write_parquet(copy.folder / "data.parquet")


def a_carried_column_of_another_type(copy):
    rows = copy.rows.with_columns(pl.col("diagnosis").cast(pl.Categorical))
    write_typed(rows, copy.folder)


def text_in_another_order(copy):
    """The CSV file says the same otherwise."""
    cells = copy.rows["city"].str.split("|").list.reverse().list.join("|")
    copy.write_csv(copy.rows.with_columns(cells.alias("city")))


def no_rows(copy):
    copy.write(copy.rows[:0])


def truncated_parquet(copy):
    path = copy.folder / "data.parquet"
    path.write_bytes(path.read_bytes()[:200])


def truncated_csv(copy):
    path = copy.folder / "data.csv.gz"
    path.write_bytes(path.read_bytes()[:-20])


def lose_csv(copy):
    (copy.folder / "data.csv.gz").unlink()


def other_edges(copy):
    copy.change("codebook.json", lambda book: book["attributes"][0]["inner_edges"].append(999.0))


def other_label(copy):
    copy.change(
        "codebook.json", lambda book: book["attributes"][1]["labels"].__setitem__(1, "Atlantis")
    )


def no_codebook(copy):
    (copy.folder / "codebook.json").write_text("[]")


def lose_codebook(copy):
    (copy.folder / "codebook.json").unlink()


def name_the_packed_file(copy):
    content = copy.rows.write_csv().encode()
    with gzip.open(copy.folder / "data.csv.gz", "wb") as packed:
        packed.write(content)


def annotate_the_footer(copy):
    write_typed(copy.rows, copy.folder, metadata={"source": "people.csv"})


DATA = {
    another_persons_value: {"truthful rows", "matchable crowds"},
    unmask: {"compatible crowds", "matchable crowds", "numbers as measured"},
    drop_row: {"one row a record", "known keys", "truthful rows", "matchable crowds"},
    copy_row: {"one row a record"},
    copy_row_under_a_new_key: {"one row a record"},
    replace_row_by_copy: {"truthful rows"},
    add_identifiers: {"no other column"},
    put_identifiers_first: {"no other column"},
    lose_a_column: {"no other column", "crowds"},
    lose_the_keys: {"no other column", "crowds"},
    rename_a_column: {"no other column", "crowds"},
    swap_columns: {"no other column"},
    swap_sensitive_values: {"truthful rows"},
    swap_keys: {"truthful rows"},
    empty_a_sensitive_value: {"truthful rows"},
    reuse_a_key: {"one row a record", "known keys"},
    invent_a_key: {"known keys", "truthful rows"},
    lose_a_key: {"one row a record", "known keys"},
    reorder: {"rows ordered by key"},
    change_csv_only: {"same table in every format"},
    reorder_csv_only: {"same table in every format"},
    change_parquet_only: {"same table in every format"},
    unreadable_cell: {"readable cells"},
    empty_cell: {"readable cells", "truthful rows"},
    interval_upside_down: {"readable cells"},
    widen_every_cell: {"numbers as measured"},
    numbers_for_texts: {"truthful rows", "same table in every format"},
    lists_for_texts: {"readable files"},
    texts_for_typed_cells: {"types of the columns"},
    a_carried_column_of_another_type: {"types of the columns"},
    text_in_another_order: {"same table in every format", "no traces in the files"},
    no_rows: {"crowds"},
    truncated_parquet: {"readable files"},
    truncated_csv: {"readable files"},
    lose_csv: {"readable files"},
    other_edges: {"codebook of the source"},
    other_label: {"codebook of the source"},
    name_the_packed_file: {"no traces in the files"},
    annotate_the_footer: {"no traces in the files"},
    no_codebook: {"codebook of the source"},
    lose_codebook: {"codebook of the source"},
}


def tamper(copy, section, key, value):
    copy.change("manifest.json", lambda document: document[section].__setitem__(key, value))


def alien_file(copy):
    (copy.folder / "persons.txt").write_text("left over")


def hidden_file(copy):
    (copy.folder / ".persons").write_text("left over")


def alien_folder(copy):
    (copy.folder / "more").mkdir()


def changed_report(copy):
    (copy.folder / "report.html").write_text("all is well")


def lost_report(copy):
    (copy.folder / "report.html").unlink()


def no_files(copy):
    copy.change("manifest.json", lambda document: document.update(files={}))


MANIFEST = {
    "too many records": (
        lambda copy: tamper(copy, "privacy", "records", 91),
        {"numbers as measured"},
    ),
    "a larger k": (lambda copy: tamper(copy, "privacy", "k_min", 10), {"numbers as measured"}),
    "a larger margin": (
        lambda copy: tamper(copy, "privacy", "compatible_min_margin", 99),
        {"numbers as measured"},
    ),
    "a better utility": (
        lambda copy: tamper(copy, "utility", "suppression", 0.99),
        {"numbers as measured"},
    ),
    "a better column": (
        lambda copy: tamper(copy, "utility", "per_column", {}),
        {"numbers as measured"},
    ),
    "a weaker attack": (
        lambda copy: tamper(copy, "attacks", "insider", {"success": 0.01}),
        {"numbers as measured"},
    ),
    "attacks untold": (
        lambda copy: copy.change("manifest.json", lambda d: d.pop("attacks")),
        {"numbers as measured"},
    ),
    "attacks of another kind": (
        lambda copy: copy.change("manifest.json", lambda d: d.update(attacks=[5])),
        {"manifest", "form of the manifest"},
    ),
    "a file too many": (alien_file, {"files as published"}),
    "a hidden file too many": (hidden_file, {"files as published"}),
    "a folder too many": (alien_folder, {"files as published"}),
    "another report": (changed_report, {"files as published"}),
    "no report": (lost_report, {"files as published"}),
    "no hashes": (no_files, {"files as published"}),
    "no privacy": (
        lambda copy: copy.change("manifest.json", lambda d: d.pop("privacy")),
        {"manifest"},
    ),
    "files of another kind": (
        lambda copy: copy.change("manifest.json", lambda d: d.update(files=5)),
        {"manifest"},
    ),
    "privacy of another kind": (
        lambda copy: copy.change("manifest.json", lambda d: d.update(privacy=[5])),
        {"manifest", "form of the manifest"},
    ),
}


# ---------------------------------------------------------------- the audit


def test_a_correct_release_holds(copy, capsys):
    code, out, err = audit(copy.folder, copy.order, capsys)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "all 25 guarantees hold"
    assert "NO" not in out


def test_a_correct_release_holds_wherever_it_lies(copy, tmp_path, capsys, monkeypatch):
    (copy.folder).rename(tmp_path / "renamed")
    monkeypatch.chdir(tmp_path)
    assert audit("renamed", copy.order, capsys)[0] == 0


def test_quiet_prints_the_verdict_only(copy, capsys):
    assert audit(copy.folder, copy.order, capsys, "--quiet")[1] == "all 25 guarantees hold\n"
    drop_row(copy)
    code, out, _ = audit(copy.folder, copy.order, capsys, "--quiet")
    assert code == 4
    assert out.startswith("broken: ")
    assert out.count("\n") == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "guarantees"), DATA.items(), ids=[spoil.__name__ for spoil in DATA]
)
def test_a_spoiled_release_is_found(copy, capsys, spoil, guarantees):
    """By its hashes, and by what it says."""
    spoil(copy)
    code, out, err = audit(copy.folder, copy.order, capsys)
    assert (code, err) == (4, "")
    assert broken(out) >= guarantees | {"files as published"}
    copy.refresh()
    code, out, err = audit(copy.folder, copy.order, capsys)
    assert (code, err) == (4, "")
    assert broken(out) >= guarantees
    assert "files as published" not in broken(out)


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "guarantees"),
    [
        (reorder, {"rows ordered by key"}),
        (add_identifiers, {"no other column"}),
        (swap_columns, {"no other column"}),
        (change_csv_only, {"same table in every format"}),
        (other_edges, {"codebook of the source"}),
        (widen_every_cell, {"numbers as measured"}),
        (swap_sensitive_values, {"truthful rows", "numbers as measured"}),
    ],
)
def test_only_what_is_broken_is_named(copy, capsys, spoil, guarantees):
    spoil(copy)
    copy.refresh()
    assert broken(audit(copy.folder, copy.order, capsys)[1]) == {
        *guarantees,
        "manifest as published",
    }


def test_a_manifest_that_vouches_for_another_report_is_not_the_vaults(copy, capsys):
    changed_report(copy)
    copy.refresh()
    code, out, err = audit(copy.folder, copy.order, capsys)
    assert (code, err) == (4, "")
    assert broken(out) == {"manifest as published"}


@pytest.mark.long
@pytest.mark.parametrize(("spoil", "guarantees"), MANIFEST.values(), ids=MANIFEST.keys())
def test_a_manifest_that_claims_something_else_is_found(copy, capsys, spoil, guarantees):
    spoil(copy)
    code, out, err = audit(copy.folder, copy.order, capsys)
    assert (code, err) == (4, "")
    assert broken(out) - {"manifest as published"} == guarantees


@pytest.mark.long
def test_unmasking_is_found_when_a_crowd_falls_below_k(released, copy):
    """Unmask row after row: the audit agrees with a slow count of the rows that everyone fits."""
    book = attributes(copy.folder)
    rows, row_of = copy.rows, copy.row_of
    seen = set()
    for record, person in enumerate(people()):
        texts = dict(zip(QUASI, person[1:4], strict=True))
        exact = {name: book[name]["labels"][level(book[name], texts[name])] for name in QUASI}
        here = pl.Series(range(90)) == row_of[record]
        told = rows.with_columns(
            [pl.when(here).then(pl.lit(exact[name])).otherwise(name).alias(name) for name in QUASI]
        )
        copy.write(told)
        found = audit_release(copy.folder, released.plan)
        holds = {finding.guarantee: finding.passed for finding in found.findings}
        short = int((fits(copy.folder, people()).sum(axis=1) < 4).sum())
        assert found.measured.crowds.below_k == short
        assert holds["compatible crowds"] == (short == 0)
        assert holds["truthful rows"]
        seen.add((told.equals(rows), short == 0))
        if len(seen) == 3:
            break
    assert {(False, False), (True, True)} <= seen


# ---------------- the wrong plan, source, vault or folder


def test_another_plan_is_named_as_such(copy, tmp_path, capsys):
    other = Order(tmp_path / "other", privacy={"k": 3})
    other.write(publish={"vault": str(copy.order.vault)})
    code, out, err = audit(copy.folder, other, capsys)
    assert (code, out) == (3, "")
    assert err.startswith("crowdcover: the vault knows no release of this plan and this source;")
    assert "the plan has changed since this release was made" in err
    assert err.count("\n") == 1


def test_another_source_is_named_as_such(copy, tmp_path, capsys):
    other = Order(tmp_path / "other", people(draws=8))
    code, _, err = audit(copy.folder, copy.order, capsys, "--set", f"source.path={other.source}")
    assert code == 3
    assert "the vault knows no release of this plan and this source" in err
    assert "the source has changed since this release was made" in err


def test_another_vault_is_named_as_such(copy, tmp_path, capsys):
    code, _, err = audit(
        copy.folder, copy.order, capsys, "--set", f"publish.vault={tmp_path / 'empty'}"
    )
    assert code == 3
    assert "--set publish.vault=" in err
    assert not (tmp_path / "empty").exists()


def test_a_source_with_other_columns_is_a_wrong_plan(copy, tmp_path, capsys):
    lines = copy.order.source.read_text().splitlines()
    (tmp_path / "other.csv").write_text(
        "".join(f"{line},{place or 'iban'}\n" for place, line in enumerate(lines))
    )
    code, _, err = audit(
        copy.folder, copy.order, capsys, "--set", f"source.path={tmp_path / 'other.csv'}"
    )
    assert code == 2
    assert "columns of the source that the plan does not name: iban" in err


@pytest.mark.long
def test_a_release_of_another_table_does_not_hold(tmp_path, capsys):
    """Plan, source and vault belong together; the folder does not."""
    first = Order(tmp_path / "first")
    second = Order(tmp_path / "second", people(draws=8))
    first.release()
    second.release()
    code, out, _ = audit(second.folder_of_v1, first, capsys)
    assert code == 4
    assert broken(out) >= {"known keys", "truthful rows", "matchable crowds"}


@pytest.mark.long
def test_a_vault_that_lost_its_matching_is_named(released_once, capsys):
    order = released_once()
    for spoil in (lambda path: path.write_bytes(b"no"), Path.unlink):
        spoil(order.run.path / "anonymize" / "matching.parquet")
        code, out, err = audit(order.folder_of_v1, order, capsys)
        assert (code, out) == (3, "")
        assert "the vault's matching.parquet cannot be read" in err


def test_the_vaults_matching_is_a_claim_that_is_judged_too(released_once, capsys):
    """A vault that pairs people with the wrong rows cannot make a release look right."""
    order = released_once()
    path = order.run.path / "anonymize" / "matching.parquet"
    pairs = pl.read_parquet(path)
    pairs.with_columns(key=pairs["key"].reverse()).write_parquet(path)
    assert broken(audit(order.folder_of_v1, order, capsys)[1]) >= {"truthful rows"}
    pairs[:-1].write_parquet(path)
    assert broken(audit(order.folder_of_v1, order, capsys)[1]) >= {"known keys"}
    pairs.with_columns(key=pl.lit(pairs["key"][0])).write_parquet(path)
    assert audit(order.folder_of_v1, order, capsys)[0] == 4


def test_audit_leaves_release_and_vault_as_they_are(copy, capsys):
    def state():
        paths = [*copy.folder.rglob("*"), *copy.order.vault.rglob("*")]
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}

    before = state()
    assert audit(copy.folder, copy.order, capsys)[0] == 0
    assert state() == before


def test_the_manifest_of_a_release_tells_the_audit_nothing(copy, capsys):
    """All findings but the last three are the same under a manifest that is all lies."""
    (copy.folder / "manifest.json").write_text(
        json.dumps({"files": {}, "privacy": {}, "utility": {}})
    )
    found = broken(audit(copy.folder, copy.order, capsys)[1])
    assert found == {"manifest as published", "files as published", "numbers as measured"}
