"""What all sections of the plan are."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Value = TypeVar("Value")
Unshown = Annotated[Value, Field(repr=False)]  # may hold cell values or a password


class Section(BaseModel):
    """A table of the plan: no unknown keys, no change after reading, no value in what it says."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, populate_by_name=True
    )
