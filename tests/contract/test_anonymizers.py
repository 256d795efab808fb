"""Every anonymizer through one set of tests: what its protocol and its promise say."""

import dataclasses
import importlib
import json
import os
import subprocess
import sys
import typing
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings

from anon_core.anonymizers import ANONYMIZERS
from anon_core.anonymizers.in_parts.divided import Divided
from anon_core.anonymizers.uncertain_graph.settings import Selection
from anon_core.engines import farm, local
from anon_core.engines.mpi.job import afford_rank, read_job, read_result
from anon_core.errors import InfeasibleError, InputError, LimitError
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import crowds, fits_own_row, identical_rows
from anon_core.measures.table.least_loss import bound_least_loss
from anon_core.seating.matching import random_matching
from anon_core.specs.demands import Demanded
from anon_core.specs.graphs import ONE
from anon_core.steps import State
from anon_core.tables.cells import write_cells
from anon_core.tables.demands import of_people
from crowdcover.storage.vault.checkpoint import CheckpointFile
from tests import naive
from tests.anon_core.engines.mpi.mpirun import CASES as CASES_OF_RANKS
from tests.anon_core.engines.mpi.mpirun import MPIRUN, mpirun, ordered
from tests.contract.toy import Runs
from tests.observers import Seen
from tests.strategies import sparse_matrices, tables, uncertain_graphs
from tests.support.auditing import stated
from tests.support.farms import Cluster, kill
from tests.support.graphs import drawn, graph
from tests.support.large import big_table, traced
from tests.support.matrices import crowded

EVERY = {**ANONYMIZERS, "toy": Runs}
SMALL = 400
DRAWN = {
    "table": tables,
    "matrix": sparse_matrices,
    "graph": uncertain_graphs,
}  # by kind: small data of hypothesis
SIZED = {  # by kind: so many records, of more or fewer values, in crowds of k
    "table": big_table,
    "matrix": lambda records, values, k: crowded(records, 10 * values, k=k),
    "graph": lambda records, values, k: drawn(
        records, values * records, k, power=1.35, exempt=records // 1000
    ),
}


def variants(cls):
    """The default settings, each value of a choice among words or yes and no, and parts."""
    hints = typing.get_type_hints(cls)
    yield "default", cls()
    for field in dataclasses.fields(cls):
        choices = (False, True) if hints[field.name] is bool else typing.get_args(hints[field.name])
        for choice in choices:
            if isinstance(choice, (str, bool)) and choice != field.default:
                yield f"{field.name}={choice}", cls(**{field.name: choice})
    if issubclass(cls, Divided):  # 4 parts of the table of most tests
        yield "part", cls(part=100)


CASES = [
    pytest.param(maker, id=f"{name}-{change}")
    for name, cls in EVERY.items()
    for change, maker in variants(cls)
]


def quick(maker):
    """`optimal` with greedy search: set partition of this table takes seconds each time."""
    auto = getattr(maker, "method", None) == "auto"
    return dataclasses.replace(maker, method="greedy") if auto else maker


# These refuse data of thousands of records, or take minutes.
SLOW = {
    "optimal-method=exact",
    "optimal-method=split-and-carry",
    "smooth-method=alg1",
    *(
        f"uncertain_graph-selection={word}"
        for word in typing.get_args(Selection)
        if word not in ("planned", "degree")
    ),
}
LARGE = [pytest.param(quick(*case.values), id=case.id) for case in CASES if case.id not in SLOW]
DEFAULTS = [pytest.param(quick(cls()), id=name) for name, cls in EVERY.items()]
OTHERS = [
    pytest.param(*case.values, id=case.id, marks=pytest.mark.slow)
    for case in LARGE
    if not case.id.endswith("-default")
]


def content(made):
    """All that was made, to the last bit."""
    arrays = {name: array.tobytes() for name, array in made.arrays().items()}
    return arrays, made.steps, made.result_step


@pytest.fixture
def table(maker):
    """Data of the anonymizer's kind: records of many levels, in crowds of 5."""
    return SIZED[maker.kind](SMALL, 6, 5)


ORDER = np.random.default_rng(4).permutation(SMALL)


# ---------------------------------------------------------------- what a plan tells


def refusal(admit, what):
    """The words of a refusal, None without one."""
    try:
        admit(what)
    except (InputError, LimitError) as refused:
        return str(refused)
    return None


