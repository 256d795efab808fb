"""Passwords and plans: a plan that holds one is refused, and Prefect's blocks are a place for them.

What the vault keeps of a plan is written without passwords nevertheless: a second line of defence.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crowdcover.kinds.section import PlanError
from crowdcover.storage.places.credentials import (
    FORMS,
    PROVIDERS,
    CredentialsError,
    holds_password,
    is_reference,
    states_password,
    without_password,
)
from crowdcover.storage.vault.files import write_private

# Keys that may be URIs -> the key that names where the password lies.
URIS = {
    ("source", "uri"): "source.credentials",
    ("source", "path"): None,
    ("publish", "ledger"): "publish.ledger_credentials",
    ("publish", "path"): None,
}
WITHHELD = "withheld: it held a password"
STORE = "the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE) or the role of the machine gives the keys"


def refuse_stated_passwords(document: Mapping[str, Any]) -> None:
    """Refuse a parsed plan, or a part of one, whose URIs or query hold passwords."""
    for section, key, uri in _list_uris(document):
        if holds_password(uri):
            named = URIS[section, key]
            way = STORE if named is None else f"{named} = {FORMS}, ~/.pgpass or PGPASSWORD"
            raise PlanError(
                f"{section}.{key} holds a password, and plans are copied and kept; take it out and "
                f"say where it lies: {way}. See docs/how-to/credentials.md"
            )
    if states_password(_find_query(document)):
        raise PlanError(
            "source.query holds a password or a key, and plans are copied and kept; take it out. "
            "Let the database itself know its other sources, or read them apart. "
            "See docs/how-to/credentials.md"
        )


def refuse_passwords(document: Mapping[str, Any]) -> None:
    """Refuse a parsed plan whose URIs hold passwords, and places for them that are none."""
    refuse_stated_passwords(document)
    for section, key, address in (
        ("source", "credentials", "uri"),
        ("publish", "ledger_credentials", "ledger"),
    ):
        table = document.get(section)
        stated = table.get(key) if isinstance(table, Mapping) else None
        # Wrong types are refused later, with the rules of their sections.
        if not isinstance(table, Mapping) or not isinstance(stated, str):
            continue
        if not is_reference(stated):
            raise PlanError(f"{section}.{key} must be {FORMS}: where the password lies")
        if table.get(address) is None:
            raise PlanError(f"{section}.{key} belongs to {section}.{address}")


def withhold_passwords(document: dict[str, Any]) -> dict[str, Any]:
    """The same plan without passwords."""
    for section, key, uri in _list_uris(document):
        if holds_password(uri):
            document = {**document, section: {**document[section], key: without_password(uri)}}
    if states_password(_find_query(document)):
        document = {**document, "source": {**document["source"], "query": WITHHELD}}
    return document


def withhold_kept(folder: Path) -> None:
    """Take passwords out of the plans that earlier versions have kept in a folder."""
    for path in folder.glob("*.json"):
        try:
            kept = json.loads(path.read_bytes())
        except (OSError, ValueError):  # encrypted: written by a version that keeps no passwords
            continue
        if isinstance(kept, dict) and (bare := withhold_passwords(kept)) != kept:
            write_private(path, json.dumps(bare, indent=2, ensure_ascii=False).encode())


def _find_query(document: Mapping[str, Any]) -> str:
    table = document.get("source")
    query = table.get("query") if isinstance(table, Mapping) else None
    return query if isinstance(query, str) else ""


def _list_uris(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Section, key and value of each URI in a parsed plan."""
    for section, key in URIS:
        table = document.get(section)
        if isinstance(table, Mapping) and isinstance(uri := table.get(key), str):
            yield section, key, uri


def _of_prefect(block: str) -> str:
    """The value of a Secret block of the Prefect server that the environment names."""
    from prefect.blocks.system import Secret

    refusal = ""
    try:
        loaded: Any = Secret.load(block)
        return str(loaded.get())
    # No such block. `secret_of` then says that nothing was found there.
    except ValueError:
        return ""
    except Exception as error:  # noqa: BLE001 - its text may quote the server's address
        refusal = (
            f"the Prefect server did not give the block of prefect:{block} "
            f"({type(error).__name__}); check PREFECT_API_URL and that the server runs"
        )
    raise CredentialsError(refusal)


# Registered from here, since `storage` imports no Prefect.
PROVIDERS["prefect"] = _of_prefect
