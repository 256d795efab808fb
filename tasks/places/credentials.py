"""Where passwords lie: never in a plan, which is copied, sent and kept in the vault.

A plan names a place: `env:NAME`, a variable of the environment; `file:/path`, a file that holds
nothing else; `prefect:block`, a Secret block. The password is read when it is used.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote_plus

from anon_core.errors import AnonymityError

# Up to the last @: a password whose @ or / is not escaped is one nevertheless.
IN_ADDRESS = re.compile(r"^(\w+://[^:@/?]*):.*@", re.DOTALL)
SECRET = re.compile(r"passw|passphrase|secret|token|private_?key|access_?key", re.IGNORECASE)
FORM = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:[/~].+|prefect:[a-z0-9][a-z0-9-]*", re.DOTALL)
FORMS = "'env:NAME', 'file:/path' or 'prefect:block'"


class CredentialsError(AnonymityError):
    """A password is not where the plan says."""


def without_password(uri: str) -> str:
    """A URI without its password, nor parameters that hold one, such as `?password=...`."""
    address, mark, query = uri.partition("?")
    stripped = IN_ADDRESS.sub(r"\1@", address)
    if not mark:
        return stripped
    parameters = query.split("&")
    kept = [each for each in parameters if not SECRET.search(unquote_plus(each.partition("=")[0]))]
    return stripped + mark + "&".join(kept) if kept else stripped


def holds_password(uri: str) -> bool:
    """Whether a URI, or a path that is one, holds a password."""
    return "://" in uri and without_password(uri) != uri


def is_reference(text: str) -> bool:
    """Whether a text names a place for passwords."""
    return FORM.fullmatch(text) is not None


def with_password(uri: str, reference: str | None) -> str:
    """The URI with the password that lies at a place; as it is where none is named."""
    if reference is None:
        return uri
    password = quote(secret_of(reference), safe="")
    if uri.startswith("snowflake://"):  # its driver knows no parameter for it
        user, at, place = uri.partition("@")
        return f"{user}:{password}{at}{place}"
    return f"{uri}{'&' if '?' in uri else '?'}password={password}"


def secret_of(reference: str) -> str:
    """The password that lies at a place; refused where there is none."""
    how, _, name = reference.partition(":")
    secret = PROVIDERS[how](name)
    if not secret:
        raise CredentialsError(
            f"no password was found at {how}:{name}; put it there, for the account that runs the "
            "plan"
        )
    return secret


def _of_environment(name: str) -> str:
    return os.environ.get(name, "")


def _of_file(name: str) -> str:
    try:
        return Path(name).expanduser().read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError, RuntimeError):
        return ""


def _of_nobody(_: str) -> str:
    return ""


# Whoever knows more places adds them: flows adds Prefect's.
PROVIDERS: dict[str, Callable[[str], str]] = {
    "env": _of_environment,
    "file": _of_file,
    "prefect": _of_nobody,
}
