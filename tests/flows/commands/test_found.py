"""A command is one file: it is found, helped and run without another edit."""

import pkgutil
import sys
from textwrap import dedent

import pytest

from crowdcover.flows import cli, commands

TOY = '''
    """`crowdcover toy`: says how many letters a word has."""

    from crowdcover.flows.commands.command import Command


    def arguments(parser):
        parser.add_argument("word", metavar="WORD")


    def run(options):
        print(len(options.word))
        return 0


    COMMAND = Command("toy", "count letters", "crowdcover toy abc", arguments, run)
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A folder of commands beside the others, with a toy command in it."""
    (tmp_path / "play").mkdir()
    (tmp_path / "play" / "__init__.py").write_text("")
    (tmp_path / "play" / "toy.py").write_text(dedent(TOY))
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    yield
    for name in ("crowdcover.flows.commands.play", "crowdcover.flows.commands.play.toy"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("toy")
def test_a_new_command_is_one_file(monkeypatch, capsys):
    found = commands.find_commands(commands.__path__)
    assert [*found] == [*cli.COMMANDS, "toy"]  # a folder that nobody ordered comes last
    monkeypatch.setattr(cli, "COMMANDS", found)
    with pytest.raises(SystemExit) as ended:
        cli.main(["toy", "--help"])
    assert ended.value.code == 0
    assert "Count letters." in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        cli.main(["toy", "abcd"])
    assert (ended.value.code, capsys.readouterr().out) == (0, "4\n")


def test_the_function_that_a_command_names_is_there():
    from crowdcover.flows.commands.vault.vault import STEPS

    named = [each for each in (*cli.COMMANDS.values(), *STEPS) if isinstance(each.run, str)]
    assert len(named) > 10
    assert all(callable(pkgutil.resolve_name(each.run)) for each in named)
