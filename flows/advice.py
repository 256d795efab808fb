"""Commands that messages tell people to run, quoted for a shell."""

import shlex
from pathlib import Path


def format_approve_command(run: str, vault: Path, *, signed: bool) -> str:
    """The command that approves the run of this name."""
    who = "--key KEY" if signed else "--by NAME"
    return f"crowdcover approve {run} --vault {shlex.quote(str(vault))} {who}"


def format_sign_command(copy: Path) -> str:
    """The command that signs an approval into an officer's copy, without access to the vault."""
    return f"crowdcover sign {shlex.quote(str(copy))} --decision approve --key KEY"
