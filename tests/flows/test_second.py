"""Second releases: who is recognised, what is refused, and the crowds left where one is allowed."""

import json
import logging
import shutil
import sqlite3
import threading
from contextlib import closing

import numpy as np
import polars as pl
import pytest

from anon_core.errors import GuaranteeError
from crowdcover.flows import cli
from crowdcover.kinds.table.pipeline.overlap import Side, _find_partners
from crowdcover.kinds.table.pipeline.people import rebuild_people
from crowdcover.storage.ledger.ledger import Ledger, LedgerError
from crowdcover.storage.vault.refusals import SecondReleaseError
from crowdcover.storage.vault.vault import Vault
from tests import naive
from tests.flows.orders import HEADER, SEED, data_bytes, people
from tests.flows.processes import crowdcover
from tests.support.releases import fits, released_rows
from tests.support.second import INTERSECTED, aged, calm, findings, order_of, section

ALLOWED = {"publish": {"allow_second_release": True}}
QUASI_ONLY = {"columns": {name: {"role": "drop"} for name in ("note", "diagnosis")}}
NO_IDENTIFIER = {"columns": {"ssn": {"role": "drop"}}}


# ---------------------------------------------------------------- refused by default


@pytest.mark.long
@pytest.mark.parametrize(
    ("second", "words"),
    [
        (aged(people()), r"90 people of this source were released already \(people v1\)"),
        (
            people()[:50] + people(60, draws=8, first=500),
            r"50 people of this source were released already \(people v1\)",
        ),
        (
            [*people(), *people(10, draws=8, first=500)],
            r"90 people of this source were released already \(people v1\)",
        ),
    ],
    ids=["other quasi-identifiers", "some of them", "a table that has grown"],
)
def test_people_who_were_released_are_recognised_in_another_table(released_once, second, words):
    order = released_once(order_of)
    order.write_source(second)
    with pytest.raises(
        SecondReleaseError, match=words + ".*none may be shared.*allow_second_release = true"
    ):
        order.release()
    assert order.versions == ["v1"]
    assert not order.run.has("anonymize")  # found before the expensive work
    assert "Refused: other releases of the same people" in order.verdicts


@pytest.mark.long
@pytest.mark.parametrize(
    "rows",
    [people()[:40] + people(50, draws=8), people()[::-1]],
    ids=["some of them", "another order"],
)
def test_without_identifiers_whole_records_are_recognised(tmp_path, rows):
    order = order_of(tmp_path, **NO_IDENTIFIER)
    order.release()
    order.write_source(rows)
    with pytest.raises(SecondReleaseError, match="people of this source were released already"):
        order.release()


@pytest.mark.long
def test_other_people_pass_silently(released_once):
    order = released_once(order_of)
    order.write_source(people(first=90))  # the same records, of other persons
    folder = order.release()
    assert folder == order.releases / "v2"
    assert section(folder) is None
    assert INTERSECTED not in findings(folder, order)


@pytest.mark.long
def test_people_who_were_left_out_were_not_released(tmp_path):
    """People without a city are dropped from the first release, and alone in the second."""
    city = {"city": {"role": "quasi", "kind": "categorical", "missing": "drop"}}
    order = order_of(tmp_path, columns=city)
    order.release()
    nowhere = [row for row in people() if not row[2]]
    order.write_source([(*row[:2], "ulm", *row[3:]) for row in nowhere])
    assert order.release() == order.releases / "v2"


@pytest.mark.long
def test_the_first_plan_gets_its_release_back_though_a_second_was_allowed(released_once):
    order = released_once(order_of, calm(people()))
    first = order.folder_of_v1
    before = order.document
    order.document = json.loads(json.dumps(before))
    order.write(privacy={"k": 2}, **ALLOWED)
    assert order.release() == order.releases / "v2"
    order.document = before
    order.write()
    assert order.release() == first
    order.write(publish={"path": "elsewhere"})
    assert data_bytes(order.release()) == data_bytes(first)
    assert order.versions == ["v1", "v2"]


@pytest.mark.long
def test_the_command_refuses_with_exit_code_2(server, released_once):
    order = released_once(order_of)
    order.write_source(aged(people()))
    done = crowdcover("release", order.plan)
    assert done.code == 2, done.err
    assert "90 people of this source were released already (people v1)" in done.err


