"""A release in memory: its rows, what was found of them, and what must stay private."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.table.in_memory import CheckedRows
from crowdcover.measured import Report
from crowdcover.reader.reading import columns_of
from crowdcover.reader.release import Release
from crowdcover.releasing.plans import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRIVATE = "private: who has this knows whose each row is; never publish or share it"


@dataclass(frozen=True)
class Vault:
    """What must stay private of a release. Its text says so and shows nothing.

    Attributes
    ----------
    secret : bytes
        All random choices follow from it: with the same frame it gives the same rows.
    matching : frame
        `record`, the row of the source, and `key`, the row of the release.
    law : polars.DataFrame or None
        `key`, and `records`: the rows of the source among which the lot fell.
    source : polars.DataFrame
        The frame that was released.
    """

    secret: bytes
    matching: Any
    law: pl.DataFrame | None
    source: pl.DataFrame

    def __repr__(self) -> str:
        return f"<Vault, {PRIVATE}>"


class Loss(Report):
    """What masking loses. `float(loss)` is the share of all information: NCP, 0 to 1."""

    def __float__(self) -> float:
        return float(self.numbers["gcp"])


class Findings(Report):
    """The auditor's findings: each guarantee, and the counts behind it."""

    @property
    def passed(self) -> bool:
        """Whether all hold; a release of which one does not is never returned."""
        return all(not finding.broken for finding in self.numbers.values())


@dataclass(frozen=True, eq=False, repr=False)
class FrameRelease:
    """A checked release of a frame. Made by `crowdcover.anonymize`; nothing of it is on disk.

    Attributes
    ----------
    plan : Plan
        Role and settings of each column, as used.
    vault : Vault
        What must stay private.
    """

    plan: Plan
    _rows: CheckedRows
    vault: Vault
    _give_back: Callable[[pl.DataFrame], Any]
    as_text: bool = False

    @cached_property
    def frame(self) -> Any:
        """The released rows, of the library that the source came from."""
        return self._give_back(self._rows.texts if self.as_text else self._rows.typed)

    @property
    def dropped(self) -> list[str]:
        """Columns of the source that are not released."""
        return [name for name, role in self.plan.roles.items() if role in ("drop", "identifier")]

    @cached_property
    def codebook(self) -> dict[str, Any]:
        """What cells may allow, as a release publishes it."""
        return dict(self._rows.codebook)

    @cached_property
    def audit(self) -> Findings:
        """What the independent auditor found, recomputed from the source and the rows."""
        findings = self._rows.audit.findings
        return Findings(
            f"Audit: {self._rows.audit.sentence()}",
            {each.guarantee: each for each in findings},
            tuple((each.guarantee, _say(each)) for each in findings),
        )

    @cached_property
    def risk(self) -> Report:
        """What attackers reach, held against the promise."""
        sections = self._sections
        privacy, protection = sections["privacy"], sections["protection"]
        attacks = sections["attacks"]
        lines = [
            ("rows", f"{privacy['records']:,}"),
            ("k demanded", _span(privacy["k_min"], privacy["k_max"])),
            ("people with fewer than k rows that fit them", f"{privacy['below_k']:,}"),
            ("unique in the source", f"{protection['unique_records']:,}"),
            *(
                (f"chance of a right guess: {name}", f"{each['success']:.2%} on average")
                for name, each in attacks.items()
                if "success" in each
            ),
            *(
                (f"people whose whole crowd shows one {name}", f"{each['uniform']:,}")
                for name, each in protection["sensitive"].items()
            ),
        ]
        numbers = {**privacy, **protection, "attacks": attacks}
        return Report("Risk, measured by the auditor", numbers, tuple(lines))

    @cached_property
    def loss(self) -> Loss:
        """What masking loses, overall and by column."""
        utility = self._sections["utility"]
        lines = [
            ("information lost (NCP)", f"{utility['gcp']:.1%}"),
            ("cells that show one value", f"{utility['cells_of_one_value']:.1%}"),
            *(
                (f"{name}", f"{each['ncp']:.1%} lost, {each['one_value']:.1%} of cells exact")
                for name, each in utility["per_column"].items()
            ),
        ]
        return Loss("Loss", utility, tuple(lines))

    @cached_property
    def release(self) -> Release:
        """The reader of the rows: counts, frequencies, means with what is certain and possible."""
        manifest = {
            **self._sections,
            "name": str(self.plan["name"]),
            "version": "in memory",
            "anonymizer": self.plan.check().anonymizer_settings,
        }
        rows, codebook = self._rows.typed, self.codebook
        return Release(manifest, codebook, rows, columns_of(manifest, codebook, rows))

    def complete(self, m: int = 5, seed: int = 0, relations: bool = False) -> list[Any]:
        """Draw completed tables: one value in each cell; see `Release.complete`."""
        tables = self.release.complete(m, seed, relations=relations)
        return [self._give_back(each) for each in tables]

    def plot(self) -> "Figure":
        """What each column loses, as a bar chart; needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        try:
            from matplotlib.figure import Figure
        except ModuleNotFoundError:
            raise ImportError("plot needs matplotlib: pip install 'crowdcover[plots]'") from None

        class Plot(Figure):
            """A figure that a notebook shows; those of matplotlib need pyplot for it."""

            def _repr_png_(self) -> bytes:
                held = BytesIO()
                self.savefig(held, format="png")
                return held.getvalue()

        lost = {name: each["ncp"] for name, each in self.loss["per_column"].items()}
        figure = Plot(figsize=(6, 0.4 * len(lost) + 1), layout="constrained")
        axes = figure.subplots()
        axes.barh([*lost][::-1], [100 * each for each in lost.values()][::-1], color="#2b6cb0")
        axes.set(xlim=(0, 100), xlabel="information lost, % of the column")
        return figure

    def save(self, folder: str | Path) -> Path:
        """Publish the release by the pipeline's own course, with the secret of this one.

        Writes, into a new folder that only its owner can read: `plan.toml`, `source.parquet`, the
        `vault` with the secrets, and the release below `releases`, which alone may be shared. The
        stages run as `crowdcover release plan.toml` runs them, every check included, so
        `crowdcover audit` takes the folder.

        Returns
        -------
        Path
            The release folder.

        Raises
        ------
        InputError
            The folder exists and is not empty.
        """
        from crowdcover.releasing.saving import save_release

        return save_release(self.plan, self.vault.secret, self.vault.source, Path(folder))

    @cached_property
    def _sections(self) -> dict[str, Any]:
        sections: dict[str, Any] = self._rows.audit.measured.sections()
        return sections

    def __len__(self) -> int:
        return self._rows.typed.height

    def __repr__(self) -> str:
        privacy = self._sections["privacy"]
        k = _span(privacy["k_min"], privacy["k_max"])
        return "\n".join(
            [
                f"<FrameRelease: {len(self):,} rows, k = {k}, {float(self.loss):.1%} lost>",
                f"  {self._rows.audit.sentence()}",
                *(f"  {note}" for note in self._rows.notes),
                *([f"  not released: {', '.join(self.dropped)}"] if self.dropped else []),
            ]
        )

    def _repr_html_(self) -> str:
        told = "<br>".join(
            map(escape, repr(self).removeprefix("<").replace(">\n", "\n", 1).split("\n"))
        )
        return f"<p>{told}</p>{self.loss._repr_html_()}{self.risk._repr_html_()}"


def _say(finding: Finding) -> str:
    holds = "broken" if finding.broken else "holds" if finding.passed else "not required"
    return f"{holds}: {finding.detail}"


def _span(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"
