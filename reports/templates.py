"""The templates of the pages, and the one way in which they are filled.

`base.html.j2` is a whole page that loads nothing, with the look of `style.css.j2`; a page extends it.
`parts.html.j2` has what pages share.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reports.quantities import count, percent

if TYPE_CHECKING:
    from jinja2 import Environment, Template

FOLDER = Path(__file__).parent


def template(name: str, folder: Path | None = None) -> "Template":
    """A template of this package, or of a kind's folder, by file name.

    Text that enters it is escaped, and a name that it lacks is an error.
    """
    return _environment(folder).get_template(name)


@cache
def _environment(folder: Path | None) -> "Environment":
    """Kept: a template takes longer to compile than to fill."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([FOLDER] if folder is None else [folder, FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(count=count, percent=percent)
    return environment
