"""The MLflow server on this machine: what the component renders, started with paths and stores of a test."""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pulumi
import pytest
from moto.server import ThreadedMotoServer

from tests.components.k8s import forked_mlflow
from tests.components.k8s.addresses import ADDRESSES
from tests.components.k8s.certificates import authority, certificate
from tests.pulumi_harness import Recording, plain, record
from trainyard.components.aws.on_cluster.database_password import secrets_manager_password
from trainyard.components.k8s import mlflow_pod as pod
from trainyard.components.k8s.mlflow import MlflowServer
from trainyard.components.k8s.mlflow_args import MlflowDatabaseArgs, MlflowServerArgs
from trainyard.components.k8s.mlflow_password import OWN_KEY

IMAGE = "docker.io/burakince/mlflow:3.17.2@sha256:" + "a" * 64
SECRET_ARN = "arn:aws:secretsmanager:us-east-1:123456789012:secret:rds!db-1-AbCdEf"
SERVER_MODULES = ("mlflow", "flask_wtf", "prometheus_flask_exporter", "uvicorn")

DATABASE: MlflowDatabaseArgs = {
    "address": "database.example.internal",
    "port": 5432,
    "name": "mlflow",
    "username": "mlflow",
    "password_program": secrets_manager_password(SECRET_ARN),
    "cidrs": ["10.0.96.0/22", "10.0.100.0/22"],
}


def needs(*modules: str) -> None:
    """Skips the calling test by name when a package of the server's image is not installed here."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)} of the MLflow image, not installed here")


def arguments(**changes: Any) -> MlflowServerArgs:
    args: MlflowServerArgs = {
        "namespace": "mlflow",
        "image": IMAGE,
        "replicas": 2,
        "workers": 2,
        "cpu": "1",
        "memory": "2Gi",
        "database": DATABASE,
        "artifacts_uri": "s3://client-artifacts/mlflow",
        "environment": {"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1"},
        "addresses": ADDRESSES,
        "team_namespaces": {"vision": pulumi.Output.from_input("team-vision"), "language": "team-language"},
    }
    args.update(changes)  # type: ignore[typeddict-item]
    return args


def recorded(*, preview: bool = False, **changes: Any) -> Recording:
    return record(lambda: MlflowServer("mlflow", arguments(**changes)), preview=preview)


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def wait_for(condition: Callable[[], bool], what: str | Callable[[], str], seconds: float = 300) -> None:
    """Waits for a condition; what it is, or what tells at the end how far it came, stands in the failure."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what() if callable(what) else what}: not within {seconds:.0f} s"
        time.sleep(0.1)


