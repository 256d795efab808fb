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


def template(name: str) -> "Template":
    """A template of this room by file name; text that enters it is escaped, and a name it lacks is an error."""
    return _environment().get_template(name)


@cache
def _environment() -> "Environment":
    """Kept: a template takes longer to compile than to fill."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(count=count, percent=percent)
    return environment
