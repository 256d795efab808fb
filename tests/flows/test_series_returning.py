"""People who leave a series and come back have one history; those who would lose it wait."""

import json

import pytest

from anon_core.errors import GuaranteeError, InputError
from crowdcover.flows import cli
from crowdcover.kinds.table.series.earlier import Earlier
from crowdcover.kinds.table.version_files import CHAIN, RECORD_DIGEST
from crowdcover.kinds.table.version_records import records_of_rows
from crowdcover.storage.series.series import NobodyHidesError, Series
from crowdcover.storage.vault.files import read_json
from crowdcover.storage.vault.vault import Vault
from tests.support.audits import audit_release
from tests.support.series import (
    ANNA,
    BERT,
    CARA,
    DORA,
    OTHERS,
    Registry,
    series_of,
    withdraw,
)
from tests.typed import text_rows


@pytest.mark.long
def test_who_would_have_one_history_waits_and_returns_where_a_crowd_allows_two(tmp_path):
    """Anna's rows carry Rome. Beside Cara's, which carries Bern, only hers would agree."""
    order = Registry(tmp_path)
    order.month(ANNA, BERT)
    second = order.month()
    assert order.month(ANNA, CARA) == second
    fourth = order.month(ANNA, CARA, DORA)
    told = series_of(fourth)
    assert {"Rome"} <= set(text_rows(fourth)["birth"])
    assert (told["returned"], told["new"], told["held_back"]) == (1, 2, 0)
    assert (told["records_ever"], told["histories_below_k"]) == (28, 0)
    for version in order.versions:
        assert audit_release(order.releases / version, order.plan).passed


@pytest.mark.long
def test_who_waits_by_history_is_counted(tmp_path):
    order = Registry(tmp_path)
    order.month(ANNA, BERT)
    order.month()
    moved = [(*each[:2], "job9", *each[3:]) for each in OTHERS[:2]]
    told = series_of(order.month(ANNA, CARA, others=[*moved, *OTHERS[2:]]))
    assert told["held_by_history"] == 1
    assert told["versions"][-1]["held_by_history"] == 1


@pytest.mark.long
def test_a_value_that_never_changes_is_compared_with_rows_of_any_version(tmp_path):
    order = Registry(tmp_path)
    order.month(ANNA, BERT)
    order.month()
    with pytest.raises(InputError, match="1 records have another value in 'birth'"):
        order.month((*ANNA[:3], "Bern", *ANNA[4:]), CARA)


@pytest.mark.long
def test_a_withdrawal_goes_through_where_others_must_wait_for_it(tmp_path):
    """Births of the whole crowd differ: without Bert's row Anna's would be known."""
    order = Registry(tmp_path)
    order.month(ANNA, BERT)
    withdraw(order, "BERT")
    second = order.month(ANNA, BERT)
    told = series_of(second)
    assert (told["withdrawn"], told["histories_below_k"]) == (1, 0)
    assert "Oslo" not in set(text_rows(second)["birth"])
    assert audit_release(second, order.plan).passed


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Three versions as older builds made them: who came back was somebody new."""
    order = Registry(tmp_path)
    with monkeypatch.context() as older:
        older.setattr(
            Earlier, "had", property(lambda self: self.members.select(CHAIN, RECORD_DIGEST))
        )
        older.setattr(
            "crowdcover.kinds.table.judge.versions.of_records",
            lambda *given: given[0].with_columns(records_of_rows(*given).alias(RECORD_DIGEST)),
        )
        for more in ((ANNA, BERT), (), (ANNA, CARA)):
            folder = order.month(*more)
    assert folder.name == "v3"
    return order


@pytest.mark.long
def test_the_audit_of_a_standing_series_counts_who_came_back_once(broken):
    audit = audit_release(broken.releases / "v3", broken.plan)
    (found,) = [each for each in audit.broken if each.guarantee == "histories"]
    assert "1 of 27 people who ever had a row have fewer than k histories" in found.detail
    assert "if the plan states series.allow_short_histories = 1" in found.detail
    assert audit_release(broken.releases / "v2", broken.plan).passed


@pytest.mark.long
def test_a_standing_series_goes_on_once_the_plan_states_what_is_broken(broken):
    joined = [(f"N{n}", "m", "sailor", "1", "5") for n in range(4)]
    with pytest.raises(GuaranteeError, match=r"state series\.allow_short_histories = 1"):
        broken.month(ANNA, CARA, *joined)
    broken.write(series={"allow_short_histories": 1})
    fourth = broken.month(ANNA, CARA, *joined)
    told = series_of(fourth)
    assert (told["histories_below_k"], told["allow_short_histories"]) == (1, 1)
    assert "histories" not in read_json(fourth / "manifest.json")["privacy"]["promise"]
    page = (fourth / "report.html").read_text(encoding="utf-8")
    assert "1 of 31 people who ever had a row have fewer than k histories" in page
    assert audit_release(fourth, broken.plan).passed
    (third,) = audit_release(broken.releases / "v3", broken.plan).broken
    assert third.guarantee == "histories"  # it promised them


@pytest.mark.long
def test_what_the_plan_states_is_no_leave_for_new_rows(broken):
    """Cara leaves: her crowd goes, and Anna, who has too few histories, gets no other row."""
    broken.write(series={"allow_short_histories": 1})
    joined = [(f"N{n}", "f", "pilot", "Bern", "5") for n in range(4)]
    fourth = broken.month(ANNA, *joined)
    assert "Rome" not in set(text_rows(fourth)["birth"])
    assert series_of(fourth)["held_by_history"] == 1


@pytest.mark.long
def test_withdrawn_people_keep_their_history(tmp_path, capsys):
    """Rows that were published count for everybody in the cell, whoever withdrew since."""
    order = Registry(tmp_path)
    order.month(ANNA, BERT)
    withdraw(order, "ANNA", more=("--json",))
    assert json.loads(capsys.readouterr().out)["in_the_last_version"] == 1
    told = series_of(order.month(ANNA, BERT))
    assert told["records_ever"] == 26
    with pytest.raises(SystemExit) as ended:
        cli.main(["audit", str(order.releases / "v2"), "--plan", str(order.plan)])
    assert ended.value.code == 0
    assert Series(Vault(order.vault), "people").last.number == 2


@pytest.mark.long
def test_where_nobody_could_hide_the_refusal_says_what_still_stands(tmp_path):
    order = Registry(tmp_path)
    order.month(ANNA, BERT, others=[])
    withdraw(order, "BERT")
    with pytest.raises(NobodyHidesError) as refused:
        order.month(ANNA, BERT, others=[])
    assert "of 2 records none can hide in a batch; lower k" in str(refused.value)
    assert "Version 1 still shows the rows of 1 people who left" in str(refused.value)
    assert order.versions == ["v1"]
