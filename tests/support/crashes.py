"""A release that is killed at a chosen moment."""

from tests.flows.processes import die_at

# Points of work: module, name, calls that pass, and whether the last call is made before death.
WORK = {
    "ingest reads": ("crowdcover.kinds.table.pipeline.ingest", "read_table", 0, True),
    "ingest digests identifiers": (
        "crowdcover.kinds.table.pipeline.ingest",
        "write_identifiers",
        0,
        True,
    ),
    "validate judges the source": (
        "crowdcover.kinds.table.suites.checked",
        "build_ingested_suite",
        0,
        True,
    ),
    "binarize encodes": ("crowdcover.kinds.table.pipeline.encode", "encode_records", 0, True),
    "validate judges the bits": (
        "crowdcover.kinds.table.suites.checked",
        "build_binarized_suite",
        0,
        True,
    ),
    "identify writes": ("crowdcover.tasks.stages.identify", "write_people", 0, True),
    "anonymize has ended its second iteration": (
        "crowdcover.tasks.compute.progress",
        "log_line",
        1,
        True,
    ),
    "anonymize draws the matching": (
        "crowdcover.kinds.table.pipeline.write",
        "random_matching",
        0,
        False,
    ),
    "anonymize writes": ("crowdcover.kinds.table.pipeline.write", "write_csv_of_batches", 0, True),
    "check judges": ("crowdcover.kinds.table.kind", "audit_rows", 0, True),
    "check asks Great Expectations": (
        "crowdcover.kinds.table.suites.checked",
        "build_released_suite",
        0,
        True,
    ),
    "publish announces": ("crowdcover.storage.ledger.ledger.Ledger", "announce", 0, False),
    "publish has announced": ("crowdcover.storage.ledger.ledger.Ledger", "announce", 0, True),
    "publish copies": ("shutil", "copyfile", 1, True),
    "publish renders the report": ("crowdcover.tasks.stages.publish", "render_report", 0, True),
    "publish confirms": ("crowdcover.storage.ledger.ledger.Ledger", "confirm", 0, False),
    "publish has confirmed": ("crowdcover.storage.ledger.ledger.Ledger", "confirm", 0, True),
    "publish has published": ("crowdcover.tasks.stages.publish", "announce_release", 0, False),
}


def release_until(plan, module, name, passes, called):
    """Run the course and die at a call of module.name, after it was made or instead of it."""
    from crowdcover.flows.release import release

    die_at(module, name, passes, called)
    release.fn(plan)
