"""Talking to an MLflow server: over REST with the standard library, or through the mlflow package.

The stock PyTorch image has no mlflow, and a server that answers REST serves every client alike; the package is needed
where the tracking URI is not http(s) (SageMaker's managed MLflow is an ARN, with a plug-in that signs requests).
Credentials are MLflow's own variables: MLFLOW_TRACKING_USERNAME and _PASSWORD, or MLFLOW_TRACKING_TOKEN; for a server
behind Google's Identity-Aware Proxy, tokens that `iap` asks for.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import ssl
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .google_cloud import GoogleError, get_object, put_object
from .iap import from_environment
from .tier import TierError, open_tier

REQUEST_S = 10.0
ATTEMPTS = 3
START_S = 120.0
"""How long a server that scales to nothing may take to start: its image, and MLflow in it. Own choice."""


class TrackingError(Exception):
    """The server could not be used; the text says what to look at."""


class NotUpError(TrackingError):
    """Nobody answers, or what answers cannot work: a moment later it may."""


@dataclass(frozen=True, slots=True)
class Point:
    """One value of one metric; time in milliseconds since the epoch."""

    key: str
    value: float
    timestamp: int
    step: int


@dataclass(slots=True)
class Run:
    """What the server holds of a run."""

    status: str
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)  # latest values


class Client(ABC):
    """What the check needs; every method raises TrackingError."""

    @abstractmethod
    def start(self, experiment: str, name: str, params: Mapping[str, str], tags: Mapping[str, str]) -> str:
        """Makes the experiment where it is not there, and a run in it; the run's id."""

    @abstractmethod
    def log(self, run_id: str, points: Sequence[Point]) -> None:
        """Logs metrics."""

    @abstractmethod
    def upload(self, run_id: str, name: str, data: bytes) -> None:
        """Stores an artifact; `name` may hold folders."""

    @abstractmethod
    def finish(self, run_id: str) -> None:
        """Ends the run as FINISHED."""

    @abstractmethod
    def read(self, run_id: str) -> Run:
        """The run as the server has it."""

    @abstractmethod
    def history(self, run_id: str, key: str) -> list[Point]:
        """All values of a metric."""

    @abstractmethod
    def download(self, run_id: str, name: str) -> bytes:
        """An artifact."""


