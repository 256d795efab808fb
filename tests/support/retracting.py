"""The command `retract` in this process."""

import pytest

from crowdcover.flows import cli

WHY = "k was too small; nobody has it"


def retract(order, *arguments, folder=None, why=WHY):
    """Exit code of the command."""
    with pytest.raises(SystemExit) as ended:
        cli.main(
            [
                "retract",
                str(folder or order.folder_of_v1),
                *("--plan", str(order.plan), "--by", "Ada", "--reason", why),
                *arguments,
            ]
        )
    return ended.value.code
