"""Every message can be filled in, is used, and says what it means in plain words."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError, meta

from crowdcover.reports.messages import Messages, _make_environment, load_messages

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "reports": ("crowdcover.reports",),
    "kinds": ("crowdcover.kinds",),
    "table": ("crowdcover.kinds", "crowdcover.kinds.table"),
    "matrix": ("crowdcover.kinds", "crowdcover.kinds.matrix"),
    "graph": ("crowdcover.kinds", "crowdcover.kinds.graph"),
}
PRODUCT = ("flows", "kinds", "reports", "tasks")
# Words of this project for things that have plainer names.
HOUSE_WORDS = r"puzzler|passer-by|witness|pulled along|held back|\blot\b|verdict|the house\b"


class Figure(int):
    """Any figure: a number, a section of a manifest, a list of names."""

    def __getattr__(self, name: str) -> "Figure":
        if name.startswith("_"):
            raise AttributeError(name)
        return Figure(2)

    def __getitem__(self, key: object) -> "Figure":
        return Figure(2)

    def __call__(self, *_: object) -> "Figure":
        return Figure(2)

    def __iter__(self) -> Any:
        return iter(("one", "two"))

    def __len__(self) -> int:
        return 2


def list_messages(name: str) -> list[tuple[tuple[str, ...], str]]:
    """Every message and label of the packages of a name, with its key."""

    def walk(entry: Any, key: tuple[str, ...]) -> Any:
        if isinstance(entry, str):
            yield key, entry
        elif isinstance(entry, list):
            for text in entry:
                yield key, text
        else:
            for label, each in entry.items():
                yield (*key, label), label
                yield from walk(each, (*key, label))

    return list(walk(load_messages(*PACKAGES[name]).entries, ()))


@pytest.mark.parametrize("name", PACKAGES)
def test_every_message_is_filled_in_with_the_parameters_that_it_declares(name: str) -> None:
    messages, environment = load_messages(*PACKAGES[name]), _make_environment()
    for key, text in list_messages(name):
        declared = meta.find_undeclared_variables(environment.parse(text))
        for figure in (Figure(1), Figure(2)):
            filled = messages._fill(text, dict.fromkeys(declared, figure))
            assert "{" not in filled, key
            assert "  " not in filled, key


def test_a_message_or_a_parameter_that_is_missing_is_an_error() -> None:
    messages = Messages({"a": {"one": "{{ number | count }} rows", "two": "{{ b }}"}})
    assert messages.say("a", "one", number=1000) == "1,000 rows"
    for key in (("a",), ("a", "three"), ("b", "one"), ("a", "one", "more")):
        with pytest.raises(KeyError, match=r"message"):
            messages.say(*key)
    for name in ("one", "two"):
        with pytest.raises(UndefinedError):
            messages.say("a", name)


def test_a_number_that_a_manifest_lacks_is_not_stated() -> None:
    messages = Messages({"a": "{{ number | count }} rows"})
    assert messages.say("a", number=None) == "not stated rows"


def test_a_message_has_one_line_and_what_is_filled_in_stays_as_it_is() -> None:
    messages = Messages({"a": "one\n  {{ name }}\n"})
    assert messages.say("a", name="a  {{ b }}") == "one a  {{ b }}"


def test_messages_of_a_kind_come_first_and_replace_shared_ones() -> None:
    table = load_messages("crowdcover.kinds", "crowdcover.kinds.table")
    terms = [term for term, _ in table.list_texts("glossary")]
    assert terms.count("Auditor") == 1
    assert terms[-1] == "Vault"
    assert "encodes" in dict(table.list_texts("glossary"))["Auditor"]


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(ROOT.glob("*/**/messages/*.toml")), ids=lambda p: p.name)
def test_every_message_is_used(path: Path) -> None:
    files = [file for room in PRODUCT for file in (ROOT / room).rglob("*.py")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files).replace("'", '"')
    # Names that figures, plans or manifests give; their groups are read whole.
    whole = {*re.findall(r'(?:list_lines|list_texts|name_entries|list_names)\(\s*"(\w+)"', code)}
    whole |= {*re.findall(r'list_facts\(\s*[\w.]+,\s*"(\w+)"', code)}
    for group, entries in tomllib.loads(path.read_text(encoding="utf-8")).items():
        assert f'"{group}"' in code, group
        if group in whole or group in ("terms", "headline", "compared", "hops", "knows"):
            continue
        for name in entries:
            assert f'"{name}"' in code, (group, name)


def test_pages_and_messages_use_no_words_of_the_house() -> None:
    for name in PACKAGES:
        for key, text in list_messages(name):
            label = text in key  # keys of manifests and entries may be such words
            assert label or not re.search(HOUSE_WORDS, text, re.IGNORECASE), key
    for path in [*(ROOT / "reports").rglob("*.html.j2"), *(ROOT / "kinds").rglob("*.html.j2")]:
        page = re.sub(r"{[%{#].*?[%}#]}|<[^>]*>", "", path.read_text("utf-8"), flags=re.DOTALL)
        assert not re.search(HOUSE_WORDS, page, re.IGNORECASE), path.name


def test_the_wheel_has_the_messages() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "messages/*.toml" in document["tool"]["setuptools"]["package-data"]["*"]
