"""The JSON Schema of codebooks."""

import json
from pathlib import Path

import jsonschema

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "docs/schema/codebook.schema.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def keeps_schema(document):
    """Whether a document is a codebook."""
    return VALIDATOR.is_valid(document)
