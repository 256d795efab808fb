"""`anonymize`: a frame goes in, a checked release comes out."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Literal

import polars as pl

from anon_core.errors import GuaranteeError, InputError
from crowdcover.frames import GiveBack, Names, list_names, take_frame
from crowdcover.kinds.section import PlanError
from crowdcover.kinds.table.in_memory import release_in_memory
from crowdcover.releasing.plans import Plan, build_frame_plan, propose_frame_plan
from crowdcover.releasing.released import FrameRelease, Vault
from crowdcover.storage.source.frames import FrameReading
from crowdcover.storage.vault import secret_streams

CLASSES = "classes"  # a method's short name: rows of a crowd are identical
_IN_CLASSES = "k-member"


def anonymize(
    data: Any,
    quasi: Names = (),
    *,
    k: int | Mapping[str, Any] | None = None,
    sensitive: Names = (),
    keep: Names = (),
    identifiers: Names = (),
    person: str | None = None,
    diverse: int | Mapping[str, Any] | None = None,
    leave_out: float = 0.0,
    rows_are_people: bool = False,
    method: str | None = None,
    effort: int | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    plan: Plan | None = None,
    cells: Literal["typed", "text"] = "typed",
    secret: bytes | None = None,
) -> FrameRelease:
    """Anonymize a frame: everybody hides among at least k rows, each of which fits them.

    The rows are those of the command `crowdcover release`: under even seats, by default, nobody
    names anyone's row with a chance above 1/k. They have random keys and the order of these keys.
    The independent auditor judges what is returned, and nothing is written.

    Parameters
    ----------
    data : polars, pandas or pyarrow table
        At least two rows. The frames of the result are of the same library.
    quasi : str or list of str
        Columns that others may know: masked.
    k : int or mapping
        Among how many rows each person hides: one number, or a form of the plan's privacy.k such as
        ``{"column": "k"}`` or ``{"by": "city", "levels": {"Rome": 20}, "default": 5}``.
    sensitive, keep : str or list of str
        Columns that are published as they are; nobody shall link the sensitive ones to a person.
    identifiers : str or list of str
        Columns that name people; never published. They tell repeated people.
    person : str, optional
        The identifier that says which rows are of one person: crowds then count people.
    diverse : int or mapping, optional
        How many values of the sensitive column each crowd shows, or a form of the plan's
        privacy.diverse such as ``{"column": "income", "t": 0.3}``. Rows of a crowd are identical.
    leave_out : float
        The share of the rows that may be left out, from 0 to 0.1: those that cost most.
    rows_are_people : bool
        Release although an identifier repeats; the promise is then about rows.
    method : str, optional
        A method of the plan, or "classes": rows of a crowd are identical, so that
        ``frame.group_by(quasi).len()`` shows k. More is lost than by the default.
    effort : {0, 1, 2, 3}, optional
        How much the method tries.
    hierarchies : mapping, optional
        By column, as in a plan: a file, or ``{"prefix": [5, 3, 1]}``, ``{"ladder": [1, 5, 10]}``.
    columns : mapping of mappings, optional
        Further keys of [columns] of a plan, by column, such as ``{"age": {"bins": "none"}}``.
    plan : Plan, optional
        A whole plan in place of all of these, such as `crowdcover.plan` proposes.
    cells : {"typed", "text"}
        Whether masked cells are lists and intervals, or texts such as ``20..29`` and ``a|b``.
    secret : bytes, optional
        32 bytes from which every random choice follows; by default drawn from the operating
        system. Who knows them knows whose each row is.

    Returns
    -------
    FrameRelease

    Raises
    ------
    PlanError, InputError, InfeasibleError, LimitError
        As the command refuses.
    GuaranteeError
        A guarantee does not hold, or a limit of [checks] is not reached.
    """
    if cells not in ("typed", "text"):
        raise InputError("cells must be 'typed' or 'text'")
    frame, give_back = take_frame(data)
    roles = {
        "quasi": list_names(quasi),
        "sensitive": list_names(sensitive),
        "keep": list_names(keep),
        "identifier": [*dict.fromkeys((*list_names(identifiers), *list_names(person or ())))],
    }
    privacy = {
        "k": dict(k) if isinstance(k, Mapping) else k,
        "person": person,
        "diverse": _state_diversity(diverse, roles["sensitive"]),
        "leave_out": leave_out or None,
        "rows_are_people": rows_are_people or None,
    }
    settings = {"name": _IN_CLASSES if method == CLASSES else method, "effort": effort}
    given = {name: {"hierarchy": each} for name, each in (hierarchies or {}).items()}
    for name, keys in (columns or {}).items():
        given[name] = {**given.get(name, {}), **keys}
    stated = roles, given, _list_stated(privacy), _list_stated(settings)
    if plan is not None:
        if any(roles.values()) or any(stated[1:]):
            raise InputError("state a plan, or roles, k and method; edit the plan to change it")
        whole = plan
    elif k is None:
        raise InputError("anonymize needs k: among how many rows shall each person hide?")
    else:
        whole = build_frame_plan(frame, *stated)
    return release_frame(frame, whole, secret, give_back, as_text=cells == "text")


def plan(data: Any, name: str = "frame") -> Plan:
    """The starter plan of a frame: a proposed role for every column, with its reason.

    Parameters
    ----------
    data : polars, pandas or pyarrow table
    name : str
        What the release is called.

    Returns
    -------
    Plan
        With open questions, which a person must answer: see `Plan.questions`.
    """
    frame, _ = take_frame(data)
    return propose_frame_plan(frame, name)


def _list_stated(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if value is not None}


def _state_diversity(
    diverse: int | Mapping[str, Any] | None, sensitive: list[str]
) -> dict[str, Any] | None:
    """privacy.diverse of a plan; a number is `l`, of the one sensitive column."""
    if diverse is None or isinstance(diverse, Mapping):
        return None if diverse is None else dict(diverse)
    if isinstance(diverse, bool) or not isinstance(diverse, Integral):
        raise InputError("diverse must be a whole number, or as in {'column': 'income', 'l': 3}")
    if len(sensitive) != 1:
        raise InputError(
            f"a number for diverse is about one sensitive column, not {len(sensitive)}; write "
            f"diverse={{'column': ..., 'l': {diverse}}}"
        )
    return {"column": sensitive[0], "l": diverse}


def release_frame(
    frame: pl.DataFrame,
    plan: Plan,
    secret: bytes | None,
    give_back: GiveBack,
    *,
    as_text: bool = False,
) -> FrameRelease:
    """Release a frame by a plan; refused where a guarantee or a limit of [checks] does not hold."""
    checked_plan = plan.check()
    if checked_plan.kind.name != "table" or checked_plan.series is not None:
        raise PlanError(
            "a frame is released as one table; leave out source.kind and [series], or use the "
            "command crowdcover release"
        )
    seed = secret_streams.new_seed() if secret is None else secret
    if len(seed) != secret_streams.SEED_BYTES:
        raise InputError(f"secret must be {secret_streams.SEED_BYTES} bytes")
    reading = FrameReading(checked_plan.data.source, frame)
    checked_plan.data.check_header(reading.header)
    rows = release_in_memory(
        *(checked_plan.data, reading, checked_plan.build_anonymizer(), seed),
        threads=checked_plan.compute.threads, memory=checked_plan.memory_bytes,
    )  # fmt: skip
    if not rows.audit.passed or rows.audit.measured is None:
        raise GuaranteeError(f"nothing is returned; {rows.audit.sentence()}")
    limits = checked_plan.limits.release_limits
    if short := limits.list_shortfalls(rows.audit.measured.sections()):
        told = "; ".join(each.shortfall for each in short)
        raise GuaranteeError(f"nothing is returned; {told}")
    vault = Vault(seed, give_back(rows.matching), rows.law, frame)
    return FrameRelease(plan, rows, vault, give_back, as_text=as_text)
