"""Versions by partition: one for each month of a source that has new rows only."""

import hashlib
import signal
from pathlib import Path
from unittest import mock

import polars as pl
import pytest

from anon_core.errors import InputError
from crowdcover.flows import cli
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.runs.partitions import backfill_partitions, format_partition_settings
from crowdcover.kinds.section import PlanError
from crowdcover.storage.series.series import NobodyHidesError, Series
from crowdcover.storage.vault.files import file_sha256, read_json
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import Order, data_bytes
from tests.flows.processes import die_at, run
from tests.support.audits import audit_release
from tests.support.visits import PARTITION, RANGE, release_one, visited, visits
from tests.typed import text_rows

HEADER = ("ssn", "age", "city", "smokes", "diagnosis", "note", "junk")
MONTHS = [f"2014-{month:02}" for month in range(1, 6)]


def known_seeds(vault):
    """Draw the secrets of the vault's n-th run from n: interrupted or not, they are the same."""

    def drawn():
        return hashlib.sha256(b"%d" % len(list(vault.glob("runs/*/seed")))).digest()

    return mock.patch("crowdcover.storage.vault.secret_streams.new_seed", drawn)


def backfill(plan, wanted=RANGE):
    """Folder or refusal by label, as the command makes them but without Prefect."""
    order = ReleasePlan.load(Path(plan))
    return dict(backfill_partitions(order, wanted, lambda named: release_one(plan, named)))


def frame(folder):
    return text_rows(folder)


