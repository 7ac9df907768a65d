"""The tracking check against a real MLflow server: database back end, artifact proxy, authentication on."""

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from trainyard.smoke_jobs.ddp import check_tracking, local_mlflow, tracking_client
from trainyard.smoke_jobs.ddp.google_cloud import GoogleError
from trainyard.smoke_jobs.ddp.tracking_client import PackageClient, Point, RestClient, TrackingError, open_client


@dataclass
class Server:
    uri: str
    credentials: dict[str, str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    pytest.importorskip("flask_wtf", reason="MLflow's authentication needs `mlflow[auth]`")
    home = tmp_path_factory.mktemp("mlflow")
    password = secrets.token_urlsafe(18)
    (home / "auth.ini").write_text(
        f"[mlflow]\ndefault_permission = NO_PERMISSIONS\ndatabase_uri = sqlite:///{home}/auth.db\n"
        f"admin_username = admin\nadmin_password = {password}\n"
        "authorization_function = mlflow.server.auth:authenticate_request_basic_auth\n"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = os.environ | {
        "MLFLOW_AUTH_CONFIG_PATH": str(home / "auth.ini"),
        "MLFLOW_FLASK_SERVER_SECRET_KEY": secrets.token_hex(8),
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "server", "--app-name", "basic-auth", "--host", "127.0.0.1",
         "--port", str(port), "--workers", "1", "--backend-store-uri", f"sqlite:///{home}/mlflow.db",
         "--artifacts-destination", str(home / "artifacts")],
        cwd=home, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    uri = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 300
    while True:
        try:
            urllib.request.urlopen(f"{uri}/health", timeout=2)
            break
        except OSError:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.3)
    yield Server(uri, {"MLFLOW_TRACKING_USERNAME": "admin", "MLFLOW_TRACKING_PASSWORD": password})
    os.killpg(process.pid, 15)
    process.wait()


@pytest.fixture
def signed_in(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    for key, value in server.credentials.items():
        monkeypatch.setenv(key, value)
    return server


@pytest.mark.parametrize("kind", ["rest", "mlflow"])
def test_both_clients_write_what_the_other_reads(signed_in: Server, kind: str) -> None:
    mine = open_client(signed_in.uri, kind)
    other = open_client(signed_in.uri, "mlflow" if kind == "rest" else "rest")
    assert isinstance(mine, RestClient if kind == "rest" else PackageClient)
    run_id = mine.start(f"both-{kind}", "run", {"width": "8"}, {"smoke.stack": "demo"})
    now = int(time.time() * 1000)
    points = [Point("loss", 1.0 / (step + 1), now + step, step) for step in range(1200)]  # more than one batch holds
    mine.log(run_id, points)
    mine.upload(run_id, "checkpoint/state.pt", b"\x00\x01" * 500)
    mine.finish(run_id)
    run = other.read(run_id)
    assert run.status == "FINISHED" and run.params == {"width": "8"} and run.tags["smoke.stack"] == "demo"
    assert run.metrics["loss"] == points[-1].value
    assert other.history(run_id, "loss") == points
    assert other.download(run_id, "checkpoint/state.pt") == b"\x00\x01" * 500
    assert mine.start(f"both-{kind}", "again", {}, {}) != run_id  # the experiment is there already


@pytest.mark.parametrize("kind", ["rest", "mlflow"])
def test_wrong_credentials_are_named(signed_in: Server, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "wrong")
    with pytest.raises(TrackingError, match=r"401(.|\n)*set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"):
        open_client(signed_in.uri, kind).start("e", "r", {}, {})


def test_a_uri_that_rest_cannot_speak() -> None:
    with pytest.raises(TrackingError, match=r"REST needs an http\(s\) URI"):
        open_client("arn:aws:sagemaker:us-east-1:1:mlflow-tracking-server/x", "rest")


def test_a_server_that_is_still_starting() -> None:
    assert not tracking_client.is_ready("http://127.0.0.1:9", 0.5, lambda: "")


def test_a_server_that_has_ended_is_not_waited_for() -> None:
    before = time.monotonic()
    with pytest.raises(TrackingError, match="the local MLflow server ended with exit code 1: no such table"):
        tracking_client.is_ready("http://127.0.0.1:9", 60.0, lambda: "ended with exit code 1: no such table")
    assert time.monotonic() - before < 10.0


def test_how_a_local_server_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process ends at once: MLflow is no module of this interpreter's that can be run."""
    broken = tmp_path / "mlflow.py"
    broken.write_text("import sys\nprint('listening')\nsys.exit('OSError: no space left')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    home = Path(local_mlflow.start(tmp_path / "scratch")[local_mlflow.HOME])
    deadline = time.monotonic() + 60.0
    while not local_mlflow.ended(home) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert local_mlflow.ended(home) == "ended with exit code 1: OSError: no space left"
    assert local_mlflow.ended(tmp_path) == ""


class Alone:
    """A job of one rank, as the check asks it."""

    head = True

    def broadcast(self, value: object) -> object:
        return value


def test_the_local_server_is_waited_for_while_it_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(local_mlflow.HOME, str(tmp_path))
    monkeypatch.setattr(check_tracking, "ROUND_S", 0.2)
    monkeypatch.setattr(check_tracking, "LOCAL_START_S", 0.7)
    assert "lives, and does not answer after" in check_tracking._started(Alone(), "http://127.0.0.1:9")
    assert capsys.readouterr().out.count("still starting after") >= 2
    (tmp_path / "ended").write_text("3")
    (tmp_path / "server.log").write_text("")
    assert check_tracking._started(Alone(), "http://127.0.0.1:9") == "the local MLflow server ended with exit code 3"


@contextmanager
def answering(*codes: int) -> Iterator[tuple[str, list[int]]]:
    """A server that answers these in turn, the last for good, and what it has answered."""
    told: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.append(codes[min(len(told), len(codes) - 1)])
            self.send_response(told[-1])
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", told
    server.shutdown()
    server.server_close()


class Signed:
    """Tokens for a server behind IAP, which cannot be signed as long as there are reasons why not."""

    def __init__(self, *reasons: GoogleError) -> None:
        self.reasons = list(reasons)

    def token(self) -> str:
        if self.reasons:
            raise self.reasons.pop(0)
        return "a"


def test_a_server_that_starts_when_it_is_asked_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking_client, "ATTEMPTS", 1)
    monkeypatch.setattr(tracking_client, "from_environment", lambda: Signed(GoogleError("timed out")))
    with answering(503, 429, 200) as (uri, told):
        RestClient(uri)
    assert told == [503, 429, 200]


@pytest.mark.parametrize(
    ("code", "tokens", "says"),
    [
        (403, Signed(), "refused the credentials"),
        (404, Signed(), "answered 404"),
        (200, Signed(*[GoogleError("403: no signJwt", 403)] * 9), "no token is signed"),
    ],
)
def test_a_server_that_refuses_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, code: int, tokens: Signed, says: str
) -> None:
    monkeypatch.setattr(tracking_client, "from_environment", lambda: tokens)
    with answering(code) as (uri, told), pytest.raises(TrackingError, match=says):
        RestClient(uri)
    assert len(told) <= 1 and len(tokens.reasons) in (0, 8), "asked once"


@pytest.mark.parametrize("kind", ["rest", "mlflow"])
def test_the_check_leaves_a_whole_run_on_the_server(smoke: Callable[..., Any], signed_in: Server, kind: str) -> None:
    ran = smoke(
        "--nproc-per-node", "2", "--tracking-uri", signed_in.uri, "--tracking-client", kind,
        "--tracking-experiment", f"check-{kind}", "--usd-per-node-hour", "12", "--code-version", "0123abc",
        checks=("tracking",), env=signed_in.credentials,
    )  # fmt: skip
    assert ran.code == 0, ran.output
    import mlflow

    client = mlflow.MlflowClient(tracking_uri=signed_in.uri)
    run = client.get_run(ran.check("tracking")["details"]["run_id"])
    assert run.info.status == "FINISHED"
    assert run.data.params["world_size"] == "2"
    assert run.data.tags["mlflow.source.git.commit"] == "0123abc"
    assert run.data.tags["smoke.version.torch"].startswith("2.")
    assert run.data.metrics["cost_usd"] > 0 and run.data.metrics["device_hours"] > 0
    losses = client.get_metric_history(run.info.run_id, "loss")
    assert [m.step for m in losses] == list(range(1, 21)) and losses[-1].value < losses[0].value * 1.5
    assert len(client.get_metric_history(run.info.run_id, "system/cpu_utilization_percentage")) >= 2
    assert {f.path for f in client.list_artifacts(run.info.run_id)} == {"checkpoint", "environment.json"}


def test_refused_credentials_fail_this_check_only(smoke: Callable[..., Any], signed_in: Server) -> None:
    ran = smoke(
        "--nproc-per-node", "2", "--tracking-uri", signed_in.uri, checks=("devices", "tracking"),
        env={"MLFLOW_TRACKING_USERNAME": "admin", "MLFLOW_TRACKING_PASSWORD": "no"},
    )  # fmt: skip
    assert ran.code == 10
    assert "refused the credentials (401)" in ran.check("tracking")["reason"]
    assert ran.check("devices")["verdict"] == "pass"


def test_none_skips_with_the_reason(smoke: Callable[..., Any]) -> None:
    ran = smoke("--nproc-per-node", "1", "--tracking-uri", "none", checks=("tracking", "collectives", "data"))
    assert ran.code == 0
    assert "tracking_uri is `none`" in ran.check("tracking")["reason"]
    assert ran.verdicts()["collectives"] == "skipped" and ran.verdicts()["data"] == "pass"


def test_samples_of_the_user_are_read_as_they_are(smoke: Callable[..., Any], tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"part-{number}.tar").write_bytes(os.urandom(114_660 * 8 + 17))
    flags = (
        "--nproc-per-node",
        "2",
        "--data-path",
        str(tmp_path),
        "--data-glob",
        "*.tar",
        "--samples-per-second",
        "8",  # two seconds of work for the files: a stall of a busy machine is small beside it
    )
    ran = smoke(*flags, checks=("data",))
    assert ran.code == 0, ran.output
    assert ran.check("data")["details"]["samples"] == 32 and ran.check("data")["details"]["files"] == 4
    assert len(list(tmp_path.iterdir())) == 4  # nothing of ours is left there
