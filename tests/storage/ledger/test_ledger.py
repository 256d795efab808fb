"""The ledger by itself: what it remembers, what mends it, and what it refuses."""

import os
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import polars as pl
import pytest

from crowdcover.kinds.table.pipeline.people import rebuild_people
from crowdcover.storage.ledger import entered
from crowdcover.storage.ledger import ledger as ledger_module
from crowdcover.storage.ledger import transaction as module
from crowdcover.storage.ledger.digests import (
    PEOPLE_FILE,
    People,
    match_people,
    read_people,
    write_people,
)
from crowdcover.storage.ledger.ledger import Ledger, LedgerError
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.files import file_sha256
from crowdcover.storage.vault.refusals import FolderError
from crowdcover.storage.vault.run import Release
from crowdcover.storage.vault.secret_streams import DIGEST_BYTES
from crowdcover.storage.vault.vault import Vault

MARK = "zq7"
PLAN, OTHER, THIRD = "p" * 64, "q" * 64, "r" * 64
SOURCE, ELSEWHERE = "s" * 64, "t" * 64
NOBODY = pl.DataFrame()


@pytest.fixture(params=[entered.MOST_BYTES, 32])
def ledger(tmp_path, request, monkeypatch):
    """A ledger, also one whose database takes values of two people only."""
    monkeypatch.setattr(entered, "MOST_BYTES", request.param)
    return Ledger(Vault(tmp_path / "vault").open(), rebuild_people)


def run_of(ledger, plan, source, ids):
    """A run that has digested its people."""
    run = ledger.vault.run(plan, source)

    def make(folder):
        people = People.of(
            ledger.key, pl.DataFrame({"n": range(len(ids))}), pl.DataFrame({"id": ids})
        )
        return {"key": ledger.key_print, **write_people(people, folder / PEOPLE_FILE)}

    run.once("identify", [], make)
    return run


def mark(run, folder, *, visible=True, published=True):
    """What a run notes of its release, and the release."""
    files = {"manifest.json": "0" * 64}
    if visible:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "manifest.json").write_text(run.path.name)
        files = {"manifest.json": file_sha256(folder / "manifest.json")}
    run.mark_released(Release(folder, files, published))


def release(ledger, run, folder):
    """All steps of publishing."""
    parent, version = str(folder.parent), folder.name
    assert ledger.announce(run, parent, version, ledger.people(run), []) == []
    mark(run, folder)
    ledger.confirm(run, parent)


def entries(ledger):
    with closing(sqlite3.connect(ledger.vault.path / "ledger.sqlite")) as connection:
        return connection.execute(
            "select name, version, published from releases order by name, version"
        ).fetchall()


def told(overlaps):
    return [(overlap.releases, overlap.same_source, overlap.people) for overlap in overlaps]


# ---------------------------------------------------------------- what it remembers


def test_overlaps_are_shared_people_or_the_same_source(ledger, tmp_path):
    one = run_of(ledger, PLAN, SOURCE, ["a", "b", "c"])
    release(ledger, one, tmp_path / "first" / "v1")
    two = run_of(ledger, OTHER, ELSEWHERE, ["c", "d", "b"])
    three = run_of(ledger, THIRD, ELSEWHERE, ["x"])
    assert told(ledger.find_overlaps(two, ELSEWHERE, ledger.people(two))) == [
        (("first v1",), False, 2)
    ]
    assert ledger.find_overlaps(two, ELSEWHERE, None) == []
    assert ledger.find_overlaps(three, ELSEWHERE, ledger.people(three)) == []
    assert told(ledger.find_overlaps(None, SOURCE, None)) == [(("first v1",), True, 0)]
    assert ledger.find_overlaps(one, SOURCE, ledger.people(one)) == []
    assert ledger.knows(one)
    assert not ledger.knows(two)


def test_only_runs_that_may_meet_are_compared_in_full(ledger, monkeypatch):
    nobody, some, ours = (
        People(len(each), {"column id": b"".join(bytes([one]) * 16 for one in each)}, frozenset())
        for each in ([1, 2], [3, 4, 5], [5, 6])
    )
    for plan, name, people in ((PLAN, "first", nobody), (OTHER, "second", some)):
        run = ledger.vault.run(plan, SOURCE if plan == PLAN else ELSEWHERE)
        assert ledger.announce(run, f"/r/{name}", "v1", people, []) == []
    compared = []

    def match(ours, theirs):
        compared.append(len(list(theirs.each("column id"))))
        return match_people(ours, theirs)

    monkeypatch.setattr(ledger_module, "match_people", match)
    found = ledger.others(None, "u" * 64, ours)
    assert sorted(told(found)) == [(("first v1",), False, 0), (("second v1",), False, 1)]
    assert compared == [3]


