"""A patent may cover `smooth`: the log of a plan's first release says so, once."""

import json
import re
from pathlib import Path

import pytest

from anon_core.anonymizers import ANONYMIZERS, NOTICES
from anon_core.errors import GuaranteeError, InputError
from tests.flows.orders import Order
from tests.kinds.matrix.orders import MatrixOrder, entries

MATRIX_MD = Path(__file__).parents[3] / "docs" / "how-to" / "matrix.md"


@pytest.fixture
def told(caplog):
    """How often the log has said it since the last look."""

    def count():
        found = sum("US 11,727,147" in record.getMessage() for record in caplog.records)
        caplog.clear()
        return found

    with caplog.at_level("INFO", logger="crowdcover"):
        yield count


@pytest.mark.long
def test_the_first_release_of_a_plan_says_it_once(tmp_path, told):
    order = MatrixOrder(tmp_path)
    order.release()
    assert told() == 1
    order.release()  # it stands
    assert told() == 0
    order.write_source(entries(first=200))
    order.write(checks={"drift": "off"})
    order.release()  # the same plan, other users
    assert told() == 0
    order.write(privacy={"k": 6}, publish={"allow_second_release": True})
    with pytest.raises(GuaranteeError):
        order.release()  # the plan was changed; it is the same plan to its author
    assert told() == 0


@pytest.mark.long
def test_a_release_that_a_check_refused_has_said_it(tmp_path, told):
    order = MatrixOrder(tmp_path, checks={"min_utility": 1.0})
    with pytest.raises(GuaranteeError):
        order.release()
    assert told() == 1
    order.write(checks={"min_utility": 0.0})
    order.release()
    assert told() == 0


@pytest.mark.long
def test_a_refused_source_has_said_it(tmp_path, told):
    pairs = entries()
    order = MatrixOrder(tmp_path, [*pairs, pairs[0]])
    with pytest.raises(InputError, match="1 of "):  # an entry twice
        order.release()
    assert told() == 1
    order.write_source(pairs)
    order.release()
    assert told() == 0


@pytest.mark.long
def test_another_plan_of_the_vault_says_it_too(tmp_path, told):
    order = MatrixOrder(tmp_path)
    order.release()
    told()
    order.name = "likes-2"
    order.write_source(entries(first=200))
    order.write()
    order.release()
    assert told() == 1


@pytest.mark.long
def test_other_methods_say_nothing(tmp_path, told):
    Order(tmp_path).release()
    assert told() == 0


@pytest.mark.long
@pytest.mark.parametrize("logs", ["", "json"])
def test_who_silences_the_log_is_told_on_standard_error(
    tmp_path, monkeypatch, capsys, caplog, logs
):
    monkeypatch.setenv("CROWDCOVER_LOGS", logs)
    caplog.set_level("CRITICAL", logger="crowdcover")
    order = MatrixOrder(tmp_path)
    order.release()
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "US 11,727,147" in line]
    if logs:
        stated = json.loads(line)
        assert list(stated) == ["time", "severity", "name", "message"]
        assert (stated["severity"], stated["name"]) == ("WARNING", "crowdcover")
    else:
        assert line.startswith("crowdcover: a patent may")
    order.release()
    assert "US 11,727,147" not in capsys.readouterr().err


def test_who_has_a_log_is_told_there_only(tmp_path, told, capsys):
    MatrixOrder(tmp_path).release()
    assert told() == 1
    assert "US 11,727,147" not in capsys.readouterr().err


def test_notices_are_about_methods_and_in_one_line():
    assert NOTICES.keys() <= ANONYMIZERS.keys()
    assert not any("\n" in notice for notice in NOTICES.values())


def test_the_page_names_every_patent_of_the_notice():
    text = MATRIX_MD.read_text(encoding="utf-8")
    named = re.findall(r"US [\d,]+ B\d", NOTICES["smooth"])
    assert len(named) == 2
    assert all(each in text for each in named)
    assert "no legal advice" in text
