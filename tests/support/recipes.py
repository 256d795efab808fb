"""The recipes of docs/analysts.md."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/analysts.md").read_text("utf-8")


def blocks(heading, language):
    """The code of one language under a heading."""
    section = re.split(rf"^##+ {heading}$", PAGE, flags=re.MULTILINE)[1].partition("\n##")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def statements(heading):
    return [each.strip() for block in blocks(heading, "sql") for each in block.split(";\n") if each]
