"""A small private table, a plan for it, and what a run of it left behind."""

import csv
import json
import random
import sqlite3
from pathlib import Path

import polars as pl

from crowdcover.flows.course import release_plan
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.release import release
from crowdcover.storage.places.place import place_of
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.files import write_private
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.orchestration.gates import PAGE
from tests.reports.browsed import Page
from tests.typed import text_rows

SEED = bytes(range(32))
RARE = "rare-Atlantis"
FILES = [
    "codebook.json", "croissant.json", "data.csv.gz", "data.parquet", "datapackage.json",
    "dcat.jsonld", "manifest.json", "method.spdx3.json", "report.html",
]  # fmt: skip
# What a run of a table keeps in its vault, in order, and which of these hold a verdict.
STAGES = (
    "ingest",
    "validate-ingested",
    "binarize",
    "validate-binarized",
    "identify",
    "anonymize",
    "check",
)
JUDGES = ("validate-ingested", "validate-binarized", "check")
HEADER = ("ssn", "age", "city", "smokes", "diagnosis", "note", "junk")
QUASI = ["age", "city", "smokes"]


def people(records=90, draws=3, first=0):
    """Rows of the table: a rare city, missing cities, distinct notes; `first` numbers people."""
    chance = random.Random(draws)
    rows = []
    for number in range(records):
        city = RARE if number == 7 else chance.choice(["ulm", "bonn", "kiel", "essen", ""])
        illness = f"illness-{number % 5}"
        smokes = chance.choice(["yes", "no"])
        rows.append(
            (
                f"ident-{first + number:05d}",
                chance.randint(18, 80),
                city,
                smokes,
                illness,
                f"note-{number}",
                f"junk-{number}",
            )
        )
    return rows


def columns():
    """The plan's [columns]."""
    return {
        "ssn": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric"},
        "city": {"role": "quasi", "kind": "categorical"},
        "smokes": {"role": "quasi", "kind": "binary"},
        "diagnosis": {"role": "sensitive"},
        "note": {"role": "keep"},
        "junk": {"role": "drop"},
    }


class Order:
    """A folder with people.csv and people.toml, and the runs that are made of them."""

    def __init__(self, folder, rows=None, **sections):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.plan = self.folder / "people.toml"
        self.source = self.folder / "people.csv"
        self.vault = self.folder / "vault"
        self.releases = self.folder / "releases" / "people"
        self.document = {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": columns(),
            "privacy": {"k": 4},
            "anonymizer": {"name": "local-search", "effort": 0},  # half of the time of a release
            "publish": {},
        }
        self.write_source(people() if rows is None else rows)
        self.write(**sections)

    def write(self, **sections):
        """Write the plan, sections merged into it; another method brings its own settings."""
        if "name" in sections.get("anonymizer", {}):
            self.document["anonymizer"] = {}
        for name, section in sections.items():
            self.document[name] = (
                {**self.document.get(name, {}), **section} if isinstance(section, dict) else section
            )
        lines = [
            f"{key} = {toml_value(value)}"
            for key, value in self.document.items()
            if not isinstance(value, dict)
        ]
        for name, section in self.document.items():
            if name == "columns":
                lines += [
                    f"[columns.{json.dumps(key)}]\n" + _pairs(column)
                    for key, column in section.items()
                ]
            elif isinstance(section, dict):
                lines.append(f"[{name}]\n" + _pairs(section))
        self.plan.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def write_source(self, rows):
        """Write the table."""
        with self.source.open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle).writerows([HEADER, *rows])

    def release(self):
        """Run the course of the flow in this process, without Prefect."""
        return place_of(release.fn(str(self.plan)))

    def release_as_before(self):
        """The same, of the plan as 0.1.0 understood it."""
        return place_of(release_plan(ReleasePlan.load(self.plan).earlier[-1]).folder)

    def release_in_prefect(self):
        """Run the flow in this process: a flow run of the session's Prefect server."""
        return place_of(release(str(self.plan)))

    @property
    def run(self):
        """The vault's run of this plan and source, made if there is none."""
        plan = ReleasePlan.load(self.plan)
        return Vault(self.vault).run(plan.sha256, Reading(plan.data.source).sha256)

    def fix_seed(self, seed=SEED):
        """Let the run draw known secrets."""
        write_private(self.run.path / "seed", seed)
        return self

    @property
    def versions(self):
        """What is visible in the folder of releases, and what is not."""
        names = (
            sorted(path.name for path in self.releases.glob("*")) if self.releases.exists() else []
        )
        return [name for name in names if not name.startswith(".")]

    @property
    def folder_of_v1(self):
        return self.releases / "v1"

    def rows(self, version="v1"):
        """The released rows, cells as text."""
        return text_rows(self.releases / version)

    def keys_of_records(self):
        """The vault's record -> key."""
        return pl.read_parquet(self.run.path / "anonymize" / "matching.parquet", glob=False)

    def stage_times(self):
        """When each stage of the run was written."""
        return {
            path.parent.name: path.stat().st_mtime_ns
            for path in self.run.path.glob("[!.]*/stage.json")
        }

    @property
    def verdicts(self):
        """The page of the run's verdicts, as text in one line."""
        return Page((self.run.path / PAGE).read_text(encoding="utf-8")).text


def data_bytes(folder):
    """The bytes of a release that hold rows and codebook."""
    return {
        name: (folder / name).read_bytes()
        for name in ("data.parquet", "data.csv.gz", "codebook.json")
    }


def database_texts(path):
    """Every value of every table of an SQLite database, as bytes."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = bytes
    try:
        for (table,) in connection.execute(
            "select name from sqlite_master where type = 'table'"
        ).fetchall():
            for row in connection.execute(f'select * from "{table.decode()}"'):
                yield from (
                    value if isinstance(value, bytes) else str(value).encode() for value in row
                )
    finally:
        connection.close()


def _pairs(section):
    return "\n".join(f"{json.dumps(key)} = {toml_value(value)}" for key, value in section.items())


def toml_value(value):
    """Write a value of a plan as TOML does."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)} = {toml_value(below)}" for key, below in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
