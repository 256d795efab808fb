"""Releases that no test looks at in a browser have pages without plots."""

import pytest

PLOTS = "utility", "crowds", "columns", "attacks"


@pytest.fixture(autouse=True)
def _without_plots(monkeypatch):
    """Leave out the plots of a page, which take a third of a small release.

    Fixtures of a module or session and processes of their own draw them: `released` has all plots,
    and tests/reports looks at each.
    """
    monkeypatch.setattr(
        "kinds.table.pictures._drawings", lambda *_: {name: ["", ""] for name in PLOTS}
    )