def test_one_run_in_two_places_is_one_other_release(ledger, tmp_path):
    one = run_of(ledger, PLAN, SOURCE, ["a", "b"])
    release(ledger, one, tmp_path / "first" / "v1")
    release(ledger, one, tmp_path / "second" / "v4")
    two = run_of(ledger, OTHER, ELSEWHERE, ["b"])
    assert told(ledger.find_overlaps(two, ELSEWHERE, ledger.people(two))) == [
        (("first v1", "second v4"), False, 1)
    ]


def test_what_was_not_judged_is_not_entered(ledger, tmp_path):
    one, two = run_of(ledger, PLAN, SOURCE, ["a", "b"]), run_of(ledger, OTHER, ELSEWHERE, ["b"])
    release(ledger, one, tmp_path / "first" / "v1")
    people = ledger.people(two)
    assert [overlap.run for overlap in ledger.announce(two, "/r/second", "v1", people, [])] == [
        one.seal
    ]
    assert entries(ledger) == [("first", "v1", 1)]
    assert ledger.announce(two, "/r/second", "v1", people, [one.seal]) == []
    assert entries(ledger) == [("first", "v1", 1), ("second", "v1", 0)]


def test_an_entry_states_how_many_people_it_is_of(ledger, tmp_path):
    """Of any kind of data, and also where it was stopped before its release was visible."""
    run = run_of(ledger, PLAN, SOURCE, ["a", "b", "b"])
    ledger.announce(run, str(tmp_path / "first"), "v1", ledger.people(run), [])
    mark(run, tmp_path / "first" / "v1")
    ledger.mend()
    with closing(sqlite3.connect(ledger.vault.path / "ledger.sqlite")) as connection:
        entered = connection.execute("select version, records, published from releases").fetchall()
    assert entered == [("v1", 3, 1)]


def test_of_two_that_draw_the_key_at_once_one_counts(ledger, monkeypatch):
    """Both have looked, and seen none, before either writes."""
    drawn, met = [], threading.Barrier(2)
    draw = secret_streams.new_seed
    monkeypatch.setattr(secret_streams, "new_seed", lambda: (met.wait(10), draw())[1])
    with ThreadPoolExecutor(2) as both:
        drawn = list(both.map(lambda _: Ledger(ledger.vault, rebuild_people).key, range(2)))
    assert drawn[0] == drawn[1] == ledger.key
    assert not list(ledger.vault.path.glob(".*partial"))


def test_an_entry_counts_before_its_release_is_visible(ledger):
    one, two = run_of(ledger, PLAN, SOURCE, ["a"]), run_of(ledger, OTHER, ELSEWHERE, ["a"])
    ledger.announce(one, "/r/first", "v1", ledger.people(one), [])
    assert told(ledger.find_overlaps(two, ELSEWHERE, ledger.people(two))) == [
        (("first v1",), False, 1)
    ]


