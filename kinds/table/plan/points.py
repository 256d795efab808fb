"""columns.<name>.point: a place of two columns of degrees, shown as boxes of a grid."""

from collections.abc import Iterator, Mapping
from typing import Any

from crowdcover.kinds.section import PlanError
from crowdcover.storage.source.points import Point

GRID = (0.01, 0.05, 0.25, 1.0, 5.0, 45.0)  # degrees; 0.01 are about 1.1 km from south to north


def complete_point(stated: Any) -> Any:
    """Keys of a column with those that a point has unless they are stated.

    A box is shown only if enough people live there, at least as many as anybody demands.
    """
    if not isinstance(stated, dict) or "point" not in stated:
        return stated
    grid = {"grid": list(GRID)}
    return {"kind": "categorical", "hierarchy": grid, "floor": 1, **stated}


def list_points(sections: Mapping[str, Any]) -> tuple[Point, ...]:
    """The points that [columns] makes of columns of the source, checked."""
    return tuple(_check_points(sections))


def _check_points(sections: Mapping[str, Any]) -> Iterator[Point]:
    for name, section in sections.items():
        where, tree = f"columns.{name}", section.tree
        gridded = tree is not None and bool(tree.grid)
        if section.point is None:
            if gridded:
                raise PlanError(f"{where}.hierarchy.grid belongs to a point; state {where}.point")
            continue
        if not gridded:
            raise PlanError(
                f"{where}.hierarchy of a point is a grid of degrees, such as "
                "{grid = [0.1, 1, 10]}"
            )
        latitude, longitude = section.point
        for coordinate in section.point:
            role = getattr(sections.get(coordinate), "role", None)
            if role != "drop" or coordinate == name or latitude == longitude:
                raise PlanError(
                    f"{where}.point must name two columns of [columns] with role = 'drop', the "
                    "latitude first: published degrees would tell the place"
                )
        yield Point(name, latitude, longitude, tree.grid[0])
