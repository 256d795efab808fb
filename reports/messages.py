"""Messages for people: TOML files with Jinja parameters, which lawyers read and translators change.

A package that speaks has a folder `messages`. A table of one of its files is a group of messages. A
message takes its figures as parameters; filters write numbers as people read them. Line breaks in a
file are spaces in a message. A missing message or parameter is an error.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from crowdcover.reports import quantities

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_FOLDER = "messages"
FILTERS = (
    *("count", "digits", "moment", "one_in", "percent", "points", "printable", "size", "utility"),
)


class Messages:
    """The messages of packages; those of a later package replace earlier ones of the same key.

    Parameters
    ----------
    entries : mapping
        Groups of messages. The group "terms" has words that every message may use.
    """

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self.entries = entries
        self.terms: Mapping[str, str] = entries.get("terms", {})

    def say(self, *key: str, **figures: Any) -> str:
        """The message of this key, filled in."""
        text = self._find(key)
        if not isinstance(text, str):
            raise KeyError(f"{'.'.join(key)} is no message, but a group of messages")
        return self._fill(text, figures)

    def list_texts(self, *key: str, **figures: Any) -> list[tuple[str, str]]:
        """The messages of a group, each with its title."""
        return [(title, text) for title, text in self.list_lines(*key, **figures)]

    def list_lines(self, *key: str, **figures: Any) -> list[list[str]]:
        """The lines of a group: a label, and the parts beside it; none with an empty first part."""
        lines = [
            [label, *([parts] if isinstance(parts, str) else parts)]
            for label, parts in self._find_group(key).items()
        ]
        filled = [[self._fill(text, figures) for text in line] for line in lines]
        # A condition in a message may leave nothing of it: then its line is left out.
        return [line for line in filled if line[1]]

    def name_entries(self, *key: str) -> Mapping[str, str]:
        """The messages of a group by their names; they have no parameters but terms."""
        return {name: self.say(*key, name) for name in self._find_group(key)}

    def list_headings(self, *key: str) -> tuple[str, ...]:
        """The headings of a table."""
        return tuple(self._find(key))

    def list_names(self, *key: str) -> list[str]:
        """The names in a group."""
        return list(self._find_group(key))

    def _find_group(self, key: Sequence[str]) -> Mapping[str, Any]:
        group = self._find(key)
        if not isinstance(group, Mapping):
            raise KeyError(f"{'.'.join(key)} is no group of messages")
        return group

    def _find(self, key: Sequence[str]) -> Any:
        found: Any = self.entries
        for name in key:
            if not isinstance(found, Mapping) or name not in found:
                raise KeyError(f"there is no message {'.'.join(key)}")
            found = found[name]
        return found

    def _fill(self, text: str, figures: Mapping[str, Any]) -> str:
        # Before parameters are filled in, whose own blanks stay.
        text = " ".join(text.split())
        return _compile_message(text).render(self.terms, **figures) if "{" in text else text


@cache
def load_messages(*packages: str) -> Messages:
    """The messages of these packages, read once."""
    entries: dict[str, Any] = {}
    for package in packages:
        folder = files(package) / _FOLDER
        for file in sorted(folder.iterdir(), key=lambda each: each.name):
            if file.name.endswith(".toml"):
                entries = _merge_groups(entries, tomllib.loads(file.read_text(encoding="utf-8")))
    return Messages(entries)


def choose_form(number: Any, one: str, many: str) -> str:
    """The form of a word for a number, such as "is" for 1 and "are" for others."""
    return one if number == 1 else many


def capitalize_first(text: str) -> str:
    """The text with a capital at its beginning."""
    return f"{text[:1].upper()}{text[1:]}"


def join_names(names: Sequence[Any]) -> str:
    """Names in a sentence, as "a, b and c"."""
    *most, last = map(quantities.printable, names)
    return f"{', '.join(most)} and {last}" if most else last


def _merge_groups(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Both; what a later package says comes first in a group, and replaces what it names."""
    merged = dict(later)
    for name, entry in earlier.items():
        if isinstance(entry, Mapping) and isinstance(merged.get(name), Mapping):
            merged[name] = _merge_groups(entry, merged[name])
        else:
            merged.setdefault(name, entry)
    return merged


@cache
def _compile_message(text: str) -> "Template":
    return _make_environment().from_string(text)


@cache
def _make_environment() -> "Environment":
    """Texts without markup: pages escape what they fill in."""
    from jinja2 import Environment, StrictUndefined  # not needed by messages without parameters

    # Strict: a typing error in a parameter must not become an empty place in a promise.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 - no HTML
    environment.filters.update({name: _refuse_unknown(name) for name in FILTERS})
    environment.filters.update(noun=quantities.count_noun, form=choose_form, first=capitalize_first)
    environment.filters["names"] = join_names
    return environment


def _refuse_unknown(name: str) -> Callable[[Any], str]:
    """A number as text; a parameter that is missing is an error, a number that is None is not."""
    from jinja2 import Undefined

    write: Callable[[Any], str] = getattr(quantities, name)

    def write_figure(figure: Any) -> str:
        # str of a strict Undefined raises; `write` would take it for a number that is not stated.
        return str(figure) if isinstance(figure, Undefined) else write(figure)

    return write_figure
