"""Machines in one: network namespaces with an address and a host name of their own.

They share the disk. A bridge joins them with this machine, which has the first address. Nothing of
one answers on the loopback of another, so what goes from one to the next goes by its address.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NETWORKS = 250
# In the order of sh's $1 ...: the file of host names, the name of the machine, the command.
INSIDE = 'mount --bind "$1" /etc/hosts && hostname "$2" && shift 2 && exec "$@"'


def find_lacking_right():
    """Say why no machines can be made here; None if they can."""
    if os.geteuid() != 0:
        return "network namespaces take root"
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return "ip or unshare not installed: apt-get install iproute2 util-linux"
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Machines(Path(folder)):
                return None
        except (OSError, subprocess.CalledProcessError):
            return "this kernel or account grants no network namespaces"


class Machines:
    """Two machines beside this one, as a context."""

    names = ("alpha", "beta")

    def __init__(self, folder):
        self._hosts = folder / "hosts"
        self._number(os.getpid() % NETWORKS)

    def _number(self, number):
        self._mark = f"cc{number}"  # interfaces have short names
        network = f"10.213.{number}"
        self.address = f"{network}.1"  # of this machine
        self.addresses = {name: f"{network}.{2 + place}" for place, name in enumerate(self.names)}

    def _start(self):
        """Make the bridge and the machines, on a network that no other process has."""
        for number in range(os.getpid(), os.getpid() + NETWORKS):
            self._number(number % NETWORKS)
            tried = subprocess.run(
                ["ip", "link", "add", self._bridge, "type", "bridge"],
                check=False,
                capture_output=True,
            )
            if tried.returncode == 0:
                break
        else:
            raise OSError("no bridge can be made")
        self._call("addr", "add", f"{self.address}/24", "dev", self._bridge)
        self._call("link", "set", self._bridge, "up")
        lines = ["127.0.0.1 localhost", f"{self.address} {os.uname().nodename}"]
        for name, address in self.addresses.items():
            outer, inner = f"{self._mark}{name[0]}o", f"{self._mark}{name[0]}i"
            self._call("netns", "add", self._space(name))
            self._call("link", "add", outer, "type", "veth", "peer", "name", inner)
            self._call("link", "set", outer, "master", self._bridge, "up")
            self._call("link", "set", inner, "netns", self._space(name))
            self._call("-n", self._space(name), "addr", "add", f"{address}/24", "dev", inner)
            for device in ("lo", inner):
                self._call("-n", self._space(name), "link", "set", device, "up")
            lines.append(f"{address} {name}")
        self._hosts.write_text("\n".join(lines) + "\n")

    def _stop(self):
        """Take them away; what still runs there loses its network."""
        for name in self.names:
            # By itself the pair would go some time after the name space.
            self._call("link", "del", f"{self._mark}{name[0]}o", may_fail=True)
            self._call("netns", "del", self._space(name), may_fail=True)
        self._call("link", "del", self._bridge, may_fail=True)

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_):
        self._stop()

    def build_command(self, name, *words):
        """The words that run a command on a machine."""
        inside = ["unshare", "--uts", "--mount", "sh", "-c", INSIDE, "sh"]
        return ["ip", "netns", "exec", self._space(name), *inside, str(self._hosts), name, *words]

    def find_machine(self, process):
        """The machine on which a process runs, by its number; None if it is this one."""
        for name in self.names:
            if os.path.samefile(f"/proc/{process}/ns/net", f"/run/netns/{self._space(name)}"):
                return name
        return None

    @property
    def _bridge(self):
        return f"{self._mark}b"

    def _space(self, name):
        return f"{self._mark}-{name}"

    def _call(self, *words, may_fail=False):
        subprocess.run(["ip", *words], check=not may_fail, capture_output=may_fail)
