"""The look at other releases before anything is published."""

import threading
from types import SimpleNamespace

from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.orchestration import pulse, stage
from crowdcover.tasks.stages.publish import beside_others

LONGEST = 20  # seconds until a line is missed


def test_who_waits_for_the_comparison_with_other_releases_sees_that_it_goes_on(
    tmp_path, monkeypatch
):
    lines, came = [], threading.Event()

    def log(line, **_):
        lines.append(line)
        came.set()

    def list_many_people(_):
        assert came.wait(LONGEST)

    monkeypatch.setattr(pulse, "EVERY", 0.2)
    monkeypatch.setattr(stage, "log_line", log)
    run = Vault(tmp_path / "vault").open().run("plan", "source")
    ledger = SimpleNamespace(people=list_many_people, others=lambda *_: [], knows=lambda _: False)
    to = SimpleNamespace(ledger=ledger, allow_second_release=False)
    assert beside_others(run, None, to) == {}
    assert lines[0] == "compare with other releases: at work for 0 s"
