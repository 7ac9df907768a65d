"""Makes the teams' accounts on the MLflow server, through its public API, and keeps them.

    users.py run URL ADMIN DIRECTORY STATE [--interval SECONDS]
    users.py alive STATE SECONDS [--done]

DIRECTORY holds `admin-password` (of the account ADMIN) and `users.json` (`{"name": "password"}`). An account that
is missing is created; one whose password does not work gets the one in the file. Accounts that the file does not
name are left alone: people make their own, and a removed team's runs still belong to somebody.

It runs beside the server in every pod and looks again every interval, so that accounts come back after a database
was restored or someone deleted one. Two replicas doing the same at once end with the same accounts.

STATE is touched after every round and written to once a round has succeeded. `alive` is the probe: exit 0 when a
round ended within SECONDS; with `--done`, only if one has succeeded. A pod of a rollout whose accounts cannot be
made is thus never ready, and the rollout stops where it is visible.
"""

import argparse
import base64
import json
import signal
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

API = "/api/2.0/mlflow/users/"
RETRY_SECONDS = 2.0


class RoundError(Exception):
    """A round could not be finished; the text says why and holds no password."""


def log(message: str) -> None:
    """One line for the container's log. Never given a password."""
    print(f"users: {message}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Account:
    """A name with its password, which is kept out of the representation."""

    name: str
    password: str = field(repr=False)

    def header(self) -> str:
        """The value of the Authorization header."""
        return "Basic " + base64.b64encode(f"{self.name}:{self.password}".encode()).decode()


def call(url: str, account: Account, method: str, path: str, body: dict[str, str] | None = None) -> tuple[int, str]:
    """One request; the status and MLflow's error code (empty when there is none).

    Raises RoundError when the server does not answer.
    """
    request = urllib.request.Request(  # noqa: S310 — the URL is the pod's own server
        url + API + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": account.header(), "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status, ""
    except urllib.error.HTTPError as error:
        with error:
            content = error.read()
        try:
            code = str(json.loads(content).get("error_code", ""))
        except (ValueError, AttributeError):
            code = ""
        return error.code, code
    except OSError as error:  # URLError and timeouts
        raise RoundError(f"the server does not answer: {error}") from None


def ensure(url: str, admin: Account, account: Account) -> str:
    """Makes one account usable with its password: "kept", "created" or "updated".

    Raises RoundError when the server refuses.
    """
    if call(url, account, "GET", "current")[0] == 200:
        return "kept"
    status, code = call(url, admin, "GET", "get?" + urllib.parse.urlencode({"username": account.name}))
    if status == 401:
        raise RoundError(f"the server does not take the password of {admin.name!r}: was it changed in the server?")
    body = {"username": account.name, "password": account.password}
    if status == 404:
        status, code = call(url, admin, "POST", "create", body)
        done = "created"
        if code == "RESOURCE_ALREADY_EXISTS":  # the other replica was quicker, with the same password
            return "kept"
    elif status == 200:
        status, code = call(url, admin, "PATCH", "update-password", body)
        done = "updated"
    else:
        done = ""
    if status != 200:
        raise RoundError(f"account {account.name!r}: the server answers {status} {code}".rstrip())
    return done


def one_round(url: str, admin_name: str, directory: Path) -> None:
    """Ensures every account of the file. Raises RoundError naming each one that failed."""
    try:
        admin = Account(admin_name, (directory / "admin-password").read_text(encoding="utf-8").strip())
        accounts = [Account(*item) for item in json.loads((directory / "users.json").read_text("utf-8")).items()]
    except (OSError, ValueError, AttributeError) as error:
        raise RoundError(f"cannot read {directory}: {type(error).__name__}") from None
    problems = []
    for account in accounts:
        try:
            done = ensure(url, admin, account)
        except RoundError as error:
            problems.append(str(error))
        else:
            if done != "kept":
                log(f"account {account.name!r} {done}")
    if problems:
        raise RoundError("; ".join(sorted(set(problems))))


def run(arguments: argparse.Namespace) -> int:
    """Round after round until it is told to stop."""
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    # The first process of a container ignores SIGTERM unless it has a handler.
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    state: Path = arguments.state
    state.unlink(missing_ok=True)  # what a container before this one reached is not reached by this one
    while not stop.is_set():
        try:
            one_round(arguments.url, arguments.admin, arguments.directory)
        except RoundError as error:
            log(f"trying again: {error}")
            state.touch()
            stop.wait(min(RETRY_SECONDS, arguments.interval))
        else:
            state.write_text("done\n", encoding="utf-8")
            stop.wait(arguments.interval)
    return 0


def alive(arguments: argparse.Namespace) -> int:
    """The probe of `run`."""
    state: Path = arguments.state
    if not state.exists() or time.time() - state.stat().st_mtime > arguments.seconds:
        return 1
    return 0 if not arguments.done or state.stat().st_size else 1


def main(argv: list[str] | None = None) -> int:
    """Parses the command line and runs one command."""
    parser = argparse.ArgumentParser(description="Makes the teams' accounts on the MLflow server.")
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("url")
    runner.add_argument("admin")
    runner.add_argument("directory", type=Path)
    runner.add_argument("state", type=Path)
    runner.add_argument("--interval", type=float, default=300.0)
    runner.set_defaults(command=run)
    probe = commands.add_parser("alive")
    probe.add_argument("state", type=Path)
    probe.add_argument("seconds", type=float)
    probe.add_argument("--done", action="store_true")
    probe.set_defaults(command=alive)
    arguments = parser.parse_args(argv)
    result: int = arguments.command(arguments)
    return result


if __name__ == "__main__":
    sys.exit(main())
