"""The kinds of direct identifiers that are looked for, as plans and messages call them."""

from collections.abc import Mapping
from typing import Literal

Kind = Literal[
    "email", "phone", "iban", "card", "national", "document", "ip", "device", "url", "handle",
    "coordinates", "name", "text",
]  # fmt: skip
KINDS: Mapping[Kind, str] = {
    "email": "e-mail addresses",
    "phone": "telephone numbers",
    "iban": "bank accounts (IBAN)",
    "card": "numbers of payment cards",
    "national": "national numbers of people",
    "document": "numbers of documents beside the word",
    "ip": "IP addresses",
    "device": "numbers of devices",
    "url": "web addresses with a user",
    "handle": "user names",
    "coordinates": "coordinates",
    "name": "names beside a title",
    "text": "free text in words that no other row has",
}