def test_of_two_that_announce_at_once_one_is_entered(ledger):
    runs = [
        run_of(ledger, plan, source, ["a"]) for plan, source in ((PLAN, SOURCE), (OTHER, ELSEWHERE))
    ]
    start, found = threading.Barrier(2), []

    def announce(run):
        people = ledger.people(run)
        start.wait()
        found.append(len(ledger.announce(run, f"/r/{run.path.name}", "v1", people, [])))

    threads = [threading.Thread(target=announce, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 1]
    assert len(entries(ledger)) == 1


# ---------------------------------------------------------------- mending


@pytest.mark.long
@pytest.mark.parametrize(
    ("visible", "published", "counts"),
    [(True, True, 1), (True, False, 1), (False, True, 1), (False, False, 0)],
    ids=["published", "stopped before the mark", "deleted since", "stopped before the rename"],
)
@pytest.mark.parametrize("announced", [True, False], ids=["entered", "not entered"])
def test_what_was_ever_visible_counts_as_released(
    ledger, tmp_path, visible, published, counts, announced
):
    run, folder = run_of(ledger, PLAN, SOURCE, ["a"]), tmp_path / "r" / "v1"
    if announced:
        ledger.announce(run, str(folder.parent), folder.name, ledger.people(run), [])
    mark(run, folder, visible=visible, published=published)
    for _ in range(2):
        ledger.mend()
        assert entries(ledger) == [("r", "v1", 1)] * counts
        assert ledger.knows(run) == bool(counts)
        assert len(ledger.find_overlaps(None, SOURCE, None)) == counts
        other = run_of(ledger, OTHER, ELSEWHERE, ["a"])
        assert len(ledger.find_overlaps(other, ELSEWHERE, ledger.people(other))) == counts


def test_what_was_announced_and_not_even_marked_is_taken_back(ledger):
    run = run_of(ledger, PLAN, SOURCE, ["a"])
    ledger.announce(run, "/r/first", "v1", ledger.people(run), [])
    ledger.mend()
    assert entries(ledger) == []
    with closing(sqlite3.connect(ledger.vault.path / "ledger.sqlite")) as connection:
        assert connection.execute("select count(*) from people").fetchone() == (0,)


def test_a_folder_that_another_run_took_does_not_count(ledger, tmp_path):
    run, other = run_of(ledger, PLAN, SOURCE, ["a"]), run_of(ledger, OTHER, ELSEWHERE, ["b"])
    mark(run, tmp_path / "r" / "v1", visible=False, published=False)
    mark(other, tmp_path / "r" / "v1")
    ledger.mend()
    assert not ledger.knows(run)
    assert ledger.knows(other)


def test_a_ledger_that_is_lost_is_built_from_the_runs(ledger, tmp_path):
    run = run_of(ledger, PLAN, SOURCE, ["a", "b"])
    release(ledger, run, tmp_path / "first" / "v1")
    (ledger.vault.path / "ledger.sqlite").unlink()
    ledger.mend()
    assert entries(ledger) == [("first", "v1", 1)]
    other = run_of(ledger, OTHER, ELSEWHERE, ["b"])
    assert told(ledger.find_overlaps(other, ELSEWHERE, ledger.people(other))) == [
        (("first v1",), False, 1)
    ]


def test_a_run_that_was_cleaned_away_is_remembered(ledger, tmp_path):
    import shutil

    run = run_of(ledger, PLAN, SOURCE, ["a", "b"])
    release(ledger, run, tmp_path / "first" / "v1")
    shutil.rmtree(run.path)
    ledger.mend()
    other = run_of(ledger, OTHER, ELSEWHERE, ["b"])
    assert told(ledger.find_overlaps(other, ELSEWHERE, ledger.people(other))) == [
        (("first v1",), False, 1)
    ]


def test_a_release_that_comes_back_was_visible_all_the_time(ledger, tmp_path):
    run = run_of(ledger, PLAN, SOURCE, ["a"])
    release(ledger, run, tmp_path / "first" / "v1")
    ledger.announce(run, str(tmp_path / "first"), "v1", ledger.people(run), [])
    assert entries(ledger) == [("first", "v1", 1)]


def test_people_without_their_stages_are_nobody(ledger, tmp_path):
    """The source is recognised all the same."""
    run = ledger.vault.run(PLAN, SOURCE)
    mark(run, tmp_path / "first" / "v1")
    ledger.mend()
    assert ledger.people(run).records == 0
    assert told(ledger.find_overlaps(None, SOURCE, None)) == [(("first v1",), True, 0)]


def test_people_come_back_as_they_were_stored(ledger):
    run = run_of(ledger, PLAN, SOURCE, ["a", "a", None])
    stored = run.whole("identify")
    people = read_people(stored)
    assert people == People.of(
        ledger.key, pl.DataFrame({"n": range(3)}), pl.DataFrame({"id": ["a", "a", None]})
    )
    assert people.repeated == {"column id"}


# ---------------------------------------------------------------- secrets


def test_ledger_and_key_are_private_and_hold_no_value(ledger, tmp_path):
    previous = os.umask(0)
    try:
        release(
            ledger,
            run_of(ledger, PLAN, SOURCE, [f"{MARK}a", f"{MARK}b"]),
            tmp_path / "first" / "v1",
        )
    finally:
        os.umask(previous)
    for name in ("ledger.sqlite", "ledger.key"):
        path = ledger.vault.path / name
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert MARK.encode() not in path.read_bytes()
    assert SOURCE.encode() not in (ledger.vault.path / "ledger.sqlite").read_bytes()
    assert len(ledger.key) == 32
    assert ledger.key.hex() not in ledger.key_print
    ledger.vault.path.chmod(0o755)
    ledger.vault.open()  # one that holds a ledger is known as a vault


def test_each_vault_draws_its_own_key(ledger, tmp_path):
    assert Ledger(Vault(tmp_path / "other").open(), rebuild_people).key != ledger.key


def test_a_foreign_key_is_refused_until_it_is_copied(ledger, tmp_path):
    run = run_of(ledger, PLAN, SOURCE, ["a"])
    release(ledger, run, tmp_path / "first" / "v1")
    path = ledger.vault.path / "ledger.key"
    own = path.read_bytes()
    path.unlink()
    for work in (ledger.mend, lambda: ledger.knows(run)):
        with pytest.raises(
            LedgerError,
            match=r"begun with another key than this vault's ledger.key.*; copy ledger.key into",
        ):
            work()
    path.write_bytes(own)
    assert ledger.knows(run)


def test_under_another_key_people_are_known_by_what_the_vault_still_has(ledger, tmp_path):
    run = run_of(ledger, PLAN, SOURCE, ["a"])
    (ledger.vault.path / "ledger.key").write_bytes(bytes(32))
    assert ledger.people(run).digests == {}


# ---------------------------------------------------------------- a ledger that does not answer


def test_a_ledger_that_is_held_by_somebody_else(ledger, monkeypatch):
    run = run_of(ledger, PLAN, SOURCE, ["a"])
    ledger.mend()
    monkeypatch.setattr(module, "WAIT", 0.05)
    with closing(
        sqlite3.connect(ledger.vault.path / "ledger.sqlite", isolation_level=None)
    ) as holder:
        holder.execute("begin immediate")
        for work in (
            ledger.mend,
            lambda: ledger.announce(run, "/r/first", "v1", ledger.people(run), []),
        ):
            with pytest.raises(
                LedgerError,
                match=r"ledger.sqlite does not answer \(OperationalError\), and nothing .*; "
                "another process is at work with it",
            ):
                work()
    assert entries(ledger) == []


def test_a_damaged_ledger_is_refused_and_can_be_built_anew(ledger, tmp_path):
    run = run_of(ledger, PLAN, SOURCE, ["a"])
    release(ledger, run, tmp_path / "first" / "v1")
    path = ledger.vault.path / "ledger.sqlite"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(
        LedgerError, match=r"\(DatabaseError\).*move it away: it is built anew from the runs"
    ) as caught:
        ledger.mend()
    assert MARK not in str(caught.value)
    path.unlink()
    ledger.mend()
    assert entries(ledger) == [("first", "v1", 1)]


def test_a_ledger_of_another_version(ledger):
    ledger.mend()
    with closing(sqlite3.connect(ledger.vault.path / "ledger.sqlite")) as connection, connection:
        connection.execute("update about set value = '3' where name = 'schema'")
    with pytest.raises(LedgerError, match="another version of crowdcover"):
        ledger.mend()


def test_builds_that_know_no_parts_refuse_a_ledger_that_has_some(ledger, tmp_path):
    """They would compare with the first part only, and take all others for new people."""
    run = run_of(ledger, PLAN, SOURCE, ["a", "b", "c"])
    ledger.mend()
    schema = "select value from about where name = 'schema'"
    assert ledger._transact(lambda ask: ask(schema)) == [("1",)]
    release(ledger, run, tmp_path / "first" / "v1")
    cut = entered.MOST_BYTES < 3 * DIGEST_BYTES
    assert ledger._transact(lambda ask: ask(schema)) == [("2" if cut else "1",)]
    assert ledger.knows(run)


def test_no_answer_of_the_database_is_longer_than_a_value(ledger, tmp_path):
    """A driver may read no more at once than it takes as one value."""
    run = run_of(ledger, PLAN, SOURCE, ["a", "b", "c"])
    release(ledger, run, tmp_path / "first" / "v1")
    longest = []

    def ask(ask, *asked):
        rows = ask(*asked)
        cells = [cell for row in rows for cell in row if isinstance(cell, bytes)]
        longest.append(sum(map(len, cells)))
        return rows

    found = ledger._transact(lambda real: entered.select_people(partial(ask, real), run.seal))
    assert found.digests == {
        kind: ledger.people(run).sort_digests(kind) for kind in ledger.people(run).digests
    }
    assert 0 < max(longest) <= entered.MOST_BYTES


def test_a_refusal_within_passes_and_nothing_is_entered(ledger):
    def fail(ask):
        ask("insert into people values ($1, $2, $3, $4)", "run", "kind", 0, b"")
        raise FolderError("no")

    with pytest.raises(FolderError, match="no"):
        ledger._transact(fail)
    assert ledger._transact(lambda ask: ask("select count(*) from people")) == [(0,)]
