"""Two releases of one kind beside each other, from what their manifests state."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from crowdcover.reports import quantities
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import capitalize_first, load_messages
from crowdcover.reports.quantities import NOT_STATED, count, is_number, percent, printable
from crowdcover.reports.words import Words

if TYPE_CHECKING:
    from rich.table import Table

_MESSAGES = load_messages("crowdcover.reports")
Pair = tuple[Any, Any]
_DEMANDS = ("records", "k_min", "k_max", "unprotected", "below_k")
_COMMON_FORMS = {**dict.fromkeys(("rows", *_DEMANDS), count), "kept": percent}


def compare_manifests(old: Manifest, new: Manifest, words: Words) -> dict[str, Any]:
    """Every change as JSON: numbers stand in pairs, the old one first; None is not stated."""
    return {
        "kind": new["source"].get("kind", "table"),
        "old": _list_about(old),
        "new": _list_about(new),
        # Chained: equal and stated. Two manifests without a hash do not have the same plan.
        "same_plan": old.get("plan_sha256") == new.get("plan_sha256") is not None,
        "columns": _compare_columns(old, new, words),
        "numbers": dict(_pair_numbers(old, new)),
        "per_column": dict(_per_column(old, new)),
        "promise": _compare_promises(old, new),
    }


def build_difference_tables(difference: Mapping[str, Any], words: Words) -> list["Table"]:
    """Every change between two releases as tables for `print_tables`."""
    old, new = name_sides(difference)
    made = _start_table("Releases", "", old, new)
    for label, key in (("Created", "created"), ("Made by", "crowdcover"), ("Plan", "plan_sha256")):
        made.add_row(label, *(_format_short(key, difference[side][key]) for side in ("old", "new")))
    columns = _start_table("Columns", "Column", "Change")
    for name, change in _list_changes(difference["columns"]):
        columns.add_row(printable(name), change)
    promise = _start_table("Promise", "What must hold", "In")
    for change in ("new only", "old only"):
        for name in difference["promise"][change]:
            promise.add_row(printable(name), change)
    numbers, labels = _start_table("Numbers", "", old, new), _MESSAGES.name_entries("difference")
    for name, pair in difference["numbers"].items():
        form = _COMMON_FORMS.get(name) or words.number_forms.get(name, _format_unknown)
        numbers.add_row(labels.get(name, _spell_out(name)), *map(form, pair))
    return [
        table
        for table in (
            made,
            columns,
            promise,
            numbers,
            _of_columns(difference, old, new),
            _build_moved_table(difference),
        )
        if table.row_count
    ]


def name_sides(difference: Mapping[str, Any]) -> tuple[str, str]:
    """What the releases are called: by their versions, with their names where these differ."""
    old, new = difference["old"], difference["new"]
    # Two folders may hold a release of one name and version, and columns need different headings.
    if (old["name"], old["version"]) == (new["name"], new["version"]):
        return f"{old['version']}, old", f"{new['version']}, new"
    if old["name"] == new["name"]:
        return str(old["version"]), str(new["version"])
    return f"{old['name']} {old['version']}", f"{new['name']} {new['version']}"


def summarize_difference(difference: Mapping[str, Any]) -> str:
    """The last line: whether the plan is the same, and how many columns changed."""
    columns = difference["columns"]
    changed = sum(len(columns[what]) for what in ("added", "removed", "changed"))
    plan = _MESSAGES.say(
        "difference_ends", "same_plan" if difference["same_plan"] else "other_plan"
    )
    summary = _MESSAGES.say("difference_ends", "summary", plan=plan, changed=changed)
    if not difference["unread"]:
        return summary
    why = _MESSAGES.say("difference_ends", "series" if difference.get("series") else "no_file")
    return _MESSAGES.say("difference_ends", "unread", summary=summary, why=why)


def _list_about(manifest: Manifest) -> dict[str, Any]:
    named = ("name", "version", "created", "crowdcover", "plan_sha256")
    return {name: manifest.get(name) for name in named}


def _compare_columns(old: Manifest, new: Manifest, words: Words) -> dict[str, Any]:
    """Columns of the source by their roles; of manifests that name none, as released."""
    was, now = _list_roles(old, words), _list_roles(new, words)
    changed = {}
    for name in now:
        if name in was and was[name] != now[name]:
            # A key that only one of them states has changed, too.
            keys = dict.fromkeys([*was[name], *now[name]])
            changed[name] = {
                key: (was[name].get(key), now[name].get(key))
                for key in keys
                if was[name].get(key) != now[name].get(key)
            }
    return {
        "added": {name: now[name] for name in now if name not in was},
        "removed": {name: was[name] for name in was if name not in now},
        "changed": changed,
    }


def _list_roles(manifest: Manifest, words: Words) -> dict[str, dict[str, Any]]:
    columns = manifest.get("columns")
    if isinstance(columns, Mapping):
        return {
            name: dict(each) if isinstance(each, Mapping) else {"role": each}
            for name, each in columns.items()
        }
    return {each.name: {"role": each.role} for each in words.columns(manifest)}


def _pair_numbers(old: Manifest, new: Manifest) -> Iterator[tuple[str, Pair]]:
    """Rows, people, demands and utility: every number that either manifest states of them."""
    was, now = _flatten_numbers(old), _flatten_numbers(new)
    # The order of the old manifest, then what only the new one has.
    for name in dict.fromkeys([*was, *now]):
        yield name, (was.get(name), now.get(name))


def _flatten_numbers(manifest: Manifest) -> dict[str, float]:
    privacy, series = manifest["privacy"], manifest.get("series", {})
    rows = series.get("rows") or privacy.get("rows", privacy.get("records"))
    found = {"rows": rows, **{name: privacy.get(name) for name in _DEMANDS}}
    found |= {name: value for name, value in manifest["utility"].items() if is_number(value)}
    if "kept" in series:
        found["kept"] = series["kept"]
    return {name: value for name, value in found.items() if is_number(value)}


def _per_column(old: Manifest, new: Manifest) -> Iterator[tuple[str, dict[str, Pair]]]:
    was, now = (manifest["utility"].get("per_column", {}) for manifest in (old, new))
    for name in dict.fromkeys([*was, *now]):
        before, after = was.get(name, {}), now.get(name, {})
        yield (
            name,
            {key: (before.get(key), after.get(key)) for key in dict.fromkeys([*before, *after])},
        )


def _compare_promises(old: Manifest, new: Manifest) -> dict[str, list[str]]:
    was, now = (list(manifest["privacy"].get("promise", [])) for manifest in (old, new))
    return {
        "both": [name for name in now if name in was],
        "new only": [name for name in now if name not in was],
        "old only": [name for name in was if name not in now],
    }


def _list_changes(columns: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for what in ("added", "removed"):
        for name, each in columns[what].items():
            yield name, f"{what}: {printable(each.get('role') or NOT_STATED)}"
    for name, keys in columns["changed"].items():
        difference = (
            f"{printable(key)}: {_format_text(was)} → {_format_text(now)}"
            for key, (was, now) in keys.items()
        )
        yield name, "; ".join(difference)


def _of_columns(difference: Mapping[str, Any], old: str, new: str) -> "Table":
    """Exact cells and NCP of each column; columns that only one release has show one number."""
    labels = _MESSAGES.name_entries("difference_of_columns")
    headings = [f"{label}, {side}" for label in labels.values() for side in (old, new)]
    table = _start_table("Loss per column", "Column", *headings)
    for name, numbers in difference["per_column"].items():
        pairs = [numbers.get(key, (None, None)) for key in labels]
        if any(is_number(each) for pair in pairs for each in pair):
            table.add_row(
                printable(name), *(_format_share(each) for pair in pairs for each in pair)
            )
    return table


def _build_moved_table(difference: Mapping[str, Any]) -> "Table":
    """Categories and shifts, as far as the published cells tell them."""
    table = _start_table(
        "Change of the data, read from the published cells",
        *("Column", "New categories", "Gone categories", "Shift at least", "Shift at most"),
    )
    for name, each in difference.get("published", {}).items():
        table.add_row(
            printable(name),
            *(count(each[key]) if key in each else "" for key in ("new_count", "gone_count")),
            *(percent(each[key]) if key in each else "not read" for key in ("at_least", "at_most")),
        )
    return table


def _start_table(title: str, *headings: str) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD)
    table.pad_edge = False
    for place, heading in enumerate(headings):
        numbers = place > 0 and title not in ("Releases", "Columns", "Promise")
        table.add_column(printable(heading), justify="right" if numbers else "left")
    return table


def _format_short(key: str, value: Any) -> str:
    if key == "created":
        return quantities.moment(value)
    text = printable(NOT_STATED if value is None else value)
    # 16 of 64 digits tell plans apart and leave room for both columns.
    return text[:16] if key == "plan_sha256" else text


def _format_unknown(value: Any) -> str:
    """A number of which this version does not know what it measures."""
    return count(value) if isinstance(value, int) else quantities.digits(value)


def _format_share(value: Any) -> str:
    return percent(value) if is_number(value) else "-"


def _format_text(value: Any) -> str:
    return "none" if value is None else printable(value)


def _spell_out(name: str) -> str:
    return capitalize_first(printable(name).replace("_", " "))