def told(folder):
    return read_json(folder / "manifest.json")["series"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Five months in one go."""
    order = visited(tmp_path_factory.mktemp("whole"))
    with known_seeds(order.vault):
        return order, backfill(order.plan)


@pytest.mark.long
def test_each_month_gives_a_version_in_order(whole):
    order, made = whole
    assert [(label, folder.name) for label, folder in made.items()] == [
        (label, f"v{number}") for number, label in enumerate(MONTHS, 1)
    ]
    rows = {label: sum(row[-1].startswith(label) for row in visits()) for label in MONTHS}
    before = pl.DataFrame()
    for label, folder in made.items():
        now, counts = frame(folder), told(folder)
        assert counts["source_rows"] == counts["batch"] == counts["new"] == rows[label]
        assert counts["below_k"] == counts["held_back"] == counts["waited"] == 0
        assert now.height == before.height + rows[label]
        if before.height:
            assert now.join(before, on=now.columns, how="semi", nulls_equal=True).height == (
                before.height
            )
        before = now
    assert not list(order.vault.glob("series/people/parts/*.arrow"))


@pytest.mark.long
def test_every_version_passes_its_audit(whole):
    order, made = whole
    for folder in made.values():
        audit = audit_release(folder, order.plan)
        assert audit.passed, audit.sentence()


def test_what_is_released_is_skipped(whole):
    order, made = whole
    before = {folder: file_sha256(folder / "manifest.json") for folder in made.values()}
    assert backfill(order.plan) == {MONTHS[-1]: made[MONTHS[-1]]}
    assert release_one(order.plan, format_partition_settings("2014-02")) == made["2014-02"]
    assert before == {folder: file_sha256(folder / "manifest.json") for folder in before}
    assert len(order.versions) == 5


@pytest.mark.slow
def test_one_partition_is_as_in_a_range(whole, tmp_path):
    """The same rows are found, whether the source is read for a month or for all."""
    order = visited(tmp_path)
    assert release_one(order.plan, format_partition_settings("2014-01")).name == "v1"
    assert backfill(order.plan, "2014-01..2014-02")["2014-02"].name == "v2"
    prints = []
    for each in (order, whole[0]):
        versions = {
            label: version
            for version in Series(Vault(each.vault), "people").versions()
            for label in version.parts
        }
        prints.append([versions[label].about["source_sha256"] for label in MONTHS[:2]])
    assert prints[0] == prints[1]


@pytest.mark.slow
def test_a_released_month_stays_when_its_source_changes(tmp_path):
    order = visited(tmp_path)
    made = backfill(order.plan, "2014-01..2014-02")
    before = {label: data_bytes(folder) for label, folder in made.items()}
    order.write_source([(row[0], 50, *row[2:]) for row in visits()])
    more = backfill(order.plan, "2014-01..2014-03")
    assert list(more) == ["2014-03"]
    assert {label: data_bytes(folder) for label, folder in made.items()} == before


# ---------------------------------------------------------------- who waits


@pytest.mark.long
def test_rows_of_few_people_wait_and_join_the_next_batch(tmp_path):
    """In January and March three people come, and each shall hide among four."""
    rows = visits(rare=(1, 3))
    few = [sum(row[-1].startswith(label) for row in rows) for label in MONTHS]
    order = visited(tmp_path, rows)
    made = backfill(order.plan)
    assert isinstance(made["2014-01"], NobodyHidesError)
    assert made["2014-03"] == made["2014-02"] == order.folder_of_v1
    assert [made[label].name for label in MONTHS[1:]] == ["v1", "v1", "v2", "v3"]
    counts = [told(made[label]) for label in ("2014-02", "2014-04", "2014-05")]
    assert [each["waited"] for each in counts] == [few[0], few[2], 0]
    assert [each["new"] for each in counts] == [few[1], few[3], few[4]]
    assert frame(made["2014-05"]).height == len(rows)
    notes = frame(made["2014-05"])["note"].sort().to_list()
    assert notes == sorted(row[5] for row in rows)
    assert not list(order.vault.glob("series/people/*/pending"))
    assert audit_release(made["2014-05"], order.plan).passed


@pytest.mark.long
def test_constant_values_that_only_waiting_records_have(tmp_path):
    """Three people of February wait; neither a row nor the rows of March have their diagnoses."""
    rows = [
        (*row[:4], f"rare-{row[0]}", *row[5:]) if row[-1].startswith("2014-02") else row
        for row in visits(3, rare=(2,))
    ]
    order = visited(tmp_path, rows, series={"constant": ["diagnosis"]})
    made = backfill(order.plan, "2014-01..2014-03")
    assert made["2014-02"] == made["2014-01"] == order.folder_of_v1
    few = sum(row[-1].startswith("2014-02") for row in rows)
    assert told(made["2014-03"])["waited"] == few
    assert frame(made["2014-03"]).height == len(rows)
    assert told(made["2014-03"])["histories_below_k"] == 0


def test_a_range_that_ends_where_nobody_can_hide_is_refused(tmp_path):
    order = visited(tmp_path, visits(rare=(1,)))
    for _ in range(2):
        with pytest.raises(NobodyHidesError, match="none can hide in a batch"):
            backfill(order.plan, "2014-01..2014-01")
    assert order.versions == []


def withdraw(order, *names):
    path = order.folder / "leavers.txt"
    path.write_text("\n".join(names))
    with pytest.raises(SystemExit) as ended:
        cli.main(["withdraw", str(path), "--plan", str(order.plan)])
    assert ended.value.code == 0


def test_people_who_wait_never_had_a_row(tmp_path, capsys):
    """Nobody of January can hide, so its people are known to the vault and are in no version."""
    order = visited(tmp_path, visits(rare=(1,)))
    with pytest.raises(NobodyHidesError):
        release_one(order.plan, format_partition_settings("2014-01"))
    withdraw(order, "ident-00001")
    assert "0 had rows in earlier ones only, 1 never had one" in capsys.readouterr().out


@pytest.mark.long
def test_people_who_withdrew_are_in_no_later_version_and_wait_no_more(tmp_path):
    """Rows of the withdrawn wait from January; in February another person of the rows withdraws."""
    order = visited(tmp_path, visits(rare=(1,)))
    with pytest.raises(NobodyHidesError):
        release_one(order.plan, format_partition_settings("2014-01"))
    withdraw(order, "ident-00001")
    made = backfill(order.plan, "2014-01..2014-02")
    assert list(made) == ["2014-02"]
    mine = {row[5] for row in visits(rare=(1,)) if row[0] == "ident-00001"}
    assert not mine & set(frame(made["2014-02"])["note"])
    assert told(made["2014-02"])["waited"] > 0


@pytest.mark.slow
def test_a_withdrawal_has_effect_with_the_next_call(tmp_path):
    """The partition was released: the next version has its rows but those of the withdrawn."""
    order = visited(tmp_path)
    made = backfill(order.plan, "2014-01..2014-02")
    withdraw(order, "ident-00001")
    again = release_one(order.plan, format_partition_settings("2014-02"))
    assert again.name == "v3"
    rows = [row for row in visits() if row[-1] < "2014-03" and row[0] != "ident-00001"]
    assert sorted(frame(again)["note"]) == sorted(row[5] for row in rows)
    assert told(again)["source_rows"] == told(again)["new"] == 0
    assert audit_release(again, order.plan).passed
    assert release_one(order.plan, format_partition_settings("2014-02")) == made["2014-02"]
    assert release_one(order.plan, format_partition_settings("2014-03")).name == "v4"


# ---------------------------------------------------------------- killed


def backfill_until(plan, module, name, passes, called):
    """Make versions and die at a call of module.name, after it was made or instead of it."""
    die_at(module, name, passes, called)
    with known_seeds(Path(plan).parent / "vault"):
        backfill(plan)


KILLS = {
    "while rows of partitions are written": (
        "crowdcover.flows.runs.partitions",
        "write_rows",
        2,
        True,
        0,
    ),
    "between two versions": ("crowdcover.flows.runs.next_version.NextVersion", "end", 2, False, 3),
    "before the split": ("crowdcover.kinds.table.series.versions", "divide_version", 2, False, 2),
    "in the anonymizer": ("crowdcover.kinds.table.pipeline.write", "random_matching", 2, False, 2),
    "before a version is laid together": (
        "crowdcover.kinds.table.series.versions",
        "assemble_version",
        2,
        False,
        2,
    ),
    "while a version is published": ("shutil", "copyfile", 12, True, None),
}


@pytest.mark.slow
@pytest.mark.parametrize("kill", KILLS.values(), ids=KILLS)
def test_killed_and_resumed(whole, tmp_path, kill):
    """The second call gives the bytes of a run that nobody killed, by the same secrets."""
    *point, published = kill
    order = visited(tmp_path)
    ended = run(backfill_until, str(order.plan), *point)
    assert ended.code == -signal.SIGKILL, ended.err
    assert published is None or len(order.versions) == published
    before = {name: data_bytes(order.releases / name) for name in order.versions}
    seeds = {path: path.read_bytes() for path in order.vault.glob("runs/*/seed")}
    with known_seeds(order.vault):
        backfill(order.plan)
    assert order.versions == [f"v{number}" for number in range(1, 6)]
    assert {name: data_bytes(order.releases / name) for name in before} == before
    assert {path: path.read_bytes() for path in seeds} == seeds
    assert len(list(order.vault.glob("runs/*/seed"))) == 5  # what was begun was gone on with
    for name in order.versions:
        assert data_bytes(order.releases / name) == data_bytes(whole[0].releases / name)
    assert audit_release(order.releases / "v5", order.plan).passed
    assert not list(order.vault.glob("series/people/parts/*.arrow"))


# ---------------------------------------------------------------- what is refused


def refused(order, *named, words, error=PlanError):
    with pytest.raises(error, match=words):
        release_one(order.plan, named)


def test_plans_that_cannot_be_followed(tmp_path):
    order = visited(tmp_path)
    refused(order, words="say of which partition")
    refused(
        order,
        *format_partition_settings("2014-Q1"),
        words=r"written like 2014-03; correct --partition",
    )
    refused(
        order,
        *format_partition_settings("2020-01"),
        words="has no rows in this partition",
        error=InputError,
    )
    refused(
        order,
        "series.record=ssn",
        *format_partition_settings("2014-01"),
        words="leave one of them out",
    )
    order.write(source={"partition": {"column": "absent", "by": "month"}})
    refused(order, words="names a column that .columns. does not; allowed: ssn, age")
    order.write(source={"partition": {"column": "age", "by": "month"}})
    refused(order, words="column 'age' has kind = 'numeric'")
    order.write(source={"partition": {"column": "junk", "by": "fortnight"}})
    refused(order, words="source.partition.by")
    plain = Order(tmp_path / "plain", visits())
    refused(plain, *format_partition_settings("2014-01"), words="has no source.partition")
    plain.write(source={"partition": PARTITION})
    refused(plain, words=r"source.partition belongs to \[series\]")


@pytest.mark.parametrize("wanted", ["2014-01", "2014-05..2014-01", "2014..2015", "../x..2014-01"])
def test_ranges_that_are_none(tmp_path, wanted):
    order = visited(tmp_path)
    with pytest.raises(PlanError, match=r"--backfill takes FIRST\.\.LAST; a partition by month"):
        backfill(order.plan, wanted)


def test_a_range_without_rows(tmp_path):
    order = visited(tmp_path)
    with pytest.raises(InputError, match="no rows in these partitions"):
        backfill(order.plan, "2020-01..2020-12")


def test_the_command_takes_one_plan_and_one_of_both(tmp_path, capsys):
    order = visited(tmp_path)
    for arguments in (
        [order.plan, "--partition", "2014-01", "--backfill", RANGE],
        [order.plan, order.plan, "--backfill", RANGE],
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main(["release", *map(str, arguments)])
        assert ended.value.code == 2
        assert "give one plan" in capsys.readouterr().err


def test_a_divided_source_has_no_schedule(tmp_path, capsys):
    """Each run needs the name of a partition."""
    order = visited(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve", str(order.plan), "--cron", "0 2 1 * *"])
    assert ended.value.code == 2
    assert "say of which partition" in capsys.readouterr().err


def test_a_partition_does_not_change_the_hash_of_other_plans(tmp_path):
    """The keys of the command shape nothing; the division does."""
    order = visited(tmp_path)
    plain = ReleasePlan.load(order.plan)
    assert (
        ReleasePlan.load(order.plan, format_partition_settings("2014-01", Path("x"))).sha256
        == plain.sha256
    )
    order.write(source={"partition": {**PARTITION, "by": "year"}})
    assert ReleasePlan.load(order.plan).sha256 != plain.sha256


@pytest.mark.slow
def test_formats_of_the_column_are_kept(tmp_path):
    """The dates of an identifier, written as in America."""
    rows = [(*row[:6], f"{row[6][5:7]}/{row[6][8:]}/{row[6][:4]}") for row in visits(2)]
    order = visited(tmp_path, rows)
    with pytest.raises(InputError, match="are no dates of the stated format"):
        backfill(order.plan)
    order.write(columns={"junk": {"role": "drop", "kind": "date", "format": "%m/%d/%Y"}})
    assert list(backfill(order.plan)) == MONTHS[:2]


@pytest.mark.slow
def test_the_vault_forgets_whoever_withdrew_and_waited(tmp_path):
    """Their rows lie in the vault while they wait, and nowhere once a version was published."""
    order = visited(tmp_path, visits(rare=(1, 3)))
    backfill(order.plan, "2014-01..2014-03")
    mine = [row[5] for row in visits(rare=(1, 3)) if row[0] == "ident-00001"]
    assert any(held(order, note) for note in mine)
    withdraw(order, "ident-00001")
    backfill(order.plan, "2014-04..2014-04")
    assert not any(held(order, note) for note in [*mine, "ident-00001"])


def held(order, text):
    """Whether a value stands in a table of the vault's, as a whole cell."""
    tables = [pl.read_parquet(path, glob=False) for path in order.vault.rglob("*.parquet")]
    tables += [pl.read_ipc(path) for path in order.vault.rglob("*.arrow")]
    return any((table[name] == text).any() for table in tables for name in text_columns(table))


def text_columns(table):
    return [name for name, dtype in table.schema.items() if dtype == pl.String]
