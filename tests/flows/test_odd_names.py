"""Column names that could rewrite a terminal, a page or a line of a log are shown escaped."""

import json
import re

import polars as pl
import pytest

from crowdcover.flows.plan.plan import ReleasePlan
from tests.flows.orders import Order, people
from tests.flows.processes import command, crowdcover
from tests.support.audits import audit_release

AGE, CITY, SMOKES = "a\x1b[31mge", "ci\r\nty", "\u202esmokes\u200f"
DIAGNOSIS, NOTE, JUNK = "diag\x85nosis", "[red]no\x9b2Jte[/none]", "ju\x07\u2028nk"
NAMES = ("ssn", AGE, CITY, SMOKES, DIAGNOSIS, NOTE, JUNK)
ROLES = {
    "ssn": {"role": "identifier"},
    AGE: {"role": "quasi", "kind": "numeric"},
    CITY: {"role": "quasi", "kind": "categorical"},
    SMOKES: {"role": "quasi", "kind": "binary"},
    DIAGNOSIS: {"role": "sensitive"},
    NOTE: {"role": "keep"},
    JUNK: {"role": "drop"},
}
SIGNS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e]"


class Odd(Order):
    """The small table under other names; Parquet keeps them as they are."""

    def write_source(self, rows):
        super().write_source(rows)
        frame = pl.read_csv(self.source, infer_schema=False)
        frame.columns = list(NAMES)
        self.source = self.folder / "people.parquet"
        frame.write_parquet(self.source)

    def write(self, **sections):
        self.document |= {"source": {"path": "people.parquet"}, "columns": dict(ROLES)}
        super().write(**sections)


@pytest.fixture(scope="module")
def odd(server, tmp_path_factory):
    """A release, and all that its process printed."""
    order = Odd(tmp_path_factory.mktemp("odd"))
    order.done = crowdcover("release", order.plan, level="DEBUG")
    assert order.done.code == 0, order.done.err
    return order


def clean(text):
    """No sign that could do harm; lines may end."""
    return re.search(SIGNS, text) is None


@pytest.mark.long
def test_what_a_release_prints(odd):
    assert clean(odd.done.err + odd.done.out)


def test_pages(odd):
    pages = [odd.folder_of_v1 / "report.html", *odd.vault.rglob("*.html")]
    assert len(pages) == 2
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert clean(text), page
        assert "a\\x1b[31mge" in text
        assert "\\u202esmokes\\u200f" in text
        assert "ci\\r\\nty" in text


def test_show_and_audit(odd):
    for arguments in (
        ("show", odd.folder_of_v1),
        ("show", odd.folder_of_v1, "--all"),
        ("show", odd.folder_of_v1, "--json"),
        ("audit", odd.folder_of_v1, "--plan", odd.plan),
    ):
        done = command(*arguments)
        assert done.code == 0, done.err
        assert clean(done.out + done.err), arguments[0]
    shown = command("show", odd.folder_of_v1, "--all").out
    assert "a\\x1b[31mge" in shown
    assert "diag\\x85nosis" in shown


def test_json_reads_back_the_same(odd):
    done = command("show", odd.folder_of_v1, "--json")
    assert json.loads(done.out) == json.loads((odd.folder_of_v1 / "manifest.json").read_text())
    assert set(json.loads(done.out)["utility"]["per_column"]) == {AGE, CITY, SMOKES}


def test_data_keep_the_names_of_the_source(odd):
    assert set(odd.rows().columns) == {"key", AGE, CITY, SMOKES, DIAGNOSIS, NOTE}
    assert audit_release(odd.folder_of_v1, odd.plan).passed


def test_the_starter_plan_reads_back(odd, tmp_path):
    done = command("plan", odd.source)
    assert done.code == 0, done.err
    assert clean(done.out)
    path = tmp_path / "starter.toml"
    lines = [line for line in done.out.splitlines() if not line.startswith("decide = ")]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert set(ReleasePlan.load(path).columns) == set(NAMES)


@pytest.mark.long
@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"columns": {**ROLES, "go\x1b[2Jne\u202e": {"role": "keep"}}}, r"go\x1b[2Jne\u202e"),
        ({"columns": {name: ROLES[name] for name in NAMES if name != JUNK}}, r"ju\x07\u2028nk"),
        ({"columns": {**ROLES, DIAGNOSIS: {"role": "keep", "kind": "numeric"}}}, r"diag\x85nosis"),
        ({"columns": {**ROLES, CITY: {"role": "quasi"}}}, r"columns.ci\r\nty"),
        ({"columns": {**ROLES, CITY: {"role": "quasi", "kind": "x"}}}, r"columns.ci\r\nty"),
        ({"columns": {**ROLES, CITY: {"role": "q", "od\x1bd": 1}}}, r"columns.ci\r\nty.od\x1bd"),
        ({"checks": {"columns": {AGE: 0.999}}}, r"a\x1b[31mge"),
        ({"checks": {"t_closeness": {"column": DIAGNOSIS, "t": 0.0}}}, r"diag\x85nosis"),
    ],
)
def test_refusals(tmp_path, sections, words):
    order = Odd(tmp_path)
    order.document["columns"] = sections.get("columns", ROLES)
    Order.write(order, **{k: v for k, v in sections.items() if k != "columns"})
    with pytest.raises(Exception) as caught:  # noqa: PT011 - refusals of several types
        order.release()
    assert words in str(caught.value)
    assert clean(str(caught.value))
    assert "\n" not in str(caught.value)


def test_drift_names_columns_escaped(tmp_path):
    order = Odd(tmp_path)
    order.release()
    rows = [(*row[:2], "atlantis", *row[3:]) for row in people(first=90)]
    Odd.write_source(order, rows)
    order.source = order.folder / "people.parquet"
    with pytest.raises(Exception, match="1 new category") as caught:
        order.release()
    assert r"ci\r\nty" in str(caught.value)
    assert clean(str(caught.value))
