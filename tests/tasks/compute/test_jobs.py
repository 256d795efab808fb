"""Jobs of this machine, by mpirun: watched, cancelled, found again, submitted again.

A pretended engine runs inside them.
"""

import json
import os
import signal
import stat
import time
from datetime import timedelta
from pathlib import Path

import psij
import pytest

from anon_core.errors import ClusterError
from crowdcover.tasks.compute import cluster as clusters
from crowdcover.tasks.compute import jobs, slurm
from crowdcover.tasks.compute.cluster import (
    cancel_folder_job,
    cancel_jobs_of,
    require_ready_cluster,
)
from crowdcover.tasks.compute.jobs import run_job
from crowdcover.tasks.compute.slurm import JobRecord, NoAnswer
from crowdcover.tasks.compute.spec import Cluster
from tests.flows.processes import start
from tests.tasks.compute import pretender
from tests.tasks.compute.pretender import order

ROOT = Path(__file__).parents[3]
HERE = Cluster("mpirun", tasks_per_node=2)


@pytest.fixture(autouse=True)
def _pretended(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def go(folder, cluster=HERE, watch=lambda state: None, owner=""):
    """Have a result, by the engine that is pretended."""
    os.environ["PYTHONPATH"] = str(ROOT)  # where a process of its own runs this, too
    run_job(folder, folder.parent / "logs", cluster, watch, owner, "tests.tasks.compute.pretender")


def logs(folder):
    return sorted(path.name for path in (folder.parent / "logs").iterdir())


def alive(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ranks(folder):
    return [int((folder / f"pid-{rank}").read_text()) for rank in range(2)]


def wait_for(holds, within=60):
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def in_iteration(folder, number):
    path = folder / "progress.json"
    return path.exists() and json.loads(path.read_text())["step"] >= number - 1


@pytest.mark.long
def test_a_job_is_watched_from_start_to_result(tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "zq7-secret")
    folder = order(tmp_path / "job", watched=True)
    seen = []

    def watch(state):
        seen.append(state)
        if state.progress:
            pretender.seen(folder, state.progress.step)

    go(folder, watch=watch)
    assert (folder / "result.json").exists()
    assert seen[0].line() == f"job {seen[0].job} runs"
    assert seen[-1].line() == f"job {seen[0].job} is completed"
    told = [state.progress.step for state in seen if state.progress]
    assert told == sorted(told)
    assert set(told) == {1, 2, 3, 4}
    assert {state.progress.ranks for state in seen if state.progress} == {2}
    environment = (folder / "environment.json").read_text()
    assert "zq7" not in environment
    assert "PGPASSWORD" not in environment


def test_all_that_a_job_leaves_is_the_owners_only_and_in_the_vault(tmp_path):
    home = psij.JobExecutorConfig.DEFAULT_WORK_DIRECTORY
    before = sorted(home.rglob("*"))
    folder = order(tmp_path / "job")
    go(folder)
    assert logs(folder) == ["1.err", "1.out"]
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "logs").iterdir()} == {0o600}
    assert stat.S_IMODE((folder / "submission").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "psij").stat().st_mode) == 0o700
    assert sorted(home.rglob("*")) == before


def test_a_rank_that_is_killed_is_followed_by_a_job_that_goes_on(tmp_path):
    folder = order(tmp_path / "job", die=[[1, 3]])
    seen = []
    go(folder, watch=seen.append)
    assert logs(folder) == ["1.err", "1.out", "2.err", "2.out"]
    over = [state for state in seen if state.state == "over"]
    assert len(over) == 1
    assert "lost a process (exit code " in over[0].line()
    assert over[0].line().endswith("; another goes on after iteration 2)")
    assert over[0].job != seen[-1].job


@pytest.mark.slow
def test_progress_pays_for_any_number_of_jobs(tmp_path):
    folder = order(tmp_path / "job", die=[[1, 1], [2, 2], [3, 3], [4, 4]])
    go(folder, Cluster("mpirun", tasks_per_node=2, resubmit=1))
    assert len(logs(folder)) == 10


@pytest.mark.long
def test_jobs_without_progress_come_to_an_end(tmp_path):
    folder = order(tmp_path / "job", die=[[attempt, 2] for attempt in range(1, 9)])
    with pytest.raises(
        ClusterError,
        match=r"lost a process .* 2 jobs in a row have finished no iteration; see its log",
    ):
        go(folder, Cluster("mpirun", tasks_per_node=2, resubmit=1))
    assert len(logs(folder)) == 2 * 3  # the first of them finished one


