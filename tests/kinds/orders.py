"""A small private source of a kind, a plan for it, and what a run of it left behind."""

import json
from pathlib import Path
from typing import ClassVar

import polars as pl

from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.release import release
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.vault import Vault
from tests.flows.orders import toml_value

SEED = bytes(range(32))


class KindOrder:
    """A folder with a source and its plan, and the runs that are made of them.

    A kind states the name of its release, its sections and the columns of its rows.
    """

    name: ClassVar[str]
    sections: ClassVar[dict]
    header: ClassVar[list]

    def __init__(self, folder, rows, **sections):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.plan = self.folder / f"{self.name}.toml"
        self.source = self.folder / f"{self.name}.csv"
        self.vault = self.folder / "vault"
        self.document = {name: dict(section) for name, section in self.sections.items()}
        self.write_source(rows)
        self.write(**sections)

    def write(self, **sections):
        """Write the plan, sections merged into it; None takes a key out."""
        for name, section in sections.items():
            merged = {**self.document.get(name, {}), **section}
            self.document[name] = {key: each for key, each in merged.items() if each is not None}
        lines = [f'name = "{self.name}"']
        for name, section in self.document.items():
            lines.append(f"[{name}]")
            lines += [f"{key} = {toml_value(value)}" for key, value in section.items()]
        self.plan.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def write_source(self, rows):
        """Write the rows of the source."""
        frame = pl.DataFrame(rows, schema=self.header, orient="row")
        frame.write_csv(self.source)

    def release(self):
        """Run the course of the flow in this process, without Prefect."""
        return Path(release.fn(str(self.plan)))

    @property
    def published(self):
        """The first release."""
        return self.folder / "releases" / self.name / "v1"

    @property
    def data(self):
        """The plan's part of the kind."""
        return ReleasePlan.load(self.plan).data

    @property
    def run(self):
        """The vault's run of this plan and source, made if there is none."""
        plan = ReleasePlan.load(self.plan)
        reading = Reading(plan.data.source)
        return Vault(self.vault).run(plan.sha256, reading.sha256, plan.kind.name)

    def fix_seed(self, seed=SEED):
        """Let the run draw known secrets."""
        (self.run.path / "seed").write_bytes(seed)
        return self

    @property
    def secrets(self):
        """Where the vault keeps the map of keys."""
        return self.run.path / "anonymize"


def manifest(folder):
    """What a release says of itself."""
    return json.loads((folder / "manifest.json").read_text())
