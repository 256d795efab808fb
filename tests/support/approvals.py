"""Runs that wait, and decisions of people."""

from datetime import datetime, timedelta

import pytest

from crowdcover.storage.approval.approval import RECORD, WaitingError
from crowdcover.storage.vault.files import read_json, write_json
from tests.flows.processes import command

WHO = ("--by", "Ada Lovelace", "--note", "read & agreed")


def waits(order):
    """Run the release up to the question."""
    with pytest.raises(WaitingError) as caught:
        order.release()
    assert order.versions == []
    return str(caught.value)


def decide(order, what, *options, by=WHO):
    return command(what, order.run.path.name, "--vault", order.vault, *options, *by)


def decided(order, what, *options, by=WHO):
    done = decide(order, what, *options, by=by)
    assert done.code == 0, done.err
    return done


def pass_time(order, **by):
    """Let the last request be as if it had been asked earlier."""
    record = read_json(order.run.path / RECORD)
    for key in ("asked", "until"):
        moment = datetime.fromisoformat(record["requests"][-1][key]) - timedelta(**by)
        record["requests"][-1][key] = moment.isoformat()
    write_json(order.run.path / RECORD, record)
