"""`crowdcover measure --list`: the triangles of a graph that no memory holds, in files."""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.engines.local import LocalFarm
from anon_core.engines.shuffle import LEAST_MEMORY, FarmShuffle
from anon_core.errors import InputError, LimitError
from anon_core.measures.graph.triangles.from_disk import list_triangles_from_disk
from anon_core.spread import Farm
from crowdcover.storage.source.edge_batches import read_edge_batches
from crowdcover.storage.source.edges import (
    count_lacking_ends,
    name_vertices,
    number_vertices,
    refuse_lacking_ends,
)
from crowdcover.storage.vault.disk_space import present_part

Tell = Callable[[str, int, int], None]
WORKERS, REDUCERS, MEMORY = 2, 64, 2**26  # unless options say otherwise
_COLUMNS = ["u", "v", "w"]


def list_graph_triangles(options: argparse.Namespace, told: Tell) -> dict[str, Any]:
    """Write each triangle once into the folder `options.list`; return what was counted.

    Neither the edges nor the triangles are held in memory, the names of vertices are. Files are
    Parquet, columns u, v and w: the names in the order of `read_edges`. The folder appears when
    all is written.

    `told`: see `FarmShuffle`.
    """
    folder, memory = options.list.absolute(), options.memory
    memory = MEMORY if memory is None else memory
    # `lexists`: a broken link is in the way, too, and would fail the rename after all the work.
    if os.path.lexists(folder):
        raise LimitError("the folder of --list stands already; name another one")
    if memory < LEAST_MEMORY:
        raise LimitError(f"--memory must be at least {LEAST_MEMORY} bytes for each reducer")
    told("names", 0, 1)
    names, rows = _read_names(options.graph, options.header)
    try:
        # Workers may run elsewhere, so all paths are absolute.
        # On the disk of the result, so that the rename at the end is one step.
        with tempfile.TemporaryDirectory(prefix=".triangles-", dir=present_part(folder)) as room:
            work, made = Path(room) / "work", Path(room) / "made"  # of mode 0700
            work.mkdir()
            made.mkdir()
            batches = _number_batches(options.graph, options.header, names)
            writer = _Writer(made, names)
            with _start_farm(options) as farm:
                shuffle = FarmShuffle(farm, work, options.reducers or REDUCERS, memory, told)
                found = list_triangles_from_disk(
                    *(batches, len(names), work, shuffle, writer.write_file),
                    options.method or "ec",
                )
            folder.parent.mkdir(parents=True, exist_ok=True)
            os.rename(made, folder)
    except OSError as error:
        raise LimitError(
            f"the folder of --list cannot be written ({error.strerror or type(error).__name__}); "
            "make room there, some 60 bytes an edge and the triangles, or name another one"
        ) from None
    return {
        "vertices": len(names),
        "edges": found.edges,
        "loops_left_out": found.loops,
        # Each row is a loop, the first of its pair of vertices, or a repetition.
        "repeated_left_out": rows - found.loops - found.edges,
        "triangles": found.triangles,
        "files": writer.files,
    }


def _read_names(graph: Path, header: bool | None) -> tuple[pl.Series, int]:
    """Return the names of all vertices, and the number of edges."""
    names, rows, lacking = pl.Series(), 0, 0
    for batch in read_edge_batches(graph, header):
        ends = pl.concat([batch["u"], batch["v"].alias("u")]).unique()
        # The empty series has no type, and polars concatenates equal types only.
        names = pl.concat([names, ends]).unique() if rows else ends
        rows, lacking = rows + batch.height, lacking + count_lacking_ends(batch)
    if not rows:
        raise InputError("the graph holds no edges")
    refuse_lacking_ends(lacking, rows)
    return name_vertices(names), rows


def _number_batches(
    graph: Path, header: bool | None, names: pl.Series
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    for batch in read_edge_batches(graph, header):
        yield number_vertices(batch["u"], names), number_vertices(batch["v"], names)


class _Writer:
    """Writes triangles to numbered files."""

    def __init__(self, folder: Path, names: pl.Series) -> None:
        self._folder, self._names, self.files = folder, names, 0

    def write_file(self, triangles: NDArray[np.int32]) -> None:
        """Write one file."""
        of = [self._names.gather(triangles[:, place]) for place in range(3)]
        rows = pl.DataFrame(of, schema=_COLUMNS)
        rows.write_parquet(self._folder / f"triangles-{self.files:05}.parquet")
        self.files += 1


@contextmanager
def _start_farm(options: argparse.Namespace) -> Iterator[Farm]:
    """Yield the threads of this process, or the workers of a Dask cluster."""
    if options.engine != "dask":
        yield LocalFarm()
        return
    from anon_core.engines.farm import DaskFarm, connect_client

    own = (options.workers or WORKERS) if options.scheduler is None else 0
    with connect_client(options.scheduler, own, _share_threads(own)) as client:
        yield DaskFarm(client)


def _share_threads(workers: int) -> int:
    return max(1, int(numba.get_num_threads()) // max(1, workers))
