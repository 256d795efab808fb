"""A matrix from plan to show, and what is refused on the way."""

import json

import polars as pl
import pytest

from anon_core.errors import GuaranteeError, InfeasibleError, InputError
from crowdcover.flows.plan.plan import PlanError
from tests import naive
from tests.codebooks import keeps_schema
from tests.flows.processes import command
from tests.kinds.matrix.orders import MatrixOrder, entries, manifest
from tests.support.audits import audit_release


def source_of(order):
    """Items of each user in the order of the file."""
    held = {}
    for user, item in pl.read_csv(order.source, infer_schema=False).rows():
        held.setdefault(user, set()).update({item} - {None, ""})
    return list(held.values())


def rows_of(order):
    """Names of the items of each record's row."""
    folder = order.folder / "releases" / "likes" / "v1"
    rows = dict(pl.read_parquet(folder / "rows.parquet").rows())
    seats = pl.read_parquet(order.secrets / "matching.parquet").sort("record")
    book = json.loads((folder / "codebook.json").read_text())
    assert keeps_schema(book)
    labels = pl.Series(book["items"])
    return [{labels[i] for i in rows[key]} for key in seats["key"]]


def test_each_row_equals_k_rows_and_most_of_them_hold_its_items(likes):
    source, rows = source_of(likes), rows_of(likes)
    assert naive.smooth_failures(source, rows, [5] * 60) == (0, 0)
    stated = manifest(likes.folder / "releases" / "likes" / "v1")
    jaccard, suppressed, created = naive.jaccard(source, rows)
    assert stated["utility"]["jaccard"] == pytest.approx(jaccard, abs=0.001)
    assert stated["utility"]["suppressed"] == pytest.approx(suppressed, abs=0.001)
    assert stated["utility"]["created"] == pytest.approx(created, abs=0.001)
    assert stated["protection"]["empty_rows"] == sum(not row for row in rows) > 0
    assert stated["source"] == {"kind": "matrix", "rows": 60, "columns": 2}
    assert stated["privacy"]["promise"] == ["equivalence classes", "smooth majority"]


def test_audit_and_show_say_what_holds(likes):
    folder = likes.folder / "releases" / "likes" / "v1"
    assert audit_release(folder, likes.plan).passed
    done = command("audit", folder, "--plan", likes.plan)
    assert (done.code, "smooth majority" in done.out) == (0, True)
    assert "users are in a class of fewer than 5 users" in " ".join(
        command("show", folder).out.split()
    )
    shown = " ".join(command("show", folder, "--all").out.replace("║", " ").split())
    assert "Each released row equals at least k - 1 others (k = 5 for everyone)." in shown
    assert "some entries are false and absences may be false" in shown
    page = (folder / "report.html").read_text()
    assert "Mostly true items." in page
    assert "Deniability." in page


def test_a_published_release_stays_as_it_is(likes):
    folder = likes.folder / "releases" / "likes" / "v1"
    assert likes.release() == folder


def test_both_formats_hold_the_same_rows(likes):
    folder = likes.folder / "releases" / "likes" / "v1"
    rows = pl.read_parquet(folder / "rows.parquet")
    texts = pl.read_csv(folder / "rows.csv.gz", infer_schema=False)["items"].fill_null("")
    assert texts.to_list() == [" ".join(map(str, items)) for items in rows["items"]]


@pytest.mark.long
def test_csv_alone_is_audited_with_its_empty_rows(tmp_path):
    order = MatrixOrder(tmp_path, publish={"formats": ["csv"]})
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    assert manifest(folder)["protection"]["empty_rows"] > 0


def test_an_item_in_no_row_is_named_nowhere(tmp_path):
    order = MatrixOrder(tmp_path, [*entries(), ("Pperson001Q", "Prarity1Q")])
    folder = order.release()
    assert "Prarity1Q" not in (folder / "codebook.json").read_text()
    utility = manifest(folder)["utility"]
    assert utility["items"] > utility["items_released"]


@pytest.mark.long
def test_lists_make_the_matrix_of_their_edges(tmp_path, likes):
    held = {}
    for user, item in pl.read_csv(likes.source, infer_schema=False).rows():
        held.setdefault(user, []).extend([item] if item else [])
    order = MatrixOrder(
        tmp_path,
        source={"path": "lists.parquet", "layout": "lists"},
        privacy={"k": 5},
    )
    frame = pl.DataFrame({"user": list(held), "item": list(held.values())})
    frame.write_parquet(tmp_path / "lists.parquet")
    order.fix_seed()
    stated = manifest(order.release())
    before = manifest(likes.folder / "releases" / "likes" / "v1")
    for key in ("entries", "items"):
        assert stated["utility"][key] == before["utility"][key]
    texts = MatrixOrder(
        tmp_path / "texts",
        source={"path": "lists.csv", "layout": "lists"},
        columns={"separator": "|"},
    )
    frame.with_columns(pl.col("item").list.join("|")).write_csv(tmp_path / "texts" / "lists.csv")
    texts.fix_seed()
    again = manifest(texts.release())
    assert again["files"]["rows.parquet"] == stated["files"]["rows.parquet"]


