"""Write a release in memory as the pipeline writes it: folder, vault, plan and source."""

from pathlib import Path

import polars as pl

from anon_core.errors import InputError
from crowdcover.flows.plan.plan import ReleasePlan
from crowdcover.releasing.plans import SOURCE, Plan
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.files import write_private
from crowdcover.storage.vault.vault import Vault

PLAN = "plan.toml"


def save_release(plan: Plan, secret: bytes, frame: pl.DataFrame, folder: Path) -> Path:
    """Run the stages of the pipeline on the frame, with this secret; return the release folder.

    Raises
    ------
    InputError
        The folder exists and is not empty.
    ImportError
        The pipeline is not installed.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not empty; name a new folder")
    try:
        from crowdcover.flows.course import release_plan
    except ModuleNotFoundError as error:
        raise ImportError(
            f"save runs the pipeline, and {error.name} is not installed: "
            "pip install 'crowdcover[pipeline]'"
        ) from None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / SOURCE
    path.touch(mode=0o600)
    frame.write_parquet(path)
    written = Plan(plan.to_toml())
    written["source"]["path"] = SOURCE
    written.write(folder / PLAN)
    ready = ReleasePlan.load(folder / PLAN)
    reading = Reading(ready.data.source)
    vault = Vault(Path(ready.publish.vault)).open()
    # Before the course begins: it takes the run, and with it the secret, as it finds them.
    run = vault.run(ready.sha256, reading.sha256, ready.kind.name)
    write_private(run.path / "seed", secret)
    reading.end()
    return Path(release_plan(ready).folder)
