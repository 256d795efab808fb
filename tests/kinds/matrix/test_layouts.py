"""Each layout of a source: what becomes a record, an item and a demand, and what is refused."""

import re
import sqlite3

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from anon_core.errors import InputError
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.matrix.judge.labels import list_shown_items
from crowdcover.kinds.matrix.judge.released import ReleasedRows
from tests.flows.processes import command
from tests.kinds.matrix.orders import MatrixOrder, entries, manifest
from tests.support.audits import audit_release
from tests.support.demands import demands


def released(order):
    """The manifest of a release that the audit accepts."""
    folder = order.release()
    audit = audit_release(folder, order.plan)
    assert audit.passed, audit.sentence()
    return manifest(folder)


# ---------------------------------------------------------------- k by user


@pytest.mark.long
def test_each_user_has_a_k_of_their_own(tmp_path):
    order = MatrixOrder(tmp_path)
    demands(
        order,
        lambda user: 3 + int(user[-4:-1]) % 7 if user.endswith("Q") else 3,
        extra=["another999"],
    )
    stated = released(order)
    assert (stated["privacy"]["k_min"], stated["privacy"]["k_max"]) == (3, 9)
    assert command("show", order.folder / "releases" / "likes" / "v1").code == 0


def test_other_demands_make_another_release(tmp_path):
    order = MatrixOrder(tmp_path)
    demands(order, lambda user: 3)
    first = order.run.path
    demands(order, lambda user: 4)
    assert order.run.path != first


@pytest.mark.parametrize(
    ("k_of", "words"),
    [
        (lambda user: 0, "of 60 demands in privacy.k.path 60 have no user or no whole number"),
        (lambda user: "many", "60 have no user or no whole number"),
        (lambda user: 1, "60 of 60 users have k = 1"),
    ],
)
def test_demands_that_are_none_are_refused(tmp_path, k_of, words):
    order = MatrixOrder(tmp_path)
    demands(order, k_of)
    with pytest.raises(InputError, match=words):
        order.release()


def test_users_without_a_demand_are_refused(tmp_path):
    order = MatrixOrder(tmp_path)
    demands(order, lambda user: 3)
    lines = (tmp_path / "demands.csv").read_text().splitlines()
    (tmp_path / "demands.csv").write_text("\n".join(lines[:-2]) + "\n")
    with pytest.raises(InputError, match="2 of 60 users have no k"):
        order.release()


def test_a_table_of_demands_with_other_columns_is_named_as_such(tmp_path):
    order = MatrixOrder(tmp_path)
    demands(order, lambda user: 3)
    text = (tmp_path / "demands.csv").read_text()
    (tmp_path / "demands.csv").write_text(text.replace("user,k", "who,level"))
    with pytest.raises(InputError, match=r"^privacy.k.path: the source has no column user, k"):
        order.release()
    order.write(privacy={"k": {"path": "none.csv"}})
    with pytest.raises(InputError, match=r"none.csv was not found; correct privacy.k.path"):
        order.release()
    order.write(privacy={"k": {"path": "demands.csv", "user": "who", "column": "level"}})
    assert released(order)["privacy"]["k_min"] == 3


@pytest.mark.parametrize(
    ("k", "words"),
    [
        ({"user": "user"}, "privacy.k must be a whole number or"),
        ({"path": "k.csv", "seed": "3"}, "unknown key privacy.k.seed"),
        ("five", "privacy.k must be a whole number or"),
    ],
)
def test_forms_of_k(tmp_path, k, words):
    with pytest.raises(PlanError, match=words):
        MatrixOrder(tmp_path, privacy={"k": k}).release()


# ---------------------------------------------------------------- tables


