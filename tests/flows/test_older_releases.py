"""Releases that older code made (tests/flows/older) are read, audited, shown and compared."""

import csv
import gzip
import itertools
import json
import re
import tarfile
from datetime import date, timedelta
from math import inf
from pathlib import Path

import polars as pl
import pytest

import crowdcover as cc
from tests.flows.processes import command
from tests.typed import text_rows

OLDER = Path(__file__).parent / "older"
NAMES = ("0.1.0", "text-cells")
KEY = "ed25519:6IWd2pxvzUd6N4wKR39uK0ebPMrc0W2yKrEryiF/poY="


@pytest.fixture(scope="module", params=NAMES)
def people(request, tmp_path_factory):
    """A folder with plan, source, release and vault that no test may change."""
    return unpacked(request.param, tmp_path_factory.mktemp("older"))


def unpacked(name, folder):
    with tarfile.open(OLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="tar")
    return folder / "people"


# ---------------------------------------------------------------- a tiny reader of text cells


class Text:
    """The cells of one column, each as the places of the levels that its text names."""

    def __init__(self, entry, cells):
        self.entry, labels = entry, entry["labels"]
        self.gone = entry["has_missing"]
        counted = entry["kind"] in ("numeric", "date")
        self.values = [None if self.gone and not at else label for at, label in enumerate(labels)]
        written = labels if counted else [self.escaped(value) for value in self.values]
        sides = [label.split("..") if counted else [label] for label in written]
        cell = {"*": set(range(len(labels)))}
        if entry["encoding"] == "ordinal":
            for first, last in itertools.combinations(range(len(labels)), 2):
                cell[f"{sides[first][0]}..{sides[last][-1]}"] = set(range(first, last + 1))
        single = {label: at for at, label in enumerate(written)}
        cell |= {label: {at} for label, at in single.items()}
        self.sets = [
            cell.get(text) or {single[part] for part in re.split(r"(?<!\\)\|", text)}
            for text in cells
        ]

    @staticmethod
    def escaped(value):
        """A bar and doubled dots get a backslash; the source has no other sign to escape."""
        return "(missing)" if value is None else value.replace("|", r"\|").replace("..", r"\.\.")

    def ends(self):
        """Least and greatest number that each level of numbers may be; groups exclude the lower."""
        day = (lambda text: (date.fromisoformat(text) - date(1970, 1, 1)).days) if (
            self.entry["kind"] == "date"
        ) else float  # fmt: skip
        edges = self.entry["inner_edges"]
        if edges:
            return list(zip([-inf, *edges], [*edges, inf], strict=True))
        return [(day(text), day(text)) for text in self.entry["labels"]]

    def count(self, good, may=None):
        """Rows certain and possible for levels that meet a question, and those that may."""
        may = good if may is None else may
        return sum(each <= good for each in self.sets), sum(bool(each & may) for each in self.sets)


@pytest.fixture(scope="module")
def texts(people):
    return texts_of(people / "releases" / "people" / "v1")


