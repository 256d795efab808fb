"""Matrices, too: a release is taken back, and a live source is released as it was."""

import sqlite3
from contextlib import closing

import pytest

from crowdcover.storage.vault.refusals import SecondReleaseError
from tests.kinds.matrix.orders import MatrixOrder, entries
from tests.support.audits import audit_release
from tests.support.demands import demands
from tests.support.retracting import retract

DATA = ("rows.parquet", "rows.csv.gz", "codebook.json")


def data_bytes(folder):
    return [(folder / name).read_bytes() for name in DATA]


def in_a_database(folder):
    """The order's entries in SQLite, and its users' demands in a file beside it."""
    order = MatrixOrder(folder)
    path = order.folder / "likes.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table likes (user, item)")
        connection.executemany("insert into likes values (?, ?)", entries())
        connection.commit()
    order.write(source={"path": None, "uri": f"sqlite:///{path}", "query": "select * from likes"})
    demands(order, lambda user: 3)
    return order.fix_seed()


@pytest.mark.long
def test_a_retracted_matrix_uses_no_source_up(released_once):
    order = released_once(MatrixOrder)
    folder = order.published
    order.write(privacy={"k": 4})
    with pytest.raises(SecondReleaseError):
        order.release()
    assert retract(order, folder=folder) == 0
    again = order.release()
    assert again == folder.with_name("v2")
    assert audit_release(again, order.plan).passed


@pytest.mark.long
def test_a_source_and_its_demands_that_move_on(tmp_path, monkeypatch):
    import crowdcover.kinds.matrix.pipeline.ingest as module

    undisturbed = data_bytes(in_a_database(tmp_path / "one").release())
    order, reading = in_a_database(tmp_path / "two"), module.read_source

    def read_source(*arguments):
        answer = reading(*arguments)
        with closing(sqlite3.connect(order.folder / "likes.db")) as connection:
            connection.execute("delete from likes where rowid % 2 = 0")
            connection.commit()
        (order.folder / "demands.csv").rename(order.folder / "old.csv")
        (order.folder / "demands.csv").write_text("user,k\n")
        return answer

    monkeypatch.setattr(module, "read_source", read_source)
    assert data_bytes(order.release()) == undisturbed
