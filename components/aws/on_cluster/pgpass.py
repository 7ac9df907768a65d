"""Keeps a libpq password file in step with an AWS Secrets Manager secret.

    pgpass.py run SECRET_ARN HOST PORT DATABASE USER FILE [--interval SECONDS]
    pgpass.py alive FILE SECONDS

`run` reads the secret (credentials come from EKS Pod Identity), writes FILE and looks again every interval, for
ever. libpq reads PGPASSFILE at every new connection, so a rotated password is in use one interval later at most
and nothing has to restart. FILE is replaced as a whole by a rename and has mode 0600: libpq never sees half a file
and ignores one that others can read.

While Secrets Manager cannot be reached the last known file stays: it is right until the next rotation.

`alive` is the probe: exit 0 when FILE exists and `run` has finished a round within SECONDS, else 1.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

RETRY_SECONDS = 2.0  # until there is a first file: the server waits for it


def log(message: str) -> None:
    """One line for the container's log. Never given a secret."""
    print(f"pgpass: {message}", file=sys.stderr, flush=True)


def escape(field: str) -> str:
    """A field of a password file: libpq wants a backslash before `:` and a backslash."""
    return field.replace("\\", "\\\\").replace(":", "\\:")


def password_line(host: str, port: str, database: str, user: str, password: str) -> str:
    """The line of the password file for one database."""
    return ":".join(escape(field) for field in (host, port, database, user, password)) + "\n"


def password_of(secret: str, user: str) -> str:
    """The password within a secret as RDS writes it: `{"username": …, "password": …}`.

    Raises ValueError, without the secret's content, when it is something else or of another user.
    """
    try:
        content = json.loads(secret)
        found, password = content["username"], content["password"]
    except (ValueError, KeyError, TypeError):
        raise ValueError("the secret is not a JSON object with username and password") from None
    if found != user:
        raise ValueError(f"the secret is of user {found!r}, not {user!r}")
    if not isinstance(password, str) or not password or "\n" in password:
        raise ValueError("the secret holds no usable password")
    return password


def replace(file: Path, content: str) -> bool:
    """Writes a file of mode 0600 by rename. False when it held the same content already."""
    if file.exists() and file.read_text(encoding="utf-8") == content:
        return False
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=".pgpass-")  # mkstemp: mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(content)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True


def heartbeat(file: Path) -> Path:
    """The file whose age says when `run` last finished a round."""
    return file.with_name(file.name + ".alive")


def refresh(client: Any, arguments: argparse.Namespace) -> None:
    """One round: reads the secret and, when the password is new, writes the file."""
    secret = client.get_secret_value(SecretId=arguments.secret_arn)["SecretString"]
    password = password_of(secret, arguments.user)
    line = password_line(arguments.host, arguments.port, arguments.database, arguments.user, password)
    if replace(arguments.file, line):
        log("wrote the password file")


def run(arguments: argparse.Namespace) -> int:
    """Refreshes until it is told to stop."""
    import boto3  # here, so that the probe starts quickly
    import botocore.config
    import botocore.exceptions

    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    # The first process of a container ignores SIGTERM unless it has a handler.
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    client = boto3.client(
        "secretsmanager",
        config=botocore.config.Config(connect_timeout=5, read_timeout=10, retries={"mode": "standard"}),
    )
    while not stop.is_set():
        try:
            refresh(client, arguments)
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError, ValueError) as error:
            log(f"cannot read the secret, trying again: {error}")
        heartbeat(arguments.file).touch(mode=0o600)
        stop.wait(arguments.interval if arguments.file.exists() else min(RETRY_SECONDS, arguments.interval))
    return 0


def alive(arguments: argparse.Namespace) -> int:
    """The probe of `run`."""
    beat = heartbeat(arguments.file)
    fresh = beat.exists() and time.time() - beat.stat().st_mtime <= arguments.seconds
    return 0 if fresh and arguments.file.exists() else 1


def main(argv: list[str] | None = None) -> int:
    """Parses the command line and runs one command."""
    parser = argparse.ArgumentParser(description="Keeps a libpq password file in step with a secret.")
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    for name in ("secret_arn", "host", "port", "database", "user"):
        runner.add_argument(name)
    runner.add_argument("file", type=Path)
    runner.add_argument("--interval", type=float, default=30.0)
    runner.set_defaults(command=run)
    probe = commands.add_parser("alive")
    probe.add_argument("file", type=Path)
    probe.add_argument("seconds", type=float)
    probe.set_defaults(command=alive)
    arguments = parser.parse_args(argv)
    result: int = arguments.command(arguments)
    return result


if __name__ == "__main__":
    sys.exit(main())
