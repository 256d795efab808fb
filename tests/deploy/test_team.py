"""The services of compose.yaml as processes, and the course of `make team` with them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from crowdcover.storage.vault.files import read_json

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_team_releases_two_months_and_asks_for_the_third(tmp_path):
    """PostgreSQL, Prefect's server and the plans run as compose.yaml says; then all is ended."""
    folder = tmp_path / "team"
    environment = {key: value for key, value in os.environ.items() if "PREFECT" not in key}
    done = subprocess.run(
        [sys.executable, ROOT / "deploy/team/team.py", "--folder", folder, "--check"],
        capture_output=True, text=True, timeout=590, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "month 1 is asked for with k = 5: women, Refused\n    publication refused; column 'affairs'"
    ) in done.stdout
    assert "more than checks.max_uniform = 0.05 allows; raise k" in done.stdout
    read = re.findall(r"^    The privacy promise holds.*", done.stdout, re.MULTILINE)
    assert len(read) == 3  # of each month that waited
    assert "month 2 has far more women: women, Refused" in done.stdout
    assert "5850 rows instead of 3500" in done.stdout
    assert "month 3 waits for you: women, Suspended" in done.stdout
    assert "The alarms have told: women was refused; women v1 waits for approval" in done.stdout
    first, second = (
        read_json(folder / "releases/women" / name / "manifest.json") for name in ("v1", "v2")
    )
    assert first["privacy"]["k_min"] == 20
    assert first["approval"]["by"] == "Ada Lovelace"
    assert "below the limit of 5 %" in first["approval"]["note"]
    assert second["approval"]["by"] == "Grace Hopper"
    (accepted,) = second["drift"]["accepted"]
    assert (accepted["what"], accepted["limit"]) == ("rows", 1)
    log = (folder / "plans.log").read_text() + (folder / "server.log").read_text()
    assert "W00001" not in log
    (port,) = set(re.findall(r"http://127\.0\.0\.1:(\d+)/runs", done.stdout))
    found = subprocess.run(["pgrep", "-f", f"127.0.0.1:{port}"], capture_output=True, check=False)
    assert found.stdout == b""


def services():
    return yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))["services"]


def test_no_password_stands_in_the_compose_file():
    stated = {
        name: value
        for service in services().values()
        for name, value in service["environment"].items()
        if "PASSWORD" in name or "KEY" in name
    }
    assert stated
    assert all(value == "${DATABASE_PASSWORD:?state it in .env}" for value in stated.values())


def test_every_service_has_a_health_check_and_starts_after_those_it_needs():
    known = services()
    assert all("healthcheck" in service for service in known.values())
    for service in known.values():
        for needed, how in service.get("depends_on", {}).items():
            assert needed in known
            assert how == {"condition": "service_healthy"}
