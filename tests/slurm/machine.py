"""A Slurm in one folder: Debian's munged, slurmctld and slurmd.

Its node is this machine, on the loopback, or its nodes are those of `tests.support.machines`.
"""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tests.flows.processes import terminate

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
STARTS_WITHIN = 60
STOPS_WITHIN = 20

CONFIGURATION = """
ClusterName=crowdcover
SlurmctldHost={host}({address})
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_min_interval=100000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
KillWait=2
{nodes}
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=brief Nodes=ALL MaxTime=2 State=UP
"""


def lacking():
    """Why no Slurm can be started here; None if one can."""
    if os.geteuid() != 0:
        return "starting a Slurm takes root"
    if absent := [program for program in PROGRAMS if shutil.which(program) is None]:
        return (
            f"{', '.join(absent)} not installed: apt-get install slurm-wlm slurmctld slurmd munge"
        )
    return None


@contextmanager
def start_slurm(machines=None):
    """A Slurm in a folder of its own, as `Machine` says, until the end of the context."""
    folder = tempfile.mkdtemp(prefix="cc-slurm-")  # short: sockets have short names
    made = Machine(folder, machines)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)


class Machine:
    """The daemons; they use nothing but the folder, two free ports, and `machines` if given."""

    def __init__(self, folder, machines=None):
        self.folder, self._machines = Path(folder), machines
        self.configuration = self.folder / "slurm.conf"
        self.host = socket.gethostname().partition(".")[0]
        self._processes = []

    def start(self):
        """Start the daemons and wait for the nodes."""
        machines = self._machines
        there = {self.host: "127.0.0.1"} if machines is None else machines.addresses
        for name in ("state", *(f"spool-{node}" for node in there)):
            (self.folder / name).mkdir()
        (self.folder / "munge.key").write_bytes(secrets.token_bytes(1024))
        (self.folder / "munge.key").chmod(0o600)
        self.configuration.write_text(
            CONFIGURATION.format(
                folder=self.folder,
                host=self.host,
                address="127.0.0.1" if machines is None else machines.address,
                ports=_free_ports(),
                nodes="\n".join(
                    f"NodeName={node} NodeAddr={address} CPUs=4 State=UNKNOWN"
                    for node, address in there.items()
                ),
            )
        )
        v2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()
        groups = "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n" if v2 else "CgroupPlugin=cgroup/v1\n"
        (self.folder / "cgroup.conf").write_text(groups)
        files = {
            "key-file": "munge.key",
            "socket": "munge.socket",
            "pid-file": "munged.pid",
            "seed-file": "munge.seed",
        }
        self._start(
            "munged",
            "--foreground",
            "--force",
            *(f"--{option}={self.folder / name}" for option, name in files.items()),
        )
        self._wait((self.folder / "munge.socket").exists)
        self._start("slurmctld", "-D")
        for node in there:
            self._start("slurmd", "-D", node=None if machines is None else node)
        self._wait(
            lambda: (
                self.ask(
                    "sinfo", "--noheader", "--Node", "--partition=debug", "--format=%T"
                ).split()
                == ["idle"] * len(there)
            )
        )

    def stop(self):
        """Stop the daemons, the last first."""
        for process in reversed(self._processes):
            terminate(process, STOPS_WITHIN)

    @property
    def environment(self):
        """What makes Slurm's programs speak with this one."""
        return {"SLURM_CONF": str(self.configuration)}

    def ask(self, *command):
        """Standard output of one of Slurm's programs."""
        environment = {**os.environ, **self.environment}
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=120, check=False
        ).stdout

    def jobs(self):
        """The numbers of the jobs that wait or run."""
        return self.ask("squeue", "--noheader", "--format=%i").split()

    def _start(self, program, *options, node=None):
        words = [program, *options]
        if node is not None:
            words = self._machines.build_command(node, *words)
        with (self.folder / f"{program}-{node}.out").open("wb") as out:
            environment = {**os.environ, **self.environment}
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            # Ctrl-C is for the tests: they still have jobs to cancel.
            process = subprocess.Popen(words, env=environment, start_new_session=True, **streams)
        self._processes.append(process)

    def _wait(self, holds):
        end = time.monotonic() + STARTS_WITHIN
        while not holds():
            if time.monotonic() > end or any(
                process.poll() is not None for process in self._processes
            ):
                said = [
                    line
                    for path in sorted(self.folder.glob("*.out"))
                    for line in path.read_text().splitlines()
                ]
                raise RuntimeError("; ".join(said[-8:]) or "no daemon said why")
            time.sleep(0.2)


def _free_ports():
    held = [socket.socket() for _ in range(2)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()