@pytest.mark.parametrize("maker", [case for case in CASES if case.values[0].kind == "table"])
def test_what_a_plan_tells_is_refused_of_its_table_too(maker):
    table = big_table(40, 6, 5)
    owned = of_people(table, np.arange(40, dtype=np.int32) // 2)
    for each in (table, owned):
        told = refusal(maker.admit_demands, each.demands)
        assert told == refusal(maker.admit, each)
    assert refusal(maker.admit_demands, table.demands) is None
    assert refusal(maker.admit_demands, Demanded(False, np.empty(0, dtype=np.int64))) is None


# ---------------------------------------------------------------- what it promises


def released(made):
    """The released cells, read by the auditor."""
    cells, book = write_cells(made.table, made.hidden), made.table.codebook
    return ReleasedCells.of([read_cells(a, cells[a.name].tolist()) for a in book.attributes])


def counted(made, rows, seat):
    """Crowds as the auditor counts them."""
    return crowds(made.table.codes, made.table.k, rows, seat)


OF_TABLES = {  # by name: whether a release keeps it
    "compatible crowds": lambda made, rows, seat: not counted(made, rows, seat).below_k,
    "matchable crowds": lambda made, rows, seat: not counted(made, rows, seat).matchable_below_k,
    "truthful rows": lambda made, rows, seat: fits_own_row(made.table.codes, rows, seat).all(),
    "equivalence classes": lambda made, rows, seat: (
        identical_rows(Classes.of(made.table.codes, rows), seat) >= made.table.k
    ).all(),
    "even seats": lambda made, rows, seat: (
        made.holders is not None
        and stated(made.table.codes, made.table.k, rows, made.holders, seat).holds
    ),
}


def largest_groups(made):
    """Records with the same row as each record, by content."""
    rows = [made.indices[made.indptr[g] : made.indptr[g + 1]].tobytes() for g in made.group]
    return np.array([rows.count(row) for row in rows])


def by_majority(made):
    """Whether rows have the items that half of their group holds."""
    held = np.split(made.matrix.indices, made.matrix.indptr[1:-1])
    rows = np.split(made.indices, made.indptr[1:-1])
    expected = naive.smooth_rows([set(row.tolist()) for row in held], made.group.tolist())
    return [set(rows[g].tolist()) for g in made.group] == expected


OF_MATRICES = {  # by name: whether what was made keeps it
    "equivalence classes": lambda made: (largest_groups(made) >= made.matrix.k).all(),
    "smooth majority": by_majority,
}


def hides(made):
    """Whether at most as many vertices as are exempt can be found by their degree."""
    graph, n = made.graph, made.graph.records
    source, released = (
        naive.degree_chances(
            list(zip(each.u, each.v, strict=True)), naive.fractions(each.p, ONE), n
        )
        for each in (graph, made)
    )
    below = 0
    for v in range(n):
        bits = naive.entropy(naive.posterior(source[v], released, graph.knowledge))
        below += bits < np.log2(graph.k[v]) - 1e-9
    return below <= graph.exempt


OF_GRAPHS = {"obfuscated": hides}  # by name: whether what was made keeps it


def assert_possible_loss(table, rows):
    """The lower bound of the loss is no more than the loss, to the last digit."""
    classes, levels = Classes.of(table.codes, rows), rows.level_counts.tolist()
    least = bound_least_loss(classes, table.k, table.codebook.ordinal, levels)
    lost = [
        Fraction(int((sizes - 1).sum()), max(1, count - 1))
        for sizes, count in zip(rows.sizes(), levels, strict=True)
    ]
    assert Fraction(least.gcp) <= sum(lost) / (rows.rows * len(levels))


def kept_of_table(made, findings, draws):
    """Whether a release of a table keeps each finding."""
    rows = released(made)
    seat = random_matching(made, lambda n: draws.integers(0, 2**32, n, dtype=np.uint32))
    assert sorted(seat) == list(range(made.table.records))
    if "even seats" in findings or "equivalence classes" in findings:
        assert_possible_loss(made.table, rows)
    return {finding: OF_TABLES[finding](made, rows, seat) for finding in findings}


KEPT = {
    "table": kept_of_table,
    "matrix": lambda made, findings, _: {name: OF_MATRICES[name](made) for name in findings},
    "graph": lambda made, findings, _: {name: OF_GRAPHS[name](made) for name in findings},
}


@pytest.mark.long
@pytest.mark.parametrize("maker", CASES)
def test_its_releases_keep_its_promise(maker):
    assert maker.promise.findings
    draws = np.random.default_rng(7)

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(DRAWN[maker.kind]())
    def keeps(table):
        try:
            maker.admit(table)
        except LimitError:  # levels of k that this method does not take together
            reject()
        try:
            made = local.run(maker, table)
        except InfeasibleError:  # a graph whose vertices no search hides
            assert maker.kind == "graph"
            reject()
        kept = KEPT[maker.kind](made, maker.promise.findings, draws)
        assert [finding for finding, is_kept in kept.items() if not is_kept] == []

    keeps()


def test_a_broken_promise_is_found():
    table = big_table(SMALL, 6, 5)
    made = table.restore_result({"hidden": np.zeros_like(table.bits)}, (), 0)
    rows, seat = released(made), np.arange(SMALL)
    broken = {name for name, kept in OF_TABLES.items() if not kept(made, rows, seat)}
    assert broken == set(OF_TABLES) - {"truthful rows"}
    assert not OF_TABLES["truthful rows"](made, rows, seat[::-1])
    matrix = crowded(SMALL, 60)
    alone = {"group": np.arange(SMALL, dtype=np.int32)}
    empty = {"group_indptr": np.zeros(SMALL + 1, dtype=np.int64), "group_indices": matrix.indices}
    made = matrix.restore_result({**alone, **empty}, (), 0)
    assert not OF_MATRICES["smooth majority"](made)
    own = {"group_indptr": matrix.indptr, "group_indices": matrix.indices}
    assert not OF_MATRICES["equivalence classes"](matrix.restore_result({**alone, **own}, (), 0))
    star = graph(4, {(0, 1): 1.0, (0, 2): 1.0, (0, 3): 1.0}, 2)
    assert not OF_GRAPHS["obfuscated"](
        star.restore_result({"u": star.u, "v": star.v, "p": star.p}, (), 0)
    )


# ---------------------------------------------------------------- the same bytes

THREADS = """
from anon_core.engines import local
from tests.contract.test_anonymizers import DEFAULTS, ORDER, SIZED, SMALL, content
for case in DEFAULTS:
    table = SIZED[case.values[0].kind](SMALL, 6, 5)
    made = [local.run(case.values[0], table, tie_order=ORDER, threads=each) for each in (1, 2, 4)]
    print(case.id, len({repr(content(one)) for one in made}))
"""


@pytest.mark.long
def test_one_two_and_four_threads_make_the_same_bytes():
    """In a process of its own: numba reads the number of threads when it starts."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "4"}
    command = [sys.executable, "-c", THREADS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [f"{case.id} 1" for case in DEFAULTS]


@pytest.mark.long
@pytest.mark.parametrize("maker", LARGE)
def test_it_goes_on_from_every_checkpoint(maker, table, tmp_path):
    seen, file = Seen(), CheckpointFile(tmp_path / "checkpoint", [])
    whole = maker.anonymize(table, tie_order=ORDER, observer=seen)
    (most,) = seen.expected
    assert [state.steps for state in seen.states] == [
        whole.steps[: number + 1] for number in range(len(whole.steps))
    ]
    assert [step.number for step in whole.steps] == list(range(1, len(whole.steps) + 1))
    assert most is None or len(whole.steps) <= most
    assert 1 <= whole.result_step <= len(whole.steps)
    assert max(seen.records) == table.records
    for state in seen.states:
        file.save(state, [1.0] * len(state.steps))
        resume, _ = file.load()
        again = maker.anonymize(table, tie_order=ORDER, resume=resume)
        assert content(again) == content(whole)


@pytest.mark.parametrize("maker", DEFAULTS)
def test_a_checkpoint_without_its_arrays_is_refused(maker, table):
    seen = Seen()
    maker.anonymize(table, observer=seen)
    with pytest.raises(InputError, match="checkpoint"):
        maker.anonymize(table, resume=State({}, seen.states[0].steps))


@pytest.mark.parametrize("maker", DEFAULTS)
def test_data_and_result_survive_as_arrays(maker, table):
    document, arrays = table.pack_arrays()
    again = maker.data.unpack_arrays(json.loads(json.dumps(document)), arrays)
    assert content(maker.anonymize(again, tie_order=ORDER)) == content(
        maker.anonymize(table, tie_order=ORDER)
    )
    made = maker.anonymize(table)
    assert content(table.restore_result(made.arrays(), made.steps, made.result_step)) == content(
        made
    )


@pytest.mark.parametrize("maker", DEFAULTS)
def test_figures_are_finite_numbers_by_name(maker, table):
    for step in maker.anonymize(table).steps:
        assert step.figures
        assert all(np.isfinite(value) for value in step.figures.values())
        assert json.loads(json.dumps(dict(step.figures))) == dict(step.figures)


# ---------------------------------------------------------------- refusals and limits


@pytest.mark.parametrize("maker", DEFAULTS)
def test_demands_beyond_the_table_are_refused_before_any_work(maker, table):
    more = dataclasses.replace(table, k=np.full(SMALL, SMALL + 1, dtype=np.int32))
    seen = Seen()
    for work in (maker.admit, lambda data: local.run(maker, data, observer=seen)):
        with pytest.raises(InfeasibleError, match=f"{SMALL} records demand more than {SMALL} rows"):
            work(more)
    assert not seen.states
    maker.admit(table)


@pytest.mark.slow
@pytest.mark.parametrize("maker", [*DEFAULTS, *OTHERS])
def test_stated_memory_is_an_upper_bound(maker):
    maker.anonymize(SIZED[maker.kind](200, 3, 2))  # compiles
    for levels, k in ((3, 12), (40, 3)):
        data = SIZED[maker.kind](3000, levels, k)
        _, peak = traced(lambda data=data: local.run(maker, data, threads=1))
        assert peak <= local.compute_memory(maker, data) <= 12 * peak
        with pytest.raises(LimitError, match=r"3000 records need .* [KM]iB"):
            local.run(maker, data, memory=peak // 2)


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize("maker", LARGE)
def test_settings_survive_as_json(maker):
    settings_of = json.loads(json.dumps(dataclasses.asdict(maker)))
    assert type(maker)(**settings_of) == maker
    assert hash(type(maker)(**settings_of)) == hash(maker)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(maker, dataclasses.fields(maker)[0].name, None)
    with pytest.raises(TypeError):
        type(maker)(None)


@pytest.mark.parametrize("maker", [case for case in LARGE if "toy" not in case.id])
def test_every_word_of_a_choice_and_no_other_is_taken(maker):
    for field in dataclasses.fields(maker):
        if isinstance(field.default, str):
            with pytest.raises(InputError, match=field.name):
                type(maker)(**{field.name: "no such word"})


# ---------------------------------------------------------------- engines


@pytest.mark.parametrize("maker", LARGE)
def test_the_modules_of_its_engines_are_there(maker):
    engines = dict(maker.engines)
    assert set(engines) <= {"local", "dask", "mpi"}
    if not engines["local"]:
        del engines["local"]
    for module in map(importlib.import_module, engines.values()):
        assert callable(module.memory)
        assert callable(module.anonymize)


@pytest.mark.parametrize("maker", LARGE)
def test_an_engine_that_it_does_not_state_is_refused(maker, table):
    shape = {"ranks": 2, "threads": 1, "memory": None}
    works = {
        "dask": lambda: farm.run(maker, table),
        "mpi": lambda: afford_rank(maker, table, **shape),
    }
    for engine in works.keys() - maker.engines.keys():
        with pytest.raises(LimitError, match=f"does not run on engine '{engine}', only on 'local'"):
            works[engine]()


def spread_over(engine):
    return [case for case in LARGE if engine in case.values[0].engines]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two Dask workers: their start takes longer than the work of a small table."""
    started = Cluster(tmp_path_factory.mktemp("cluster"), 2)
    yield started
    kill(*started.processes)


@pytest.mark.slow
@pytest.mark.parametrize("maker", spread_over("dask"))
def test_dask_makes_the_bytes_of_one_process(maker, table, cluster):
    made = cluster.run(table, maker, tie_order=ORDER, threads=1)
    assert content(made) == content(local.run(maker, table, tie_order=ORDER))


@pytest.mark.long
@pytest.mark.skipif(not MPIRUN.exists(), reason="mpirun is not installed beside this Python")
@pytest.mark.parametrize("maker", [spread_over("mpi")[0]])
def test_ranks_make_the_bytes_of_one_process(maker, table, tmp_path):
    job = ordered(tmp_path / "job", maker, table, ORDER, ranks=2)
    assert read_job(job).anonymizer == maker
    done = mpirun(2, "-m", "anon_core.engines.mpi", job)
    assert done.returncode == 0, done.stderr
    assert content(read_result(job, table)[0]) == content(local.run(maker, table, tie_order=ORDER))


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """A folder of jobs that three ranks did after one start: it takes longer than a job."""
    folder = tmp_path_factory.mktemp("jobs")
    for place, case in enumerate(spread_over("mpi")[1:]):
        (maker,) = case.values
        data = SIZED[maker.kind](SMALL, 6, 5)
        ordered(folder / f"{place:02}", maker, data, ORDER, ranks=3)
    done = mpirun(3, *CASES_OF_RANKS, folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not MPIRUN.exists(), reason="mpirun is not installed beside this Python")
@pytest.mark.parametrize(
    ("place", "maker"),
    [
        pytest.param(place, *case.values, id=case.id)
        for place, case in enumerate(spread_over("mpi")[1:])
    ],
)
def test_ranks_make_the_bytes_of_one_process_with_other_settings(place, maker, table, jobs):
    made = read_result(jobs / f"{place:02}", table)[0]
    assert content(made) == content(local.run(maker, table, tie_order=ORDER))
