"""What commands print of their results."""

import json
from argparse import Namespace

from crowdcover.flows.outcome import print_outcome


def test_names_in_json_are_readable_and_rewrite_no_terminal(capsys):
    document = {"series": "Bürger", "vault": "a\u202eb"}
    print_outcome(Namespace(json=True), document, [])
    out = capsys.readouterr().out
    assert "Bürger" in out
    assert "\u202e" not in out
    assert json.loads(out) == document
