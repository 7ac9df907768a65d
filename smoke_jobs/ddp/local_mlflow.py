"""A temporary MLflow server for runs without one: loopback, sqlite, artifacts on scratch.

With a password where MLflow's authentication is installed (`mlflow[auth]`, which brings Flask-WTF); otherwise only the
loopback address and a random port keep others out, which is enough for the minute that it lives.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import socket
import subprocess
import sys
import threading
from pathlib import Path

MISSING = "missing"
HOME = "SMOKE_TRACKING_HOME"
"""Environment variable: the folder of the server that was started, with its log."""

_LOG, _ENDED = "server.log", "ended"
_ERROR = ("Error", "error:", "Exception")
"""What the line of a log has in it that says why a program has ended."""


def start(folder: Path) -> dict[str, str]:
    """Starts the server and returns the environment that a client needs, without waiting for it to answer.

    The tracking check comes late and waits then. Without the mlflow package the URI is `missing`, which the check
    reports. The caller sweeps the process up (it inherits the run's marker). That the server has ended before is noted
    in its folder, for `ended`: whoever waits for it is no parent of it.
    """
    if importlib.util.find_spec("mlflow") is None:
        return {"SMOKE_TRACKING_URI": MISSING}
    home = folder / "mlflow"
    home.mkdir(parents=True, exist_ok=True)
    authenticated = importlib.util.find_spec("flask_wtf") is not None
    password = secrets.token_urlsafe(18)
    if authenticated:
        (home / "auth.ini").touch(mode=0o600)
        (home / "auth.ini").write_text(
            "[mlflow]\ndefault_permission = NO_PERMISSIONS\n"
            f"database_uri = sqlite:///{home}/auth.db\nadmin_username = admin\nadmin_password = {password}\n"
            "authorization_function = mlflow.server.auth:authenticate_request_basic_auth\n"
        )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = os.environ | {
        "MLFLOW_AUTH_CONFIG_PATH": str(home / "auth.ini"),
        "MLFLOW_FLASK_SERVER_SECRET_KEY": secrets.token_hex(16),
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }
    with (home / _LOG).open("wb") as log:
        command = [
            sys.executable,
            "-m",
            "mlflow",
            "server",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--workers",
            "1",
        ]
        command += ["--backend-store-uri", f"sqlite:///{home}/mlflow.db"]
        command += ["--artifacts-destination", str(home / "artifacts")]
        command += ["--app-name", "basic-auth"] if authenticated else []
        server = subprocess.Popen(
            command, cwd=home, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    threading.Thread(target=_note_end, args=(server, home / _ENDED), daemon=True).start()
    found = {"SMOKE_TRACKING_URI": f"http://127.0.0.1:{port}", HOME: str(home)}
    if authenticated:
        found |= {"MLFLOW_TRACKING_USERNAME": "admin", "MLFLOW_TRACKING_PASSWORD": password}
    return found


def _note_end(server: subprocess.Popen[bytes], into: Path) -> None:
    code = server.wait()
    if into.parent.is_dir():  # else the run is swept up already
        into.write_text(str(code))


def ended(home: Path) -> str:
    """How the server in a folder has ended, with the last error of its log; empty while it lives."""
    try:
        code = (home / _ENDED).read_text()
        lines = (home / _LOG).read_text(errors="replace").splitlines()
    except OSError:
        return ""
    told = [line.strip() for line in lines if line.strip()]
    last = next((line for line in reversed(told) if any(word in line for word in _ERROR)), told[-1] if told else "")
    return f"ended with exit code {code}" + (f": {last}" if last else "")
