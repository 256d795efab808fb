"""The files for Kubernetes: valid, without rights, and the services of compose.yaml."""

import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.support.validators import VALIDATORS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/kubernetes"
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))["services"]
WORKLOADS = {"Deployment", "StatefulSet"}


def files():
    """The files that are applied."""
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))
    return [FOLDER / name for name in kustomization["resources"]]


def objects():
    return [each for path in files() for each in yaml.safe_load_all(path.read_text("utf-8"))]


def pods():
    """Each workload's pod by its name."""
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]
        for each in objects()
        if each["kind"] in WORKLOADS
    }


def containers():
    found = {name: pod["containers"] for name, pod in pods().items()}
    assert {len(each) for each in found.values()} == {1}
    return {name: each[0] for name, each in found.items()}


def test_every_file_is_applied():
    assert {path.name for path in FOLDER.iterdir()} == {
        "kustomization.yaml",
        *(path.name for path in files()),
    }


@pytest.mark.slow
def test_all_is_valid_by_the_schemas_of_kubernetes():
    program = VALIDATORS / "bin" / "kubernetes-validate"
    assert program.exists(), f"no {program}; make it with `make validators`"
    done = subprocess.run(
        [program, "--strict", *files()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("passed") + done.stdout.count("passed") == len(objects())


def test_no_pod_has_rights():
    """What the namespace enforces: the `restricted` standard for pods."""
    for pod in pods().values():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        assert not any("hostPath" in volume for volume in pod.get("volumes", []))
    for container in containers().values():
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }
        assert "memory" in container["resources"]["limits"]
        assert "livenessProbe" in container


def test_every_mount_is_a_volume_and_every_volume_is_mounted():
    claims = {each["metadata"]["name"]: each for each in objects() if "metadata" in each}
    for each in objects():
        if each["kind"] not in WORKLOADS:
            continue
        pod = each["spec"]["template"]["spec"]
        templates = each["spec"].get("volumeClaimTemplates", [])
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        volumes |= {template["metadata"]["name"]: template for template in templates}
        assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} == set(volumes)
        for volume in volumes.values():
            if claim := volume.get("persistentVolumeClaim"):
                assert claims[claim["claimName"]]["kind"] == "PersistentVolumeClaim"


def test_the_services_are_those_of_compose():
    """Same programs and settings; what compose takes from .env has its default, or is a secret."""
    assert containers().keys() == COMPOSE.keys()
    for name, container in containers().items():
        service = COMPOSE[name]
        assert container["image"] == service["image"]
        command = service.get("entrypoint", []) + service.get("command", [])
        said = " ".join(container.get("command", []) + container.get("args", []))
        assert said == " ".join(command).replace("$$", "$")
        stated = {each["name"]: each.get("value") for each in container["env"]}
        for key, value in service["environment"].items():
            text = str(value)
            if text.startswith("${") and ":?" in text:
                assert stated[key] is None  # from a secret
            elif ":-" in text:
                default = text.split(":-", 1)[1].replace("}", "", 1)
                assert stated[key] == default
            else:
                assert stated[key] == text
        assert set(stated) - set(service["environment"]) <= {"PGDATA"}


def test_addresses_and_selectors_name_what_there_is():
    services = {each["metadata"]["name"]: each for each in objects() if each["kind"] == "Service"}
    assert set(services) == {"database", "server"}
    for name, service in services.items():
        ports = {port["containerPort"] for port in containers()[name]["ports"]}
        assert {port["port"] for port in service["spec"]["ports"]} == ports
    labels = [each["spec"]["selector"] for each in services.values()]
    for policy in (each for each in objects() if each["kind"] == "NetworkPolicy"):
        labels.append(policy["spec"]["podSelector"].get("matchLabels", {"app": "server"}))
        for rule in policy["spec"].get("ingress", []):
            labels += [source["podSelector"]["matchLabels"] for source in rule["from"]]
    assert {label["app"] for label in labels} == set(pods())


def test_the_image_is_that_of_the_project():
    name = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))
    assert [image["name"] for image in kustomization["images"]] == [name]
    assert name in {container["image"] for container in containers().values()}
