"""Stands in for the engine inside a job: steps of a stated length, trouble where stated."""

import json
import os
import signal
import sys
import time
from pathlib import Path


def write(path, document):
    aside = path.with_name(f".{path.name}")
    aside.write_text(json.dumps(document))
    os.rename(aside, path)


def order(folder, **order):
    """Write what the job is to do: most, pause, and die, hang or refuse = [attempt, step].

    With `watched` no step begins before the one before it was `seen`.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    write(folder / "order.json", {"most": 4, "pause": 0.05, **order})
    return folder


def attempts(folder):
    """How many jobs have begun, and the iterations that each of them made."""
    return [json.loads(line) for line in (folder / "attempts").read_text().splitlines()]


def seen(folder, step):
    write(folder / "seen.json", step)


def last_seen(folder):
    path = folder / "seen.json"
    return json.loads(path.read_text()) if path.exists() else 0


def main(folder):
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    asked = json.loads((folder / "order.json").read_text())
    begun = folder / f"begun-{world.rank}"
    attempt = 1 + (begun.stat().st_size if begun.exists() else 0)
    with begun.open("a") as handle:
        handle.write(".")
    (folder / f"pid-{world.rank}").write_text(str(os.getpid()))
    (folder / "environment.json").write_text(json.dumps(dict(os.environ)))
    path, seconds = folder / "progress.json", []
    if path.exists():
        seconds = json.loads(path.read_text())["seconds"]
    world.barrier()
    for number in range(len(seconds) + 1, asked["most"] + 1):
        time.sleep(asked["pause"])
        if trouble := next(
            (
                kind
                for kind in ("die", "hang", "refuse")
                if [attempt, number] in asked.get(kind, [])
            ),
            None,
        ):
            if trouble == "refuse":
                if world.rank == 0:
                    reason = {"reason": "90 MiB are needed, 80 MiB are allowed"}
                    write(folder / "failure.json", reason)
                world.barrier()  # mpirun ends all ranks once one of them has left
                sys.exit(2)
            if trouble == "die" and world.rank == world.size - 1:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(600)
        world.barrier()
        seconds.append(asked["pause"])
        if world.rank == 0:
            shown = {
                "step": number,
                "most": asked["most"],
                "advanced": 0,
                "records": 1000,
                "figures": {"utility": number / 10, "cover_edges": 7},
            }
            rest = {"seconds": seconds, "ranks": world.size, "host": os.uname().nodename}
            write(path, {**shown, **rest})
            while asked.get("watched") and number > last_seen(folder):
                time.sleep(0.02)
    world.barrier()
    if world.rank == 0:
        write(folder / "result.json", {})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
