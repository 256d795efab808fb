"""Pictures of a series: rows and crowds, version by version."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from crowdcover.kinds.table.report import series_words
from crowdcover.reports import drawing, series
from crowdcover.reports.drawing import ACCENT, DANGER, GRID, MUTED, SECOND
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 36  # versions in a picture; the table has all
_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")


def build_series_section(manifest: Manifest, macros: Any) -> dict[str, str]:
    """The section on the series; nothing where the release is no version."""
    if series.series_of(manifest) is None:
        return {}
    versions = series.versions_of(manifest)[-MOST:]
    drawings = [
        rows_plot(versions),
        _MESSAGES.say("plots_of_series", "rows_explained"),
        crowds_plot(versions, manifest),
    ]
    shown = [Markup(drawings[0]), drawings[1], Markup(drawings[2])]  # noqa: S704 - drawn here
    return {"series": macros.versions(series, manifest, series_words, shown)}


@drawing.draw_or_leave_out
def rows_plot(versions: Sequence[Mapping[str, Any]]) -> str:
    """Bars of rows that stay and are new; below the line, withdrawn and waiting."""
    numbers = [each["number"] for each in versions]
    stay, new, gone, held = (
        [each[name] for each in versions] for name in ("frozen", "new", "gone", "held_back")
    )
    with drawing.apply_style():
        figure = drawing.start_figure(300)
        axes = drawing.place_axes(figure, (52, 48, 316, 206))
        for edges, colour in (
            ([(0, rows) for rows in stay], ACCENT),
            ([(low, low + rows) for low, rows in zip(stay, new, strict=True)], SECOND),
            ([(-rows, 0) for rows in gone], MUTED),
            ([(-low - rows, -low) for low, rows in zip(gone, held, strict=True)], DANGER),
        ):
            drawing.draw_columns(axes, numbers, edges, color=colour)
        axes.axhline(0, color=GRID, linewidth=1)
        highest = max(map(sum, zip(stay, new, strict=True)))
        deepest = max(map(sum, zip(gone, held, strict=True)))
        room = 0.08 * max(1, highest + deepest)
        axes.set_ylim(-deepest - (room if deepest else 0), highest + room)
        _format_version_axis(axes, numbers)
        _format_count_axis(axes)
        _draw_legend(
            figure,
            (("stay", ACCENT), ("new", SECOND), ("withdrawn", MUTED), ("waiting", DANGER)),
        )
        rows = _describe_versions("rows", versions)
        return drawing.render_svg(
            figure, "plot-series", _MESSAGES.say("plots_of_series", "rows_title"), rows
        )


@drawing.draw_or_leave_out
def crowds_plot(versions: Sequence[Mapping[str, Any]], manifest: Manifest) -> str:
    """Lines of the least and the median crowd, beside the demand where it is one number."""
    numbers = [each["number"] for each in versions]
    least, median = ([each[name] for each in versions] for name in ("crowd_least", "crowd_median"))
    privacy = series.with_all_rows(manifest)["privacy"]
    with drawing.apply_style():
        figure = drawing.start_figure(300)
        axes = drawing.place_axes(figure, (52, 48, 316, 206))
        axes.plot(numbers, median, "o-", color=SECOND, linewidth=2.5, markersize=6)
        axes.plot(numbers, least, "o-", color=ACCENT, linewidth=2.5, markersize=6)
        lines = [("median", SECOND), ("least", ACCENT)]
        if privacy["k_min"] == privacy["k_max"]:
            axes.axhline(privacy["k_min"], color=MUTED, linewidth=2, linestyle=(0, (4, 2)))
            lines.append(("demanded (k)", MUTED))
        axes.set_ylim(0, 1.15 * max(*median, privacy["k_max"]))
        _format_version_axis(axes, numbers)
        _format_count_axis(axes)
        _draw_legend(figure, lines)
        crowds = _describe_versions("crowds", versions)
        title = _MESSAGES.say("plots_of_series", "crowds_title")
        return drawing.render_svg(figure, "plot-crowds-by-version", title, crowds)


def _describe_versions(plot: str, versions: Sequence[Mapping[str, Any]]) -> str:
    """What a picture shows, version by version, for people who do not see it."""
    return " ".join(_MESSAGES.say("plots_of_series", plot, **each) for each in versions)


def _format_version_axis(axes: "Axes", numbers: Sequence[int]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(numbers[0] - 0.6, numbers[-1] + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
    ticks = [tick for tick in axes.get_xticks() if numbers[0] <= tick <= numbers[-1]]
    axes.set_xticks([tick for tick in ticks if tick == int(tick)])
    axes.set_xlabel("version")
    axes.grid(axis="y")
    axes.tick_params(length=0)


def _format_count_axis(axes: "Axes") -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{abs(value):,.0f}"))


def _draw_legend(figure: "Figure", lines: Sequence[tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=colour, linewidth=4) for _, colour in lines]
    figure.legend(
        handles, [label for label, _ in lines], loc="upper left", bbox_to_anchor=(0, 1),
        ncols=len(lines), frameon=False, handlelength=1.2, handletextpad=0.4, columnspacing=1,
        borderaxespad=0, borderpad=0.1,
    )  # fmt: skip
