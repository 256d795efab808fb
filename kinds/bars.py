"""Bar charts of few values, of any kind of data."""

from crowdcover.reports import drawing
from crowdcover.reports.drawing import GRID, INK


@drawing.draw_or_leave_out
def draw_labelled_bars(
    name: str,
    title: str,
    names: list[str],
    values: list[float],
    labels: list[str],
    colours: list[str],
    marks: list[float] | None = None,
) -> str:
    """Draw bars on a track, with their names on the left and labels on the right.

    Values end at 1, or, where there are marks, at the greatest of both; a mark is a line across its
    bar.
    """
    # 1e-9 gives the axes a width if all is 0, and 2 % more keep a mark at the end whole.
    limit = 1.0 if marks is None else max([*values, *marks, 1e-9]) * 1.02
    rows = 38 * len(names)  # pixels
    with drawing.apply_style():
        figure = drawing.start_figure(rows + 24)
        axes = drawing.place_axes(figure, (128, 12, 160, rows))
        drawing.draw_bars(axes, [limit] * len(names), color=GRID, alpha=0.45)
        drawing.draw_bars(axes, values, facecolors=colours)
        for place, mark in enumerate(marks or []):
            axes.plot([mark] * 2, [place - 0.34, place + 0.34], color=INK, linewidth=2.5)
        beside = axes.get_yaxis_transform()
        for place, (text, label) in enumerate(zip(names, labels, strict=True)):
            axes.text(-0.05, place, text, ha="right", va="center_baseline", transform=beside)
            axes.text(1.04, place, label, va="center_baseline", transform=beside)
        axes.set(xlim=(0, limit), ylim=(len(names) - 0.5, -0.5), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        description = "; ".join(
            f"{text}: {label}" for text, label in zip(names, labels, strict=True)
        )
        return drawing.render_svg(figure, name, title, f"{description}.")
