"""The commands of `crowdcover`, one file each, in folders by what they are about.

A file with a `COMMAND` below this folder is a command; nothing else lists it.
"""

import pkgutil
from collections.abc import Iterable
from importlib import import_module

from crowdcover.flows.commands.command import Command

_FOLDERS = ("release", "look", "plan", "approval", "vault")  # in the order of the help


def find_commands(paths: Iterable[str] = __path__) -> dict[str, Command]:
    """Every command in the modules of these folders, by its name."""
    modules = [import_module(each.name) for each in pkgutil.walk_packages(paths, f"{__name__}.")]
    # Steps of `vault` stand in a tuple, so none of them is a command of its own.
    found = [
        (module.__name__.removeprefix(f"{__name__}.").partition(".")[0], each)
        for module in modules
        for each in vars(module).values()
        if isinstance(each, Command)
    ]
    return {each.name: each for _, each in sorted(found, key=_find_place)}


def _find_place(of_folder: tuple[str, Command]) -> tuple[int, bool, str]:
    """Where a command stands in the help; the one that its folder is named after goes first."""
    folder, command = of_folder
    place = _FOLDERS.index(folder) if folder in _FOLDERS else len(_FOLDERS)
    return place, command.name != folder, command.name


COMMANDS = find_commands()