def test_people_as_items_are_published_under_fresh_keys(tmp_path):
    pairs = [(f"Pnode{i}Q", f"Pnode{j}Q") for i in range(40) for j in range(40) if i % 4 == j % 4]
    order = MatrixOrder(tmp_path, pairs)
    with pytest.raises(InputError, match="40 of 40 items have the name of a user"):
        order.release()
    order.write(columns={"keyed": True})
    folder = order.release()
    assert audit_release(folder, order.plan).passed
    text = (folder / "codebook.json").read_text() + (folder / "report.html").read_text()
    assert "Pnode" not in text
    keys = pl.read_parquet(order.secrets / "item-keys.parquet")["key"]
    assert not set(keys) & set(pl.read_parquet(folder / "rows.parquet")["key"])


def test_an_undirected_graph_has_every_edge_twice(tmp_path):
    pairs = [(f"n{i}", f"n{j}") for i in range(30) for j in range(i) if i % 3 == j % 3]
    order = MatrixOrder(tmp_path, pairs, source={"undirected": True}, columns={"keyed": True})
    stated = manifest(order.release())
    assert stated["utility"]["entries"] == 2 * len(pairs)
    assert stated["privacy"]["records"] == 30


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"privacy": {"k": 1}}, r"privacy.k = 1 protects nobody"),
        ({"privacy": {"k": 0}}, r"privacy.k must be at least 1"),
        ({"columns": {"item": None}}, r"columns.item is missing"),
        ({"columns": {"item": "user"}}, r"names one column twice"),
        ({"columns": {"item": "thing"}}, r"does not have: thing"),
        ({"source": {"undirected": True}}, r"needs layout = 'edges' and columns.keyed = true"),
        ({"columns": {"separator": "|"}}, r"needs source.layout = 'lists'"),
        ({"columns": {"names": ["user", "item"]}}, r"source.header = false"),
        ({"source": {"layout": "cube"}}, r"source.layout must"),
        ({"privacy": {"person": "user"}}, r"unknown key privacy.person"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused(tmp_path, sections, words):
    with pytest.raises(PlanError, match=words):
        MatrixOrder(tmp_path, **sections).release()


def test_k_1_is_released_if_the_plan_allows_it(tmp_path):
    order = MatrixOrder(tmp_path, privacy={"k": 1, "allow_unprotected": True})
    folder = order.release()
    assert "Nobody is protected" in (folder / "report.html").read_text()


@pytest.mark.long
def test_repeated_entries_are_refused_or_merged(tmp_path):
    order = MatrixOrder(tmp_path, [*entries(), *entries()])
    with pytest.raises(InputError, match=r"\d+ of \d+ entries repeat a user and an item"):
        order.release()
    order.write(source={"repeated": "merge"})
    assert manifest(order.release())["privacy"]["records"] == 60


def test_rows_without_a_user_are_refused(tmp_path):
    order = MatrixOrder(tmp_path, [*entries(), ("", "Pitem1Q")])
    with pytest.raises(InputError, match=r"column 'user': 1 of \d+ rows name no user"):
        order.release()


def test_demands_beyond_the_matrix_are_refused(tmp_path):
    with pytest.raises(InfeasibleError, match="60 records demand more than 60 rows"):
        MatrixOrder(tmp_path, privacy={"k": 61}).release()


def test_limits_of_the_plan_are_kept(tmp_path):
    order = MatrixOrder(tmp_path, checks={"min_utility": 0.99})
    with pytest.raises(GuaranteeError, match=r"below checks.min_utility = 0.99"):
        order.release()
    order.write(checks={"min_utility": 0.0, "max_attack_success": 0.001})
    with pytest.raises(GuaranteeError, match=r"above checks.max_attack_success"):
        order.release()


@pytest.mark.long
def test_other_users_are_released_beside_them_unless_their_number_drifts(released_once):
    order = released_once(MatrixOrder)
    order.write_source(entries(users=200, first=100))
    with pytest.raises(GuaranteeError, match=r"200 rows instead of 60.*entries instead of"):
        order.release()
    order.write(checks={"drift": {"rows": 1.0, "entries": 1.0}})
    folder = order.release()
    assert folder.name == "v2"
    assert manifest(folder)["drift"]["entries_before"] > 0
