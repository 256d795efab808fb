"""Open questions of a plan: what `crowdcover plan` was unsure of and a person must decide."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from crowdcover.kinds.section import MarkedSection, PlanError, toml_key


def refuse_marks(plan: BaseModel) -> None:
    """Refuse a plan with open questions; one message names all of them and how to answer."""
    asked: dict[tuple[str, str], list[str]] = defaultdict(list)
    for where, mark, question in _list_open_questions(plan, ()):
        # One question often stands in many sections: ask it once, with all its places.
        asked[mark, question].append(where)
    if asked:
        number = sum(map(len, asked.values()))
        questions = "; ".join(
            f"{mark} of {', '.join(places)}: {question}"
            for (mark, question), places in asked.items()
        )
        raise PlanError(
            f"the plan leaves {number} question{'s' * (number > 1)} of `crowdcover plan` open. "
            f"Decide each, then delete it from the key `decide`. {questions}"
        )


def _list_open_questions(part: Any, where: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield for each open question the section's name, the word in `decide`, and the question."""
    if isinstance(part, MarkedSection):
        for mark in dict.fromkeys(part.decide):
            yield ".".join(where), mark, part.questions[mark]
    if isinstance(part, (BaseModel, dict)):
        for name, below in part.items() if isinstance(part, dict) else part:
            yield from _list_open_questions(below, (*where, toml_key(str(name))))
