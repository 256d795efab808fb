"""Who is at work, as far as a system vouches for it.

The operating system knows the account of a process and the owner of a file, by number: a variable
such as USER is anyone's to set. A key that a plan registers knows a signer. Prefect's open server
has no users: a name that is typed in its form is not authenticated. Behind a proxy with a login,
and with a server that reads its header, it is: see `sign_in`.
"""

import os
import pwd
from collections.abc import Iterable

SIGNATURE = "signature"
ACCOUNT = "operating system"
PROXY = "reverse proxy"
PREFECT = "prefect"
NOBODY = "not authenticated"


def account_of_process() -> str:
    """The account that runs this process."""
    return find_account_name(os.getuid())


def find_account_name(number: int) -> str:
    """The name of an account; its number where this machine has no name for it."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"


def is_same_person(one: str, other: str) -> bool:
    """Whether two names may mean one person: ada and ada@example.org do. Doubt counts as yes."""
    first, second = one.strip().casefold(), other.strip().casefold()
    if not first or not second:
        return False
    # Two addresses state their domains, so no doubt is left; a bare name may be in any domain.
    if "@" in first and "@" in second:
        return first == second
    return first.partition("@")[0] == second.partition("@")[0]


def is_among_persons(name: str, others: Iterable[str]) -> bool:
    """Whether a name may mean one of these persons."""
    return any(is_same_person(name, other) for other in others)