def test_what_the_engine_refuses_is_not_tried_again(tmp_path):
    folder = order(tmp_path / "job", refuse=[[1, 2]])
    with pytest.raises(ClusterError, match="was refused: 90 MiB are needed, 80 MiB are allowed"):
        go(folder)
    assert logs(folder) == ["1.err", "1.out"]
    (folder / "failure.json").unlink()  # as writing the order again does
    go(folder)
    assert (folder / "result.json").exists()


@pytest.mark.long
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_whatever_stops_the_watch_cancels_the_job(tmp_path, error):
    folder = order(tmp_path / "job", hang=[[1, 2]])

    def watch(state):
        if state.progress and state.progress.step:
            raise error

    with pytest.raises(error):
        go(folder, watch=watch)
    wait_for(lambda: not any(map(alive, ranks(folder))))
    assert not (folder / "result.json").exists()


@pytest.mark.slow
def test_a_flow_that_is_killed_finds_its_job_again(tmp_path):
    folder = order(tmp_path / "job", pause=0.5, most=6)
    process, _ = start(go, folder)
    wait_for(lambda: in_iteration(folder, 3))
    process.kill()
    process.join()
    before = ranks(folder)
    assert all(map(alive, before))
    seen = []
    go(folder, watch=seen.append, owner="the next")
    assert logs(folder) == ["1.err", "1.out"]
    assert ranks(folder) == before
    assert seen[0].progress.step >= 2
    assert json.loads((folder / "submission").read_text())["owner"] == "the next"


@pytest.mark.slow
def test_a_job_is_found_even_if_its_number_was_never_written(tmp_path):
    folder = order(tmp_path / "job", pause=0.5, most=6)
    process, _ = start(go_without_number, folder)
    process.join()
    assert "number" not in json.loads((folder / "submission").read_text())
    go(folder)
    assert logs(folder) == ["1.err", "1.out"]


def go_without_number(folder):
    """Die between the submission and the note of its number."""
    write = clusters.write_json
    clusters.write_json = lambda path, document: (
        os._exit(9) if "number" in document else write(path, document)
    )
    go(folder)


@pytest.mark.long
def test_the_jobs_of_a_flow_run_are_cancelled_wherever_they_are(tmp_path):
    folders = [order(make(tmp_path / "runs" / name) / "job", hang=[[1, 1]]) for name in ("a", "b")]
    for folder, owner in zip(folders, ("mine", "another's"), strict=True):
        process, _ = start(go, folder, HERE, print, owner)
        wait_for(
            lambda folder=folder: (
                (folder / "environment.json").exists() and (folder / "pid-1").exists()
            )
        )
        process.kill()
        process.join()
    cancel_jobs_of("mine", tmp_path / "runs")
    wait_for(lambda: not any(map(alive, ranks(folders[0]))))
    assert all(map(alive, ranks(folders[1])))
    assert cancel_folder_job(folders[1])
    wait_for(lambda: not any(map(alive, ranks(folders[1]))))
    assert cancel_folder_job(folders[1])  # there is none to cancel


def make(folder):
    folder.mkdir(parents=True)
    return folder


# ---------------------------------------------------------------- how jobs of Slurm end


class Ended:
    """A job of Slurm that has ended, with an exit code."""

    launcher, number, after = "slurm", "12", 2

    def __init__(self, state, code=None, iterations=2, folder=None):
        self.state, self.code, self.iterations, self.folder = state, code, iterations, folder

    def look(self):
        progress = {
            "step": self.iterations,
            "most": 9,
            "advanced": 0,
            "records": 10,
            "figures": {"utility": 0.5, "cover_edges": 7},
        }
        rest = {"seconds": [1.0] * self.iterations, "ranks": 2, "host": "n1"}
        (self.folder / "progress.json").write_text(json.dumps({**progress, **rest}))
        return JobRecord(self.state, "", "n1")

    def exit_code(self):
        return self.code

    def cancel(self):
        raise AssertionError("a job that has ended is not to be cancelled")


def ended(tmp_path, monkeypatch, *ends, resubmit=3):
    """Have jobs end like that, one after the other; the words of the watch."""
    queue, said = [Ended(*end, folder=tmp_path) for end in ends], []
    monkeypatch.setattr(jobs, "under_way", lambda *_: None)
    monkeypatch.setattr(jobs, "submit_job", lambda *_: queue.pop(0))
    cluster = Cluster("slurm", resubmit=resubmit)
    with pytest.raises(ClusterError) as refusal:
        run_job(tmp_path, tmp_path / "logs", cluster, lambda state: said.append(state.line()))
    assert not queue
    return str(refusal.value), said


