"""What is installed beside crowdcover, as a CycloneDX 1.6 document: python deploy/sbom.py.

Written from the metadata that pip keeps of each package: names, versions, licences, and which
package needs which. The time is left out, so one installation always gives the same bytes.
"""

import json
import re
import sys
from collections.abc import Mapping
from importlib.metadata import Distribution, distributions
from typing import Any

SPEC = "1.6"
OWN = "crowdcover"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def normalize_name(name: str) -> str:
    """A package's name as package URLs write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def find_purl(of: Distribution) -> str:
    """The package URL of an installed package, which is its id here."""
    return f"pkg:pypi/{normalize_name(of.metadata['Name'])}@{of.version}"


def describe_package(of: Distribution) -> dict[str, Any]:
    """One package as a component."""
    found = {
        "type": "library",
        "bom-ref": find_purl(of),
        "name": of.metadata["Name"],
        "version": of.version,
        "purl": find_purl(of),
    }
    stated = of.metadata.get("License-Expression")
    named = of.metadata.get("License") or ""
    if stated:
        found["licenses"] = [{"expression": stated}]
    elif named and "\n" not in named:  # else it is the whole text
        found["licenses"] = [{"license": {"name": named}}]
    return found


def list_needed(of: Distribution, installed: Mapping[str, Distribution]) -> list[str]:
    """What a package needs that is installed, extras included."""
    names = (_NAME.match(each) for each in of.requires or ())
    wanted = {normalize_name(found[0]) for found in names if found}
    return sorted(find_purl(installed[name]) for name in wanted & installed.keys())


def build_document() -> dict[str, Any]:
    """All packages of this Python, the application itself first."""
    installed = {normalize_name(each.metadata["Name"]): each for each in distributions()}
    if OWN not in installed:
        raise SystemExit(f"{OWN} is not installed here; run this by the Python that has it")
    ordered = [installed[name] for name in sorted(installed)]
    own = {**describe_package(installed[OWN]), "type": "application"}
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": {"component": own},
        "components": [describe_package(each) for each in ordered if each is not installed[OWN]],
        "dependencies": [
            {"ref": find_purl(each), "dependsOn": list_needed(each, installed)} for each in ordered
        ],
    }


if __name__ == "__main__":
    json.dump(build_document(), sys.stdout, indent=1)
    sys.stdout.write("\n")
