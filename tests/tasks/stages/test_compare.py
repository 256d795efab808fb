"""Which release is the last one: by what the vault remembers, not by what lies in the folder."""

import pytest

from anon_core.errors import GuaranteeError
from crowdcover.kinds.judge.drift import DriftLimits
from crowdcover.kinds.table.kind import KIND
from crowdcover.storage.vault.files import file_sha256, write_json
from crowdcover.storage.vault.run import Release
from crowdcover.storage.vault.vault import Vault
from crowdcover.tasks.stages.compare import last_release

LIMITS = DriftLimits(rows=0.4)


@pytest.fixture
def vault(tmp_path):
    return Vault(tmp_path / "vault").open()


def run_of(vault, source, rows=10, plan="plan"):
    """A run whose ingest and check are finished, as far as they are looked at."""
    run = vault.run(plan, source)
    for stage, facts in (
        ("ingest", {"profile": {"rows": rows}}),
        ("check", {"utility": {"suppression": rows / 100}}),
    ):
        (run.path / stage).mkdir()
        write_json(run.path / stage / "stage.json", {"version": "of another time", "facts": facts})
    return run


def publish(run, folder, visible=True, published=True):
    if visible:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "manifest.json", {"by": run.path.name, "files": {}})
    sha256 = file_sha256(folder / "manifest.json") if visible else "0"
    run.mark_released(Release(folder, {"manifest.json": sha256}, published))


def test_the_highest_number_is_the_last_whatever_else_lies_there(vault, tmp_path):
    parent = tmp_path / "people"
    for number, source in ((9, "a"), (10, "b"), (2, "c")):
        publish(run_of(vault, source, rows=number), parent / f"v{number}")
    (parent / "v11").mkdir()
    last = last_release(vault, run_of(vault, "new"), KIND, parent, LIMITS)
    assert (last.version, last.utility, last.profile, last.plan_sha256) == (
        "v10",
        0.1,
        {"rows": 10},
        "plan",
    )
    assert last.limits == LIMITS
    assert [profile["rows"] for profile in last.earlier] == [2, 9]
    assert "rows" not in repr(last).replace(repr(LIMITS), "")
    assert last_release(vault, run_of(vault, "newer"), KIND, tmp_path / "others", LIMITS) is None
    assert last_release(vault, run_of(vault, "newest"), KIND, parent, None) is None


def test_what_was_never_visible_was_not_released(vault, tmp_path):
    publish(run_of(vault, "a"), tmp_path / "v1", visible=False, published=False)
    run = run_of(vault, "new")
    assert last_release(vault, run, KIND, tmp_path, LIMITS) is None
    # killed between the rename and its note of it
    publish(run_of(vault, "b"), tmp_path / "v2", published=False)
    assert last_release(vault, run, KIND, tmp_path, LIMITS).version == "v2"


def test_a_run_is_compared_with_what_came_before_it(vault, tmp_path):
    runs = [run_of(vault, source, rows=10 + number) for number, source in enumerate("abc")]
    for number, run in enumerate(runs, start=1):
        publish(run, tmp_path / f"v{number}")
    found = [last_release(vault, run, KIND, tmp_path, LIMITS) for run in runs]
    assert [last and last.version for last in found] == [None, "v1", "v2"]
    # about to publish, and stopped
    publish(runs[0], tmp_path / "v4", visible=False, published=False)
    assert last_release(vault, runs[0], KIND, tmp_path, LIMITS).version == "v3"


def test_of_two_that_had_a_number_in_turn_the_one_that_stands_is_the_last(vault, tmp_path):
    first, second = run_of(vault, "a", rows=11), run_of(vault, "b", rows=12)
    for one, other in ((first, second), (second, first)):
        publish(one, tmp_path / "v1")
        publish(other, tmp_path / "v1")
        last = last_release(
            vault, run_of(vault, f"after {other.path.name}"), KIND, tmp_path, LIMITS
        )
        assert last.profile == {"rows": 12 if other is second else 11}


@pytest.mark.parametrize("stage", ["ingest", "check"])
@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"facts": []}', '{"facts": {"profile": 1, "utility": {}}}']
)
def test_a_vault_that_cannot_tell_is_refused_for_the_last_release_only(
    vault, tmp_path, stage, content
):
    first, second = run_of(vault, "a"), run_of(vault, "b", rows=11)
    publish(first, tmp_path / "v1")
    publish(second, tmp_path / "v2")
    (first.path / stage / "stage.json").write_text(content)
    assert last_release(vault, run_of(vault, "new"), KIND, tmp_path, LIMITS).version == "v2"
    (second.path / stage / "stage.json").write_text(content)
    with pytest.raises(
        GuaranteeError,
        match=rf"compared with v2, .*\(runs/{second.path.name}, .* by --set checks\.drift=off",
    ):
        last_release(vault, run_of(vault, "newer"), KIND, tmp_path, LIMITS)
