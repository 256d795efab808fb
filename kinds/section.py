"""The base class of all sections of a plan, and [source]."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import cleandoc
from typing import Annotated, Any, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
    field_validator,
)
from pydantic_core.core_schema import CoreSchema

from anon_core.errors import AnonymityError, InputError, LimitError, escape_unprintable
from crowdcover.kinds.meanings import list_key_meanings
from crowdcover.storage.places.credentials import holds_password, states_password
from crowdcover.storage.places.place import is_remote, place_of
from crowdcover.storage.source.drivers import ADDRESSES, DATABASES, database_of
from crowdcover.storage.source.sources import Source

_Value = TypeVar("_Value")
Unshown = Annotated[_Value, Field(repr=False)]  # may contain cell values or a password
MOST_NAME = 200  # characters of a release's name; with a hash it must still be a file name
# The forms of privacy.k, and the keys that belong to each.
K_FORMS = {
    "uniform": ("seed",),
    "column": (),
    "by": ("levels", "default", "optional"),
    "path": ("user", "column"),
}
ALLOWED = "state [privacy] allow_unprotected = true if these people need no protection"
Schema = dict[str, Any]  # a JSON Schema


def table_schema(keys: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    """The JSON Schema of a table with these keys and no other."""
    return {
        "type": "object",
        "properties": dict(keys),
        "required": list(required),
        "additionalProperties": False,
    }


Share = Annotated[float, Field(ge=0, le=1)]
Bins = Annotated[
    Literal["deciles", "none"] | dict[Literal["quantiles", "edges"], int | list[float]],
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["deciles", "none"]},
                table_schema({"quantiles": {"type": "integer", "minimum": 1}}, ["quantiles"]),
                table_schema({"edges": {"type": "array", "items": {"type": "number"}}}, ["edges"]),
            ]
        }
    ),
]
BINS = "must be 'deciles', 'none', {quantiles = number} or {edges = [numbers]}"


def declare_or_off(section: type[BaseModel]) -> BeforeValidator:
    """What makes a key take a section or 'off'."""
    # Without the input type the schema would not offer 'off'.
    return BeforeValidator(or_off, json_schema_input_type=section | Literal["off"])


def or_off(value: Any) -> Any:
    """[checks] drift: None if the comparison is off."""
    if isinstance(value, str) and value != "off":
        raise ValueError("must be 'off' or a table such as {rows = 0.3}")
    return None if value == "off" else value


class PlanError(AnonymityError):
    """The plan is not valid; its text is the first refusal, `refusals` has all that are known."""

    def __init__(self, *refusals: str) -> None:
        super().__init__(*refusals[:1])
        self.refusals = tuple(map(escape_unprintable, refusals))


def refuse_together(checks: Iterable[Callable[[], _Value]]) -> list[_Value]:
    """What each check returns; refused with the refusals of all, in their order.

    Two checks that go by the same wrong key refuse it in the same words: these are told once.
    """
    found: list[_Value] = []
    refusals: list[str] = []
    for check in checks:
        try:
            found.append(check())
        except PlanError as error:
            refusals += error.refusals
        except (InputError, LimitError) as error:
            refusals.append(str(error))
    # After the handlers: an error of a check may hold what was typed, and would be the context.
    refuse_all(refusals)
    return found


def refuse_all(refusals: Iterable[str]) -> None:
    """Refuse a plan of which something is wrong; what is told twice is told once."""
    if told := list(dict.fromkeys(refusals)):
        raise PlanError(*told)


def refuse_alone(k: NDArray[np.int32], whom: str) -> None:
    """Refuse k = 1 for anybody: k int32 (n,) of n `whom`."""
    if alone := int(np.count_nonzero(k < 2)):
        raise InputError(
            f"{alone} of {len(k)} {whom} have k = 1, which protects nobody; "
            f"let them demand at least 2, or {ALLOWED}"
        )


class Section(BaseModel):
    """A section of the plan: no unknown keys, frozen, no values in its messages."""

    # strict: "5" is no number and 1 no truth value. Messages of pydantic would quote the input.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, populate_by_name=True
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> Schema:
        """The JSON Schema of the section, with what its docstring says of each key."""
        # A section may come as a reference; the text belongs to what it refers to.
        schema = handler.resolve_ref_schema(handler(core))
        for key, text in list_key_meanings(cls).items():
            if key in schema["properties"]:
                schema["properties"][key]["description"] = text
        schema["description"] = cleandoc(cls.__doc__ or "").partition("\n")[0]
        return schema


class MarkedSection(Section):
    """A section in which `crowdcover plan` may leave questions to a person.

    `questions` gives each question and its answers by the word that stands in `decide`. A plan with
    an open question is refused, so `decide` is no part of a plan that shapes a release.

    Attributes
    ----------
    decide : open questions of `crowdcover plan`; delete each once it is decided.
    """

    questions: ClassVar[Mapping[str, str]] = {}

    decide: Annotated[list[str], Field(exclude=True)] = []

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> Schema:
        """The same, with the questions of the section."""
        schema = super().__get_pydantic_json_schema__(core, handler)
        schema["properties"]["decide"]["items"] = {"enum": list(cls.questions)}
        return schema

    @field_validator("decide")
    @classmethod
    def _known(cls, marks: list[str]) -> list[str]:
        if any(mark not in cls.questions for mark in marks):
            raise ValueError(f"must name open questions of: {', '.join(cls.questions)}")
        return marks


# [about] of every starter plan: what the report cannot say by itself.
ABOUT_TO_DECIDE = """\
[about]                    # published as it stands: name nobody here without consent
decide = ["title", "recipient", "contact"]
# title = "..."            # what is the release called?
# recipient = "..."        # who gets it?
# contact = "..."          # who answers questions about it?

