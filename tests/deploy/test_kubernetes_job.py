"""The job template of a Kubernetes work pool: valid, and the pod of deploy/kubernetes."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from prefect.client.schemas.actions import WorkPoolCreate

from tests.support.validators import VALIDATORS

ROOT = Path(__file__).parents[2]
TEMPLATE = json.loads((ROOT / "deploy/prefect/kubernetes-job.json").read_text("utf-8"))
STATED = {
    "name": "people",
    "labels": {"prefect.io/flow-name": "release"},
    "env": [{"name": "PREFECT_API_URL", "value": "http://server:4200/api"}],
    "command": ["prefect", "flow-run", "execute"],
    "job_watch_timeout_seconds": 86400,
}


def fill(part):
    """A part of the template as Prefect fills it: stated values, or the defaults."""
    if isinstance(part, dict):
        return {name: fill(each) for name, each in part.items()}
    if isinstance(part, list):
        return [fill(each) for each in part]
    if not isinstance(part, str):
        return part
    properties = TEMPLATE["variables"]["properties"]
    values = {name: each["default"] for name, each in properties.items() if "default" in each}
    values |= STATED
    if whole := re.fullmatch(r"{{ (\w+) }}", part):
        return values[whole[1]]
    return re.sub(r"{{ (\w+) }}", lambda found: str(values[found[1]]), part)


def manifest():
    return fill(TEMPLATE["job_configuration"]["job_manifest"])


def pod_of_plans():
    """The pod that `crowdcover serve` has in a cluster."""
    objects = yaml.safe_load_all((ROOT / "deploy/kubernetes/plans.yaml").read_text("utf-8"))
    (found,) = [each for each in objects if each["kind"] == "Deployment"]
    return found["spec"]["template"]


def test_prefect_takes_the_template():
    """Refused would be a placeholder without a variable."""
    pool = WorkPoolCreate(name="cluster", type="kubernetes", base_job_template=TEMPLATE)
    assert pool.base_job_template == TEMPLATE
    used = set(re.findall(r"{{ (\w+) }}", json.dumps(TEMPLATE["job_configuration"])))
    assert used == TEMPLATE["variables"]["properties"].keys()


def test_its_pod_is_that_of_the_plans():
    """Same rights, volumes, limits and labels, so that network policies hold for it, too."""
    ours, theirs = manifest()["spec"]["template"], pod_of_plans()
    assert ours["metadata"] == theirs["metadata"]
    for name in (
        "securityContext",
        "volumes",
        "automountServiceAccountToken",
        "enableServiceLinks",
        "terminationGracePeriodSeconds",
    ):
        assert ours["spec"][name] == theirs["spec"][name]
    (own,), (other,) = ours["spec"]["containers"], theirs["spec"]["containers"]
    for name in ("image", "securityContext", "volumeMounts", "resources", "envFrom"):
        assert own[name] == other[name]


def test_a_run_that_failed_is_not_begun_again_by_the_cluster():
    """A refusal stays one; Prefect decides what is tried again."""
    assert manifest()["spec"]["backoffLimit"] == 0
    assert manifest()["spec"]["template"]["spec"]["restartPolicy"] == "Never"


@pytest.mark.slow
def test_the_job_is_valid_by_the_schemas_of_kubernetes(tmp_path):
    program = VALIDATORS / "bin" / "kubernetes-validate"
    assert program.exists(), f"no {program}; make it with `make validators`"
    job = manifest()
    # The cluster does so; the validator knows no `generateName`.
    job["metadata"]["name"] = job["metadata"].pop("generateName") + "x7k2p"
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job), encoding="utf-8")
    done = subprocess.run(
        [program, "--strict", tmp_path / "job.yaml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("passed") == 1