def table_of(folder, rows=120, **columns):
    draws = np.random.default_rng(8)
    age = draws.integers(18, 80, rows).astype(float)
    frame = pl.DataFrame(
        {
            "name": [f"Pperson{i}Q" for i in range(rows)],
            "job": draws.choice(["clerk", "nurse", "?"], rows),
            "age": age,
        }
    )
    order = MatrixOrder(
        folder,
        source={"path": "table.csv", "layout": "table", "missing": ["?"]},
        columns={
            "user": None, "item": None, "categorical": ["job"], "numeric": ["age"], **columns
        },
    )  # fmt: skip
    frame.write_csv(folder / "table.csv")
    return order, frame


@pytest.mark.long
def test_columns_and_their_values_become_items(tmp_path):
    order, frame = table_of(tmp_path, quantiles=5)
    stated = released(order)
    given = int((frame["job"] != "?").sum())
    assert stated["utility"]["entries"] == frame.height + given
    assert stated["utility"]["items"] == 2 + 5
    assert stated["source"]["rows"] == frame.height
    text = (order.folder / "releases" / "likes" / "v1" / "codebook.json").read_text()
    assert "job=nurse" in text
    assert "age=" in text
    assert "job=?" not in text
    assert "missing" not in text


@pytest.mark.long
def test_columns_whose_items_have_one_name_are_refused(tmp_path):
    order, frame = table_of(tmp_path, categorical=["job", "job=head"], numeric=[])
    head = pl.Series("job=head", ["nurse"] * frame.height)
    frame.with_columns(head).write_csv(tmp_path / "table.csv")
    assert released(order)["utility"]["items"] == 3
    jobs = pl.Series("job", ["head=nurse", *frame["job"][1:]])
    frame.with_columns(head, jobs).write_csv(tmp_path / "table.csv")
    with pytest.raises(InputError, match="columns 'job' and 'job=head' make items of one name"):
        order.release()


def test_each_item_is_shown_as_one_columns(tmp_path):
    """Also where the name of a column begins like the items of another, or a label like none."""
    order, _ = table_of(tmp_path, categorical=["job", "job=head"], numeric=[])
    labels = ["job=clerk", "job=head=nurse", "work=none"]
    released = ReleasedRows(indptr=np.arange(4), items=np.arange(3), number=3)
    shown = list_shown_items(order.data, labels, released)
    assert [(each.name, each.texts.to_list()) for each in shown] == [
        ("job", ["clerk"]),
        ("job=head", ["nurse"]),
    ]


def items_of(order, column):
    """The items that a column became."""
    names = pl.read_parquet(order.run.path / "encode" / "names.parquet").to_series()
    return {name for name in names if name.startswith(f"{column}=")}


@pytest.mark.long
def test_a_column_of_numbers_may_have_its_own_groups(tmp_path):
    order, frame = table_of(tmp_path, bins={"age": {"edges": [30, 50]}})
    above = (frame["age"] > 30).cast(int) + (frame["age"] > 50).cast(int)
    frame.with_columns(job=above.cast(pl.String)).write_csv(tmp_path / "table.csv")
    assert released(order)["utility"]["items"] == 3 + 3
    entries_of = pl.read_parquet(order.run.path / "ingest" / "entries.parquet")
    held = entries_of.cast({"item": pl.String}).group_by("record").agg(pl.col("item").sort())
    assert set(map(tuple, held["item"].to_list())) == {
        ("age=..30", "job=0"),
        ("age=30..50", "job=1"),
        ("age=50..", "job=2"),
    }


def test_groups_of_stated_edges_hold_at_least_k_users(tmp_path):
    order, _ = table_of(tmp_path, bins={"age": {"edges": [30, 98765]}})
    released(order)
    assert items_of(order, "age") == {"age=..30", "age=30.."}


