"""The `crowdcover` command.

Prefect and Great Expectations take seconds to import, so only commands that run a flow do that.
"""

import argparse
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from anon_core.errors import AnonymityError
from crowdcover.flows.commands import COMMANDS
from crowdcover.flows.printed_json import print_refusal
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.storage.vault.build import CODE_VERSION, PACKAGES
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full
from crowdcover.tasks.orchestration.json_lines import writes_json_logs
from crowdcover.tasks.orchestration.memory import collect_rarely

QUIET_DEFAULTS = {
    # No telemetry: nothing about private data leaves the machine.
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "GX_ANALYTICS_ENABLED": "false",
    # Of pydantic, of how Prefect declares its settings: for processes that this one starts.
    "PYTHONWARNINGS": "ignore:The 'alias' attribute with value",
}
# Prefect's client asks again after 2, 4, ... 64 s, also where the database of its server is away:
# some of these failures the server calls errors of its own.
PATIENT_CLIENT = {"PREFECT_CLIENT_MAX_RETRIES": "6", "PREFECT_CLIENT_RETRY_EXTRA_CODES": "500"}

ROOT = Path(__file__).parents[2]
PIPELINE = "pip install 'crowdcover[pipeline]'"
INSTALL = f"{PIPELINE} --force-reinstall, or build the image again"

# Items of Prefect's logging configuration.
JSON_LOGS = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_FORMATTER": "json",
    "PREFECT_LOGGING_FORMATTERS_JSON_CLASS": "crowdcover.tasks.orchestration.json_lines.JsonLines",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with the code that docs/commands.md states."""
    collect_rarely()
    options = build_parser().parse_args(arguments)
    # Before Prefect is imported: it takes its settings from the environment then.
    # Other commands are waited for in a terminal: Prefect's own patience is enough for them.
    patience = PATIENT_CLIENT if options.patient else {}
    for name, value in (QUIET_DEFAULTS | patience).items():
        os.environ.setdefault(name, value)
    # The same in this process, which has read that variable before.
    warnings.filterwarnings("ignore", r"The '\w+' attribute with value", module="pydantic")
    if writes_json_logs():
        for name, value in JSON_LOGS.items():
            os.environ.setdefault(name, value)
    if options.quiet:
        # `update`, not `setdefault`: --quiet of this call goes before the environment.
        os.environ.update(PREFECT_LOGGING_LEVEL="CRITICAL", PREFECT_LOGGING_ROOT_LEVEL="CRITICAL")
    try:
        code = options.run(options)
        sys.stdout.flush()  # here a reader that went away can be answered, at exit it cannot
    except KeyboardInterrupt:
        print_refusal("stopped; run the same command again to go on")
        code = 130
    except BrokenPipeError:
        # Python flushes standard output once more at exit, and would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    # An exit is no fault; the next clause catches every BaseException.
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - polars panics are no Exceptions
        words, code = describe_failure(error)
        print_refusal(words)
    sys.exit(code)


def describe_failure(error: BaseException) -> tuple[str, int]:
    """What a command prints that an error has ended, and its exit code."""
    if isinstance(error, AnonymityError):
        from crowdcover.flows.outcome import exit_code

        return str(error), exit_code(error)
    return describe_unforeseen_error(error), 1


def describe_unforeseen_error(error: BaseException) -> str:
    """Where an error was raised, without its message: that may quote cells."""
    if is_full(error):
        named = getattr(error, "filename", None)
        return describe_full_disk(
            "the command", [Path(named).parent if isinstance(named, str) else Path.cwd()]
        )
    where = traceback.extract_tb(error.__traceback__)
    # By packages: installed, ROOT holds those of other projects, too.
    own = [ROOT / package for package in PACKAGES]
    ours = [
        frame for frame in where if any(Path(frame.filename).is_relative_to(each) for each in own)
    ] or where
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    if isinstance(error, ImportError) and (words := _explain_missing_module(error.name or "")):
        return words
    return f"unforeseen {type(error).__name__} at {place}; please report it"


def _explain_missing_module(module: str) -> str:
    """Why a module cannot be imported: its package is not installed, incomplete or hidden.

    Empty for a module of another project's package that is installed.
    """
    package = module.partition(".")[0]
    own, folders = package in PACKAGES, _list_package_folders(package)
    if not folders and own:
        return (
            f"the package {package!r} is not installed, and crowdcover consists of "
            f"{', '.join(PACKAGES)}; install crowdcover anew: {INSTALL}"
        )
    if not folders:
        return (
            f"the package {package!r} is not installed; frames need the library alone, this "
            f"command needs the pipeline: {PIPELINE}"
        )
    if not own:
        return ""
    if ROOT not in folders:
        return (
            f"another package named {package!r}, in {folders[0]}, hides the one of crowdcover; "
            "install crowdcover in an environment of its own"
        )
    return (
        f"a part of crowdcover is not installed: {module} cannot be imported; "
        f"install crowdcover anew: {INSTALL}"
    )


def _list_package_folders(package: str) -> list[Path]:
    """The folders that hold a package of this name, the one that is imported first."""
    spec = None
    with suppress(ImportError, ValueError):  # of what was loaded in another way
        spec = find_spec(package)
    if spec is None:
        return []
    # A single module has no search locations, only its own file.
    places = spec.submodule_search_locations or [spec.origin or ""]
    return [Path(each).parent for each in places]


class Parser(argparse.ArgumentParser):
    """A parser that offers the nearest command, option or choice for one that is not known."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the refusal, and exit with 2."""
        # argparse hands over its message only: read what was typed and what is known from that.
        known = re.findall(r"[\w.-]+", message.partition("(choose from ")[2])
        typed = re.search(r"invalid choice: '([^']*)'", message)
        if typed is None:
            typed = re.search(r"unrecognized arguments: (--[\w-]+)", message)
            known = sorted(_list_long_options(self)) if typed else []
        if typed and typed[1] in known:
            message += "; it is no option here: some commands take it, after their names"
        elif typed:
            message += did_you_mean(typed[1], known)
        super().error(message)


def _list_long_options(of: argparse.ArgumentParser) -> set[str]:
    """The long options of a parser and of the commands below it."""
    found = set()
    for action in of._actions:  # argparse has no other way to ask
        found |= {each for each in action.option_strings if each.startswith("--")}
        if isinstance(action, argparse._SubParsersAction):
            found |= {
                option for each in action.choices.values() for option in _list_long_options(each)
            }
    return found


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    whole = Parser(
        prog="crowdcover",
        description="Turn private data into a release in which each person hides among at "
        "least as many rows as the plan demands.",
        epilog="Exit codes: 0 done, 2 plan refused, 3 source refused, 4 a guarantee does not "
        "hold, 5 a cluster failed, 6 waits for approval, 1 any other failure.",
    )
    whole.add_argument("--version", action="version", version=f"crowdcover {CODE_VERSION}")
    whole.set_defaults(quiet=False)
    commands = whole.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS.values():
        command.add_to(commands)
    return whole


if __name__ == "__main__":
    main()
