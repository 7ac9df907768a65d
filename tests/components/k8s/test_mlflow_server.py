"""A real MLflow server, started as the component renders it: same launcher and files, SQLite instead of PostgreSQL."""

from __future__ import annotations

import configparser
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.components.k8s.mlflow_support import SERVER_MODULES, Pod, Process, Running, needs, request, serving, wait_for
from trainyard.components.k8s.mlflow_logins import auth_configuration
from trainyard.components.k8s.mlflow_pod import AUTHORITY_FILE

ADMIN, VISION, LANGUAGE = "admin-password-0001", "vision-password-0002", "language-password-03"
FLASK_KEY = "flask-key-not-a-password-4"
POSTGRES = "postgresql+psycopg2://mlflow@database.example.internal:5432/mlflow?sslmode=require"


def _passwords(pod: Pod) -> None:
    """Puts passwords that can be told apart in place of the generated ones, in all files that hold them."""
    auth, users = Path(pod.here("/etc/mlflow/auth")), Path(pod.here("/etc/mlflow/users"))
    generated = (users / "admin-password").read_text()
    ini = (auth / "basic_auth.ini").read_text().replace(generated, ADMIN)
    (auth / "basic_auth.ini").write_text(ini)
    (auth / "flask-secret-key").write_text(FLASK_KEY)
    (users / "admin-password").write_text(ADMIN)
    (users / "users.json").write_text(json.dumps({"vision": VISION, "language": LANGUAGE}))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    needs(*SERVER_MODULES)
    root = tmp_path_factory.mktemp("pod")
    pod = Pod.render(root, replacements={POSTGRES: f"sqlite:///{root}/mlflow.db"}, workers=2, default_permission="READ")
    _passwords(pod)
    with serving(pod) as found:
        yield found


def test_accounts_are_required(running: Running) -> None:
    api = f"{running.pod.url}/api/2.0/mlflow/experiments/search?max_results=1"
    assert request(api)[0] == 401
    assert request(api, ("vision", LANGUAGE))[0] == 401
    assert request(api, ("vision", VISION))[0] == 200
    assert request(api, ("admin", ADMIN))[0] == 200
    assert request(f"{running.pod.url}/health")[0] == 200


def test_a_team_reads_but_does_not_change_what_another_made(running: Running) -> None:
    api = f"{running.pod.url}/api/2.0/mlflow/experiments"
    kind = {"Content-Type": "application/json"}
    status, text = request(
        f"{api}/create", ("vision", VISION), method="POST", body=b'{"name": "detector"}', headers=kind
    )
    assert status == 200, text
    identity = json.loads(text)["experiment_id"]
    assert request(f"{api}/get?experiment_id={identity}", ("language", LANGUAGE))[0] == 200
    rename = json.dumps({"experiment_id": identity, "new_name": "taken"}).encode()
    assert request(f"{api}/update", ("language", LANGUAGE), method="POST", body=rename, headers=kind)[0] == 403
    assert request(f"{api}/update", ("vision", VISION), method="POST", body=rename, headers=kind)[0] == 200


def test_artifacts_go_through_the_server_into_the_bucket(running: Running) -> None:
    store = f"{running.pod.url}/api/2.0/mlflow-artifacts/artifacts/0/model.bin"
    assert request(store, method="PUT", body=b"weights")[0] == 401
    status, text = request(store, ("admin", ADMIN), method="PUT", body=b"weights")
    assert status == 200, text
    assert "mlflow/0/model.bin" in {entry.key for entry in running.bucket.objects.all()}  # type: ignore[attr-defined]
    assert request(store, ("admin", ADMIN)) == (200, "weights")


CLIENT = """
import mlflow, pathlib
mlflow.set_experiment("client")
with mlflow.start_run() as run:
    mlflow.log_metric("loss", 0.5)
    mlflow.log_text("weights", "model/weights.txt")
found = mlflow.get_run(run.info.run_id)
assert found.data.metrics == {"loss": 0.5}
assert found.info.artifact_uri.startswith("mlflow-artifacts:/"), found.info.artifact_uri
local = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="model/weights.txt")
assert pathlib.Path(local).read_text() == "weights"
client = mlflow.MlflowClient()
client.create_registered_model("detector")
client.create_model_version("detector", found.info.artifact_uri + "/model", run.info.run_id)
print(run.info.run_id)
"""


def test_a_teams_client_needs_nothing_but_its_secret(running: Running, tmp_path: Path) -> None:
    client = Process.start(
        [sys.executable, "-c", CLIENT],
        {
            "MLFLOW_TRACKING_URI": f"https://localhost:{running.pod.port}",
            "MLFLOW_TRACKING_SERVER_CERT_PATH": running.pod.here(AUTHORITY_FILE),
            "MLFLOW_TRACKING_USERNAME": "vision",
            "MLFLOW_TRACKING_PASSWORD": VISION,
            "HOME": str(tmp_path),
        },
        tmp_path,
        mlflow=True,
    )
    wait_for(lambda: client.popen.poll() is not None, "the client", 90)
    assert client.stop() == 0, client.log + running.server.log
    run_id = re.findall(r"^[0-9a-f]{32}$", client.log, re.MULTILINE)[-1]
    keys = {entry.key for entry in running.bucket.objects.all()}  # type: ignore[attr-defined]
    assert any(key.startswith("mlflow/") and key.endswith(f"{run_id}/artifacts/model/weights.txt") for key in keys)


