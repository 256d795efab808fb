"""What a version of a series promises beyond any release, and what its numbers mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from reports import series
from reports.facts import Manifest
from reports.quantities import count, count_noun, is_number, percent, printable
from reports.words import ABOVE, NO_LIMIT, NOT_MEASURED, WITHIN, Block, Check, Figure, Text

CELLS, HISTORIES = "crowds in every version", "histories"
UNLESS = ", if a figure names no versions"
OFTEN = 0.1  # share of the records that were followed
COMPARED: Text = (
    "Comparing versions tells no more.",
    "Everybody who has a row in a version keeps at least k rows that may be theirs: matchable rows "
    "that came in the same version and stayed equally long. Someone who compares all versions "
    "cannot narrow the person down further. This holds even if they know all quasi-identifiers of "
    "everyone at all times, and of everyone in which versions they have a row, and when they "
    "joined, left, came back, or got another row because a value changed.",
)
WHO_IS_IN: Text = (
    "Whether someone knows who is in.",
    "It holds in all three cases: for someone who knows that a person is in every version, who "
    "knows when the person joined, and who does not know whether the person is in at all.",
)
SAME_ROWS: Text = (
    "Rows that stay are the same.",
    "A row that stays is identical in each version, key included. A withdrawn row never returns.",
)
PROMISED: Mapping[str, Sequence[Text]] = {CELLS: (COMPARED, WHO_IS_IN, SAME_ROWS)}
OTHER_SERIES: Text = (
    "Protection beside other releases, or across several records of one person.",
    "Versions of this series are checked together. Another release of the same people can be "
    "compared with them.",
)
FROM_PROGRAM: Text = (
    "Conclusions from how the program works.",
    "Who is pulled along depends on who owns which row. Someone who runs the program for every "
    "possible owner may exclude some rows. How likely each row is was not measured over "
    "versions.",
)
OLD_COPIES: Text = (
    "Taking rows back.",
    "A withdrawn row stays in the versions that showed it. Nobody can take back a copy.",
)
LATER_VALUES: Text = (
    "Crowds of different values after withdrawals.",
    "How diverse the sensitive values of a crowd are was measured when its rows were new. Rows "
    "that were withdrawn since may have left one value only.",
)
FINDINGS = {
    "rows as before": "Every row of an earlier version that was not withdrawn is there, identical "
    "to the byte, and no row is there that no version has made.",
    "withdrawn rows": "No withdrawn row is there again.",
    "the batch as checked": "The rows that are new in the version are those that were audited.",
    "people of the source": "No row is of somebody who asked to be withdrawn. Where the plan names "
    "records, each row is of one that the source holds with the same values.",
    CELLS: "Everybody keeps at least k matchable rows among those that came and went with their "
    "own, in every version.",
    HISTORIES: "Everybody keeps at least k histories: rows that they may have had one after the "
    "other, from the first version on, with equal values where the plan says that these never "
    "change. Someone who left and came back has one history.",
    "source of the batch": "The vault holds the source rows of the batch, to audit it anew.",
}


def list_series_promise_points(manifest: Manifest) -> list[Text]:
    """What holds over all versions so far."""
    findings = manifest["privacy"].get("promise", ())
    texts = [text for name in findings for text in PROMISED.get(name, ())]
    if HISTORIES in findings:
        texts.append(_describe_histories(manifest))
    return texts


def describe_series_promise(manifest: Manifest) -> str:
    """The same in a sentence; nothing where the release is no version."""
    section = series.series_of(manifest)
    if section is None:
        return ""
    at = series.version_number(manifest)
    if at == 1:
        return (
            " It is the first version of a series. The same is checked again for all versions "
            "together whenever one is added."
        )
    return (
        f" This holds for {'both versions' if at == 2 else f'all {at} versions'} so far together: "
        "someone who compares them and knows when each person joined, left, came back or changed "
        "cannot narrow anyone down further. It does not hold for someone who recognises a person's "
        "old and new row by the values that they show."
    )


def not_promised(manifest: Manifest) -> list[Text]:
    """What no version of a series promises."""
    return [_describe_linking(manifest), LATER_VALUES, FROM_PROGRAM, OLD_COPIES, OTHER_SERIES]


def _describe_histories(manifest: Manifest) -> Text:
    constant = manifest["series"].get("constant", [])
    equal = (
        f" whose rows all show the same {_join_names(constant)}, which the plan says never "
        f"change{'s' if len(constant) == 1 else ''}"
        if constant
        else ""
    )
    if not _has_record_column(manifest):
        return (
            "Several histories.",
            "A record's history is the rows that were its own, one after the other. For each "
            f"record there are at least k histories{equal}. This is counted for each record alone: "
            "someone who combines what it tells of several records, or of all records of one "
            "person, may exclude some.",
        )
    return (
        "Several histories.",
        "A person's history is the rows that were theirs, one after the other, also with years "
        f"between. For each person there are at least k histories{equal}. This is counted for each "
        "person alone: someone who combines what it tells of several people may exclude some.",
    )


def _has_record_column(manifest: Manifest) -> bool:
    """Whether a column names each person in every version; else each version has new records."""
    return "followed" in manifest["series"]


def _count_ever(manifest: Manifest) -> str:
    """How many ever had a row, with what they are."""
    what = "people who" if _has_record_column(manifest) else "records that"
    return f"{count(manifest['series'].get('records_ever'))} {what} ever had a row"


def _describe_linking(manifest: Manifest) -> Text:
    section, carried = manifest["series"], list_carried_columns(manifest)
    what = f"the same or similar values of {_join_names(carried)}" if carried else "similar cells"
    text = (
        "If a person's row is replaced, the old and the new one may show "
        f"{what}. Someone who recognises by these that both are of one person may find fewer than "
        "k people who fit both."
    )
    if section.get("constant"):
        text += (
            f" For someone who connects rows by {_join_names(section['constant'])} only, "
            f"{count(section.get('linked_below_k'))} of {_count_ever(manifest)} have fewer than k "
            "rows left in some version."
        )
    return ("Rows of one person that nobody can connect.", text)


def list_carried_columns(manifest: Manifest) -> list[str]:
    """Names of the columns that are published as they are."""
    return [
        printable(name)
        for name, stated in manifest.get("columns", {}).items()
        if stated.get("role") in ("sensitive", "keep")
    ]


def _join_names(names: Sequence[str]) -> str:
    names = [printable(name) for name in names]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---------------------------------------------------------------- columns that change


def list_column_changes(section: Mapping[str, Any]) -> list[tuple[str, int, float]]:
    """For each column: its name, the records in which it changed, and their share; most first."""
    followed = section.get("followed", 0)
    found = section.get("changed_by", {}).items() if followed else ()
    shares = [(printable(name), number, number / followed) for name, number in found if number]
    return sorted(shares, key=lambda each: -each[1])


def list_change_warnings(section: Mapping[str, Any]) -> list[str]:
    """A warning for each column that changed in many records since the version before."""
    followed = section.get("followed", 0)
    return [
        f"The column {name} changed since the version before in {count(number)} of "
        f"{count(followed)} records that are in both ({percent(share)}). Each of them gets another "
        "row, and others are pulled along. Someone who recognises the old and the new row by "
        "their values connects them. Group the column in the source or drop it, in a new series."
        for name, number, share in list_column_changes(section)
        if share >= OFTEN
    ]


def list_series_warnings(manifest: Manifest) -> list[str]:
    """Columns that change often; people whose rows can be connected."""
    section = series.series_of(manifest)
    if section is None:
        return []
    linked, constant = section.get("linked_below_k"), section.get("constant")
    told = list_change_warnings(section)
    short = section.get("histories_below_k")
    if is_number(short) and 0 < short <= _count_allowed_people(section):
        told.append(
            f"{count(short)} of {_count_ever(manifest)} have fewer than k histories: versions that "
            "an older build published leave them so few, and the plan states it. Someone who "
            "compares all versions may know the rows of these."
        )
    if is_number(linked) and linked > 0 and constant:
        told.append(
            f"{count(linked)} of {_count_ever(manifest)} "
            f"have fewer than k rows left in some version for someone who compares the versions "
            f"and connects rows by {_join_names(constant)}, which the plan says never "
            f"change{'s' if len(constant) == 1 else ''}. No promise covers this."
        )
    return told


def column_block(manifest: Manifest) -> Block | None:
    """How often each column changed, as a table."""
    section = series.series_of(manifest) or {}
    followed = section.get("followed", 0)
    if not followed:
        return None
    rows = [
        (name, count(number), percent(share))
        for name, number, share in list_column_changes(section)
    ]
    if not rows:
        rows = [("no column", "0", percent(0.0))]
    return Block(
        f"Columns that changed since the version before, of {count_noun(followed, 'record')} in "
        "both",
        ("Column", "Records", "Share"),
        rows,
    )


# ---------------------------------------------------------------- counts


def list_series_checks(manifest: Manifest) -> list[Check]:
    """Counts over all versions on which the promise depends; each must be 0."""
    section = series.series_of(manifest)
    if section is None:
        return []
    return [_at_most(section.get(name), limit, what) for name, limit, what in _list_counts(section)]


def _list_counts(section: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    """Counts over all versions: their names, limits and words."""
    return [
        ("below_k", 0, "Rows in any version whose people have too few matchable rows beside it"),
        (
            "histories_below_k",
            _count_allowed_people(section),
            f"{'People' if 'followed' in section else 'Records'} with too few histories over all "
            "versions",
        ),
    ]


def _count_allowed_people(section: Mapping[str, Any]) -> int:
    """People who may have too few histories, as the plan states."""
    return int(section.get("allow_short_histories", 0))


def _at_most(number: object, limit: int, what: str) -> Check:
    stated = "0" if not limit else f"{count(limit)}, as the plan states"
    return Check(what, stated, count(number), is_number(number) and number <= limit)


def list_linkability_figures(manifest: Manifest) -> list[Figure]:
    """What comparing versions tells."""
    section = series.series_of(manifest)
    if section is None:
        return []
    figures = [
        Figure(
            what,
            count(number),
            f"{count(limit)}: as the plan states" if limit else "0: the promise",
            WITHIN if number <= limit else ABOVE,
        )
        for name, limit, what in _list_counts(section)
        if is_number(number := section.get(name))
    ]
    constant = section.get("constant")
    if not constant:
        what = "Rows of one person in several versions, connected by the values that they show"
        return [*figures, Figure(what, NOT_MEASURED, "nothing", NO_LIMIT)]
    what = (
        f"{'People' if _has_record_column(manifest) else 'Records'} with fewer than k rows left "
        "in some "
        f"version, for someone who connects rows by {_join_names(constant)}"
    )
    told = f"{count(section.get('linked_below_k'))} of {count(section.get('records_ever'))}"
    return [*figures, Figure(what, told, "nothing", NO_LIMIT)]


def describe_new_rows(manifest: Manifest) -> str:
    """How many rows of a version are new, for its headline; nothing where all are."""
    if not series.has_earlier_rows(manifest):
        return ""
    section = manifest["series"]
    return f"; {count(section['frozen'])} rows stay from before, {count(section['batch'])} are new"


def describe_movements(counts: Mapping[str, Any]) -> list[str]:
    """Sentences on who came, who went and who waits, for the log."""
    sentences = [
        f"{counts['frozen']} rows stay; {counts['batch']} are new: {counts['new']} of new records, "
        f"{counts['returned']} of records that return, {counts['reissued']} issued anew; "
        f"{counts['left']} people left, {counts['changed']} changed, {counts['withdrawn']} were "
        f"withdrawn, {counts['held_back']} wait"
    ]
    moved = counts["left"] + counts["withdrawn"] + counts["changed"]
    if counts["pulled"]:
        sentences.append(
            f"{counts['pulled']} rows are withdrawn although nothing changed for their people, "
            f"because of {moved} people who left, changed or were withdrawn"
        )
    if counts["held_by_history"]:
        sentences.append(
            f"{counts['held_by_history']} of those who wait would keep fewer than k histories; "
            "each next version tries them again"
        )
    return sentences
