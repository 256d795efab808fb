"""Turn figures into inline SVG: the same input gives the same bytes, CSS gives the colours.

Matplotlib draws with placeholder colours. They become CSS variables, so that light, dark and print
views share one drawing.
"""

import functools
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Seven placeholders, #010101 to #070707: each can be told from the others in the finished SVG.
INK, MUTED, GRID, ACCENT, SECOND, DANGER, SURFACE = (
    f"#{digit:02d}{digit:02d}{digit:02d}" for digit in range(1, 8)
)
CSS_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "line",
    ACCENT: "accent",
    SECOND: "second",
    DANGER: "danger",
    SURFACE: "surface",
}
# CSS pixels; narrow enough that letters stay legible on a telephone.
_WIDTH = 380
STYLE = {
    # Text stays text, which readers can search and screen readers can read; the hash salt makes ids
    # the same in every run.
    "svg.fonttype": "none",
    "svg.hashsalt": "crowdcover",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 12.5,
    "text.color": INK,
    "axes.facecolor": "none",
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "grid.color": GRID,
    "grid.linewidth": 1,
}
_EMPTY = "<svg></svg>"
# A context variable: other threads, which may draw a page at the same time, do not see it.
_LEFT_OUT: ContextVar[bool] = ContextVar("left out", default=False)
_Params = ParamSpec("_Params")


def draw_or_leave_out(draw: Callable[_Params, str]) -> Callable[_Params, str]:
    """Let a function that draws one SVG element give an empty one where drawings are left out."""

    @functools.wraps(draw)
    def drawn(*args: _Params.args, **kwargs: _Params.kwargs) -> str:
        return _EMPTY if _LEFT_OUT.get() else draw(*args, **kwargs)

    return drawn


@contextmanager
def left_out() -> Iterator[None]:
    """Draw nothing in the work inside: whoever compares the text of a page needs no drawing."""
    token = _LEFT_OUT.set(True)
    try:
        yield
    finally:
        _LEFT_OUT.reset(token)


def apply_style() -> Any:
    """A context that draws figures without the machine's own matplotlib settings."""
    import matplotlib.style

    # "default" first: else a matplotlibrc of the machine decides what STYLE does not name.
    return matplotlib.style.context(["default", STYLE])


def start_figure(height: int) -> "Figure":
    """An empty figure, as wide as a plot of the page and `height` CSS pixels high."""
    from matplotlib.figure import Figure

    # 72 dots an inch, so that a point, the unit of sizes, is a CSS pixel of the drawing.
    return Figure(figsize=(_WIDTH / 72, height / 72), dpi=72)


def place_axes(figure: "Figure", box: tuple[int, int, int, int]) -> "Axes":
    """Add axes to a figure; `box` is left, bottom, width, height in CSS pixels."""
    width, height = figure.get_size_inches() * 72
    left, bottom, wide, high = box
    return figure.add_axes((left / width, bottom / height, wide / width, high / height))


def draw_bars(axes: "Axes", lengths: Sequence[float], **look: Any) -> None:
    """Draw horizontal bars from 0 on, one a line, as one collection: axes set their own limits.

    Single rectangles take ten times as long.
    """
    from matplotlib.collections import PolyCollection

    corners = [
        [(0, place - 0.25), (0, place + 0.25), (length, place + 0.25), (length, place - 0.25)]
        for place, length in enumerate(lengths)
    ]
    axes.add_collection(PolyCollection(corners, linewidth=0, **look), autolim=False)


def draw_columns(
    axes: "Axes", places: Sequence[float], edges: Sequence[tuple[float, float]], **look: Any
) -> None:
    """Draw upright bars from edge to edge, one at each place, as one outline.

    Single rectangles take five times as long. The caller sets the limits of the axes.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners = [
        corner
        for place, (low, high) in zip(places, edges, strict=True)
        for left, right in [(place - 0.35, place + 0.35)]
        for corner in [(left, low), (left, high), (right, high), (right, low), (left, low)]
    ]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(places)
    axes.add_artist(PathPatch(Path(corners, codes), linewidth=0, **look))


def render_svg(figure: "Figure", name: str, title: str, description: str) -> str:
    """The figure as one inline SVG element with a title and a text description.

    Ids start with `name`, colours are CSS variables; declarations and addresses are removed.
    """
    buffer = io.StringIO()
    with warnings.catch_warnings():
        # The browser draws the text; letters missing in matplotlib's font only change its widths.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(
            buffer,
            format="svg",
            transparent=True,
            # None leaves an entry out: a date would change the bytes with every run.
            metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")),
        )
    drawing = buffer.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(
        r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", drawing, flags=re.DOTALL
    )
    drawing = re.sub(r"<[^>]*>", lambda tag: _own_tag(tag[0], name), drawing)
    height = round(figure.get_figheight() * 72)
    root = f'<svg class="plot" viewBox="0 0 {_WIDTH} {height}" id="{name}" role="img" '
    root += f'aria-labelledby="{name}-title" aria-describedby="{name}-desc">'
    root += f'<title id="{name}-title">{escape(title)}</title>'
    root += f'<desc id="{name}-desc">{escape(description)}</desc>'
    return re.sub(r"<svg[^>]*>", lambda _: root, drawing, count=1).strip()


def _own_tag(tag: str, name: str) -> str:
    # Several drawings stand in one page, where equal ids would refer to the first.
    tag = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", tag)
    return re.sub(r"#0\d{5}(?=[;\"])", lambda colour: f"var(--{CSS_VARIABLES[colour[0]]})", tag)
