"""A PostgreSQL server on this machine, reached by TLS only, whose certificate an authority of the tests has signed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.components.k8s.certificates import authority, certificate
from tests.components.k8s.mlflow_support import free_port

MASTER, MASTER_PASSWORD = "mlflow", "master-password-0009"
NOBODY = 65534
FIRST_PASSWORD = "first-password"
"""Of the superuser, who is the cloud's own."""


def needs_postgresql() -> None:
    """Skips the calling test by name where the server's programs are not installed."""
    missing = [name for name in ("initdb", "postgres") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)} of PostgreSQL, not installed here")


@dataclass(frozen=True)
class Postgres:
    """A running server; `authority` is the certificate that its own is signed with."""

    port: int
    authority: str
    log: Path

    def sql(self, statement: str, *, user: str = MASTER, password: str = MASTER_PASSWORD) -> list[tuple[object, ...]]:
        """Runs a statement in the database `mlflow`; its rows."""
        import psycopg2

        connection = psycopg2.connect(
            host="127.0.0.1", port=self.port, dbname="mlflow", user=user, password=password, sslmode="require"
        )
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall()) if cursor.description else []
        finally:
            connection.close()

    def hang_up_on_users_that_are_gone(self) -> None:
        """Ends the open connections of users that were dropped: whose they are, nobody but the cloud may end them."""
        self.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'mlflow' AND usename IS NULL",
            user="postgres",
            password=FIRST_PASSWORD,
        )


@contextlib.contextmanager
def postgres(root: Path) -> Iterator[Postgres]:
    """A server below `root`, with the master user of a database that a cloud makes: no superuser, owner of its own."""
    needs_postgresql()
    root.chmod(0o755)
    for parent in root.parents:  # the server will not run as root, and has to reach its folder
        if os.geteuid() == 0 and parent != Path("/tmp") and str(parent).startswith("/tmp/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    home = root / "postgres"
    home.mkdir()
    text, private = certificate()
    (home / "server.crt").write_text(text)
    (home / "server.key").write_text(private)
    (home / "server.key").chmod(0o600)
    (home / "first").write_text(FIRST_PASSWORD)
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        for path in (home, *home.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "cwd": home, **user}
    first = ["--username=postgres", "--auth=scram-sha-256", f"--pwfile={home}/first", "--no-sync", "--locale=C.UTF-8"]
    subprocess.run(["initdb", f"--pgdata={home}/data", *first], check=True, **quiet)  # type: ignore[call-overload]
    (home / "data" / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 scram-sha-256\n")
    port = free_port()
    settings = {
        "listen_addresses": "localhost",
        "port": str(port),
        "unix_socket_directories": "",
        "fsync": "off",
        "log_statement": "ddl",
        "ssl": "on",
        "ssl_cert_file": f"{home}/server.crt",
        "ssl_key_file": f"{home}/server.key",
    }
    options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
    log = (home / "log").open("wb")
    process = subprocess.Popen(["postgres", "-D", f"{home}/data", *options], **{**quiet, "stdout": log})  # type: ignore[call-overload]
    try:
        _prepare(port)
        yield Postgres(port, authority()[0], home / "log")
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def _prepare(port: int) -> None:
    """The master user and its database, as RDS leaves them."""
    import psycopg2

    for attempt in range(100):
        try:
            connection = psycopg2.connect(
                host="127.0.0.1", port=port, dbname="postgres", user="postgres", password=FIRST_PASSWORD
            )
            break
        except psycopg2.OperationalError:
            if attempt == 99:
                raise
            time.sleep(0.1)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {MASTER} LOGIN CREATEROLE CREATEDB PASSWORD '{MASTER_PASSWORD}'")
        cursor.execute(f"CREATE DATABASE mlflow OWNER {MASTER}")
    connection.close()