def test_a_ledger_of_before_there_were_ledgers_is_built_from_the_runs(released_once):
    """Such runs kept no digests of identifiers: whole records are recognised."""
    order = released_once(order_of)
    shutil.rmtree(order.run.path / "identify")
    for name in ("ledger.sqlite", "ledger.key"):
        (order.vault / name).unlink()
    order.write_source([*people(), *people(10, draws=8, first=500)])
    with pytest.raises(SecondReleaseError, match="90 people of this source were released already"):
        order.release()


# ---------------------------------------------------------------- allowed, and audited


def crowds_by_definition(tables, folders):
    """Rows left for everyone by the definition; all people are in all releases."""
    crowds = []
    for table, folder in zip(tables, folders, strict=True):
        rows = [
            {name: row[name] for name in ("diagnosis", "note") if name in row}
            for row in released_rows(folder)
        ]
        fit = fits(folder, table)
        crowds.append(
            {
                person[0]: [rows[at] for at in np.flatnonzero(fit[v])]
                for v, person in enumerate(table)
            }
        )
    return {ssn: naive.rows_left([crowd[ssn] for crowd in crowds]) for ssn in crowds[0]}


@pytest.mark.long
def test_what_does_not_tell_rows_apart_may_be_released_again(released_once):
    order = released_once(order_of, calm(people()))
    first = order.folder_of_v1
    order.write(privacy={"k": 6}, **ALLOWED)
    second = order.release()
    assert second == order.releases / "v2"
    left = np.array(list(crowds_by_definition([calm(people())] * 2, [first, second]).values()))
    assert section(second) == {
        "overlapping": 1, "people": 90, "below_k": 0, "least_margin": int((left - [4, 6]).min()),
    }  # fmt: skip
    assert section(first) is None
    found = findings(second, order)
    assert found[INTERSECTED].passed
    assert "0 of 90 people who are also in 1 other release(s)" in found[INTERSECTED].detail
    order.write(privacy={"k": 4})
    assert findings(first, order)[INTERSECTED].passed


@pytest.mark.long
def test_distinct_notes_link_rows_and_are_refused(server, released_once):
    order = released_once(order_of)
    order.write(privacy={"k": 5}, **ALLOWED)
    with pytest.raises(
        GuaranteeError,
        match=r"refused; \d+ of 90 people who are also in 1 other release\(s\) keep fewer than k",
    ):
        order.release()
    assert order.versions == ["v1"]
    assert not [path for path in order.releases.iterdir() if path.name not in (".vault", "v1")]
    done = crowdcover("release", order.plan)
    assert done.code == 4
    order.write(**QUASI_ONLY)  # without what links them
    assert section(order.release())["people"] == 90


@pytest.mark.long
def test_how_many_fall_short_is_what_the_definition_says(tmp_path):
    """Five illnesses, two plans: some crowds keep k rows, others do not."""
    columns = {"note": {"role": "drop"}}
    order = order_of(tmp_path, columns=columns)
    first = order.release()
    elsewhere = order_of(tmp_path / "second", aged(people()), columns=columns, privacy={"k": 3})
    left = crowds_by_definition([people(), aged(people())], [first, elsewhere.release()])
    short = sum(a < 4 or b < 3 for a, b in left.values())
    margin = min(min(a - 4, b - 3) for a, b in left.values())
    assert short > 0
    order.write_source(aged(people()))
    order.write(privacy={"k": 3}, **ALLOWED)
    order.fix_seed(elsewhere.run.seed)
    with pytest.raises(
        GuaranteeError, match=rf"refused; {short} of 90 people.*\(least margin {margin}\)"
    ):
        order.release()


def paired(order, change):
    """Texts of everyone in a second release, and of the same person in the first."""
    order.release()
    first = order.run
    change()
    order.write(privacy={"k": 3}, **ALLOWED)
    order.release()
    found = _find_partners(
        Ledger(Vault(order.vault), rebuild_people), Side.of(order.run), Side.of(first)
    )
    own, other = (
        pl.read_parquet(run.path / "ingest" / "table.parquet").cast(pl.String)
        for run in (order.run, first)
    )
    return own, other[found][own.columns]


