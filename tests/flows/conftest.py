"""Releases that no test looks at in a browser have pages without plots."""

import pytest

PLOTS = (
    "crowd_plots.utility_plot", "crowd_plots.crowd_plot", "crowd_plots.ratio_plot",
    "bars._column_plot", "bars.attack_plot",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _without_plots(monkeypatch):
    """Leave out the plots of a page, which take a third of a small release.

    Fixtures of a module or session and processes of their own draw them: `released` has all plots,
    and tests/reports looks at each.
    """
    for name in PLOTS:
        monkeypatch.setattr(f"kinds.table.{name}", lambda *_: "<svg></svg>")
