"""Which build made what lies in a vault: a version, and a hash of the code.

Only the version is published. The hash decides whether a stage or a checkpoint that was left half
way is gone on with: between two releases, all builds have one version.
"""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from anon_core.build import hash_packages
from anon_core.plugins import hash_plugins

PACKAGES = ("crowdcover", "anon_core")
CODE_VERSION = version("crowdcover")


def compute_code_stamp() -> dict[str, str]:
    """What a stage and a checkpoint state about the code that made them."""
    stamp = {"version": CODE_VERSION, "code": hash_packages(*PACKAGES)}
    if plugins := hash_plugins():
        stamp["plugins"] = " ".join(f"{name} {code}" for name, code in plugins.items())
    return stamp


def stamp_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record states about the code that made it; older ones have no hash."""
    # A missing hash becomes None and equals no build, so a stage of an older version is made again.
    return {key: record.get(key) for key in compute_code_stamp()}
