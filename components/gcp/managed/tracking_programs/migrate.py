"""Brings MLflow's tables up to date, and gives the server's login its rights on their rows.

    migrate.py DATABASE_URI LOGIN SECRET_URL

Runs as a job of its own, before a new revision of the server: as the owner of the tables, whose password nobody else
reads. It is asked of Secret Manager at SECRET_URL, as the job's account. LOGIN is the server's account as PostgreSQL
knows it, which may read and write rows and nothing else. Two runs at once wait for each other.

The first run comes seconds after its rights and its way into the network are made, and Google takes minutes until both
hold: what is refused or out of reach is asked again, for ten minutes in all.

A migration only goes forward: the instance before the next revision has to bear the new tables for a minute, and an
older MLflow does not start with them. Cloud SQL's backups lead to any minute of the last seven days.
"""

import base64
import importlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

LOCK = 7_262_417_001  # any number, the same in every run; advisory locks are of one database
GROUP = "mlflow_rows"
PATIENCE_SECONDS = 600.0
PAUSE_SECONDS = 10.0
CONNECT_SECONDS = 10  # packets into a network that is not there yet are lost, and nobody says so


def patiently(end: float, what: str, attempt: Callable[[], Any], transient: type[Exception]) -> Any:
    """The outcome of an attempt, made again until `end` (monotonic) while it fails with what may pass.

    A server that answers otherwise than "not allowed" or "not now" says so for good.
    """
    while True:
        try:
            return attempt()
        except transient as error:
            lasting = isinstance(error, urllib.error.HTTPError) and error.code != 403 and error.code < 500
            if lasting or time.monotonic() + PAUSE_SECONDS > end:
                raise
            print(f"migrate: {what}: {error}; once more in {PAUSE_SECONDS:g} s", file=sys.stderr, flush=True)
            time.sleep(PAUSE_SECONDS)


def asked(url: str, headers: dict[str, str]) -> dict[str, Any]:
    """The answer of a server, as JSON."""
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - addresses that the job is given
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return dict(json.loads(answer.read()))


def password(secret_url: str) -> str:
    """The owner's password."""
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    own = f"http://{host}/computeMetadata/v1/instance/service-accounts/default/token"
    token = asked(own, {"Metadata-Flavor": "Google"})["access_token"]
    found = asked(secret_url, {"Authorization": f"Bearer {token}"})
    return base64.b64decode(found["payload"]["data"]).decode()


def give_rows(connection: Any, login: str) -> None:
    """The group with rights on rows, and in it the login: a member, so that dropping it leaves nothing behind."""
    sql: Any = importlib.import_module("psycopg2.sql")
    group, member = sql.Identifier(GROUP), sql.Identifier(login)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (GROUP,))
        if cursor.fetchone() is None:
            cursor.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(group))
        for statement in (
            "GRANT USAGE ON SCHEMA public TO {}",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}",
            "REVOKE INSERT, UPDATE, DELETE ON alembic_version FROM {}",
            "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}",
        ):
            cursor.execute(sql.SQL(statement).format(group))
        cursor.execute(sql.SQL("GRANT {} TO {}").format(group, member))


def main(argv: list[str]) -> int:
    """Migrates, then grants; the exit status of the migration where it fails."""
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    uri, login, secret_url = argv
    end = time.monotonic() + PATIENCE_SECONDS
    # libpq's own variable: in no command line
    os.environ["PGPASSWORD"] = patiently(end, "the password", lambda: password(secret_url), OSError)
    psycopg2: Any = importlib.import_module("psycopg2")
    plain = uri.replace("+psycopg2", "", 1)  # libpq knows no drivers
    connection = patiently(
        end,
        "the database",
        lambda: psycopg2.connect(plain, connect_timeout=CONNECT_SECONDS),
        psycopg2.OperationalError,
    )
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        status = subprocess.run([sys.executable, "-m", "mlflow", "db", "upgrade", uri], check=False).returncode
        if status:
            print(f"migrate: failed with status {status}", file=sys.stderr, flush=True)
            return status
        give_rows(connection, login)
    finally:
        connection.close()
    print(f"migrate: up to date, {login} has its rows", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
