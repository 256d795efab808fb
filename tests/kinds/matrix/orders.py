"""A small private matrix, a plan for it, and what a run of it left behind."""

import json
import random
from pathlib import Path

import polars as pl

from flows.plan.plan import ReleasePlan
from flows.release import release
from tasks.source.reading import Reading
from tasks.vault.storage import Vault
from tests.flows.orders import toml_value

SEED = bytes(range(32))


def entries(users=60, draws=3, first=0):
    """Pairs of a user and an item in five tastes; some users hold nothing."""
    chance = random.Random(draws)
    pairs = []
    for number in range(first, first + users):
        user = f"Pperson{number:03d}Q"
        held = [f"Pitem{6 * (number % 5) + i}Q" for i in range(8) if chance.random() < 0.6]
        pairs += [(user, item) for item in held] if number % 9 else [(user, "")]
    chance.shuffle(pairs)
    return pairs


class MatrixOrder:
    """A folder with likes.csv and likes.toml, and the runs that are made of them."""

    def __init__(self, folder, pairs=None, **sections):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.plan = self.folder / "likes.toml"
        self.source = self.folder / "likes.csv"
        self.vault = self.folder / "vault"
        self.document = {
            "source": {"kind": "matrix", "path": "likes.csv"},
            "columns": {"user": "user", "item": "item"},
            "privacy": {"k": 5},
        }
        self.write_source(entries() if pairs is None else pairs)
        self.write(**sections)

    def write(self, **sections):
        """Write the plan, sections merged into it; None takes a key out."""
        for name, section in sections.items():
            merged = {**self.document.get(name, {}), **section}
            self.document[name] = {key: each for key, each in merged.items() if each is not None}
        lines = ['name = "likes"']
        for name, section in self.document.items():
            lines.append(f"[{name}]")
            lines += [f"{key} = {toml_value(value)}" for key, value in section.items()]
        self.plan.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def write_source(self, pairs):
        """Write the edge list."""
        frame = pl.DataFrame(pairs, schema=["user", "item"], orient="row")
        frame.write_csv(self.source)

    def release(self):
        """Run the course of the flow in this process, without Prefect."""
        return Path(release.fn(str(self.plan)))

    @property
    def data(self):
        """The plan's part of the kind."""
        return ReleasePlan.load(self.plan).data

    @property
    def run(self):
        """The vault's run of this plan and source, made if there is none."""
        plan = ReleasePlan.load(self.plan)
        reading = Reading(plan.data.source)
        return Vault(self.vault).run(plan.sha256, reading.sha256, "matrix")

    def fix_seed(self, seed=SEED):
        """Let the run draw known secrets."""
        (self.run.path / "seed").write_bytes(seed)
        return self

    @property
    def secrets(self):
        """Where the vault keeps the row map."""
        return self.run.path / "anonymize"


def manifest(folder):
    """What a release says of itself."""
    return json.loads((folder / "manifest.json").read_text())
