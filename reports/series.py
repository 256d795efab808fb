"""A version of a series: most sections of its manifest are about the rows that are new in it.

Earlier rows stay as they were published, so they are not measured anew in every respect. What is
said of the whole version comes from the section "series".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.facts import Fact, Manifest
from reports.quantities import count, count_noun, percent
from reports.words import Block

HEADING = "The series, version by version"
HEADINGS = ("Version", "Rows", "As before", "New", "Issued anew", "Withdrawn", "Held back")
COUNTS = ("number", "rows", "frozen", "new", "reissued", "gone", "held_back")
WHY, CROWDS = "Why rows were withdrawn", "Crowds and information, version by version"
WHY_HEADINGS = ("Version", "Left", "On request", "Changed", "Pulled along", "Held by history")
WHY_COUNTS = ("number", "left", "withdrawn", "changed", "pulled", "held_by_history")
CROWD_HEADINGS = ("Version", "Least crowd", "Median crowd", "Information kept")
CROWD_COUNTS = ("number", "crowd_least", "crowd_median")
EXPLAINED = (
    "As before: rows of the version before that stay, identical to the byte. Issued anew: new rows "
    "of people who had a row in the version before. Withdrawn: rows of the version before that are "
    "gone, because their people left, asked for it, have other values now, or were pulled along so "
    "that those who go and those who stay hide among each other. Held back: source rows without a "
    "published row, because too few others could hide with them, or, held by history, because "
    "they would have too few histories. Each next version tries them again. "
    "Crowd: matchable rows among those that came in the same version and are all still there; "
    "least and median are over all rows of the version. Information kept is over all its rows, too."
)
GLOSSARY = (
    (
        "Version",
        "one release of a series. It shows rows of the version before, except those that were "
        "withdrawn, and new rows",
    ),
    (
        "New rows",
        "the rows that a version shows first. Their people hide among each other. The column "
        "since names that version",
    ),
    ("Withdrawn", "a row that no later version shows. It stays in the versions before"),
    (
        "Pulled along",
        "people who get a new row although nothing changed for them, so that nobody's crowd falls "
        "below k when rows of others are withdrawn",
    ),
    ("Held back", "people who wait for a row until enough others can hide together with them"),
    ("History", "the rows that one person may have had, one after the other"),
)


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
    privacy["records"] = section.get("rows")
    for name in ("k_min", "k_max", "unprotected", *(["people"] if "people" in privacy else [])):
        privacy[name] = section.get(name)
    return {**manifest, "privacy": privacy}


def about_new(manifest: Manifest) -> str:
    """What must stand where numbers are of the new rows only; nothing where all rows are new."""
    if not has_earlier_rows(manifest):
        return ""
    section, at = manifest["series"], version_number(manifest)
    return (
        f"These numbers are about the {count_noun(section['batch'], 'row')} that "
        f"{_is_or_are(section['batch'])} new in version {at}. "
        f"{_say_stay(section['frozen'])} from before; the same numbers of "
        f"{'it' if section['frozen'] == 1 else 'these'} are on the page of the version in which "
        f"{'it was' if section['frozen'] == 1 else 'they were'} new. Rows that were withdrawn "
        "since may have changed them. What is true of all rows is in the section on the series."
    )


def shortly_new(manifest: Manifest) -> str:
    """The same in a sentence, where the long text stands before."""
    if not has_earlier_rows(manifest):
        return ""
    section = manifest["series"]
    return (
        f"Unless a line names versions, these numbers are about the "
        f"{count_noun(section['batch'], 'row')} that {_is_or_are(section['batch'])} new in version "
        f"{version_number(manifest)}, not about all "
        f"{count(section['rows'])}."
    )


def briefly_new(manifest: Manifest) -> str:
    """The same in a few words, for headings."""
    return (
        f"{count_noun(manifest['series']['batch'], 'new row')} only"
        if has_earlier_rows(manifest)
        else ""
    )


def of_new(blocks: Sequence[Block], manifest: Manifest) -> list[Block]:
    """Tables that say in their heading that they are about new rows only."""
    told = briefly_new(manifest)
    return [each._replace(heading=f"{each.heading} ({told})") if told else each for each in blocks]


def describe_version(manifest: Manifest) -> str:
    """The version in a line; nothing where the release is no version."""
    section = series_of(manifest)
    if section is None:
        return ""
    at = version_number(manifest)
    if at == 1:
        held = section["held_back"]
        waits = f", and {_say_wait(held)}" if held else ""
        return f"Version 1 of a series: all {count_noun(section['rows'], 'row')} are new{waits}."
    now = versions_of(manifest)[-1]
    why = "; ".join(
        f"{count(now[name])} {what}"
        for name, what in (
            ("left", "left"),
            ("withdrawn", "on request"),
            ("changed", "changed"),
            ("pulled", "pulled along"),
        )
        if now[name]
    )
    gone = (
        f"{count_noun(now['gone'], 'row')} of version {at - 1} {_was_or_were(now['gone'])} "
        "withdrawn"
    )
    return (
        f"Version {at} of a series: {_say_stay(now['frozen'])} from before and "
        f"{count(now['new'])} {_is_or_are(now['new'])} new. {gone}{f' ({why})' if why else ''}. "
        f"{tell_reissued(manifest)}{_capitalize_first(_say_wait(now['held_back']))}."
    )


def tell_reissued(manifest: Manifest) -> str:
    """How many people have another row now, and because of how many; nothing if nobody has."""
    before, now = versions_of(manifest)[-2:]
    if not now.get("reissued"):
        return ""
    moved = now["left"] + now["withdrawn"] + now["changed"]
    people = "1 person" if moved == 1 else f"{count(moved)} people"
    return (
        f"{count(now['reissued'])} of the {count(before['rows'])} rows of version "
        f"{before['number']} ({percent(now['reissued'] / before['rows'])}) were issued anew, "
        f"because {people} left, changed or asked for it. "
    )


def list_version_counts(manifest: Manifest, names: Sequence[str] = COUNTS) -> list[tuple[str, ...]]:
    """Counts of each version."""
    return [tuple(count(each.get(name)) for name in names) for each in versions_of(manifest)]


def list_crowd_counts(manifest: Manifest) -> list[tuple[str, ...]]:
    """Rows for `CROWD_HEADINGS`: of all rows of each version."""
    pairs = zip(list_version_counts(manifest, CROWD_COUNTS), versions_of(manifest), strict=True)
    return [(*line, percent(each.get("kept"))) for line, each in pairs]


def build_series_blocks(manifest: Manifest) -> list[Block]:
    """The series as tables of a summary; nothing where the release is no version."""
    if series_of(manifest) is None:
        return []
    return [
        Block(HEADING, HEADINGS, list_version_counts(manifest)),
        Block(WHY, WHY_HEADINGS, list_version_counts(manifest, WHY_COUNTS)),
        Block(CROWDS, CROWD_HEADINGS, list_crowd_counts(manifest)),
    ]


SINCE = "What changed since the version before"


def list_changes_since(manifest: Manifest) -> list[Fact]:
    """Why rows came and went."""
    section = manifest["series"]
    facts = [
        ("Rows that stay", "frozen", "identical to the byte, keys included"),
        ("New rows", "batch", "of new, changed and pulled people, and of those who had waited"),
        ("Of these: never had a row", "new", "people who are in a version for the first time"),
        ("Of these: issued anew", "reissued", "people who had another row in the version before"),
        ("Of these: returned", "returned", "people who had a row in an earlier version only"),
        ("Left", "left", "rows withdrawn because the source no longer has their people"),
        ("On request", "withdrawn", "rows withdrawn because their people asked for it"),
        ("Changed", "changed", "rows withdrawn because a value of their people changed"),
        ("Pulled along", "pulled", "rows withdrawn so that everybody keeps a crowd"),
        ("Held back", "held_back", "source rows that wait until enough others can hide with them"),
        ("Of these: by history", "held_by_history", "people who would keep fewer than k histories"),
    ]
    return [Fact(label, count(section.get(name)), meaning) for label, name, meaning in facts]


def _say_stay(rows: Any) -> str:
    return f"{count_noun(rows, 'row')} stay{'s' if rows == 1 else ''}"


def _say_wait(held: Any) -> str:
    if not held:
        return "no source row is held back"
    return f"{count_noun(held, 'source row')} {_is_or_are(held)} held back until a later version"


def _is_or_are(rows: Any) -> str:
    return "is" if rows == 1 else "are"


def _was_or_were(rows: Any) -> str:
    return "was" if rows == 1 else "were"


def _capitalize_first(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
