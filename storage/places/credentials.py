"""Where passwords lie: never in a plan, which is copied, sent and kept in the vault.

A plan names a place: `env:NAME`, a variable of the environment; `file:/path`, a file that holds
nothing else; `prefect:block`, a Secret block. The password is read when it is used.
"""

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote_plus

from anon_core.errors import AnonymityError

# Up to the last @: a password whose @, / or ? is not escaped is one nevertheless.
IN_ADDRESS = re.compile(r"^([\w+.-]+://[^:@/?]*):.*@", re.DOTALL)
BEFORE_MARK = re.compile(r"^([\w+.-]+://[^:@/?]*):(?!\d+(?:,[^/?@]*)?/).*@", re.DOTALL)
# Names of parameters that hold one; the signature of an address that was signed beforehand is one.
_SECRET = re.compile(
    r"passw|passphrase|passcode|secret|token|private_?key|access_?key|signature|credential"
    r"|^(?:pass|pwd|sig)$|^scram_",
    re.IGNORECASE,
)
AFTER_SEMICOLON = re.compile(r";([^=;?]*)=")
# In a statement: addresses, texts such as 'host=h password=p', secrets and headers that it sets.
ADDRESS = re.compile(r"[\w+.-]+://[^\s'\"]+")
LITERAL = re.compile(r"'(?:[^']|'')*'")
_STATED = re.compile(
    r"(?:passw\w*|passphrase|pwd|secret\w*|\w*token|\w*access_?key\w*)\s*=\s*[^\s%'=]",
    re.IGNORECASE,
)
CREATED = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:\w+\s+)?secret\b|\bauthorization'?\s*[:=,]\s*'",
    re.IGNORECASE,
)
OPEN_TO_ALL = ("/run/secrets", "/var/run/secrets")  # a container's own: nobody else is in there
_FORM = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:[/~].+|prefect:[a-z0-9][a-z0-9-]*", re.DOTALL)
FORMS = "'env:NAME', 'file:/path' or 'prefect:block'"


class CredentialsError(AnonymityError):
    """A password is not where the plan says."""


def without_password(uri: str) -> str:
    """A URI without its password, nor parameters that hold one, such as `?password=...`."""
    address, mark, query = uri.partition("?")
    stripped = IN_ADDRESS.sub(r"\1@", address)
    for stated in AFTER_SEMICOLON.finditer(stripped):
        if _SECRET.search(stated[1].strip()):
            stripped = stripped[: stated.start()]
            break
    # A password may hold a ?: then the first @ comes after the mark.
    if mark and stripped == address and BEFORE_MARK.match(uri):
        return without_password(BEFORE_MARK.sub(r"\1@", uri))
    if not mark:
        return stripped
    parameters = query.split("&")
    kept = [each for each in parameters if not _SECRET.search(unquote_plus(each.partition("=")[0]))]
    return stripped + mark + "&".join(kept) if kept else stripped


def holds_password(uri: str) -> bool:
    """Whether a URI, or a path that is one, holds a password."""
    return "://" in uri and without_password(uri) != uri


def states_password(statement: str) -> bool:
    """Whether a query holds a password: in an address, or in a text that another database reads."""
    return (
        any(holds_password(each) for each in ADDRESS.findall(statement))
        or any(_STATED.search(each) for each in LITERAL.findall(statement))
        or CREATED.search(statement) is not None
    )


def is_reference(text: str) -> bool:
    """Whether a text names a place for passwords."""
    return _FORM.fullmatch(text) is not None


def with_password(uri: str, reference: str | None) -> str:
    """The URI with the password that lies at a place; as it is where none is named."""
    if reference is None:
        return uri
    password = quote(secret_of(reference), safe="")
    if uri.startswith("snowflake://"):  # its driver knows no parameter for it
        user, at, place = uri.partition("@")
        return f"{user}:{password}{at}{place}"
    return f"{uri}{'&' if '?' in uri else '?'}password={password}"


def secret_of(reference: str, what: str = "password") -> str:
    """The password that lies at a place, or another secret; refused where there is none."""
    how, _, name = reference.partition(":")
    secret = PROVIDERS[how](name)
    if not secret:
        raise CredentialsError(
            f"no {what} was found at {how}:{name}; put it there, for the account that runs the plan"
        )
    return secret


def _of_environment(name: str) -> str:
    return os.environ.get(name, "")


def _of_file(name: str) -> str:
    """The content of a file that other accounts may not read."""
    try:
        path = Path(name).expanduser()
        open_to_all = path.stat().st_mode & stat.S_IROTH
        secret = path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError, RuntimeError):
        return ""
    # Of the path without `..`, which could lead out of these folders.
    place = Path(os.path.abspath(path))
    if open_to_all and not any(place.is_relative_to(each) for each in OPEN_TO_ALL):
        raise CredentialsError(
            f"file:{name} can be read by every account of this machine; chmod it to 600, or give "
            "it to the group of the account that runs the plan and chmod it to 640"
        )
    return secret


def _of_nobody(_: str) -> str:
    return ""


# Whoever knows more places adds them: flows adds Prefect's.
PROVIDERS: dict[str, Callable[[str], str]] = {
    "env": _of_environment,
    "file": _of_file,
    "prefect": _of_nobody,
}
