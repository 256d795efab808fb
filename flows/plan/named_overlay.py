"""The name of an overlay of a plan; alone here, as every command knows it and pydantic is slow."""


class Overlay(str):
    """The name of an overlay, as --env gives it among the overrides of a plan."""

    __slots__ = ()