@pytest.mark.long
def test_a_table_whose_columns_are_selected_in_another_order_is_laid_beside_itself(tmp_path):
    order = order_of(tmp_path, **QUASI_ONLY)
    with closing(sqlite3.connect(tmp_path / "people.sqlite")) as connection:
        connection.execute(f"create table people ({', '.join(HEADER)})")
        connection.executemany("insert into people values (?, ?, ?, ?, ?, ?, ?)", people())
        connection.commit()

    def select(names):
        query = f"select {', '.join(names)} from people"
        order.document["source"] = {
            "uri": f"sqlite:///{tmp_path / 'people.sqlite'}",
            "query": query,
        }
        order.write()

    select(HEADER)
    own, other = paired(order, lambda: select(HEADER[::-1]))
    assert own.equals(other)


@pytest.mark.long
def test_a_table_whose_first_row_was_taken_for_a_person_is_laid_beside_itself(tmp_path):
    """Its header named one column otherwise than the plan does: who repeats them all is refused."""
    texts = {name: {"role": "quasi", "kind": "categorical"} for name in ("age", "city", "smokes")}
    order = order_of(tmp_path, columns={**QUASI_ONLY["columns"], **texts}, source={"header": False})
    lines = order.source.read_text(encoding="utf-8").replace("smokes", "smoker", 1)
    order.source.write_text(lines, encoding="utf-8")

    def mend():
        order.source.write_text(lines.replace("smoker", "smokes", 1), encoding="utf-8")
        order.write(source={"header": True})

    own, other = paired(order, mend)
    assert own.equals(other)


@pytest.mark.long
def test_what_somebody_is_known_by_in_one_release_is_not_carried_in_another(tmp_path):
    order = order_of(tmp_path, **QUASI_ONLY)
    first = order.release()
    order.write(columns={"age": {"role": "keep"}}, **ALLOWED)
    words = "'age': quasi-identifiers in one of the releases that show the same people"
    with pytest.raises(SecondReleaseError, match=words):
        order.release()
    assert order.versions == [first.name]


@pytest.mark.long
def test_three_releases(tmp_path):
    """Sixty people are in all three, thirty in two of them."""
    tables = [
        calm(people()),
        calm(aged(people())),
        calm(people()[:60] + people(60, draws=8, first=500)),
    ]
    order = order_of(tmp_path, tables[0])
    folders = [order.release()]
    for rows in tables[1:]:
        order.write_source(rows)
        order.write(**ALLOWED)
        folders.append(order.release())
    told = [section(folder) for folder in folders]
    assert told[0] is None
    assert [(each["overlapping"], each["people"], each["below_k"]) for each in told[1:]] == [
        (1, 90, 0),
        (2, 60, 0),
    ]
    assert findings(folders[2], order)[INTERSECTED].passed


@pytest.mark.long
def test_a_third_release_is_audited_against_both_of_the_others(released_once):
    """The first release carries notes, the second does not: the third is linked to the first."""
    order = released_once(order_of)
    order.write(**QUASI_ONLY, **ALLOWED)
    order.release()
    order.write(columns={"note": {"role": "keep"}}, privacy={"k": 5})
    with pytest.raises(GuaranteeError, match=r"of 90 people who are also in 2 other release\(s\)"):
        order.release()


@pytest.mark.long
def test_a_release_whose_run_is_gone_cannot_be_audited(released_once):
    order = released_once(order_of, calm(people()))
    path = order.run.path
    order.write(privacy={"k": 5}, **ALLOWED)
    kept = shutil.move(path, order.folder / "kept")
    with pytest.raises(
        SecondReleaseError,
        match=r"1 of the releases that show the same people cannot be compared with this one",
    ):
        order.release()
    shutil.move(kept, path)
    (path / "anonymize" / "data.parquet").write_bytes(b"damaged")
    with pytest.raises(SecondReleaseError, match="their stages are not complete in this vault"):
        order.release()
    assert order.versions == ["v1"]


@pytest.mark.long
def test_an_audit_says_when_the_other_run_is_gone(tmp_path):
    order = order_of(tmp_path, calm(people()))
    first = order.run.path
    order.release()
    order.write(privacy={"k": 5}, **ALLOWED)
    second = order.release()
    shutil.rmtree(first)
    assert not findings(second, order)[INTERSECTED].passed


