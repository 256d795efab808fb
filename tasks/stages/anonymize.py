"""Let the anonymizer choose, and write the data that may be published."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from anon_core.anonymizers import Anonymizer
from crowdcover.kinds.base import Kind
from crowdcover.storage.series.retractions import Retractions
from crowdcover.storage.vault import secret_streams
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.tasks.compute import engines
from crowdcover.tasks.orchestration.memory import give_back_memory
from crowdcover.tasks.orchestration.stage import log_line, stage

_MADE = "made.npz"


@stage("anonymize")
def anonymize(
    run: Run,
    kind: Kind,
    plan: Any,
    stored: tuple[Stored, Stored],
    anonymizer: Anonymizer[Any],
    compute: engines.Compute,
    split: Stored | None = None,
) -> Stored:
    """Store what the anonymizer made, its steps, the released files and, apart, the matching.

    `stored` are the ingested and the encoded data; `split` are the parts of a version. What was
    published once stays as it is, also if it was retracted: other bytes of the same people could be
    intersected with it.
    """
    ingested, encoded = stored
    inputs = [ingested.sha256, encoded.sha256]  # a checkpoint of others is not taken up

    def make(folder: Path) -> Mapping[str, Any]:
        data = _load_records(kind, encoded, split)
        # All records, before a part is taken: k may exceed the size of the part.
        anonymizer.admit(data)
        tie_order = secret_streams.draw_permutation(run.seed, "order", data.records)
        part = kind.part(data, tie_order)
        if settled := data.records - part.data.records:
            log_line(f"{settled} records hide among equal ones: no masks")
        del data, tie_order  # `part` has what of them is needed
        result, seconds = engines.run_anonymizer(
            run, inputs, anonymizer, part.data, part.tie_order, compute
        )
        result = part.restore_whole(result)
        del part
        np.savez(folder / _MADE, allow_pickle=False, **result.arrays())
        steps, made = engines.describe_timed_steps(result, seconds), [result]
        del result  # only `made` holds it, so that the kind can free it
        give_back_memory()  # of the search: laying out the rows needs as much again
        facts = kind.write(plan, run.seed, made.pop, ingested, encoded, folder)
        return {**facts, "iterations": steps}

    seen = run.ever_visible() or Retractions.of(run).all
    standing = run.whole("anonymize") if seen else None
    needed = stored if split is None else (*stored, split)
    result = run.once("anonymize", needed, make) if standing is None else standing
    # Only now: until the stage is whole, its checkpoint is what a rerun goes on from.
    engines.discard_work_files(run)
    log_line(f"anonymized {result.shape[0]} records in {len(result.facts['iterations'])} steps")
    return result


def _load_records(kind: Kind, encoded: Stored, split: Stored | None) -> Any:
    """The encoded data, or the encoded batch of a version."""
    if split is None:
        return kind.load(encoded)
    assert kind.versions is not None
    return kind.versions.load(encoded, split)
