"""The way to a cluster's private API while Pulumi runs: a session of Session Manager through the stack's bastion.

`python -m trainyard.fleet.tunnel WAYS` keeps the ways open for as long as its standard input is, and no longer: who
holds the other end of that pipe may be killed in any manner, and no session stays behind. It asks through the `aws`
program, as whom the stack's own program comes in (`aws.profile`, `aws.assumeRole`).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from trainyard.conventions.aws import bastion_name, tunnel_port
from trainyard.fleet.asking import NoAnswerError, ask

if TYPE_CHECKING:
    from trainyard.plan.parts import ClusterPlan, Plan

FORWARD: Final = "AWS-StartPortForwardingSessionToRemoteHost"
"""Amazon's own document of Session Manager: one local port to one host that the instance reaches."""

PROGRAMS: Final = ("aws", "session-manager-plugin")
"""What a session takes on the path: the second is started by the first."""

ASK_AGAIN_SECONDS: Final = 5.0
"""Between two looks for a bastion or a cluster that is not there yet, and before an ended session is opened again."""

AGAIN_SECONDS: Final = 2.0
"""Before a session that failed is tried again."""

OPEN_SECONDS: Final = 60.0
"""A session that does not listen by then is given up: one does within a few seconds."""

TRIES: Final = 3
"""Sessions that may fail before the way is told as closed: an instance that has just started is not known to Session
Manager for a few seconds."""

CLOSE_SECONDS: Final = 10.0
"""A session that has not ended by then, after it was told to, is killed."""

_OPEN: Final = "open"
_SESSION_NAME: Final = "trainyard"


class TunnelError(Exception):
    """There is no way to the cluster's API; the text says why."""


@dataclass(frozen=True, slots=True)
class Way:
    """The way to one cluster's API."""

    cluster: str
    region: str
    bastion: str  # tag `Name` of the instance
    port: int  # local
    profile: str | None = None
    role: str | None = None  # its ARN; of the account that the cluster is in

    def session(self, target: str, host: str) -> list[str]:
        """The command that forwards the local port to a host through an instance, until it ends."""
        wanted = {"host": [host], "portNumber": ["443"], "localPortNumber": [str(self.port)]}
        start = ["aws", "ssm", "start-session", "--region", self.region, "--target", target]
        return [*start, "--document-name", FORWARD, "--parameters", json.dumps(wanted)]


def way_to(plan: Plan, cluster: ClusterPlan) -> Way | None:
    """The way to a cluster's API as whoever calls; None where no bastion leads there."""
    ground = plan.ground
    if ground.kind != "aws" or ground.control_plane(cluster.name).access.bastion is None:
        return None
    return Way(cluster.name, ground.region, bastion_name(plan.core.name), tunnel_port(cluster.name))


def ways_of(plan: Plan) -> tuple[Way, ...]:
    """The ways to all clusters of a stack that have a bastion, as whom its program comes in."""
    if plan.ground.kind != "aws":
        return ()
    login = plan.ground.login
    found = (way_to(plan, cluster) for cluster in plan.clusters)
    return tuple(replace(way, profile=login.profile, role=login.assume_role) for way in found if way is not None)


def instance(way: Way, environment: Mapping[str, str] | None = None) -> str | None:
    """Id of the bastion; None where none runs. Raises `TunnelError`."""
    filters = [f"Name=tag:Name,Values={way.bastion}", "Name=instance-state-name,Values=running"]
    query = ["--query", "Reservations[].Instances[].InstanceId", "--output", "json"]
    command = ["aws", "ec2", "describe-instances", "--region", way.region, "--filters", *filters, *query]
    done = _asked(command, environment)
    if done.returncode != 0:
        raise TunnelError(f"aws ec2 describe-instances failed: {_words(done)}")
    found: list[str] = _read(done)
    return found[0] if found else None


