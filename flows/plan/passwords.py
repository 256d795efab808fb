"""Passwords in the URIs of a plan: processes hand them on in memory, and no file keeps them.

A frozen plan holds URIs without passwords. The process that froze it sets an environment variable
for each whole URI; processes that it starts inherit these variables. Batch jobs do not: they read
no source. A process without the variable uses the URI as it stands, and libpq looks for the
password elsewhere (PGPASSWORD, ~/.pgpass).
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

URIS = (("source", "uri"), ("publish", "ledger"))
# Up to the last @: a password whose @ or / is not escaped is one nevertheless.
CREDENTIALS = re.compile(r"^(\w+://[^:@/?]*):.*@", re.DOTALL)
SECRET = re.compile(r"passw|passphrase|secret|token", re.IGNORECASE)


def without_password(uri: str) -> str:
    """A URI without its password, nor parameters that hold one, such as `?password=...`."""
    address, mark, query = uri.partition("?")
    stripped = CREDENTIALS.sub(r"\1@", address)
    if not mark:
        return stripped
    parameters = query.split("&")
    kept = [each for each in parameters if not SECRET.search(unquote_plus(each.partition("=")[0]))]
    return stripped + mark + "&".join(kept) if kept else stripped


def withheld(document: dict[str, Any]) -> dict[str, Any]:
    """The same plan without passwords."""
    for section, key, uri in _uris(document):
        document = {**document, section: {**document[section], key: without_password(uri)}}
    return document


def hand_on(document: dict[str, Any], frozen: Path) -> None:
    """Give the whole URIs of a plan to this process and to those that it starts."""
    for section, _, uri in _uris(document):
        if uri != without_password(uri):
            os.environ[_variable(frozen, section)] = uri
        else:
            os.environ.pop(_variable(frozen, section), None)


def restored(document: dict[str, Any], frozen: Path) -> dict[str, Any]:
    """A frozen plan with the whole URIs that were handed on."""
    for section, key, uri in _uris(document):
        whole = os.environ.get(_variable(frozen, section), uri)
        if without_password(whole) == uri:
            document = {**document, section: {**document[section], key: whole}}
    return document


def _uris(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Section, key and value of each URI in a parsed plan."""
    for section, key in URIS:
        table = document.get(section)
        if isinstance(table, dict) and isinstance(uri := table.get(key), str):
            yield section, key, uri


def _variable(frozen: Path, section: str) -> str:
    """The name of the environment variable; two vaults may freeze plans of one name."""
    place = hashlib.sha256(os.fsencode(frozen.resolve())).hexdigest()[:16]
    return f"CROWDCOVER_{section.upper()}_URI_{place}"
