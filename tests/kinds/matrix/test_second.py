"""Second releases of a matrix: who is recognised, and who stays alike in all releases."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from anon_core.errors import GuaranteeError
from crowdcover.storage.vault.refusals import SecondReleaseError
from tests import naive
from tests.kinds.matrix.orders import MatrixOrder, entries, manifest
from tests.support.audits import audit_release

ALLOWED = {"publish": {"allow_second_release": True}, "checks": {"drift": "off"}}
INTERSECTED = "crowds after intersection"


def tastes(users=60, first=0):
    """Users in five tastes who hold all of their taste; runs of k that divide them show it."""
    return [
        (f"Pperson{number:03d}Q", f"Pitem{6 * (number % 5) + place}Q")
        for number in range(first, first + users)
        for place in range(4)
    ]


def shown(folder, run):
    """The items of each user's row by name."""
    rows = dict(pl.read_parquet(folder / "rows.parquet").rows())
    seats = pl.read_parquet(run.path / "anonymize" / "matching.parquet").sort("record")
    labels = json.loads((folder / "codebook.json").read_text())["items"]
    return [frozenset(labels[item] for item in rows[key]) for key in seats["key"]]


def users_of(pairs):
    """Users in the order of their records."""
    return list(dict.fromkeys(user for user, _ in pairs))


def by_definition(pairs, folders, runs, k):
    """How many users of all releases resemble fewer than k users, and the least margin."""
    releases = [
        dict(zip(users_of(held), shown(folder, run), strict=True))
        for held, folder, run in zip(pairs, folders, runs, strict=True)
    ]
    last, *others = reversed(releases)
    several = {user for user in last if any(user in other for other in others)}
    margin = [n - k for user, n in naive.users_alike(releases).items() if user in several]
    return {
        "people": len(several),
        "below_k": sum(each < 0 for each in margin),
        "least_margin": min(margin),
    }


def finding(folder, order):
    found = {each.guarantee: each for each in audit_release(folder, order.plan).findings}
    return found.get(INTERSECTED)


def test_a_second_release_is_refused_unless_the_plan_allows_it(released_once):
    order = released_once(MatrixOrder)
    order.write_source([(user, item) for user, item in entries() if item != "Pitem3Q"])
    order.write(checks={"drift": "off"})
    with pytest.raises(SecondReleaseError, match=r"60 people of this source were released"):
        order.release()


@pytest.mark.long
def test_the_audit_of_a_csv_file_alone_lays_its_rows_beside_the_first_release(tmp_path):
    order = MatrixOrder(tmp_path, tastes(), privacy={"k": 4}, publish={"formats": ["csv"]})
    order.release()
    order.write(privacy={"k": 6}, **ALLOWED)
    found = finding(order.release(), order)
    assert found.passed
    assert "0 of 60 people" in found.detail
    assert "(least margin 6)" in found.detail


@pytest.mark.long
def test_users_who_stay_alike_may_be_released_again(tmp_path):
    order = MatrixOrder(tmp_path, tastes(), privacy={"k": 4})
    folders, runs = [order.release()], [order.run]
    order.write(privacy={"k": 6}, **ALLOWED)
    folders.append(order.release())
    runs.append(order.run)
    stated = manifest(folders[1])["second_release"]
    assert stated == {"overlapping": 1, **by_definition([tastes()] * 2, folders, runs, 6)}
    assert (stated["people"], stated["below_k"], stated["least_margin"]) == (60, 0, 6)
    assert finding(folders[1], order).passed
    order.write(privacy={"k": 4})
    assert finding(folders[0], order).passed


@pytest.mark.long
@pytest.mark.parametrize("formats", [["parquet"], ["csv"]])
def test_groups_that_cross_are_refused(tmp_path, formats):
    """Numbers of who falls short are those of the definition, from the rows as published."""
    first = [*tastes(30), *entries(30, first=100)]
    second = [*tastes(25), *entries(40, first=110)]
    order = MatrixOrder(tmp_path, first, privacy={"k": 3})
    folders, runs = [order.release()], [order.run]
    order.write_source(second)
    other = MatrixOrder(tmp_path / "alone", second, privacy={"k": 4})
    folders.append(other.release())
    runs.append(other.run)
    expected = by_definition([first, second], folders, runs, 4)
    assert 0 < expected["below_k"] < expected["people"] < len(users_of(second))
    order.write(privacy={"k": 4}, **ALLOWED)
    order.document["publish"]["formats"] = formats
    order.write()
    order.fix_seed(other.run.seed)
    with pytest.raises(
        GuaranteeError,
        match=rf"refused; {expected['below_k']} of {expected['people']} people who are also in 1 "
        rf"other.*margin {expected['least_margin']}\); leave these users out, or publish no second",
    ):
        order.release()
    assert not (tmp_path / "releases" / "likes" / "v2").exists()


