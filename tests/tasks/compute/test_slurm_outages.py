"""Slurm's controller is away for a while: a run waits, and submits no job twice."""

import psij
import pytest

from anon_core.errors import ClusterError
from crowdcover.storage.places.outages import wait_out_outages
from crowdcover.tasks.compute import cluster as clusters
from crowdcover.tasks.compute import jobs, slurm
from crowdcover.tasks.compute.cluster import require_ready_cluster
from crowdcover.tasks.compute.jobs import run_job
from crowdcover.tasks.compute.slurm import JobRecord, NoAnswer
from crowdcover.tasks.compute.spec import Cluster

CLUSTER = Cluster("slurm", partition="long")
AWAY = "sbatch: error: Batch job submission failed: Unable to contact slurm controller"
REFUSED = "sbatch: error: invalid partition specified: nights"


@pytest.fixture
def said(waited):
    """What a run says meanwhile."""
    lines = []
    with wait_out_outages(lines.append):
        yield lines


class Controller:
    """A controller that does not answer at first; `lost`: a job was submitted nevertheless."""

    def __init__(self, monkeypatch, fails, *, lost=False, words=AWAY):
        self.fails, self.lost, self.words, self.submitted, self.results = fails, lost, words, 0, 0
        monkeypatch.setattr(jobs, "has_result", lambda _: self.results > 0)
        monkeypatch.setattr(jobs, "under_way", self.find)
        monkeypatch.setattr(clusters, "build_job_executor", lambda *_: self)
        monkeypatch.setattr(jobs, "_follow_job", self.follow)

    def find(self, *_):
        return "the job" if self.submitted else None

    def submit(self, job):
        self.fails -= 1
        if self.fails < 0 or self.lost:
            self.submitted += 1
            job._native_id = "7"
        if self.fails >= 0:
            raise psij.SubmitException(self.words)

    def follow(self, *_):
        self.results += 1
        return JobRecord("COMPLETED")


@pytest.mark.parametrize(("lost", "tries"), [(False, 3), (True, 1)])
def test_a_submission_is_tried_again_unless_the_job_is_there(
    tmp_path, monkeypatch, said, lost, tries
):
    controller = Controller(monkeypatch, tries, lost=lost)
    run_job(tmp_path, tmp_path / "logs", CLUSTER, lambda _: None)
    assert controller.submitted == 1
    assert said == [
        f"waiting for Slurm's controller (NoAnswer): try {number} of at most 8 in {pause} s"
        for number, pause in ((2, 1), (3, 2), (4, 4))[:tries]
    ]


def test_a_refused_submission_is_not_tried_again(tmp_path, monkeypatch, said):
    controller = Controller(monkeypatch, 1, words=REFUSED)
    monkeypatch.setattr(jobs, "cancel_folder_job", lambda _: True)
    with pytest.raises(ClusterError, match="invalid partition specified"):
        run_job(tmp_path, tmp_path / "logs", CLUSTER, lambda _: None)
    assert (controller.submitted, said) == (0, [])


def test_a_controller_that_stays_away(tmp_path, monkeypatch, said):
    Controller(monkeypatch, 99)
    with pytest.raises(ClusterError, match="does not answer; run again when it does"):
        run_job(tmp_path, tmp_path / "logs", CLUSTER, lambda _: None)
    assert len(said) == 7


def test_the_partition_is_asked_for_again(tmp_path, monkeypatch, said):
    answers = [NoAnswer, NoAnswer, True]

    def answer(_):
        found = answers.pop(0)
        if found is NoAnswer:
            raise NoAnswer
        return found

    monkeypatch.setattr(slurm, "list_missing_programs", list)
    monkeypatch.setattr(slurm, "has_partition", answer)
    require_ready_cluster(CLUSTER, tmp_path)
    assert (len(said), answers) == (2, [])
