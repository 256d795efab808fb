"""First plans for matrices."""

import numpy as np
from scipy import sparse

from crowdcover.flows.plan.plan import ReleasePlan
from tests.flows.processes import command
from tests.kinds.matrix.orders import MatrixOrder, manifest


def proposed(order, *arguments):
    """The plan that the command writes, with its questions answered."""
    done = command("plan", *arguments, "--kind", "matrix")
    assert done.code == 0, done.err
    order.plan.write_text(done.out)
    assert command("release", order.plan).code == 2  # k is to be decided, and what it is about
    lines = [line for line in done.out.splitlines() if not line.startswith("decide = ")]
    order.plan.write_text("\n".join(lines))
    return order.release()


def test_two_columns_are_users_and_items(tmp_path):
    order = MatrixOrder(tmp_path)
    folder = proposed(order, order.source, "--header")
    assert manifest(folder)["privacy"]["records"] == 60
    assert {each["measure"] for each in manifest(folder)["checks"]} == {"attack success", "jaccard"}


def test_columns_without_a_header_get_names(tmp_path):
    order = MatrixOrder(tmp_path)
    lines = order.source.read_text().splitlines()
    order.source.write_text("\n".join(lines[1:]) + "\n")
    folder = proposed(order, order.source, "--names", "who,what")
    assert manifest(folder)["columns"] == {
        "who": {"role": "identifier"},
        "what": {"role": "quasi"},
    }


def test_arrays_have_no_names(tmp_path):
    order = MatrixOrder(tmp_path)
    made = sparse.csr_array(np.tile(np.eye(4), (5, 2)))
    sparse.save_npz(tmp_path / "m.npz", made)
    folder = proposed(order, tmp_path / "m.npz")
    tried = [each["about"] for each in manifest(folder)["checks"] if each["about"]]
    assert tried == ["1 known item", "2 known items"]  # nobody has five
    assert ReleasePlan.load(order.plan).data.layout == "csr"


def test_what_no_plan_is_proposed_for_is_refused(tmp_path):
    order = MatrixOrder(tmp_path)
    wide = tmp_path / "wide.csv"
    wide.write_text("a,b,c\n1,2,3\n4,5,6\n")
    for arguments, words in (
        ([order.source], "give --header"),
        ([wide, "--header"], "this one has 3"),
        (["sqlite:///x.db", "--query", "select 1"], "made for files"),
    ):
        done = command("plan", *arguments, "--kind", "matrix")
        assert (done.code, words in done.err) == (2, True)
