"""What [checks] of every kind share: the section, its lines in the docs and in starter plans."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from crowdcover.kinds.judge.drift import DriftLimits
from crowdcover.kinds.judge.limits import (
    Limit,
    LimitMeasure,
    ReleaseLimits,
    read_attacks,
    read_unchanged,
)
from crowdcover.kinds.section import Section

WIDE = 34  # characters before a comment in plans of a matrix or a graph


def declare_limit(default: Any = None, **words: Any) -> Any:
    """The default of a key of [checks] that is a limit; `words` are the attributes of a `Limit`."""
    limit = Limit(**words)
    declared = Field(default=default, description=limit.description)
    # pydantic keeps what it does not know here, so the section itself has its limits by key.
    declared.metadata.append(limit)
    return declared


def declare_attack_limit(chance: str, what: str = "row", **words: Any) -> Any:
    """The limit of attackers; `chance` says what their success is, `what` what they name."""
    return declare_limit(
        name="attack success",
        sense="at most",
        expected="The attacker names the right row with a mean chance of at most {required}.",
        subject="the attack {about!r} ",
        shortfall=f"names the right {what} with {chance} {{shown}} on average, above "
        "checks.{key} = {required}",
        **{"numbers": read_attacks, **words},
    )


def declare_unchanged_limit(what: str, how: str, share: str, **words: Any) -> Any:
    """The limit of what is published as it was, of `what`; `share` is the key of the number."""
    return declare_limit(
        name="unchanged",
        sense="at most",
        expected="At most a share of {required} of what is published is as it was in the source.",
        shortfall=f"{{finding}} of {what} is as in the source, above checks.{{key}} = {{required}}",
        description=f"the share of {what} that may be {how}; less than 1 refuses a release in "
        "which nothing was hidden.",
        example="0.99",
        numbers=read_unchanged(share),
        **words,
    )


class LimitsSection(Section):
    """[checks]. A key whose default is declared by `declare_limit` is a limit."""

    @classmethod
    def list_limits(cls) -> dict[str, Limit]:
        """The limits by key."""
        return {
            key: each
            for key, field in cls.model_fields.items()
            for each in field.metadata
            if isinstance(each, Limit)
        }

    @classmethod
    def list_measures(cls) -> dict[str, LimitMeasure]:
        """What the limits measure, by its name in the manifest."""
        limits = cls.list_limits().values()
        return {each.name: each for limit in limits for each in (limit, *limit.variants)}

    @property
    def release_limits(self) -> ReleaseLimits:
        """The limits that the plan states: those that differ from their defaults."""
        fields = type(self).model_fields
        values = {key: (limit, getattr(self, key)) for key, limit in self.list_limits().items()}
        return ReleaseLimits(
            {key: pair for key, pair in values.items() if pair[1] != fields[key].default}
        )

    @property
    def drift_limits(self) -> DriftLimits | None:
        """How far the data may drift since the last release; None where nothing is compared."""
        return None


def propose_limits(
    section: type[LimitsSection], known: Mapping[str, Any], between: str, width: int
) -> str:
    """Lines of a starter plan: the limits that it sets, and below `between` those that it offers.

    `known` are the terms of these lines, `width` the characters before a comment.
    """
    lines: tuple[list[str], list[str]] = ([], [between])
    found = [(key, limit.starter) for key, limit in section.list_limits().items() if limit.starter]
    for key, line in sorted(found, key=lambda pair: pair[1].place):
        fits = line.needs in ("", *known)
        comment = line.comment if fits else line.otherwise
        if comment:
            value = line.value.format_map(known) if fits else line.value
            mark = "# " if line.offered or not fits else ""
            # `offered` is the index: False for what is set, True for what stands below `between`.
            lines[line.offered].append(align_comment(f"{mark}{key} = {value}", comment, width))
    return "\n".join([*lines[0], *lines[1]])


def align_comment(text: str, comment: str, width: int) -> str:
    """A line of a plan with a comment of one or several lines, one below the other."""
    first, *others = comment.split("\n")
    begun = text.ljust(width) if len(text) < width else f"{text}    "
    return "\n".join([f"{begun}# {first}", *(f"{'':{width}}# {other}" for other in others)])
