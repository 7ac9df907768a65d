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
from pathlib import Path

MISSING = "missing"


def start(folder: Path) -> dict[str, str]:
    """Starts the server and returns the environment that a client needs, without waiting for it to answer.

    The tracking check comes late and waits then. Without the mlflow package the URI is `missing`, which the check
    reports. The caller sweeps the process up (it inherits the run's marker).
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
    with (home / "server.log").open("wb") as log:
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
        subprocess.Popen(command, cwd=home, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    found = {"SMOKE_TRACKING_URI": f"http://127.0.0.1:{port}"}
    if authenticated:
        found |= {"MLFLOW_TRACKING_USERNAME": "admin", "MLFLOW_TRACKING_PASSWORD": password}
    return found