@pytest.mark.parametrize("formats", [["csv"], pytest.param(["parquet"], marks=pytest.mark.slow)])
def test_the_audit_of_either_format_reads_the_published_rows(tmp_path, formats, capsys):
    rows = [
        (*row[:4], str(number % 2 + 0.5), "note", row[6]) for number, row in enumerate(people())
    ]
    order = order_of(
        tmp_path,
        rows,
        columns={"diagnosis": {"role": "sensitive", "kind": "numeric"}},
        publish={"formats": formats},
    )
    order.release()
    order.write(
        privacy={"k": 2},
        **ALLOWED,
        columns={"note": {"role": "drop"}, "diagnosis": {"role": "drop"}},
    )
    order.write(columns={"city": {"role": "quasi", "kind": "categorical", "weight": 2.0}})
    folder = order.release()
    with pytest.raises(SystemExit) as ended:
        cli.main(["audit", str(folder), "--plan", str(order.plan)])
    assert ended.value.code == 0
    assert INTERSECTED in capsys.readouterr().out


# ---------------- at the same time, and without a ledger


@pytest.mark.slow
def test_of_two_plans_that_publish_at_once_one_wins(server, tmp_path):
    one, other = order_of(tmp_path), order_of(tmp_path, source={"path": "other.csv"})
    other.source = tmp_path / "other.csv"
    other.write_source(aged(people()))
    other.plan = tmp_path / "other.toml"
    other.write(name="others", publish={"path": "elsewhere"})
    one.write_source(people())
    one.write()
    done = []

    def release(order):
        done.append(crowdcover("release", order.plan))

    threads = [threading.Thread(target=release, args=(order,)) for order in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.code for each in done) == [0, 2], [each.err for each in done]
    published = [*tmp_path.glob("releases/*/[!.]*"), *tmp_path.glob("elsewhere/*/[!.]*")]
    assert [path.name for path in published] == ["v1"]
    with closing(sqlite3.connect(one.vault / "ledger.sqlite")) as ledger:
        assert ledger.execute("select version, records, published from releases").fetchall() == [
            ("v1", 90, 1)
        ]


@pytest.mark.long
def test_a_release_that_came_in_between_is_noticed_under_the_lock(tmp_path, monkeypatch):
    """The other table is published while this one is at work."""
    import crowdcover.flows.course as module

    order, other = (
        order_of(tmp_path),
        order_of(tmp_path / "other", aged(people()), publish={"vault": str(tmp_path / "vault")}),
    )
    made, ran = module.check, []

    def check(*arguments):
        if not ran:
            ran.append(True)
            other.release()
        return made(*arguments)

    monkeypatch.setattr(module, "check", check)
    with pytest.raises(SecondReleaseError, match="90 people of this source were released already"):
        order.release()
    assert order.versions == []
    assert not order.releases.exists() or not list(order.releases.iterdir())


@pytest.mark.long
def test_without_its_ledger_nothing_is_published(released_once):
    order = released_once(order_of)
    path = order.vault / "ledger.sqlite"
    whole = path.read_bytes()
    path.write_bytes(b"damaged" * 1000)
    order.write_source(people(first=90))
    with pytest.raises(LedgerError, match="nothing is published without it"):
        order.release()
    assert order.versions == ["v1"]
    path.write_bytes(whole)
    assert order.release() == order.releases / "v2"


@pytest.mark.long
def test_a_ledger_that_fails_when_it_is_written_leaves_nothing_half_published(
    tmp_path, monkeypatch
):
    from crowdcover.storage.ledger.ledger import Ledger

    order, announce = order_of(tmp_path).fix_seed(), Ledger.announce

    def fail(*arguments):
        raise LedgerError("the ledger does not answer")

    monkeypatch.setattr(Ledger, "announce", fail)
    with pytest.raises(LedgerError):
        order.release()
    assert not order.releases.exists() or not list(order.releases.iterdir())
    monkeypatch.setattr(Ledger, "announce", announce)
    assert order.release() == order.folder_of_v1


@pytest.mark.long
def test_a_ledger_that_fails_once_published_is_mended_by_the_next_run(
    tmp_path, monkeypatch, caplog
):
    from crowdcover.storage.ledger.ledger import Ledger

    order = order_of(tmp_path).fix_seed(SEED[::-1])
    caplog.set_level(logging.INFO, "crowdcover")
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "confirm", lambda *_: (_ for _ in ()).throw(LedgerError("gone")))
        assert order.release() == order.folder_of_v1
    assert any("could not be told that the release is visible" in line for line in caplog.messages)
    count = "select published from releases"
    with closing(sqlite3.connect(order.vault / "ledger.sqlite")) as ledger:
        assert ledger.execute(count).fetchall() == [(0,)]
        assert order.release() == order.folder_of_v1
        assert ledger.execute(count).fetchall() == [(1,)]
