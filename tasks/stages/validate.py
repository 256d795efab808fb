"""Check stored data with Great Expectations before the next stage reads it."""

from typing import Any

from anon_core.errors import GuaranteeError, InputError
from crowdcover.kinds.base import Kind
from crowdcover.storage.vault.run import Run, Stored
from crowdcover.tasks.orchestration.gates import describe_page_place, judge_stage
from crowdcover.tasks.orchestration.stage import log_line, stage
from crowdcover.validations.verdicts import Verdict

FIX = "fix the source, or the column's kind or missing rule in the plan"


@stage("validate {check}")
def validate(run: Run, kind: Kind, plan: Any, check: str, stored: Stored) -> Stored:
    """Check a stored stage by the suite of this name.

    A refusal names the expectations that failed and the columns, never a value.
    """

    def judge() -> Verdict:
        # Great Expectations takes seconds to import: only where a check is really made.
        from crowdcover.validations.run import validate_columns as checkpoint

        return checkpoint(*kind.suite(check, plan, stored))

    verdict_of, (verdict,) = judge_stage(
        run, f"validate-{check}", [stored], lambda _: ({}, [judge()])
    )
    if not verdict.success:
        if check == kind.checked[0]:
            raise InputError(f"{verdict.sentence()}; {FIX}; {describe_page_place(run)}")
        raise GuaranteeError(f"{verdict.sentence()}; {describe_page_place(run)}")
    log_line(verdict.sentence())
    return verdict_of