"""


def propose_release_name(source: Source) -> str:
    """The name of a release in a starter plan: that of the file or of the database."""
    place = source.path.name if source.path else urlsplit(source.uri or "").path.split("/")[-1]
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", place.split(".")[0])
    return plain[:MOST_NAME].strip("._-") or "release"


def begin_starter_plan(comment: str, source: Source, kind: str) -> str:
    """The first lines of a starter plan, down to the kind of its source."""
    name = toml_text(propose_release_name(source))
    return f"{comment}name = {name}\n\n{ABOUT_TO_DECIDE}[source]\nkind = {toml_text(kind)}\n"


def groups_of(where: str, bins: Bins | None) -> int | tuple[float, ...] | None:
    """The groups of a column of numbers as `ColumnSpec.bins` takes them; `where` names the key."""
    if bins in (None, "deciles"):
        return 10
    if bins == "none":
        return None
    if isinstance(bins, dict) and len(bins) == 1:
        quantiles, edges = bins.get("quantiles"), bins.get("edges")
        if isinstance(quantiles, int):
            return quantiles
        if isinstance(edges, list) and all(math.isfinite(edge) for edge in edges):
            return tuple(float(edge) for edge in edges)
    raise PlanError(f"{where} {BINS}")


class SourceSection(MarkedSection):
    """[source]: a file, or a database and a query. A kind may add keys.

    Attributes
    ----------
    kind : the kind of data: table, matrix or graph.
    path : a file of CSV, Parquet, Arrow or JSON lines, or a workbook; it may be packed. It starts
        at the plan's folder.
    uri : instead of path: the address of a database.
    query : with uri: the SELECT that gives the rows.
    credentials : where the password of uri stands: never in the plan.
    header : whether the first row of a CSV file holds names; else the plan gives them, in order.
    separator : one ASCII character between the fields of a CSV file.
    missing : texts that mean 'not given', beside the empty text.
    optional : those of them that no cell need have; true: all.
    sheet : the sheet of a workbook; it may be left out where one sheet alone has cells.
    """

    questions = {
        "missing": "do these texts mean 'not given' in every column? Take out of source.missing "
        "those that do not",
    }

    kind: str = "table"
    path: str | None = None
    uri: Unshown[str | None] = None
    query: Unshown[str | None] = None
    credentials: str | None = None
    header: bool = True
    separator: str = ","
    missing: Unshown[list[str]] = []
    optional: Unshown[list[str] | bool] = False
    sheet: str | None = None

    def source(self) -> Source:
        """The checked section as the reader uses it."""
        if (self.path is None) == (self.uri is None):
            raise PlanError("source needs either 'path' or 'uri' with 'query'")
        if (self.uri is None) != (self.query is None):
            raise PlanError("source.uri and source.query go together")
        if self.uri is not None and database_of(self.uri) is None:
            raise PlanError(f"source.uri must start with {ADDRESSES}")
        if self.sheet is not None and self.uri is not None:
            raise PlanError("source.sheet belongs to a workbook; leave it out of a database")
        sign = self.separator
        # The length comes first: "" is in every text.
        if len(sign) != 1 or not sign.isascii() or sign in '\0\r\n"':
            raise PlanError(
                "source.separator must be one ASCII character, e.g. ';' or '\\t', "
                "but no quote or line end"
            )
        return Source(
            path=None if self.path is None else place_of(self.path),
            uri=self.uri,
            credentials=self.credentials,
            query=self.query,
            header=self.header,
            separator=sign,
            missing=tuple(self.missing),
            optional=optional_of("source", "missing", self.missing, self.optional),
            sheet=self.sheet,
        )


def optional_of(
    where: str, key: str, named: Sequence[str], stated: Sequence[str] | bool
) -> tuple[str, ...]:
    """Values that a plan names and that no row need have; `where` and `key` say where it does."""
    if isinstance(stated, bool):
        return tuple(named) if stated else ()
    if strays := len(set(stated) - set(named)):
        raise PlanError(
            f"{where}.optional names {strays} values that {where}.{key} does not; name them there, "
            "or state optional = true for all"
        )
    return tuple(stated)


def source_called(address: str, query: str | None) -> Source:
    """The source that a person names on the command line: a file, or a database and a query."""
    if database_of(address) is not None:
        if holds_password(address) or states_password(query or ""):
            raise PlanError(
                "SOURCE or --query holds a password, which other users of this machine can read in "
                "the list of processes; take it out, and set PGPASSWORD or use ~/.pgpass"
            )
        if query is None:
            raise PlanError("a database needs a query: --query 'select ... from ...'")
        return Source(uri=address, query=query)
    if "://" in address and not is_remote(address):
        raise PlanError(f"SOURCE must be a file or start with s3://, gs://, {ADDRESSES}")
    for each in DATABASES:
        if each.ends and address.lower().endswith(each.ends):
            raise PlanError(
                f"SOURCE looks like a database: put {each.starts[0]} before it and give a --query"
            )
    if query is not None:
        raise PlanError("--query belongs to a database; a file is read as it is")
    return Source(path=place_of(address))


def toml_key(name: str) -> str:
    """Write a name as a TOML key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)


def toml_text(text: str) -> str:
    """Write a text as a TOML string, with escapes for all that cannot be printed."""
    # JSON's escapes are TOML's, except pairs of surrogates, which ASCII output would hold.
    # JSON writes DEL as it is, and TOML refuses it: so all that cannot be printed is escaped.
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in quoted)
