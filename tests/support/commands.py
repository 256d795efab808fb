"""The command line in this process."""

import pytest

from crowdcover.flows import cli


def call(capsys, *arguments):
    """Run a command in this process: exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as ended:
        cli.main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def refusal(answer, code):
    """The words of a refusal: one line on standard error, nothing on standard output."""
    assert answer[0] == code, answer
    assert answer[1] == ""
    assert answer[2].startswith("crowdcover: ")
    assert answer[2].count("\n") == 1
    return answer[2]
