"""How far the iterations are, by a clock that the test sets."""

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from anon_core.engines.mpi.job import Progress as Told
from anon_core.steps import State, Step
from crowdcover.tasks.compute import progress as module
from crowdcover.tasks.compute.jobs import JobState
from crowdcover.tasks.compute.progress import JobProgress, StepProgress

FIGURES = {"utility": 0.5, "cover_edges": 7}


class Stage:
    """Prefect, the log, a bar and a clock, all of them pretended."""

    def __init__(self, monkeypatch):
        self.now, self.told, self.lines, self.kept, self.away = 100.0, [], [], [], False
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(module, "find_flow_run", lambda: "a flow run")
        monkeypatch.setattr("prefect.artifacts.create_progress_artifact", self.create)
        monkeypatch.setattr("prefect.artifacts.update_progress_artifact", self.update)
        monkeypatch.setattr(module, "log_line", lambda line, **_: self.lines.append(line))
        self.bar = Progress(console=Console(file=io.StringIO()))

    def create(self, progress, **_):
        if self.away:
            raise ConnectionError
        self.told.append(progress)
        return "id"

    def update(self, artifact_id, progress, description=None):
        assert artifact_id == "id"
        self.described = description
        if self.away:
            raise ConnectionError
        self.told.append(progress)

    def start(self, seconds=(), most=4):
        progress = StepProgress(1000, seconds, lambda *kept: self.kept.append(kept), self.bar)
        progress.expects(most)
        return progress

    @property
    def completed(self):
        return self.bar.tasks[0].completed


def state(number):
    return State({}, tuple(Step(n + 1, FIGURES) for n in range(number)))


@pytest.fixture
def stage(monkeypatch):
    return Stage(monkeypatch)


def test_the_bar_moves_within_an_iteration(stage):
    progress = stage.start()
    stage.now += 2
    progress.report_records(500)
    assert stage.completed == 0.5
    assert stage.bar.tasks[0].fields["speed"] == "250 records/s"
    stage.now += 2
    progress.on_step(state(1))
    stage.now += 2
    progress.report_records(250)
    assert stage.completed == 1.25
    assert stage.bar.tasks[0].fields == {"utility": "utility 0.5000", "speed": "125 records/s"}
    assert stage.told == [0, 12.5, 25, 31.25]
    assert progress.seconds == [4.0]


def test_prefect_is_told_once_a_second_and_of_the_end(stage):
    progress = stage.start()
    for records in range(0, 1000, 10):
        stage.now += 0.03
        progress.report_records(records)
    for number in (1, 2):
        stage.now += 0.03
        progress.on_step(state(number))
    progress.finish()
    assert len(stage.told) == 1 + 3 + 1
    assert stage.told[-1] == 100
    assert stage.completed == 4


def test_a_server_that_is_away_from_the_start_does_not_stop_the_work(stage):
    stage.away = True
    progress = stage.start()
    stage.now += 2
    progress.on_step(state(1))
    JobProgress(1000, stage.bar)
    assert (stage.completed, stage.told) == (1, [])


def test_an_iteration_is_kept_before_it_is_told(stage):
    progress = stage.start()
    stage.now += 0.5
    progress.on_step(state(1))
    assert [(len(kept.steps), seconds) for kept, seconds in stage.kept] == [(1, [0.5])]
    assert stage.lines == [
        "iteration 1 of at most 4: utility 0.5000, cover edges 7, 2,000 records/s"
    ]


def test_checkpoints_that_take_long_are_not_written_at_each_step(stage):
    """One that took 2 s lets 18 pass until the next; those of no time are always due."""
    taken = iter([0.5, 2, 2, 0])
    progress = stage.start(most=9)

    def keep(state, _):
        stage.kept.append(len(state.steps))
        stage.now += next(taken)

    progress._keep = keep
    for number in range(1, 8):
        stage.now += 6
        progress.on_step(state(number))
    assert stage.kept == [1, 2, 5]
    assert progress.seconds == [6, 6.5, 8, 6, 6, 8, 6]


def test_parts_tell_how_many_records_are_done(stage):
    """Two that end at the same time, after 4 s of work."""
    progress = stage.start()
    for number, seconds in ((1, 4), (2, 0)):
        stage.now += seconds
        steps = tuple(Step(n + 1, {"records": 250 * (n + 1)}) for n in range(number))
        progress.on_step(State({}, steps))
    assert stage.lines == [
        "part 1 of at most 4: 250 of 1,000 records, 62 records/s",
        "part 2 of at most 4: 500 of 1,000 records, 125 records/s",
    ]


def test_a_run_that_goes_on_starts_where_it_was(stage):
    progress = stage.start([1.5, 2.5])
    assert stage.completed == 2
    assert stage.told == [50]
    assert stage.lines == ["continuing after iteration 2 of at most 4"]
    stage.now += 1
    progress.on_step(state(3))
    assert progress.seconds == [1.5, 2.5, 1.0]
    assert stage.told == [50, 75]


def test_a_method_with_an_unknown_number_of_steps(stage):
    progress = stage.start(most=None)
    for number in (1, 2):
        stage.now += 2
        progress.on_step(state(number))
    progress.finish()
    assert stage.bar.tasks[0].total is None
    assert stage.completed == 2
    assert stage.lines == [
        f"iteration {number}: utility 0.5000, cover edges 7, 500 records/s" for number in (1, 2)
    ]
    assert set(stage.told) == {0}


def test_a_server_that_goes_away_does_not_stop_the_work(stage):
    progress = stage.start()
    stage.away = True
    stage.now += 2
    progress.report_records(500)
    stage.away = False
    progress.on_step(state(1))
    progress.finish()
    assert stage.told == [0]
    assert len(stage.kept) == 1


def look(state, done, advanced=0, reason="", node=""):
    """What a look at a job of two ranks finds after some iterations."""
    told = Told(
        step=done,
        most=4,
        advanced=advanced,
        records=1000,
        figures={"utility": 0.5 + done / 100, "cover_edges": 7} if done else {},
        seconds=[2.0] * done,
        ranks=2,
        host="n1",
    )
    return JobState("12", state, reason, node, told)


def test_a_job_is_told_on_change_only(stage):
    progress = JobProgress(1000, stage.bar)
    progress.show_state(JobState("12", "PENDING", "Resources", "", None))
    progress.show_state(JobState("12", "PENDING", "Resources", "", None))
    for done, advanced in ((0, 0), (0, 500), (1, 0), (1, 250), (3, 0)):
        stage.now += 2
        progress.show_state(look("RUNNING", done, advanced, node="n1"))
    assert stage.completed == 3
    assert stage.lines == [
        "job 12 waits in the queue (Resources)",
        "job 12 runs on n1",
        "iteration 1 of at most 4: utility 0.5100, cover edges 7, 500 records/s",
        "iteration 3 of at most 4: utility 0.5300, cover edges 7, 500 records/s",
    ]
    assert stage.told == [0, 0, 12.5, 25, 31.25, 75]
    assert stage.described == "job 12 runs on n1"