@pytest.mark.parametrize(
    "host", ["mlflow", "mlflow:5000", "mlflow.mlflow.svc:5000", "mlflow.mlflow.svc.cluster.local:5000"]
)
def test_names_of_the_service_are_allowed(running: Running, host: str) -> None:
    api = f"{running.pod.url}/api/2.0/mlflow/experiments/search?max_results=1"
    assert request(api, ("vision", VISION), headers={"Host": host})[0] == 200


@pytest.mark.parametrize("host", ["example.org", "mlflow.mlflow.svc:80", "mlflow.other.svc:5000", "10.0.3.4:5000"])
def test_other_hosts_are_refused(running: Running, host: str) -> None:
    api = f"{running.pod.url}/api/2.0/mlflow/experiments/search?max_results=1"
    status, text = request(api, ("vision", VISION), headers={"Host": host})
    assert (status, text[:19]) == (403, "Invalid Host header")


def test_a_page_of_another_origin_cannot_write(running: Running) -> None:
    api = f"{running.pod.url}/api/2.0/mlflow/experiments/create"
    for origin, expected in (("http://example.org", 403), ("https://mlflow.mlflow.svc:5000", 200)):
        status, text = request(
            api,
            ("vision", VISION),
            method="POST",
            body=json.dumps({"name": f"from-{expected}"}).encode(),
            headers={"Content-Type": "application/json", "Origin": origin},
        )
        assert status == expected, text


def test_metrics_need_no_account_on_their_own_port_only(running: Running) -> None:
    assert request(f"{running.pod.url}/metrics")[0] == 401
    for _ in range(10):
        request(f"{running.pod.url}/api/2.0/mlflow/experiments/search?max_results=1", ("vision", VISION))
    status, text = request(f"http://127.0.0.1:{running.pod.metrics_port}/metrics")
    assert status == 200
    counts = re.findall(r'^mlflow_http_request_total\{.*status="200".*\} ([0-9.]+)$', text, re.MULTILINE)
    assert sum(map(float, counts)) >= 10, text[:2000]


def test_passwords_are_in_no_listing_and_no_log(running: Running) -> None:
    for process in (running.server, running.users, running.metrics):
        listing, log = process.everything_readable(), process.log
        for password in (ADMIN, VISION, LANGUAGE):
            assert password not in listing
            assert password not in log
        assert FLASK_KEY not in log
        assert "password" not in "".join(line for line in listing.splitlines() if line.startswith("--"))
    assert FLASK_KEY not in running.users.everything_readable()


def test_accounts_are_made_once_and_kept(running: Running) -> None:
    assert sorted(re.findall(r"account '(\w+)' (\w+)", running.users.log)) == [
        ("language", "created"),
        ("vision", "created"),
    ]
    Path(running.pod.here("/run/users/state")).unlink()
    again = running.pod.start("users")
    try:
        wait_for(lambda: running.pod.probe("users", "readinessProbe") == 0, "a round of the second process")
    finally:
        assert again.stop() == 0
    assert "account" not in again.log


def test_a_deleted_account_and_a_changed_password_come_right(running: Running) -> None:
    users = f"{running.pod.url}/api/2.0/mlflow/users"
    kind = {"Content-Type": "application/json"}
    gone = json.dumps({"username": "language"}).encode()
    assert request(f"{users}/delete", ("admin", ADMIN), method="DELETE", body=gone, headers=kind)[0] in (200, 204)
    changed = json.dumps({"username": "vision", "password": "somebody-changed-it"}).encode()
    assert request(f"{users}/update-password", ("admin", ADMIN), method="PATCH", body=changed, headers=kind)[0] == 200
    # A server process remembers a good login for a minute, so a round may meet one that still takes the old password.
    repaired = running.pod.start("users", more=["--interval=1"])
    try:
        wait_for(lambda: "'language' created" in repaired.log, "the account that was deleted")
        wait_for(lambda: "'vision' updated" in repaired.log, "the password that was changed", 90)
    finally:
        assert repaired.stop() == 0
    for login in (("language", LANGUAGE), ("vision", VISION)):
        assert [request(f"{users}/current", login)[0] for _ in range(8)] == [200] * 8


def test_a_wrong_administrator_password_is_said_and_keeps_the_pod_unready(running: Running, tmp_path: Path) -> None:
    pod = Pod.render(tmp_path)
    pod.port = running.pod.port
    _passwords(pod)
    (Path(pod.here("/etc/mlflow/users")) / "admin-password").write_text("another-password")
    (Path(pod.here("/etc/mlflow/users")) / "users.json").write_text('{"newcomer": "newcomer-password"}')
    users = pod.start("users")
    try:
        wait_for(lambda: "does not take the password of 'admin'" in users.log, "the message")
        assert pod.probe("users", "livenessProbe") == 0
        assert pod.probe("users", "readinessProbe") == 1
        assert "another-password" not in users.log
    finally:
        users.stop()


def test_the_server_needs_its_key(tmp_path: Path) -> None:
    pod = Pod.render(tmp_path)
    (Path(pod.here("/etc/mlflow/auth")) / "flask-secret-key").write_text("\n")
    server = pod.start("server")
    wait_for(lambda: server.popen.poll() is not None, "exit", 30)
    assert server.stop() == 2
    assert "the file is empty" in server.log


def test_the_configuration_survives_percent_signs() -> None:
    text = auth_configuration(
        database_uri="postgresql://ml%40flow@db:5432/x", admin_password="a%b" * 5, default_permission="READ"
    )
    parser = configparser.ConfigParser()
    parser.read_string(text)
    assert parser["mlflow"]["database_uri"] == "postgresql://ml%40flow@db:5432/x"
    assert parser["mlflow"]["admin_password"] == "a%b" * 5
