"""The templates of the page, and how they are filled."""

from pathlib import Path
from typing import Any

from starlette.responses import Response

from crowdcover.reports.pages.templates import load_template


def fill_text(name: str, **parts: Any) -> str:
    """A template of the page."""
    return load_template(name, Path(__file__).parent).render(**parts)


def fill_style() -> Response:
    """The style sheet: that of reports, and what forms need."""
    return Response(fill_text("page.css.j2"), media_type="text/css")
