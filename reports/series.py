"""A version of a series: most sections of its manifest are about the rows that are new in it.

Earlier rows stay as they were published, so they are not measured anew in every respect. What is
said of the whole version comes from the section "series".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcover.reports.facts import Manifest, list_facts
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count, percent
from crowdcover.reports.words import Block, Text

_MESSAGES = load_messages("crowdcover.reports")


def series_of(manifest: Manifest) -> Mapping[str, Any] | None:
    """The section, if the release is a version of a series."""
    section: Mapping[str, Any] | None = manifest.get("series")
    return section


def versions_of(manifest: Manifest) -> Sequence[Mapping[str, Any]]:
    """A line of counts for each version so far."""
    section = series_of(manifest)
    return [] if section is None else section.get("versions", [])


def version_number(manifest: Manifest) -> int:
    """The number of the version in its series."""
    return len(versions_of(manifest))


def has_earlier_rows(manifest: Manifest) -> bool:
    """Whether rows of earlier versions are in the release beside new ones."""
    section = series_of(manifest)
    return section is not None and section["frozen"] > 0


def with_all_rows(manifest: Manifest) -> Manifest:
    """The manifest with the numbers of all rows in "privacy", instead of the new ones."""
    section = series_of(manifest)
    if section is None:
        return manifest
    privacy = dict(manifest["privacy"])
    # What the section lacks becomes None and reads "not stated": never the number of the new rows.
    privacy["records"] = section.get("rows")
    for name in ("k_min", "k_max", "unprotected", *(["people"] if "people" in privacy else [])):
        privacy[name] = section.get(name)
    return {**manifest, "privacy": privacy}


def about_new(manifest: Manifest) -> str:
    """What must stand where numbers are of the new rows only; nothing where all rows are new."""
    return _say_new("about", manifest)


def shortly_new(manifest: Manifest) -> str:
    """That numbers are of the new rows only, in a sentence."""
    return _say_new("shortly", manifest)


def briefly_new(manifest: Manifest) -> str:
    """That numbers are of the new rows only, in a few words, for headings."""
    return _say_new("briefly", manifest)


def _say_new(form: str, manifest: Manifest) -> str:
    if not has_earlier_rows(manifest):
        return ""
    section = manifest["series"]
    figures = {name: section.get(name) for name in ("batch", "frozen", "rows")}
    return _MESSAGES.say("new_rows", form, number=version_number(manifest), **figures)


def of_new(blocks: Sequence[Block], manifest: Manifest) -> list[Block]:
    """Tables that say in their heading that they are about new rows only."""
    new = briefly_new(manifest)
    return [each._replace(heading=f"{each.heading} ({new})") if new else each for each in blocks]


def describe_version(manifest: Manifest) -> str:
    """The version in a line; nothing where the release is no version."""
    section = series_of(manifest)
    if section is None:
        return ""
    if version_number(manifest) == 1:
        rows, waiting = section["rows"], section["held_back"]
        return _MESSAGES.say("version", "first", rows=rows, held_back=waiting)
    now = versions_of(manifest)[-1]
    why = [
        _MESSAGES.say("why", name, number=now[name])
        for name in _MESSAGES.list_names("why")
        if now[name]
    ]
    figures = {**now, "number": version_number(manifest)}
    return _MESSAGES.say(
        "version", "later", **{**figures, "why": why, "reissued": tell_reissued(manifest)}
    )


def tell_reissued(manifest: Manifest) -> str:
    """How many people have another row now, and because of how many; nothing if nobody has."""
    # Called for second and later versions only, so there are two.
    before, now = versions_of(manifest)[-2:]
    if not now.get("reissued"):
        return ""
    figures = {
        "reissued": now["reissued"],
        "rows": before["rows"],
        "number": before["number"],
        "moved": now["left"] + now["withdrawn"] + now["changed"],
    }
    return _MESSAGES.say("version", "reissued", **figures) + " "


def list_version_counts(manifest: Manifest, table: str) -> list[tuple[str, ...]]:
    """Counts of each version, in the columns of a table: "series", "why" or "crowds"."""
    names = _MESSAGES.list_names("counts", table)
    return [
        tuple((percent if name == "kept" else count)(each.get(name)) for name in names)
        for each in versions_of(manifest)
    ]


def build_version_block(manifest: Manifest, table: str) -> Block:
    """A table with a line for each version: "series", "why" or "crowds"."""
    headings = [*_MESSAGES.name_entries("counts", table).values()]
    return Block(
        _MESSAGES.say("series_headings", table), headings, list_version_counts(manifest, table)
    )


def build_series_blocks(manifest: Manifest) -> list[Block]:
    """The series as tables of a summary; nothing where the release is no version."""
    if series_of(manifest) is None:
        return []
    return [build_version_block(manifest, table) for table in _MESSAGES.list_names("counts")]


def build_changes_block(manifest: Manifest) -> Block:
    """Why rows came and went since the version before."""
    names = ("frozen", "batch", "new", "reissued", "returned", "left", "withdrawn", "changed")
    section = manifest["series"]
    figures = {
        name: section.get(name) for name in (*names, "pulled", "held_back", "held_by_history")
    }
    facts = list_facts(_MESSAGES, "facts", "since", **figures)
    return Block(_MESSAGES.say("series_headings", "since"), (), facts)


def explain_counts() -> str:
    """What the columns of the tables mean."""
    return _MESSAGES.say("explained", "series")


def list_terms() -> list[Text]:
    """The terms of a page about a version."""
    return _MESSAGES.list_texts("glossary")