def described(cluster: str, region: str, environment: Mapping[str, str] | None = None) -> dict[str, Any] | None:
    """What EKS says of a cluster; None where it has none of that name. Raises `TunnelError`."""
    command = ["aws", "eks", "describe-cluster", "--name", cluster, "--region", region, "--output", "json"]
    done = _asked(command, environment)
    if done.returncode != 0 and "ResourceNotFoundException" in done.stderr:
        return None
    if done.returncode != 0:
        raise TunnelError(f"aws eks describe-cluster failed: {_words(done)}")
    found: dict[str, Any] = _read(done, "cluster")
    return found


def endpoint(way: Way, environment: Mapping[str, str] | None = None) -> str | None:
    """Name of the API server; None where it does not answer yet. Raises `TunnelError`."""
    found = described(way.cluster, way.region, environment)
    if found is None or found.get("status") not in ("ACTIVE", "UPDATING"):
        return None
    return str(found["endpoint"]).removeprefix("https://")


def identity(way: Way) -> dict[str, str]:
    """The environment in which `aws` is whom the stack's program comes in as. Raises `TunnelError`."""
    own = {**os.environ, **({"AWS_PROFILE": way.profile} if way.profile else {})}
    if way.role is None:
        return own
    take = ["aws", "sts", "assume-role", "--role-arn", way.role, "--role-session-name", _SESSION_NAME]
    done = _asked([*take, "--region", way.region, "--output", "json"], own)
    if done.returncode != 0:
        raise TunnelError(f"aws sts assume-role failed: {_words(done)}")
    given = _read(done, "Credentials")
    kept = {key: value for key, value in own.items() if key not in ("AWS_PROFILE", "AWS_ROLE_ARN")}
    return kept | {
        "AWS_ACCESS_KEY_ID": given["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": given["SecretAccessKey"],
        "AWS_SESSION_TOKEN": given["SessionToken"],
    }


def reaches(host: str, port: int, wait_seconds: float = 4.0) -> bool:
    """Whether somebody answers at a port."""
    try:
        with socket.create_connection((host, port), timeout=wait_seconds):
            return True
    except OSError:
        return False


@contextmanager
def opened(ways: Sequence[Way], log: Path) -> Iterator[None]:
    """Keeps the ways open for as long as the block runs; they are closed however it, or this process, ends.

    Where a bastion or a cluster is not there yet, which `pulumi up` makes, it is looked for meanwhile. What the
    sessions say goes to the log. Raises `TunnelError` where one is there and no way leads through.
    """
    if not ways:
        yield
        return
    with log.open("wb") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", "trainyard.fleet.tunnel", json.dumps([asdict(way) for way in ways])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            start_new_session=True,  # a Ctrl-C is Pulumi's to answer, which goes on for a while and needs the way
        )
    assert process.stdin is not None and process.stdout is not None
    try:
        said = process.stdout.readline().decode(errors="replace").strip()
        if said != _OPEN:
            raise TunnelError(said or f"the tunnel ended without a word; see {log.name}")
        yield
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(timeout=2 * CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _asked(command: Sequence[str], environment: Mapping[str, str] | None) -> subprocess.CompletedProcess[str]:
    try:
        return ask(command, " ".join(command[:3]), environment)
    except NoAnswerError as error:
        raise TunnelError(str(error)) from None


def _read(done: subprocess.CompletedProcess[str], *path: str) -> Any:
    """What a question's answer holds, as data. Raises `TunnelError` where it is no such answer."""
    try:
        found = json.loads(done.stdout)
        for key in path:
            found = found[key]
    except (ValueError, KeyError, TypeError):
        raise TunnelError(f"{' '.join(done.args[:3])} gave no answer that can be read") from None
    return found


def _words(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(done.stderr.split()) or f"exit code {done.returncode}"


class _Holder:
    """Holds ways open: a thread each, one session at a time."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._closing, self._lock = say, threading.Event(), threading.Lock()
        self._sessions: set[subprocess.Popen[bytes]] = set()

    def hold(self, way: Way, answer: Callable[[str], None]) -> None:
        """Opens a way again and again; what became of the first time is the answer: nothing where it is not closed."""
        try:
            self._hold(way, answer)
        finally:  # else whoever waits for the answer would wait for ever
            answer(f"{way.cluster}: the way broke off")

    def _hold(self, way: Way, answer: Callable[[str], None]) -> None:
        failed = 0
        while not self._closing.is_set():
            if reaches("127.0.0.1", way.port, 1.0):  # a person's own `trainyard tunnel`: it leads to the same cluster
                answer("")
                self._closing.wait(ASK_AGAIN_SECONDS)
                continue
            try:
                environment = identity(way)
                target = instance(way, environment)
                host = endpoint(way, environment) if target is not None else None
                if target is None or host is None:
                    self._say(f"{way.cluster}: {'its bastion' if target is None else 'the cluster'} is not there yet")
                    answer("")
                elif self._through(way, target, host, environment, answer):
                    failed = 0
                else:
                    failed += 1
                if 0 < failed < TRIES:
                    self._closing.wait(AGAIN_SECONDS)
                    continue
                if failed == TRIES:
                    answer(f"{way.cluster}: no session through {target} opens 127.0.0.1:{way.port}")
            except TunnelError as error:
                self._say(f"{way.cluster}: {error}")
                answer(f"{way.cluster}: {error}")
            self._closing.wait(ASK_AGAIN_SECONDS)

    def _through(
        self, way: Way, target: str, host: str, environment: Mapping[str, str], answer: Callable[[str], None]
    ) -> bool:
        """One session to its end: whether it was ever open."""
        with self._lock:
            if self._closing.is_set():
                return False
            try:
                session = subprocess.Popen(
                    way.session(target, host),
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=sys.stderr,
                    start_new_session=True,  # its own group: `aws` starts the plug-in, and both are to end
                )
            except OSError as error:
                raise TunnelError(f"aws cannot be run: {error.strerror}") from None
            self._sessions.add(session)
        given_up = time.monotonic() + OPEN_SECONDS
        is_open = False
        while session.poll() is None and not is_open and time.monotonic() < given_up:
            is_open = reaches("127.0.0.1", way.port, 1.0)
            if not is_open:
                self._closing.wait(0.2)
        if is_open:
            self._say(f"{way.cluster}: 127.0.0.1:{way.port} leads to {host} through {target}")
            answer("")
            session.wait()
        self._end(session)
        return is_open

    def close(self) -> None:
        """Ends every session; none is begun from here on."""
        self._closing.set()
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            self._end(session)

    def _end(self, session: subprocess.Popen[bytes]) -> None:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):  # the group has ended
                os.killpg(session.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                session.wait(timeout=CLOSE_SECONDS)
                break
        with self._lock:
            self._sessions.discard(session)


def main(ways: Sequence[Way]) -> None:
    """What the process of `opened` does: it says once whether the ways are open, and holds them until it is left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _left)
    holder = _Holder(lambda text: print(text, file=sys.stderr, flush=True))
    answers: SimpleQueue[tuple[str, str]] = SimpleQueue()

    def once() -> None:
        found: dict[str, str] = {}
        while len(found) < len(ways):
            cluster, said = answers.get()
            found.setdefault(cluster, said)
        wrong = [said for said in found.values() if said]
        print(" ".join("; ".join(wrong).split()) or _OPEN, flush=True)

    for way in ways:
        threading.Thread(target=holder.hold, args=(way, partial(_put, answers, way.cluster)), daemon=True).start()
    threading.Thread(target=once, daemon=True).start()
    try:
        while os.read(0, 1024):
            pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        holder.close()


def _put(answers: SimpleQueue[tuple[str, str]], cluster: str, said: str) -> None:
    answers.put((cluster, said))


def _left(*_: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    main([Way(**each) for each in json.loads(sys.argv[1])])