def texts_of(folder):
    book = json.loads((folder / "codebook.json").read_text("utf-8"))
    with gzip.open(folder / "data.csv.gz", "rt", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {
        entry["name"]: Text(entry, [line[entry["name"]] for line in lines])
        for entry in book["attributes"]
    }


# ---------------------------------------------------------------- crowdcover


def test_the_archives_hold_text_cells(people):
    release = people / "releases" / "people" / "v1"
    rows = pl.read_parquet(release / "data.parquet", glob=False)
    masked = list(texts_of(release))
    assert set(rows.select(masked).dtypes) == {pl.String}
    assert rows.select(masked).equals(text_rows(release).select(masked))
    assert "format" not in json.loads((release / "codebook.json").read_text())
    assert sum(path.stat().st_size for path in OLDER.iterdir()) < 250_000


@pytest.mark.parametrize("data", ["data.parquet", "data.csv.gz"])
def test_counts_and_frequencies_are_those_of_the_text(people, texts, data, tmp_path):
    folder = tmp_path / "v1"
    folder.mkdir()
    for name in ("manifest.json", "codebook.json", data):
        (folder / name).write_bytes((people / "releases" / "people" / "v1" / name).read_bytes())
    release = cc.read(folder, estimator="uniform")
    assert len(release) == 60
    for name, column in texts.items():
        shares = [
            sum(1 / len(each) for each in column.sets if at in each)
            for at in range(len(column.values))
        ]
        assert release.frequencies(name)["expected"].to_list() == pytest.approx(shares)
        sets = release.sets()[name].to_list()
        assert [{column.entry["labels"].index(each) for each in cell} for cell in sets] == (
            column.sets
        )
        for at, value in enumerate(column.values):
            found = release.count({name: value})
            assert (found.certain, found.possible) == column.count({at}), (name, value)


def test_questions_about_numbers_and_dates(people, texts):
    release = cc.read(people / "releases" / "people" / "v1", estimator="uniform")
    for edge in (30, 40, 45, 60):
        ends = texts["age"].ends()
        good = {at for at, (lo, _) in enumerate(ends) if lo >= edge}
        found = release.count({"age": cc.above(edge)})
        may = {at for at, (_, hi) in enumerate(ends) if hi > edge}
        assert (found.certain, found.possible) == texts["age"].count(good, may)
    ends = texts["visit"].ends()
    cut = date(1970, 1, 1) + timedelta(days=int(ends[0][1]))
    found = release.count({"visit": cc.at_most(cut)})
    assert (found.certain, found.possible) == texts["visit"].count({0})
    both = release.count({"visit": cc.at_most(cut), "city": "ulm"})
    ulm = texts["city"].values.index("ulm")
    pairs = list(zip(texts["visit"].sets, texts["city"].sets, strict=True))
    assert both.certain == sum(visit == {0} and city == {ulm} for visit, city in pairs)
    assert both.possible == sum(0 in visit and ulm in city for visit, city in pairs)
    children = texts["children"]
    value = [float(label) for label in children.entry["labels"]]
    mean = release.mean("children")
    assert mean.lo == pytest.approx(sum(value[min(each)] for each in children.sets) / 60)
    assert mean.hi == pytest.approx(sum(value[max(each)] for each in children.sets) / 60)


# ---------------------------------------------------------------- commands


@pytest.mark.long
def test_an_older_release_is_audited(people):
    folder = people / "releases" / "people" / "v1"
    done = command("audit", folder, "--plan", people / "people.toml")
    assert done.code == 0, done.out + done.err
    assert re.fullmatch(r"all (19|21) guarantees hold", done.last_line)


def test_an_older_release_is_shown_completed_and_not_verified(people, texts, tmp_path):
    folder = people / "releases" / "people" / "v1"
    assert "crowdcover 0.1.0" in command("show", folder, "--all").out
    assert len(command("show", folder).out.splitlines()) <= 25
    done = command("complete", folder, "--draws", 2, "--output", tmp_path / "drawn.csv")
    assert done.code == 0, done.err
    drawn = pl.read_csv(tmp_path / "drawn.csv", infer_schema=False)["city"].to_list()
    allowed, places = 2 * texts["city"].sets, texts["city"].values
    assert all(places.index(city) in cell for city, cell in zip(drawn, allowed, strict=True))
    done = command("verify", folder, "--key", KEY)
    assert (done.code, done.last_line) == (4, "v1 is NOT verified")
    assert "there is no release.intoto.jsonl" in done.out
    assert command("verify", folder, "--unsigned").code == 0


@pytest.mark.long
def test_today_continues_a_series_that_older_code_began(tmp_path):
    from crowdcover.flows.release import release
    from crowdcover.storage.places.place import place_of

    people = unpacked("text-cells", tmp_path)
    first = people / "releases" / "registry" / "v1"
    plan = people / "registry.toml"
    assert command("audit", first, "--plan", plan).code == 0
    for path in (people / "vault-of-registry").rglob("*.json"):  # a series stays in its folder
        path.write_text(path.read_text().replace("/srv/people", str(people)))
    with (people / "people.csv").open("a", newline="") as file:
        more = (2, 7, 12, 17)
        file.writelines(
            f"ident-9{at:02},{30 + at},2021-03-0{at % 9 + 1},1,ulm,low,no,illness-1,2.0\n"
            for at in more
        )
    second = place_of(release.fn(str(plan)))
    assert second.name == "v2"
    rows = [pl.read_parquet(each / "data.parquet", glob=False) for each in (first, second)]
    assert rows[0].schema == rows[1].schema
    assert rows[1].filter(pl.col("since") == 1).equals(rows[0])
    assert len(cc.read(second)) == 64
    for folder in (first, second):
        done = command("audit", folder, "--plan", plan)
        assert done.code == 0, done.out
