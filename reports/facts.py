"""Labelled numbers that every release has, read from its manifest."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from crowdcover.reports.messages import Messages, load_messages
from crowdcover.reports.quantities import NOT_STATED, moment, printable, seconds, size

Manifest = Mapping[str, Any]

_MESSAGES = load_messages("crowdcover.reports")
RELEASE, RUN = (_MESSAGES.say("headings", name) for name in ("release", "run"))


class Fact(NamedTuple):
    """A number with its label and, where needed, an explanation."""

    label: str
    value: str
    meaning: str = ""

    @property
    def bad(self) -> bool:
        """Whether the number breaks a promise."""
        return False


class BadFact(Fact):
    """A number that breaks a promise."""

    @property
    def bad(self) -> bool:
        """It does."""
        return True


def list_facts(messages: Messages, *key: str, **figures: Any) -> list[Fact]:
    """The facts of a group of messages; one without a value is left out."""
    return [Fact(*line) for line in messages.list_lines(*key, **figures)]


def title_of(manifest: Manifest) -> str:
    """Name and version of the release."""
    return printable(f"{manifest['name']} {manifest['version']}")


def count_published_rows(manifest: Manifest) -> Any:
    """Number of published rows as the manifest states it; of a series, of all in the version."""
    privacy = manifest["privacy"]
    # "rows" where rows are not what is protected, such as the edges of a graph.
    rows = privacy["rows"] if "rows" in privacy else privacy["records"]
    return manifest.get("series", {}).get("rows") or rows


def release_facts(manifest: Manifest, demand: str) -> list[Fact]:
    """Name, version, size, source and method of the release."""
    settings = dict(manifest["anonymizer"])
    method = printable(settings.pop("name", NOT_STATED))
    chosen = ", ".join(f"{key} = {value}" for key, value in settings.items())
    return list_facts(
        _MESSAGES,
        "facts",
        "release",
        name=manifest["name"],
        version=manifest["version"],
        created=manifest.get("created"),
        rows=count_published_rows(manifest),
        source=manifest["source"],
        demand=demand,
        method=method,
        settings=printable(chosen),
        crowdcover=manifest["crowdcover"],
    )


def describe_levels(manifest: Manifest, everyone: str, whose: str) -> str:
    """The demanded levels, as `k = 10 for everyone` or `k from 5 to 100, each person's own`."""
    low, high = manifest["privacy"]["k_min"], manifest["privacy"]["k_max"]
    return load_messages("crowdcover.reports").say(
        "levels",
        "one" if low == high else "range",
        low=low,
        high=high,
        everyone=everyone,
        one=whose,
    )


def release_time(manifest: Manifest) -> str:
    """The time of the release in UTC, to the minute."""
    return moment(manifest.get("created"))


def list_fingerprints(manifest: Manifest) -> list[Fact]:
    """SHA-256 of the plan and of the files, as far as they are written."""
    files = manifest.get("files", {}).items()
    return [
        Fact("the plan, as far as it shapes the rows", printable(manifest["plan_sha256"])),
        *(Fact(printable(name), printable(sha)) for name, sha in files),
    ]


def list_timings(manifest: Manifest) -> list[Fact]:
    """Duration of each stage, their sum, and the peak memory."""
    stages = manifest.get("timings", {})
    rows = [
        Fact(printable(stage).capitalize(), seconds(duration)) for stage, duration in stages.items()
    ]
    # The sum of one stage would only repeat it.
    if len(rows) > 1:
        rows.append(Fact("All stages", seconds(sum(stages.values()))))
    if "peak_memory_bytes" in manifest:
        rows.append(Fact("Peak memory", size(manifest["peak_memory_bytes"])))
    return rows
