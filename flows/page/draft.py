"""The plan that the page shows and edits; it stays in memory until a person saves it."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_core.errors import AnonymityError
from crowdcover.flows.launch.one_plan import load_ready_plan
from crowdcover.flows.plan.document import read_document, read_plan_text
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.flows.plan.starter import write_new_plan
from crowdcover.kinds.section import PlanError
from crowdcover.storage.vault.files import open_replacement_file


@dataclass
class Draft:
    """A plan as text, the file that holds it or will hold it, and what is in that file.

    `kind` is the kind of a starter plan, whose schema is written beside it. `saved` is None until
    the file is written or was read.
    """

    text: str
    path: Path
    kind: str = "table"
    saved: str | None = None

    @classmethod
    def read(cls, path: Path) -> "Draft":
        """The draft of a plan file, which may be refused later; refused here: no readable text."""
        text = read_plan_text(path)
        return cls(text, path, saved=text)

    @property
    def is_saved(self) -> bool:
        """Whether the file holds what the page shows."""
        return self.saved == self.text

    def document(self) -> dict[str, Any]:
        """The keys of the plan, paths made absolute; refused where the text is no TOML."""
        return read_document(self.path, [], self.text)

    def load(self) -> ReleasePlan:
        """The plan; refused as `crowdcover release` refuses its file."""
        return load_ready_plan(self.path, [], self.text)

    def find_refusal(self) -> str | None:
        """The message with which `crowdcover release` refuses the plan; None where it takes it."""
        try:
            self.load()
        except AnonymityError as refusal:
            return str(refusal)
        return None

    def choose_path(self, name: str) -> Path:
        """A file of this name in the folder of the draft; refused: names that lead elsewhere."""
        if name != Path(name).name or not name.endswith(".toml") or name[:1] in (".", "-"):
            raise PlanError(
                f"the plan is saved in {self.path.parent}: give the name of a file there that ends "
                "with .toml, without a folder"
            )
        return self.path.parent / name

    def save(self, path: Path, *, replaces: bool) -> None:
        """Write the file; refused: one that is there, unless a person agreed to replace it."""
        if self.saved is None and not os.path.lexists(path):
            write_new_plan(self.text, path, self.kind)
        elif not os.path.lexists(path):
            with path.open("x", encoding="utf-8", newline="") as handle:
                handle.write(self.text)
        elif not replaces:
            raise PlanError(f"{path} exists; tick the box that replaces it, or give another name")
        else:
            self._replace(path.resolve())
        self.path, self.saved = path, self.text

    def _replace(self, path: Path) -> None:
        """Replace a file in one step; its mode stays."""
        if path == self.path.resolve() and self.saved not in (None, read_plan_text(path)):
            raise PlanError(
                f"{path} was changed by something else since it was opened; save under another "
                "name, or run crowdcover open again"
            )
        with open_replacement_file(path) as handle:
            handle.write(self.text.encode())
            shutil.copymode(path, handle.name)