@pytest.mark.long
def test_other_columns_keep_the_quantiles(tmp_path):
    order, frame = table_of(
        tmp_path, numeric=["age", "height"], quantiles=4, bins={"age": {"quantiles": 2}}
    )
    frame.with_columns(height=pl.col("age") * 2).write_csv(tmp_path / "table.csv")
    assert released(order)["utility"]["items"] == 2 + 2 + 4


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ({"job": "deciles"}, "columns.bins names columns that columns.numeric does not; add them"),
        ({"age": {"edges": []}}, "edges must be given in increasing order"),
        ({"age": {"edges": [1, 77319]}, "job": "none"}, "columns.numeric does not"),
        ({"age": {"edges": [77319], "quantiles": 3}}, "columns.bins.age must be 'deciles', 'none'"),
        ({"age": {"cuts": [77319]}}, "columns.bins.age must be 'deciles', 'none'"),
        ({"age": 77319}, "columns.bins.age must be 'deciles', 'none'"),
    ],
)
def test_groups_that_cannot_be_are_refused(tmp_path, bins, message):
    order, _ = table_of(tmp_path, bins=bins)
    with pytest.raises(PlanError, match=re.escape(message)) as refused:
        order.release()
    assert "77319" not in str(refused.value)


def test_another_form_of_groups_replaces_the_stated_one(tmp_path):
    order, _ = table_of(tmp_path, bins={"age": {"edges": [30.0]}})
    plan = ReleasePlan.load(order.plan, ["columns.bins.age={quantiles = 4}"])
    assert plan.data.specs[1].bins == 4


@pytest.mark.long
def test_a_table_may_name_its_users(tmp_path):
    order, _ = table_of(tmp_path, user="name")
    assert released(order)["columns"]["name"] == {"role": "identifier"}


def test_values_of_a_table_that_name_its_users_are_refused(tmp_path):
    """They would be published as items by name."""
    order, frame = table_of(tmp_path, user="name", categorical=["job", "friend"])
    friends = frame.with_columns(friend=pl.col("name").first())
    friends.write_csv(tmp_path / "table.csv")
    with pytest.raises(InputError, match="1 of 1 items have the name of a user"):
        order.release()
    order.write(columns={"keyed": True})
    released(order)
    text = (tmp_path / "releases" / "likes" / "v1" / "codebook.json").read_text()
    assert "Pperson" not in text


def test_a_table_without_any_value_is_refused(tmp_path):
    order, frame = table_of(tmp_path)
    frame.with_columns(job=pl.lit("?"), age=None).write_csv(tmp_path / "table.csv")
    with pytest.raises(InputError, match="the source has no entries"):
        order.release()


def test_groups_of_numbers_show_nobodys_own_number(tmp_path):
    """The largest number is one person's; it stands in no label."""
    order, frame = table_of(tmp_path)
    highest = pl.col("age").arg_max() == pl.int_range(pl.len())
    changed = frame.with_columns(age=pl.when(highest).then(98765.25).otherwise("age"))
    changed.write_csv(tmp_path / "table.csv")
    released(order)
    assert "98765" not in (tmp_path / "releases" / "likes" / "v1" / "codebook.json").read_text()


@pytest.mark.long
def test_a_file_without_a_header_names_its_columns_in_the_plan(tmp_path):
    order = MatrixOrder(tmp_path, source={"header": False}, columns={"names": ["user", "item"]})
    lines = order.source.read_text().splitlines()
    order.source.write_text("\n".join(lines[1:]) + "\n")
    assert released(order)["privacy"]["records"] == 60
    order.write(columns={"names": ["user"]})
    with pytest.raises(PlanError, match=r"columns.names has 1 names, the source has 2 columns"):
        order.release()


# ---------------------------------------------------------------- arrays


def arrays_of(folder, matrix, **columns):
    order = MatrixOrder(
        folder,
        source={"path": "m.npz", "layout": "csr"},
        columns={"user": None, "item": None, **columns},
    )
    sparse.save_npz(folder / "m.npz", matrix)
    return order


def matrix(rows=50, items=12):
    return sparse.random_array((rows, items), density=0.3, format="csr", rng=4)


def test_rows_of_a_matrix_are_users_and_its_columns_items(tmp_path):
    made = matrix()
    stated = released(arrays_of(tmp_path, made))
    assert stated["utility"]["entries"] == made.nnz
    assert stated["privacy"]["records"] == 50
    assert stated["protection"]["empty_rows"] >= 0


