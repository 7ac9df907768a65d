"""The MLflow pod on a real PostgreSQL server, whose password rotates while it serves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.components.k8s.mlflow_support import (
    SECRET_ARN,
    SERVER_MODULES,
    Pod,
    Process,
    free_port,
    needs,
    request,
    wait_for,
)
from trainyard.components.aws.on_cluster.database_password import secrets_manager_password

FIRST, SECOND = "First:pass\\word-1", "second-password-2"


@dataclass
class Postgres:
    """A server of its own, with TLS and passwords as RDS has them."""

    folder: Path
    port: int
    user: str | None  # that it runs as: PostgreSQL refuses root

    def run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, user=self.user, cwd=self.folder)

    def sql(self, *statements: str, database: str = "postgres") -> str:
        """As the administrator, through the socket."""
        commands = [part for statement in statements for part in ("-c", statement)]
        done = subprocess.run(
            ["psql", "-qAtX", "-h", self.folder, "-p", str(self.port), "-U", "owner", "-d", database, *commands],
            check=True,
            capture_output=True,
            text=True,
            user=self.user,
            cwd=self.folder,
        )
        return done.stdout.strip()

    def set_password(self, password: str) -> None:
        quoted = password.replace("'", "''")
        self.sql(f"ALTER ROLE mlflow PASSWORD '{quoted}'")

    def drop_connections(self) -> None:
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'mlflow'")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    for tool in ("initdb", "pg_ctl", "psql", "openssl"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool} of PostgreSQL, not installed here")
    needs(*SERVER_MODULES, "psycopg2")
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # not below tmp_path: the user postgres may not enter that
    if user:
        shutil.chown(folder, user)
    made = Postgres(folder, free_port(), user)
    data, key, certificate = folder / "data", folder / "server.key", folder / "server.pem"
    try:
        made.run("initdb", "-D", str(data), "-U", "owner", "--auth-local=trust", "--auth-host=scram-sha-256")
        made.run(
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)),
        )
        key.chmod(0o600)
        options = (
            f"-k {folder} -p {made.port} -h localhost -c ssl=on -c ssl_key_file={key} -c ssl_cert_file={certificate}"
        )
        made.run("pg_ctl", "-w", "-D", str(data), "-l", str(folder / "log"), "-o", options, "start")
        try:
            made.sql("CREATE ROLE mlflow LOGIN", "CREATE DATABASE mlflow OWNER mlflow")
            yield made
        finally:
            made.run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@dataclass
class Cloud:
    secrets: Any
    environment: dict[str, str]
    arn: str

    def put(self, password: str) -> None:
        text = json.dumps({"username": "mlflow", "password": password})
        self.secrets.put_secret_value(SecretId=self.arn, SecretString=text)


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    client = boto3.client(
        "secretsmanager",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    arn = client.create_secret(Name="rds!db-postgres-test", SecretString="{}")["ARN"]
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    yield Cloud(client, {"AWS_ENDPOINT_URL": endpoint, **keys}, arn)
    client.close()
    server.stop()


def _pod(root: Path, postgres: Postgres, cloud: Cloud, **database: Any) -> Pod:
    return Pod.render(
        root,
        replacements={"--interval=30": "--interval=0.3", "s3://client-artifacts": str(root / "artifacts")},
        database={
            "address": "localhost",
            "port": postgres.port,
            "name": "mlflow",
            "username": "mlflow",
            "password_program": secrets_manager_password(cloud.arn),
            "cidrs": ["127.0.0.1/32"],
            **database,
        },
        workers=1,
    )


def _finish(process: Process, what: str) -> None:
    wait_for(lambda: process.popen.poll() is not None, what, 180)
    assert process.stop() == 0, process.log


def test_the_pod_serves_through_a_rotation_and_its_replicas_migrate_together(
    postgres: Postgres, cloud: Cloud, tmp_path: Path
) -> None:
    postgres.set_password(FIRST)
    cloud.put(FIRST)
    certificate = (postgres.folder / "server.pem").read_text()
    pod = _pod(tmp_path, postgres, cloud, ca_certificates=certificate)
    started = [pod.start("pgpass", cloud.environment)]
    pgpass = started[0]
    try:
        wait_for(lambda: pod.probe("pgpass", "startupProbe") == 0, "the password file", 30)
        replicas = [pod.start("migrate"), pod.start("migrate")]
        for replica in replicas:
            _finish(replica, "migration")
            assert "up to date" in replica.log
        tables = set(postgres.sql("SELECT tablename FROM pg_tables", database="mlflow").split())
        assert {"experiments", "runs", "users", "alembic_version", "alembic_version_auth"} <= tables

        server, users = pod.start("server"), pod.start("users")
        started += [server, users]
        wait_for(pod.healthy, "health", 120)
        wait_for(lambda: pod.probe("users", "readinessProbe") == 0, "accounts", 60)
        passwords = json.loads(Path(pod.here("/etc/mlflow/users"), "users.json").read_text())
        api, login = f"{pod.url}/api/2.0/mlflow/experiments", ("vision", passwords["vision"])
        assert request(f"{api}/search?max_results=1", login)[0] == 200
        tls = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'mlflow'"
        assert postgres.sql(tls) == "t"

        postgres.set_password(SECOND)
        cloud.put(SECOND)
        wait_for(lambda: SECOND in Path(pod.here("/run/pgpass/pgpass")).read_text(), "the rotation", 20)
        postgres.drop_connections()
        body, kind = b'{"name": "after-the-rotation"}', {"Content-Type": "application/json"}
        assert request(f"{api}/create", login, method="POST", body=body, headers=kind)[0] == 200
        assert server.popen.poll() is None

        for process in (pgpass, server, users):
            seen = process.everything_readable() + process.log
            assert FIRST not in seen
            assert SECOND not in seen
    finally:
        for process in reversed(started):
            process.stop()


def test_a_password_in_a_secret_opens_the_database_too(postgres: Postgres, tmp_path: Path) -> None:
    postgres.set_password(FIRST)
    database = {"address": "localhost", "port": postgres.port, "name": "mlflow", "username": "mlflow", "cidrs": []}
    pod = Pod.render(tmp_path / "pod", database={**database, "password": FIRST}, workers=1)
    migrate = pod.start("migrate")
    _finish(migrate, "migration")
    assert "up to date" in migrate.log
    assert FIRST not in migrate.log

    wrong = Pod.render(tmp_path / "wrong", database={**database, "password": SECOND}, workers=1).start("migrate")
    wait_for(lambda: wrong.popen.poll() is not None, "refusal", 60)
    assert wrong.stop() != 0
    assert "password authentication failed" in wrong.log


def test_another_certificate_is_not_believed(postgres: Postgres, cloud: Cloud, tmp_path: Path) -> None:
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-keyout",
            "k",
            "-out",
            "c",
        ],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    postgres.set_password(SECOND)
    cloud.put(SECOND)
    pod = _pod(tmp_path / "pod", postgres, cloud, ca_certificates=(tmp_path / "c").read_text())
    pgpass = pod.start("pgpass", cloud.environment)
    try:
        wait_for(lambda: pod.probe("pgpass", "startupProbe") == 0, "the password file", 30)
        migrate = pod.start("migrate")
        wait_for(lambda: migrate.popen.poll() is not None, "refusal", 60)
        assert migrate.stop() != 0
        assert "certificate verify failed" in migrate.log
        assert SECOND not in migrate.log
    finally:
        pgpass.stop()


def test_the_secret_of_the_rendered_pod_is_named_by_its_arn(tmp_path: Path) -> None:
    pod = Pod.render(tmp_path)
    (sidecar,) = [c for c in pod.spec["initContainers"] if c["name"] == "pgpass"]
    assert sidecar["command"][3] == SECRET_ARN
