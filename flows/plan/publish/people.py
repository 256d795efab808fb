"""Who may approve: the people that [publish] of a plan registers, and their deputies."""

from collections.abc import Mapping
from itertools import combinations
from typing import Annotated

from pydantic import WithJsonSchema

from crowdcover.kinds.section import PlanError, table_schema
from crowdcover.storage.approval.approval import LONGEST_NAME
from crowdcover.storage.approval.identity import is_same_person
from crowdcover.storage.approval.signing_keys import is_public
from crowdcover.storage.approval.statement import Deputy

MOST_APPROVALS = 9
_KEYS = {
    "for": {"type": "string", "description": "the approver in whose place the deputy signs"},
    "key": {"type": "string", "description": "the deputy's own public key"},
}
DeputyTable = Annotated[dict[str, str], WithJsonSchema(table_schema(_KEYS, list(_KEYS)))]


def check_registered(key: str, name: str, public: str) -> None:
    """Refuse a name that no manifest could show, and what is no public key."""
    # No blanks at the ends: two names must differ in something that a reader sees.
    if not (0 < len(name.strip()) == len(name) <= LONGEST_NAME and name.isprintable()):
        raise PlanError(
            f"{key}: a name must be one line of 1 to {LONGEST_NAME} printable characters"
        )
    if not is_public(public):
        raise PlanError(
            f"{key}: each person needs a public key, "
            "'ed25519:...' as `crowdcover key new` prints it"
        )


def list_deputies(stated: Mapping[str, Mapping[str, str]]) -> dict[str, Deputy]:
    """The deputies of a plan; refused unless each states a person and a key, and nothing else."""
    if any(set(each) != {"for", "key"} for each in stated.values()):
        raise PlanError(
            "publish.deputies: each deputy needs two keys, such as "
            '"bo@example.org" = {for = "ada@example.org", key = "ed25519:..."}'
        )
    return {name: Deputy(each["for"], each["key"]) for name, each in stated.items()}


def check_people(
    approvers: Mapping[str, str], deputies: Mapping[str, Deputy], approvals: int
) -> None:
    """Refuse deputies of nobody, or with a key of another one, and more approvals than people."""
    for name, each in deputies.items():
        check_registered("publish.deputies", name, each.key)
        if each.place_of not in approvers:
            raise PlanError(
                "publish.deputies: a deputy stands for a person whom publish.approvers does not "
                "register; name an approver"
            )
        if any(is_same_person(name, other) for other in approvers):
            raise PlanError(
                "publish.deputies: a deputy is in publish.approvers, too; an approver needs no "
                "other place"
            )
    keys = [*approvers.values(), *(each.key for each in deputies.values())]
    if len(set(keys)) < len(keys):
        raise PlanError("publish.deputies: two persons have one key; give each one of their own")
    if approvers and not _has_different(list(approvers), approvals):
        raise PlanError(
            f"publish.approvals = {approvals} wants more different people than publish.approvers "
            "registers; register more, or lower it. A name and the same name with a domain count "
            "as one person"
        )


def _has_different(names: list[str], number: int) -> bool:
    """Whether so many of the names are of people who differ."""
    return any(
        not any(is_same_person(one, other) for one, other in combinations(some, 2))
        for some in combinations(names, number)
    )
