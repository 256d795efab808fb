"""A database that releases are loaded into: `publish.into` of a plan, and `crowdcover load`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crowdcover.kinds.section import PlanError, table_schema
from crowdcover.storage.places.credentials import FORMS, holds_password, is_reference, with_password
from crowdcover.storage.targets import TARGETS, target_of

_STARTS = " or ".join(f"{each.starts[0]}..." for each in TARGETS)


def _say(meaning: str) -> dict[str, Any]:
    return {"type": "string", "description": meaning}


INTO_SCHEMA = table_schema(
    {
        "uri": _say("address of the database, without a password"),
        "schema": _say("a schema that is there; else the one that the database takes by itself"),
        "grant": {
            "type": "array",
            "items": {"type": "string"},
            "description": "existing roles of PostgreSQL that may read",
        },
        "credentials": _say("where the password lies: never in the plan"),
    },
    ["uri"],
)


@dataclass(frozen=True)
class Into:
    """Where a release is loaded.

    Attributes
    ----------
    uri : address of the database, without a password.
    schema : that is there; None: the one that the database takes by itself.
    grant : existing roles that may read the tables and views.
    credentials : where the password lies; None: where the driver looks for it.
    """

    uri: str
    schema: str | None = None
    grant: tuple[str, ...] = ()
    credentials: str | None = None

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> "Into":
        """Read `publish.into`; its messages quote no value."""
        known = INTO_SCHEMA["properties"]
        texts = [value for key, value in stated.items() if key != "grant"]
        roles = stated.get("grant", [])
        lists = isinstance(roles, list) and all(isinstance(each, str) for each in roles)
        right = "uri" in stated and stated.keys() <= known.keys() and lists
        if not (right and all(isinstance(each, str) for each in texts)):
            raise PlanError(
                "publish.into must be a table with the texts uri, and perhaps schema, credentials "
                "and grant, which is a list of roles"
            )
        into = cls(**{**stated, "grant": tuple(dict.fromkeys(roles))})
        # A worker runs a plan in a folder of its own.
        if (path := into.uri.partition(":///")[2]) and not path.startswith("/"):
            raise PlanError(
                "publish.into.uri must have a whole path, such as duckdb:////srv/people.duckdb"
            )
        into.check("publish.into.uri", "publish.into.grant", "publish.into.credentials")
        return into

    def check(self, uri: str, grant: str, credentials: str) -> None:
        """Refuse other addresses, passwords in them, and roles where there are none.

        The arguments are what the attributes are called where a person stated them.
        """
        target = target_of(self.uri)
        if target is None:
            raise PlanError(f"{uri} must be {_STARTS}")
        if holds_password(self.uri):
            raise PlanError(
                f"{uri} holds a password, which others can read there; take it out, and say where "
                f"it lies by {credentials} ({FORMS}), PGPASSWORD or ~/.pgpass"
            )
        if self.credentials is not None and not is_reference(self.credentials):
            raise PlanError(f"{credentials} must be {FORMS}: where the password lies")
        if not target.grants and (self.grant or self.credentials is not None):
            raise PlanError(
                f"{target.title} has neither roles nor passwords; leave {grant} and {credentials} "
                "out, and let the permissions of the file say who reads it"
            )

    @property
    def address(self) -> str:
        """The address with the password that the credentials name."""
        return with_password(self.uri, self.credentials)
