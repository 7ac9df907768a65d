"""Machines of their own on this one: a network, a host name, files and processes each, and a switch between them.

Linux namespaces, which only root may make: a test that asks for them is skipped by name elsewhere.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.smoke_jobs.ddp.conftest import clean_environment

_count = itertools.count()


def why_not() -> str:
    """Why no machines can be made here; "" where they can."""
    missing = [tool for tool in ("ip", "unshare", "nsenter") if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)} (Debian's iproute2 and util-linux)"
    tried = subprocess.run(["unshare", "-numpf", "true"], capture_output=True, text=True, check=False)
    return f"network namespaces are forbidden here: {tried.stderr.strip()}" if tried.returncode else ""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Machine:
    """One machine, reached at `address` from the others and from here."""

    def __init__(self, name: str, address: str) -> None:
        self.name, self.address = name, address
        # The first process of the machine: what stands in it ends with it.
        self.holder = subprocess.Popen(
            ["unshare", "-numpf", "--kill-child", "--mount-proc", "sh", "-c", "echo up; exec sleep infinity"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.holder.stdout is not None and self.holder.stdout.readline() == "up\n"
        children = Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text().split()
        self.init = int(children[0])
        self.port = ""  # of the switch

    def command(self, *words: str) -> list[str]:
        """The command line that runs `words` there."""
        return ["nsenter", "-t", str(self.init), "--net", "--uts", "--mount", "--pid", *words]

    def do(self, *words: str) -> None:
        """Runs a command there to its end."""
        subprocess.run(self.command(*words), check=True, capture_output=True, text=True)

    def mount(self, source: Path, target: str) -> None:
        """Shows a file or a folder there, at an absolute path that this host has too."""
        self.do("mount", "--bind", str(source), target)

    def mount_below(self, source: Path, root: str, name: str) -> None:
        """Shows a folder there as `root`/`name`, where this host has no such name: beside what it has below `root`."""
        layer = f"/tmp/{self.name}-layer"
        script = (
            f"mkdir -p {layer} && mount -t tmpfs none {layer} && mkdir {layer}/upper {layer}/work && "
            f"mount -t overlay none -o lowerdir={root},upperdir={layer}/upper,workdir={layer}/work {root} && "
            f"mkdir -p {root}/{name}"
        )
        self.do("sh", "-ec", script)
        self.mount(source, f"{root}/{name}")

    def start(self, command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[str]:
        """Starts the command of a container there; its `python3` is ours, and it sees `env`."""
        return subprocess.Popen(
            self.command(*command),
            env=clean_environment({"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **env}),
            cwd="/",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def processes(self) -> list[int]:
        """Every process of the machine but its first, which is nobody's work."""
        space = Path(f"/proc/{self.init}/ns/pid").readlink()
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != self.init:
                try:
                    if (folder / "ns" / "pid").readlink() == space:
                        found.append(int(folder.name))
                except OSError:
                    continue  # gone meanwhile
        return found

    def kill(self) -> None:
        """Ends everything on it at once."""
        os.kill(self.init, signal.SIGKILL)

    def stop(self) -> None:
        """Holds every process; the kernel still answers, and no connection closes."""
        for pid in self.processes():
            os.kill(pid, signal.SIGSTOP)

    def cut(self) -> None:
        """Takes it off the network: nobody is told."""
        _ip("link", "set", self.port, "down")

    def close(self) -> None:
        self.holder.kill()
        self.holder.wait()


class Machines:
    """Machines on a switch. Names and addresses are no others' of this host, so that tests may run side by side."""

    def __init__(self, names: Sequence[str], hosts: Mapping[str, Sequence[str]], folder: Path) -> None:
        """Machines of these host names; `hosts`: further names by which the others know one."""
        number = os.getpid() % 4096 * 8 + next(_count) % 8
        self.switch = f"sw{number:x}"
        network = f"10.{192 + number // 2048 % 32}.{number // 8 % 256}.{number % 8 * 32}"
        base, last = network.rsplit(".", 1)
        self.here = f"{base}.{int(last) + 30}"
        self.machines: list[Machine] = []
        try:
            self._connect(names, hosts, folder, base, int(last))
        except BaseException:
            self.close()
            raise

    def _connect(
        self, names: Sequence[str], hosts: Mapping[str, Sequence[str]], folder: Path, base: str, last: int
    ) -> None:
        _ip("link", "add", self.switch, "type", "bridge")
        _ip("addr", "add", f"{self.here}/27", "dev", self.switch)
        _ip("link", "set", self.switch, "up")
        addresses = {name: f"{base}.{last + index + 1}" for index, name in enumerate(names)}
        for index, name in enumerate(names):
            machine = Machine(name, addresses[name])
            self.machines.append(machine)
            machine.port = f"{self.switch}p{index}"
            _ip("link", "add", machine.port, "type", "veth", "peer", "name", "eth0", "netns", str(machine.init))
            _ip("link", "set", machine.port, "master", self.switch, "up")
            machine.do("ip", "addr", "add", f"{machine.address}/27", "dev", "eth0")
            machine.do("ip", "link", "set", "eth0", "up")
            machine.do("ip", "link", "set", "lo", "up")
            machine.do("hostname", name)
            # As Debian and Ubuntu write it: the own name is an address that only the machine itself has.
            lines = ["127.0.0.1 localhost", f"127.0.1.1 {name}"]
            lines += [f"{addresses[other]} {other}" for other in names if other != name]
            lines += [f"{addresses[other]} {' '.join(known)}" for other, known in hosts.items()]
            path = folder / f"hosts-{name}"
            path.write_text("\n".join(lines) + "\n")
            machine.mount(path, "/etc/hosts")

    def close(self) -> None:
        # The ports by name: a network of a machine lives on while any process of it does, and its end with it.
        for link in (*(machine.port for machine in self.machines if machine.port), self.switch):
            subprocess.run(["ip", "link", "del", link], check=False, capture_output=True)
        for machine in self.machines:
            machine.close()
