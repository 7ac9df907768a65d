"""Brings the MLflow database up to date: tracking and registry tables, those of the accounts, the server's own user.

    migrate.py DATABASE_URI [SERVER VERSION PASSWORD_FILE]

Runs before the server in every pod. Replicas start at the same moment, and two of them in one migration would both
try to create the same tables, so a PostgreSQL advisory lock lets one in at a time; the others then find nothing to
do. The lock belongs to the session: a pod that dies in the middle gives it back. SQLite (tests) has one writer.

The two sets of tables keep their versions apart (`alembic_version` and `alembic_version_auth`), so they share a
database. A migration only goes forward: take a snapshot before a new MLflow version.

The URI is of the owner of the tables. The server logs in as `SERVER_vVERSION`, with the password in the file, which may
read and write rows and nothing else. The user of the version before stays, for the pods that a rollout replaces; older
ones go.

The administrator of the accounts gets this pod's password, whatever it was: after a version was left out, or a database
restored, nobody else could, and no pod would be ready again.
"""

import configparser
import contextlib
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LOCK = 7_262_417_001  # any number, the same in every pod; advisory locks are of one database


def log(message: str) -> None:
    """One line for the container's log."""
    print(f"migrate: {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def one_at_a_time(uri: str) -> Iterator[Any]:
    """Holds the advisory lock of a PostgreSQL database, as long as it takes; yields the connection that has it."""
    if not uri.startswith("postgresql"):
        yield None
        return
    psycopg2: Any = importlib.import_module("psycopg2")  # only there is a PostgreSQL driver needed
    scheme, rest = uri.split("://", 1)  # libpq knows no drivers: postgresql, not postgresql+psycopg2
    connection = psycopg2.connect(f"{scheme.split('+')[0]}://{rest}")  # the password comes from PGPASSFILE
    try:
        connection.autocommit = True  # an open transaction would hold back the migrations of others
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        yield connection
    finally:
        connection.close()


def make_server_user(connection: Any, server: str, version: int, password: str) -> None:
    """The group SERVER with the rights on rows, and in it the user of this version."""
    extensions: Any = importlib.import_module("psycopg2.extensions")
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname FROM pg_roles WHERE rolname ~ %s", (f"^{server}(_v[0-9]+)?$",))
        known = {name for (name,) in cursor.fetchall()}
        user, kept = f"{server}_v{version}", {server, f"{server}_v{version}", f"{server}_v{version - 1}"}
        if server not in known:
            cursor.execute(f"CREATE ROLE {server} NOLOGIN")
        for statement in (
            f"GRANT USAGE ON SCHEMA public TO {server}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {server}",
            f"REVOKE INSERT, UPDATE, DELETE ON alembic_version, alembic_version_auth FROM {server}",
            f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {server}",
        ):
            cursor.execute(statement)
        # Statements are logged: the server gets what it keeps of a password, not the password.
        kept_of_it = extensions.encrypt_password(password, user, connection, "scram-sha-256")
        verb = "ALTER" if user in known else "CREATE"
        cursor.execute(f"{verb} ROLE {user} LOGIN PASSWORD %s", (kept_of_it,))
        cursor.execute(f"GRANT {server} TO {user}")
        for old in sorted(known - kept):
            cursor.execute(f"DROP ROLE {old}")
            log(f"user {old}: gone")
    log(f"user {user}: may log in")


def set_administrator(connection: Any, configuration: str) -> None:
    """Gives MLflow's administrator the password of its configuration; one that is not there yet the server makes."""
    security: Any = importlib.import_module("werkzeug.security")
    parser = configparser.ConfigParser()
    parser.read_string(Path(configuration).read_text(encoding="utf-8"))
    name, password = parser["mlflow"]["admin_username"], parser["mlflow"]["admin_password"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT password_hash FROM users WHERE username = %s", (name,))
        found = cursor.fetchone()
        if found is None or security.check_password_hash(found[0], password):
            return
        kept_of_it = security.generate_password_hash(password)
        cursor.execute("UPDATE users SET password_hash = %s WHERE username = %s", (kept_of_it, name))
    log(f"account {name!r}: has the password of this pod now")


def main(argv: list[str]) -> int:
    """Runs both migrations and makes the server's user; the exit status of the first that fails."""
    uri, *own = argv or [""]
    if not uri or len(own) not in (0, 3) or (own and not (re.fullmatch("[a-z_]+", own[0]) and own[1].isdigit())):
        print(__doc__, file=sys.stderr)
        return 2
    with one_at_a_time(uri) as connection:
        for what, command in (
            ("tracking", ["mlflow", "db", "upgrade", uri]),
            ("accounts", ["mlflow.server.auth", "db", "upgrade", "--url", uri]),
        ):
            log(f"{what} tables")
            status = subprocess.run([sys.executable, "-m", *command], check=False).returncode
            if status:
                log(f"{what} tables: failed with status {status}")
                return status
        if connection is not None and "MLFLOW_AUTH_CONFIG_PATH" in os.environ:
            set_administrator(connection, os.environ["MLFLOW_AUTH_CONFIG_PATH"])
        if own and connection is not None:
            make_server_user(connection, own[0], int(own[1]), Path(own[2]).read_text(encoding="utf-8").strip())
    log("up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
