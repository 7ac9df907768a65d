"""Brings MLflow's tables up to date, and gives the server's login its rights on their rows.

    migrate.py DATABASE_URI LOGIN SECRET_URL

Runs as a job of its own, before a new revision of the server: as the owner of the tables, whose password nobody else
reads. It is asked of Secret Manager at SECRET_URL, as the job's account. LOGIN is the server's account as PostgreSQL
knows it, which may read and write rows and nothing else. Two runs at once wait for each other.

A migration only goes forward: the instance before the next revision has to bear the new tables for a minute, and an
older MLflow does not start with them. Cloud SQL's backups lead to any minute of the last seven days.
"""

import base64
import importlib
import json
import os
import subprocess
import sys
import urllib.request
from typing import Any

LOCK = 7_262_417_001  # any number, the same in every run; advisory locks are of one database
GROUP = "mlflow_rows"


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
    os.environ["PGPASSWORD"] = password(secret_url)  # libpq's own variable: in no command line
    psycopg2: Any = importlib.import_module("psycopg2")
    connection = psycopg2.connect(uri.replace("+psycopg2", "", 1))  # libpq knows no drivers
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
