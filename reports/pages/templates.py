"""Load the templates of the pages.

`base.html.j2` is an empty page that loads nothing, styled by `style.css.j2`; every page extends it.
`parts.html.j2` has the macros that pages share.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from crowdcover.reports.quantities import count, percent

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_FOLDER = Path(__file__).parent


def load_template(name: str, folder: Path | None = None) -> "Template":
    """A template of this package, or of the folder of a kind, by file name.

    Text is escaped when it is filled in; an undefined name is an error.
    """
    return _make_environment(folder).get_template(name)


@cache
def _make_environment(folder: Path | None) -> "Environment":
    """Cached, because compiling a template takes longer than filling it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        # The folder of the kind comes first, and its templates still find the shared ones.
        loader=FileSystemLoader([_FOLDER] if folder is None else [folder, _FOLDER]),
        # Names of columns come from outside: markup in one must not become a part of the page.
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(count=count, percent=percent)
    return environment
