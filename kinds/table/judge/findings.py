"""What an audit reports: findings, and the numbers measured on the way."""

from dataclasses import dataclass, field, replace

import polars as pl

from kinds.table.judge.measured import Measured


@dataclass(frozen=True)
class Finding:
    """One guarantee of a release.

    Attributes
    ----------
    guarantee : str
        Its name, as in a `Promise`.
    passed : bool
        Whether the release keeps it.
    detail : str
        The counts behind that, without values of the table.
    required : bool
        Whether the release must keep it. A finding that is not required informs only.
    """

    guarantee: str
    passed: bool
    detail: str
    required: bool = True

    @property
    def broken(self) -> bool:
        """Whether the release must keep this guarantee and does not."""
        return self.required and not self.passed


@dataclass(frozen=True)
class Audit:
    """All findings about one release, and its rows.

    `measured` is None if whole columns are missing or the files cannot be read.
    """

    findings: tuple[Finding, ...]
    measured: Measured | None = None
    rows: pl.DataFrame | None = field(default=None, repr=False, compare=False)

    def also(self, *findings: Finding) -> "Audit":
        """Return the same audit with more findings."""
        return replace(self, findings=(*self.findings, *findings))

    @property
    def passed(self) -> bool:
        """Whether every required guarantee is kept."""
        return not self.broken

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The required guarantees that are not kept."""
        return tuple(finding for finding in self.findings if finding.broken)

    def sentence(self) -> str:
        """Return the broken guarantees in one line."""
        if not self.broken:
            return f"all {sum(finding.required for finding in self.findings)} guarantees hold"
        return "broken: " + "; ".join(f"{each.guarantee} ({each.detail})" for each in self.broken)