def test_matrices_that_are_none_are_refused(tmp_path):
    with pytest.raises(InputError, match="not in CSR form"):
        arrays_of(tmp_path / "a", matrix().tocsc()).release()
    zeros = matrix()
    zeros.data[:3] = 0
    with pytest.raises(InputError, match="3 of 180 stored values are 0"):
        arrays_of(tmp_path / "b", zeros).release()
    square = arrays_of(tmp_path / "c", matrix(12, 12))
    with pytest.raises(InputError, match="square, 12 x 12"):
        square.release()
    twice = sparse.csr_array((np.ones(4), [0, 0, 1, 1], [0, 2, 4]), shape=(2, 3))
    with pytest.raises(InputError, match="2 of 4 entries repeat"):
        arrays_of(tmp_path / "d", twice).release()


WHOLE = {
    "indptr": np.array([0, 1, 2]),
    "indices": np.array([0, 1]),
    "data": np.ones(2),
    "shape": np.array([2, 5]),
    "format": np.array(b"csr"),
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"shape": np.array(["Pperson1Q", "5"])}, "no CSR matrix"),
        ({"shape": np.array([2.5, 5])}, "no CSR matrix"),
        ({"shape": np.array([-1, 5]), "indptr": np.zeros(0, dtype=int)}, "no CSR matrix"),
        ({"shape": np.array([2, 5, 1])}, "no CSR matrix"),
        ({"indices": np.array([[0, 1], [1, 2]])}, "no CSR matrix"),
        ({"data": np.array(1.0)}, "no CSR matrix"),
        ({"data": np.array(["Pperson1Q", "x"])}, "no CSR matrix"),
        ({"format": np.array([b"csr", b"csr"])}, "not in CSR form"),
        ({"format": np.array(b"\xff")}, "not in CSR form"),
        ({"shape": np.array([0, 5]), "indptr": np.zeros(1, dtype=int),
          "indices": np.zeros(0, dtype=int), "data": np.zeros(0)}, "has 0 rows"),
        ({"indptr": np.zeros(3, dtype=int), "indices": np.zeros(0, dtype=int),
          "data": np.zeros(0)}, "no entries"),
    ],
)  # fmt: skip
def test_damaged_arrays_are_refused(tmp_path, changed, words):
    order = arrays_of(tmp_path, matrix())
    np.savez(tmp_path / "m.npz", **{**WHOLE, **changed})
    with pytest.raises(InputError, match=words) as refusal:
        order.release()
    assert "Pperson" not in str(refusal.value)


def test_a_layout_takes_its_own_keys_only(tmp_path):
    for sections, words in (
        ({"source": {"layout": "csr"}}, "file named .npz go together|has no such key"),
        ({"columns": {"categorical": ["item"]}}, "no other layout has any"),
        ({"source": {"layout": "table"}}, "needs one"),
    ):
        with pytest.raises(PlanError, match=words):
            MatrixOrder(tmp_path, **sections).release()


# ---------------------------------------------------------------- databases and numbers


@pytest.mark.long
def test_edges_of_a_database(tmp_path):
    order = MatrixOrder(
        tmp_path,
        source={
            "path": None, "uri": "sqlite:///likes.db", "query": "select user, item from likes"
        },
    )  # fmt: skip
    with sqlite3.connect(tmp_path / "likes.db") as base:
        base.execute("create table likes (user text, item text)")
        base.executemany("insert into likes values (?, ?)", entries())
    base.close()
    assert released(order)["privacy"]["records"] == 60


def test_numbers_of_two_lists_only_look_alike(tmp_path):
    order = MatrixOrder(tmp_path, source={"path": "likes.parquet"})
    pairs = [(user, user % 5 + step) for user in range(40) for step in range(3)]
    pl.DataFrame(pairs, schema=["user", "item"], orient="row").write_parquet(
        tmp_path / "likes.parquet"
    )
    with pytest.raises(InputError, match="7 of 7 items have the name of a user"):
        order.release()
    order.write(columns={"keyed": False})
    assert released(order)["utility"]["items"] == 7
