"""Brings the MLflow database up to date: tracking and registry tables, then those of the accounts.

    migrate.py DATABASE_URI

Runs before the server in every pod. Replicas start at the same moment, and two of them in one migration would both
try to create the same tables, so a PostgreSQL advisory lock lets one in at a time; the others then find nothing to
do. The lock belongs to the session: a pod that dies in the middle gives it back. SQLite (tests) has one writer.

The two sets of tables keep their versions apart (`alembic_version` and `alembic_version_auth`), so they share a
database. A migration only goes forward: take a snapshot before a new MLflow version.
"""

import contextlib
import importlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

LOCK = 7_262_417_001  # any number, the same in every pod; advisory locks are of one database


def log(message: str) -> None:
    """One line for the container's log."""
    print(f"migrate: {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def one_at_a_time(uri: str) -> Iterator[None]:
    """Holds the advisory lock of a PostgreSQL database; waits for it as long as it takes."""
    if not uri.startswith("postgresql"):
        yield
        return
    psycopg2: Any = importlib.import_module("psycopg2")  # only there is a PostgreSQL driver needed
    scheme, rest = uri.split("://", 1)  # libpq knows no drivers: postgresql, not postgresql+psycopg2
    connection = psycopg2.connect(f"{scheme.split('+')[0]}://{rest}")  # the password comes from PGPASSFILE
    try:
        connection.autocommit = True  # an open transaction would hold back the migrations of others
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        yield
    finally:
        connection.close()


def main(argv: list[str]) -> int:
    """Runs both migrations; the exit status of the first that fails."""
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    (uri,) = argv
    with one_at_a_time(uri):
        for what, command in (
            ("tracking", ["mlflow", "db", "upgrade", uri]),
            ("accounts", ["mlflow.server.auth", "db", "upgrade", "--url", uri]),
        ):
            log(f"{what} tables")
            status = subprocess.run([sys.executable, "-m", *command], check=False).returncode
            if status:
                log(f"{what} tables: failed with status {status}")
                return status
    log("up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