FINAL = {
    "cancelled from outside": (
        ("CANCELLED",),
        "job 12 was cancelled from outside; run again to go on from its last iteration",
    ),
    "out of memory": (
        ("OUT_OF_MEMORY",),
        "job 12 ran out of memory; ask for more with compute.cluster.options.mem",
    ),
    "past its deadline": (("DEADLINE",), "job 12 missed its deadline"),
    "no iteration in its time": (
        ("TIMEOUT",),
        "job 12 reached its time limit within an iteration; raise compute.cluster.time_limit",
    ),
    "no mpirun": (("COMPLETED", 127), "job 12 found no mpirun or no Python where it ran"),
}


@pytest.mark.parametrize(("end", "words"), FINAL.values(), ids=FINAL.keys())
def test_ends_that_no_further_job_can_mend(tmp_path, monkeypatch, end, words):
    assert ended(tmp_path, monkeypatch, end)[0].startswith(words)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("TIMEOUT", "reached its time limit"),
        ("NODE_FAIL", "lost a node"),
        ("PREEMPTED", "had to make room for another"),
    ],
)
def test_ends_after_which_another_job_goes_on(tmp_path, monkeypatch, state, words):
    refusal, said = ended(tmp_path, monkeypatch, (state, None, 3), ("CANCELLED", None, 4))
    assert f"job 12 is over (it {words}; another goes on after iteration 3)" in said
    assert refusal.startswith("job 12 was cancelled from outside")


def test_nodes_that_fail_again_and_again(tmp_path, monkeypatch):
    refusal, said = ended(tmp_path, monkeypatch, *[("NODE_FAIL",)] * 3, resubmit=2)
    assert "job 12 lost a node, and 3 jobs in a row have finished no iteration" in refusal
    assert len([words for words in said if "another goes on" in words]) == 2


@pytest.mark.parametrize("reason", slurm.IN_VAIN)
def test_a_job_that_would_wait_for_ever_is_cancelled(tmp_path, monkeypatch, reason):
    waits, cancelled = Ended("PENDING"), []
    waits.look = lambda: JobRecord("PENDING", reason)
    monkeypatch.setattr(jobs, "under_way", lambda *_: waits)
    waits.cancel = lambda: cancelled.append(reason)
    with pytest.raises(ClusterError, match="job 12 would wait for ever: ") as refusal:
        run_job(tmp_path, tmp_path / "logs", Cluster("slurm"), lambda state: None)
    assert "compute.cluster" in str(refusal.value)
    assert cancelled == [reason]


def test_a_controller_that_does_not_answer_is_waited_for(tmp_path, monkeypatch):
    answers, said = [NoAnswer, NoAnswer, JobRecord("CANCELLED")], []
    waits = Ended("RUNNING")

    def look():
        answer = answers.pop(0)
        if answer is NoAnswer:
            raise NoAnswer
        return answer

    waits.look = look
    monkeypatch.setattr(jobs, "under_way", lambda *_: waits)
    monkeypatch.setattr(jobs, "FIRST_PAUSE", 0.01)
    with pytest.raises(ClusterError, match="cancelled from outside"):
        run_job(
            tmp_path, tmp_path / "logs", Cluster("slurm"), lambda state: said.append(state.line())
        )
    assert said[0] == "job 12 is unknown (Slurm's controller does not answer)"


def test_looks_grow_rare_while_nothing_changes_and_frequent_when_something_does(
    tmp_path, monkeypatch
):
    pauses, waits = [], Ended("PENDING")
    records = [JobRecord("PENDING")] * 20 + [JobRecord("RUNNING")] * 3 + [JobRecord("CANCELLED")]
    waits.look = lambda: records.pop(0)
    monkeypatch.setattr(jobs, "under_way", lambda *_: waits)
    monkeypatch.setattr(jobs.time, "sleep", pauses.append)
    with pytest.raises(ClusterError):
        run_job(tmp_path, tmp_path / "logs", Cluster("slurm"), lambda state: None)
    assert pauses[:20] == sorted(pauses[:20])
    assert (pauses[0], pauses[19]) == (jobs.FIRST_PAUSE, jobs.LONGEST_PAUSE)
    assert pauses[20] == jobs.FIRST_PAUSE


# ---------------------------------------------------------------- refused before any work


def refused(cluster, folder="/vault/runs/1"):
    with pytest.raises(ClusterError) as refusal:
        require_ready_cluster(cluster, Path(folder))
    return str(refusal.value)


def test_a_folder_that_job_scripts_do_not_take():
    assert "has blanks or signs that job scripts do not take" in refused(HERE, "/my vault/runs/1")