@pytest.mark.long
def test_three_releases_of_some_of_the_users(tmp_path):
    """The second shows other users, the third both: its users are in one other release each."""
    order = MatrixOrder(tmp_path, tastes(), privacy={"k": 3})
    order.release()
    order.write_source(tastes(30, first=100))
    order.write(**ALLOWED)
    assert "second_release" not in manifest(order.release())
    order.write_source([*tastes(30), *tastes(30, first=100), *tastes(30, first=200)])
    stated = manifest(order.release())["second_release"]
    assert (stated["overlapping"], stated["people"], stated["below_k"]) == (2, 60, 0)
    assert stated["least_margin"] == 6 - 3  # of 30 users in five tastes


@pytest.mark.long
def test_the_greater_of_two_demands_counts(tmp_path):
    order = MatrixOrder(tmp_path, tastes(), privacy={"k": 12})
    order.release()
    fewer = [pair for pair in tastes() if int(pair[0][7:10]) % 12]  # 11 of each taste
    order.write_source(fewer)
    order.write(privacy={"k": 11}, **ALLOWED)
    with pytest.raises(GuaranteeError, match=r"55 of 55 people .*least margin -1\)"):
        order.release()


@pytest.mark.long
def test_one_row_of_another_content_is_found_by_the_audit(tmp_path):
    """The audit compares the published bytes, not those of the vault."""
    order = MatrixOrder(tmp_path, tastes(), privacy={"k": 4})
    order.release()
    order.write(privacy={"k": 6}, **ALLOWED)
    folder = order.release()
    rows = pl.read_parquet(folder / "rows.parquet")
    items = rows["items"].to_list()
    items[0] = next(each for each in items if each != items[0])
    changed = tmp_path / "changed"
    shutil.copytree(folder, changed)
    rows.with_columns(items=pl.Series(items, dtype=rows["items"].dtype)).write_parquet(
        changed / "rows.parquet"
    )
    found = finding(changed, order)
    assert "1 of 60 people" in found.detail
    assert not found.passed


def square(folder, order=None):
    """30 x 8 in CSR form, without names."""
    held = np.zeros((30, 8), dtype=int)
    held[np.arange(30), np.arange(30) % 3] = 1
    held[np.arange(30), 3 + np.arange(30) % 3] = 1
    order = order or MatrixOrder(
        folder,
        source={"path": "likes.npz", "layout": "csr"},
        columns={"user": None, "item": None},
    )
    sparse.save_npz(folder / "likes.npz", sparse.csr_matrix(held))
    return order


@pytest.mark.long
def test_users_without_names_are_recognised_by_their_place_in_the_same_source(tmp_path):
    order = square(tmp_path)
    order.release()
    order.write(privacy={"k": 2}, **ALLOWED)
    stated = manifest(order.release())["second_release"]
    assert (stated["people"], stated["least_margin"]) == (30, 5)


@pytest.mark.long
def test_a_header_that_was_taken_for_a_user_moves_nobody(tmp_path):
    frame = pl.DataFrame({"job": ["nurse", "clerk"] * 20, "town": ["ulm", "trier"] * 20})
    order = MatrixOrder(
        tmp_path,
        source={"path": "table.csv", "layout": "table", "header": False},
        columns={
            "user": None, "item": None, "names": ["job", "town"], "categorical": ["job", "town"],
        },
    )  # fmt: skip
    frame.write_csv(tmp_path / "table.csv")
    order.release()
    order.write(source={"header": True}, columns={"names": None}, **ALLOWED)
    stated = manifest(order.release())["second_release"]
    assert (stated["people"], stated["below_k"]) == (40, 0)


@pytest.mark.long
def test_a_source_whose_items_become_its_users_cannot_be_compared(released_once):
    order = released_once(MatrixOrder, tastes())
    order.write(columns={"user": "item", "item": "user"}, privacy={"k": 4}, **ALLOWED)
    with pytest.raises(SecondReleaseError, match="cannot be compared with this one"):
        order.release()


def test_a_release_whose_run_is_gone_cannot_be_compared(released_once):
    order = released_once(MatrixOrder, tastes())
    first = order.run.path
    order.write(privacy={"k": 6}, **ALLOWED)
    shutil.rmtree(first / "encode")
    with pytest.raises(SecondReleaseError, match="1 of the releases that show the same people"):
        order.release()
