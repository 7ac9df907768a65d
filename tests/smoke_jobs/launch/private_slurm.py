"""A Slurm cluster on loopback with its own munge key, ports and state; gone after the test."""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.smoke_jobs.machines import Machines

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")


def missing() -> list[str]:
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


@contextmanager
def cluster(home: Path, machines: Machines | None = None) -> Iterator[dict[str, str]]:
    """Starts the daemons; yields the environment that Slurm's commands need.

    The nodes have two cores each and are this host, or `machines`. A step gets the cores that it asks for and no
    others, as where a site binds them.
    """
    environment = os.environ | {
        "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        "SLURM_CONF": str(home / "slurm.conf"),
    }
    host, user = socket.gethostname().split(".")[0], getpass.getuser()
    control, port = _free_ports(2)
    here = machines.here if machines else "127.0.0.1"
    addresses = {machine.name: machine.address for machine in machines.machines} if machines else {host: here}
    for name in ("state", "spool"):
        (home / name).mkdir()
    nodes = "\n".join(
        f"NodeName={name} NodeAddr={address} Port={port} Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=8000 "
        "CpuBind=core State=UNKNOWN"
        for name, address in addresses.items()
    )
    key = home / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    (home / "slurm.conf").write_text(
        f"""ClusterName=private
SlurmctldHost={host}({here})
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
CredType=cred/munge
SlurmctldPort={control}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool/%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd-%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MinJobAge=300
KillWait=10
{nodes}
PartitionName=smoke Nodes={",".join(addresses)} Default=YES MaxTime=60 State=UP
"""
    )
    (home / "cgroup.conf").write_text("CgroupAutomount=no\n")
    with ExitStack() as stack:

        def start(*command: str) -> None:
            log = stack.enter_context((home / f"{Path(command[0]).name}.out").open("ab"))
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
            stack.callback(_stop, process)

        start(
            "munged", "--foreground", "--force", f"--socket={home}/munge.socket", f"--key-file={key}",
            f"--pid-file={home}/munged.pid", f"--log-file={home}/munged.log", f"--seed-file={home}/munged.seed",
        )  # fmt: skip
        _until(lambda: (home / "munge.socket").exists(), home)
        start("slurmctld", "-D")
        for name in addresses:
            (home / "spool" / name).mkdir()
        if machines is None:
            start("slurmd", "-D", "-N", host)
        else:
            for machine in machines.machines:
                start(*machine.command("slurmd", "-D", "-N", machine.name))
        _until(lambda: _idle(environment), home)
        yield environment


def _idle(environment: dict[str, str]) -> bool:
    answer = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False)
    return set(answer.stdout.split()) == {"idle"}


def _until(ready, home: Path, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            logs = "\n".join(f"{path.name}: {path.read_text()[-800:]}" for path in sorted(home.glob("*.log")))
            raise AssertionError(f"the private Slurm did not start:\n{logs}")
        time.sleep(0.2)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
