"""Who answered a form, as the server behind a proxy with a login states it.

The proxy lets only signed-in people through and names them in a header. The server signs that name
together with the flow run and the answer, so that neither a person nor a worker can state another
one: the plan holds the server's public key. See `flows.launch.sign_in`.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from crowdcover.storage.approval.request import (
    LONGEST_NAME,
    DecisionError,
    current_time,
    format_record_time,
    one_line,
)
from crowdcover.storage.approval.signing_keys import is_valid_signature, sign_content
from crowdcover.storage.approval.statement import format_canonical_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGN_IN = "crowdcover sign-in 1"
ANSWER = ("decision", "name", "note")  # the fields of a form that a person fills in
FIELD = "signed_in"  # the field that the server fills in


def state_identity(
    key: "Ed25519PrivateKey", flow_run: str, answer: Mapping[str, Any], who: str
) -> str:
    """What the server puts into an answer: who gave it, and when, signed."""
    person = one_line("the name in the proxy's header", who, 1, LONGEST_NAME)
    at = format_record_time(current_time())
    content = _format_statement(flow_run, answer, person, at)
    return json.dumps({"identity": person, "at": at, "signature": sign_content(key, content)})


def read_identity(
    text: str, public: str, flow_run: str, answer: Mapping[str, Any], asked: str
) -> str:
    """Who gave this answer in this flow run; refused unless the server of this key states it.

    `asked` is when the question was asked: what was stated before answers another one.
    """
    try:
        document = json.loads(text)
        person, at = str(document["identity"]), str(document["at"])
        genuine = is_valid_signature(
            public, document["signature"], _format_statement(flow_run, answer, person, at)
        )
        timely = datetime.fromisoformat(at) >= datetime.fromisoformat(asked)
    except (ValueError, KeyError, TypeError, RecursionError):
        genuine = timely = False
    if not (genuine and timely):
        raise DecisionError(
            "no server whose key is publish.sign_in states who gave it; answer through the proxy "
            "with the login, and start the server as docs/how-to/sign-in.md says"
        )
    return person


def _format_statement(flow_run: str, answer: Mapping[str, Any], person: str, at: str) -> bytes:
    """The bytes that the server signs."""
    fields = {name: str(answer.get(name) or "") for name in ANSWER}
    return format_canonical_json(
        {"what": SIGN_IN, "flow_run": flow_run, "identity": person, "at": at, **fields}
    )