def request(
    url: str,
    login: tuple[str, str] | None = None,
    *,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Status and text."""
    context = ssl.create_default_context(cadata=authority()[0]) if url.startswith("https:") else None
    asked = urllib.request.Request(url, method=method, data=body, headers=dict(headers or {}))
    if login:
        asked.add_header("Authorization", "Basic " + base64.b64encode(":".join(login).encode()).decode())
    try:
        with urllib.request.urlopen(asked, timeout=30, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@dataclass
class Process:
    """A started program and what it has written so far."""

    popen: subprocess.Popen[bytes]
    chunks: list[bytes] = field(default_factory=list)
    reader: threading.Thread | None = None

    @classmethod
    def start(
        cls, command: Sequence[str], environment: Mapping[str, str], folder: Path, *, mlflow: bool = False
    ) -> Process:
        """Starts a program; one that imports `mlflow` is a fork of a process that has it."""
        whole = {**os.environ, **environment}
        if mlflow:
            popen = forked_mlflow.started(command, whole, folder)
        else:
            popen = subprocess.Popen(
                command,
                env=whole,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        process = cls(popen)
        process.reader = threading.Thread(target=process._read, daemon=True)
        process.reader.start()
        return process

    def _read(self) -> None:
        assert self.popen.stdout is not None
        for chunk in iter(lambda: self.popen.stdout.read1(65536), b""):  # type: ignore[union-attr]
            self.chunks.append(chunk)

    @property
    def log(self) -> str:
        return b"".join(self.chunks).decode(errors="replace")

    def stop(self) -> int:
        """Terminates it and what it started; its exit status."""
        if self.popen.poll() is None:
            self.popen.terminate()
        try:
            return self.popen.wait(30)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.popen.pid, signal.SIGKILL)
            assert self.reader is not None
            assert self.popen.stdout is not None
            self.reader.join(10)
            self.popen.stdout.close()

    def everything_readable(self) -> str:
        """Arguments and environment of the process and its descendants, as any tool on the node may list them."""
        found = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                if os.getsid(int(folder.name)) == self.popen.pid:
                    found += [(folder / part).read_bytes() for part in ("cmdline", "environ")]
            except (ProcessLookupError, FileNotFoundError, PermissionError):
                continue
        assert found, "the process is gone"
        return b"\0".join(found).replace(b"\0", b"\n").decode(errors="replace")


@dataclass
class Pod:
    """The rendered pod with its volumes as folders below `root`."""

    root: Path
    port: int
    metrics_port: int
    spec: dict[str, Any]
    secret: dict[str, str]
    replacements: dict[str, str]

    @classmethod
    def render(cls, root: Path, *, replacements: Mapping[str, str] | None = None, **changes: Any) -> Pod:
        """`replacements` are put in place of texts of command lines and files, besides the paths."""
        recording = recorded(**changes)
        spec = plain(recording.one("kubernetes:apps/v1:Deployment").inputs)["spec"]["template"]["spec"]
        secret = plain(recording.one("kubernetes:core/v1:Secret", "mlflow-server").inputs)["stringData"]
        programs = plain(recording.one("kubernetes:core/v1:ConfigMap").inputs)["data"]
        secret["tls.crt"], secret["tls.key"] = certificate()
        programs[Path(pod.AUTHORITY_FILE).name] = authority()[0]
        made = cls(root, free_port(), free_port(), spec, secret, dict(replacements or {}))
        for folder, files in (
            (pod.PROGRAMS_DIR, programs),
            (
                "/etc/mlflow/auth",
                {key: secret[key] for key in (*pod.AUTH_KEYS, pod.SERVER_PASSWORD) if key in secret},
            ),
            ("/etc/mlflow/users", {key: secret[key] for key in pod.USERS_KEYS}),
            ("/etc/mlflow/database", {OWN_KEY: secret[OWN_KEY]} if OWN_KEY in secret else {}),
        ):
            target = Path(made.here(folder))
            target.mkdir(parents=True)
            for name, text in files.items():
                (target / name).write_text(text if folder == pod.PROGRAMS_DIR else made.here(text))
        for folder in ("/run/pgpass", "/run/users", "/run/metrics"):
            Path(made.here(folder)).mkdir(parents=True)
        return made

    def here(self, text: str) -> str:
        """A text of the pod with the paths, ports and stores of the test."""
        if text == "python":
            return sys.executable
        for old, new in (
            *self.replacements.items(),
            *((f"{folder}", f"{self.root}{folder}") for folder in ("/opt/trainyard", "/etc/mlflow", "/run/")),
            ("--host=0.0.0.0", "--host=127.0.0.1"),
            (f"--port={pod.PORT}", f"--port={self.port}"),
            (f"localhost:{pod.PORT}", f"localhost:{self.port}"),
            (f"127.0.0.1:{pod.PORT}", f"127.0.0.1:{self.port}"),
            (str(pod.METRICS_PORT), str(self.metrics_port)),
        ):
            text = text.replace(old, new)
        return text

    def start(
        self, container: str, environment: Mapping[str, str] | None = None, *, more: Sequence[str] = ()
    ) -> Process:
        """Starts a container's command with its environment, as the specification has them; `more` is appended."""
        (found,) = [c for c in (*self.spec["initContainers"], *self.spec["containers"]) if c["name"] == container]
        command = [self.here(part) for part in (*found["command"], *found.get("args", ()), *more)]
        variables = {entry["name"]: self.here(entry["value"]) for entry in found["env"]}
        variables["HOME"] = str(self.root)
        mlflow = container in ("migrate", "server")
        return Process.start(command, {**variables, **(environment or {})}, self.root, mlflow=mlflow)

    def probe(self, container: str, kind: str) -> int:
        """Exit status of a container's exec probe."""
        (found,) = [c for c in (*self.spec["initContainers"], *self.spec["containers"]) if c["name"] == container]
        command = [self.here(part) for part in found[kind]["exec"]["command"]]
        return subprocess.run(command, check=False, timeout=30).returncode

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def healthy(self) -> bool:
        try:
            return request(f"{self.url}/health")[0] == 200
        except OSError:
            return False


@dataclass
class Running:
    """A server with the programs beside it, and the bucket of its artifacts."""

    pod: Pod
    server: Process
    users: Process
    metrics: Process
    bucket: Any

    def login(self, who: str) -> str:
        """The password of a team or a person."""
        known = json.loads((Path(self.pod.here("/etc/mlflow/users")) / "users.json").read_text())
        return str(known[who])

    def ask(self, who: str, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """A request with a team's or a person's login: the status, and the answer as JSON where it is."""
        return self.ask_as(who, self.login(who), method, path, body, **headers)

    def ask_as(
        self, who: str, password: str, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, Any]:
        """The same with a password that is given."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
        status, text = request(
            self.pod.url + path,
            (who, password),
            method=method,
            body=data,
            headers={k: v for k, v in kind.items() if v},
        )
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text


BUCKET = "client-artifacts"


@contextlib.contextmanager
def serving(pod: Pod, environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Runs a rendered pod: the migration, then server, accounts and metrics, with a bucket on this machine.

    `environment` is of the containers that talk to the database.
    """
    cloud = ThreadedMotoServer(port=free_port(), ip_address="127.0.0.1", verbose=False)
    cloud.start()
    _, cloud_port = cloud.get_host_and_port()
    endpoint = f"http://127.0.0.1:{cloud_port}"
    credentials = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    session = {"region_name": "us-east-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}
    bucket = boto3.resource("s3", endpoint_url=endpoint, **session).Bucket(BUCKET)
    bucket.create()
    started: list[Process] = []
    try:
        migrate = pod.start("migrate", environment)
        wait_for(lambda: migrate.popen.poll() is not None, "migration", 120)
        assert migrate.stop() == 0, migrate.log
        started.append(pod.start("server", {**credentials, "MLFLOW_S3_ENDPOINT_URL": endpoint}))
        started.append(pod.start("users"))
        started.append(pod.start("metrics"))
        server, users, metrics = started
        wait_for(pod.healthy, "health", 120)
        wait_for(lambda: pod.probe("users", "readinessProbe") == 0, lambda: f"accounts: {users.log}", 60)
        yield Running(pod, server, users, metrics, bucket)
    finally:
        for process in reversed(started):
            process.stop()
        cloud.stop()
