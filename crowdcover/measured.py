"""Measured numbers, shown as a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any


@dataclass(frozen=True)
class Report:
    """Measured numbers by name, shown as a table.

    Attributes
    ----------
    title : str
    numbers : dict
        All of them.
    lines : tuple of (str, str)
        The ones to look at first, in words.
    """

    title: str
    numbers: Mapping[str, Any] = field(repr=False)
    lines: tuple[tuple[str, str], ...]

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]

    def __repr__(self) -> str:
        width = max(len(what) for what, _ in self.lines)
        return "\n".join([self.title, *(f"  {what:<{width}}  {of}" for what, of in self.lines)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(what)}</th><td>{escape(of)}</td></tr>"
            for what, of in self.lines
        )
        return f"<table><caption>{escape(self.title)}</caption>{rows}</table>"