class RestClient(Client):
    """MLflow's REST API 2.0 and its artifact proxy."""

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")
        self.headers = {"Content-Type": "application/json"}
        user, token = os.environ.get("MLFLOW_TRACKING_USERNAME"), os.environ.get("MLFLOW_TRACKING_TOKEN")
        if user is not None:
            pair = f"{user}:{os.environ.get('MLFLOW_TRACKING_PASSWORD', '')}"
            self.headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        elif token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.tokens = from_environment()
        if self.tokens is not None:
            self._wake()

    def _wake(self) -> None:
        """Waits for a server that nobody has asked for a while, and that starts when it is asked. One that refuses is
        there."""
        deadline = time.monotonic() + START_S
        while True:
            try:
                self._send("GET", "/health")
            except NotUpError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)
            else:
                return

    def _authorised(self) -> dict[str, str]:
        if self.tokens is None:
            return self.headers
        try:
            return self.headers | {"Authorization": f"Bearer {self.tokens.token()}"}
        except GoogleError as error:
            kind = NotUpError if _may_pass(error.status) else TrackingError
            raise kind(f"the MLflow server {self.uri} is behind IAP: no token is signed: {error}") from None

    def _send(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
        headers = self._authorised() | {"Content-Type": kind}
        request = urllib.request.Request(self.uri + path, body, headers, method=method)  # noqa: S310
        for attempt in range(ATTEMPTS):
            try:
                context = ssl.create_default_context(cafile=os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH"))
                with urllib.request.urlopen(  # noqa: S310 - http(s) by open_client
                    request, timeout=REQUEST_S, context=context
                ) as answer:
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:
                if error.code < 500 or attempt == ATTEMPTS - 1:
                    raised = NotUpError if _may_pass(error.code) else TrackingError
                    raise raised(_http(self.uri, error)) from None
            except OSError as error:
                if attempt == ATTEMPTS - 1:
                    raise NotUpError(unreachable(self.uri, getattr(error, "reason", error))) from None
            time.sleep(0.3 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    def _api(self, method: str, path: str, **fields: Any) -> dict[str, Any]:
        if method == "GET":
            text = self._send("GET", f"/api/2.0/mlflow/{path}?{urllib.parse.urlencode(fields)}")
        else:
            text = self._send("POST", f"/api/2.0/mlflow/{path}", json.dumps(fields).encode())
        return dict(json.loads(text or b"{}"))

    def start(self, experiment: str, name: str, params: Mapping[str, str], tags: Mapping[str, str]) -> str:
        """See Client."""
        try:
            found = self._api("GET", "experiments/get-by-name", experiment_name=experiment)["experiment"]
            experiment_id = found["experiment_id"]
        except TrackingError as error:
            if "RESOURCE_DOES_NOT_EXIST" not in str(error):
                raise
            experiment_id = self._api("POST", "experiments/create", name=experiment)["experiment_id"]
        pairs = [{"key": key, "value": value} for key, value in tags.items()]
        run = self._api(
            "POST", "runs/create", experiment_id=experiment_id, run_name=name, tags=pairs,
            start_time=int(time.time() * 1000),
        )["run"]  # fmt: skip
        run_id = str(run["info"]["run_id"])
        pairs = [{"key": key, "value": value} for key, value in params.items()]
        self._api("POST", "runs/log-batch", run_id=run_id, params=pairs)
        return run_id

    def log(self, run_id: str, points: Sequence[Point]) -> None:
        """See Client."""
        metrics = [{"key": p.key, "value": p.value, "timestamp": p.timestamp, "step": p.step} for p in points]
        for first in range(0, len(metrics), 1000):  # MLflow's limit of one batch
            self._api("POST", "runs/log-batch", run_id=run_id, metrics=metrics[first : first + 1000])

    def finish(self, run_id: str) -> None:
        """See Client."""
        self._api("POST", "runs/update", run_id=run_id, status="FINISHED", end_time=int(time.time() * 1000))

    def _run(self, run_id: str) -> dict[str, Any]:
        return dict(self._api("GET", "runs/get", run_id=run_id)["run"])

    def read(self, run_id: str) -> Run:
        """See Client."""
        run = self._run(run_id)

        def pairs(name: str) -> dict[str, Any]:
            return {item["key"]: item["value"] for item in run["data"].get(name, ())}

        metrics = {key: float(value) for key, value in pairs("metrics").items()}
        return Run(run["info"]["status"], pairs("params"), pairs("tags"), metrics)

    def history(self, run_id: str, key: str) -> list[Point]:
        """See Client."""
        found = self._api("GET", "metrics/get-history", run_id=run_id, metric_key=key).get("metrics", ())
        return [Point(key, float(m["value"]), int(m["timestamp"]), int(m.get("step", 0))) for m in found]

    def _artifact(self, run_id: str, name: str) -> tuple[str, str]:
        """("", path on the server's proxy), or (root, name) where clients go to the store themselves."""
        root = str(self._run(run_id)["info"]["artifact_uri"])
        if root.startswith("mlflow-artifacts:"):
            path = urllib.parse.urlparse(root).path.strip("/")
            return "", f"/api/2.0/mlflow-artifacts/artifacts/{path}/{urllib.parse.quote(name)}"
        return root, name

    def upload(self, run_id: str, name: str, data: bytes) -> None:
        """See Client."""
        root, path = self._artifact(run_id, name)
        if not root:
            self._send("PUT", path, data, "application/octet-stream")
            return
        try:
            if root.startswith("gs://"):
                put_object(f"{root.rstrip('/')}/{path}", data)
            else:
                open_tier(root.removeprefix("file://")).put(path, data)
        except (TierError, GoogleError) as error:
            raise TrackingError(f"the artifact store {root} cannot be written from here: {error}") from None

    def download(self, run_id: str, name: str) -> bytes:
        """See Client."""
        root, path = self._artifact(run_id, name)
        if not root:
            return self._send("GET", path)
        try:
            if root.startswith("gs://"):
                return get_object(f"{root.rstrip('/')}/{path}")
            return open_tier(root.removeprefix("file://")).get(path)
        except (TierError, GoogleError) as error:
            raise TrackingError(f"the artifact store {root} cannot be read from here: {error}") from None


class PackageClient(Client):
    """The mlflow package's own client."""

    def __init__(self, uri: str) -> None:
        # Its defaults try for minutes; they are read at import.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", str(int(REQUEST_S)))
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", str(ATTEMPTS - 1))
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        import mlflow

        self.uri = uri
        self.mlflow = mlflow
        self.client = mlflow.MlflowClient(tracking_uri=uri)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return getattr(self.client, name)(*args, **kwargs)
        except (self.mlflow.exceptions.MlflowException, OSError) as error:
            text = str(error).splitlines()[0]
            if "401" in text or "403" in text:
                raise TrackingError(f"{self.uri}: {text}: {CREDENTIALS}") from None
            raise TrackingError(unreachable(self.uri, text)) from None

    def start(self, experiment: str, name: str, params: Mapping[str, str], tags: Mapping[str, str]) -> str:
        """See Client."""
        found = self._call("get_experiment_by_name", experiment)
        experiment_id = found.experiment_id if found else self._call("create_experiment", experiment)
        run = self._call("create_run", experiment_id, run_name=name, tags=dict(tags))
        entities = [self.mlflow.entities.Param(key, value) for key, value in params.items()]
        self._call("log_batch", run.info.run_id, params=entities)
        return str(run.info.run_id)

    def log(self, run_id: str, points: Sequence[Point]) -> None:
        """See Client."""
        entities = [self.mlflow.entities.Metric(p.key, p.value, p.timestamp, p.step) for p in points]
        for first in range(0, len(entities), 1000):
            self._call("log_batch", run_id, metrics=entities[first : first + 1000])

    def upload(self, run_id: str, name: str, data: bytes) -> None:
        """See Client."""
        folder, _, file = name.rpartition("/")
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / file).write_bytes(data)
            self._call("log_artifact", run_id, str(Path(scratch) / file), folder or None)

    def finish(self, run_id: str) -> None:
        """See Client."""
        self._call("set_terminated", run_id)

    def read(self, run_id: str) -> Run:
        """See Client."""
        run = self._call("get_run", run_id)
        return Run(run.info.status, dict(run.data.params), dict(run.data.tags), dict(run.data.metrics))

    def history(self, run_id: str, key: str) -> list[Point]:
        """See Client."""
        return [Point(key, m.value, m.timestamp, m.step) for m in self._call("get_metric_history", run_id, key)]

    def download(self, run_id: str, name: str) -> bytes:
        """See Client."""
        with tempfile.TemporaryDirectory() as scratch:
            return Path(self._call("download_artifacts", run_id, name, scratch)).read_bytes()


CREDENTIALS = (
    "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD (or MLFLOW_TRACKING_TOKEN) from the stack's secret, and "
    "give that user the right to create experiments"
)


def unreachable(uri: str, reason: object) -> str:
    """The sentence for a server that does not answer."""
    return (
        f"the MLflow server {uri} cannot be used ({reason}): is its pod ready, is the name resolved here, and does a "
        "network policy let this namespace through?"
    )


def _may_pass(status: int) -> bool:
    """Whether an answer may be another one soon; 0 is none at all, and 429 that of a server without a free instance."""
    return status == 0 or status == 429 or status >= 500


def _http(uri: str, error: urllib.error.HTTPError) -> str:
    text = error.read().decode(errors="replace")[:300]
    if error.code in (401, 403):
        return f"the MLflow server {uri} refused the credentials ({error.code}): {CREDENTIALS}"
    return f"the MLflow server {uri} answered {error.code}: {text}"


def open_client(uri: str, kind: str) -> Client:
    """The client for a URI; `kind` is auto, mlflow or rest. Auto takes REST for http(s). Raises TrackingError."""
    http = uri.startswith(("http://", "https://"))
    if kind == "rest" or (kind == "auto" and http):
        if not http:
            raise TrackingError(f"REST needs an http(s) URI, not {uri}")
        return RestClient(uri)
    if importlib.util.find_spec("mlflow") is None:
        raise TrackingError(f"{uri} needs the mlflow package, which this image lacks: add it, or give an http(s) URI")
    return PackageClient(uri)


def is_ready(uri: str, seconds: float, ended: Callable[[], str]) -> bool:
    """Waits some seconds for our own server that is starting: whether it answers by then.

    Raises TrackingError where it has ended, of which `ended` tells how.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"{uri}/health", timeout=2):  # noqa: S310 - our own loopback server
                return True
        except OSError:
            if how := ended():
                raise TrackingError(f"the local MLflow server {how}") from None
            if time.monotonic() > deadline:
                return False
        time.sleep(0.2)