def test_libraries_that_are_not_installed(monkeypatch):
    monkeypatch.setattr(clusters, "find_spec", lambda name: None)
    assert refused(HERE) == "psij and mpi4py not installed; pip install 'crowdcover[cluster]'"


def test_a_machine_without_slurm(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(Cluster("slurm")).startswith(
        "this machine has no sbatch, scancel, scontrol, squeue; run on one that submits"
    )


def program(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)


def test_a_partition_that_slurm_does_not_know(monkeypatch, tmp_path):
    for name in slurm.NEEDED:
        program(tmp_path, name, "exit 1")
    program(
        tmp_path,
        "scontrol",
        'if [ "$4" = zq7 ]; then echo "Partition zq7 not found"; exit 1; fi\n'
        "echo PartitionName=debug State=UP; echo PartitionName=long State=UP",
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(Cluster("slurm", partition="zq7")) == (
        "compute.cluster.partition is not known to Slurm; allowed: debug, long"
    )
    require_ready_cluster(Cluster("slurm", partition="long"), Path("/vault/runs/1"))
    require_ready_cluster(Cluster("slurm"), Path("/vault/runs/1"))


def test_a_controller_that_is_down(monkeypatch, tmp_path):
    for name in slurm.NEEDED:
        program(tmp_path, name, "echo Unable to contact slurm controller >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (
        refused(Cluster("slurm", partition="long"))
        == "Slurm's controller does not answer; run again when it does"
    )
    with pytest.raises(NoAnswer):
        slurm.find_job_record("1")
    with pytest.raises(NoAnswer):
        slurm.find_job_number("name")


def test_what_slurm_says_of_a_job(monkeypatch, tmp_path):
    line = (
        "JobId=7 JobName=x JobState=PENDING Reason=Resources Dependency=(null) ExitCode=0:0 "
        "BatchHost=n1 NumNodes=1"
    )
    program(
        tmp_path,
        "scontrol",
        f'if [ "$4" = 7 ]; then echo "{line}"; else echo Invalid job id specified >&2; exit 1; fi',
    )
    program(tmp_path, "squeue", 'if [ "$4" = --name=x ]; then echo 7; fi')
    monkeypatch.setenv("PATH", str(tmp_path))
    assert slurm.find_job_record("7") == JobRecord("PENDING", "Resources", "n1")
    assert slurm.find_job_record("8") is None
    assert (slurm.find_job_number("x"), slurm.find_job_number("y")) == ("7", None)


def test_a_plans_words_reach_the_job_script_as_they_are(tmp_path, monkeypatch):
    """What PSI/J submits for Slurm: directives from the plan, only the variables a job needs."""
    interrupted = signal.getsignal(signal.SIGINT)
    script = tmp_path / "script"
    program(tmp_path, "sbatch", f'cp "$1" {script}; echo Submitted batch job 41')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PGPASSWORD", "zq7-secret")
    wanted = Cluster(
        "slurm",
        2,
        3,
        4,
        "long",
        "research",
        timedelta(hours=30, minutes=5),
        "srun",
        "pmi2",
        3,
        (("constraint", "avx512"),),
    )
    folder = order(tmp_path / "job")
    handle = clusters.submit_job(
        folder, tmp_path / "logs", wanted, "me", "tests.tasks.compute.pretender", 0
    )
    assert handle.number == "41"
    assert json.loads((folder / "submission").read_text()) == {
        "launcher": "slurm",
        "owner": "me",
        "after": 0,
        "number": "41",
    }
    lines = script.read_text().splitlines()
    for directive in (
        *(
            "nodes=2",
            "ntasks=6",
            "ntasks-per-node=3",
            "cpus-per-task=4",
            "time=1-6:5:0",
            "export=NONE",
        ),
        *('partition="long"', 'account="research"', 'constraint="avx512"', f'chdir="{folder}"'),
    ):
        assert f"#SBATCH --{directive}" in lines
    assert "export SLURM_MPI_TYPE=pmi2" in lines
    assert "zq7" not in script.read_text()
    assert signal.getsignal(signal.SIGINT) is interrupted


def test_what_sbatch_refuses_is_said(tmp_path, monkeypatch):
    program(
        tmp_path,
        "sbatch",
        "echo 'sbatch: error: Batch job submission failed: Invalid account' >&2; exit 1",
    )
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(slurm, "find_job_number", lambda name: None)
    with pytest.raises(ClusterError) as refusal:
        go(order(tmp_path / "job"), Cluster("slurm"))
    assert str(refusal.value) == (
        "the job was refused: Batch job submission failed: Invalid account; fix [compute] cluster"
    )
