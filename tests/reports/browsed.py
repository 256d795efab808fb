"""A parsed page."""

import re
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Collect elements, attributes and visible text; check that the tags nest correctly."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.inside: dict[str, str] = {}
        self.ids: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in <{tag}>"
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
            self.ids.append(dict(attrs).get("id") or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.ids.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)
            self.inside[self.ids[-1]] = data

    def told(self, element: str) -> str:
        """The text of the element with an id."""
        return self.inside[element]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def headings_are_in_order_and_tables_named(parsed: Page) -> None:
    """Assert the structure that a screen reader uses."""
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(parsed.named("caption")) == len(parsed.named("table"))
    assert all(attributes.get("scope") in {"row", "col"} for attributes in parsed.named("th"))
