"""The words beside which something names a person: data, by language."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def load_words() -> Mapping[str, Any]:
    """The content of words.toml."""
    return tomllib.loads((_FOLDER / "words.toml").read_text(encoding="utf-8"))


@cache
def load_numbers() -> Mapping[str, Any]:
    """The content of numbers.toml."""
    return tomllib.loads((_FOLDER / "numbers.toml").read_text(encoding="utf-8"))
