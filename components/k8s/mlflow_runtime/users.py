"""Makes the teams' accounts on the MLflow server, and the logins to them, through its public API, and keeps them.

    users.py run URL AUTHORITY ADMIN DIRECTORY STATE [--interval SECONDS]
    users.py alive STATE SECONDS [--done]

AUTHORITY is the file with the authority of the server's certificate. DIRECTORY holds `admin-password` (of the account
ADMIN), `admin-password-before` (what it was until the passwords were replaced, or nothing) and `users.json`
(`{"name": "password"}`; null for an account that nobody logs in with). An account that is missing is created; one whose
password does not work gets the one in the file. Logins to an account (`account+who`) that the file does not name go,
with one exception: those of later passwords, which a newer pod made. Other accounts are left alone: a removed team's
runs still belong to somebody.

It runs beside the server in every pod and looks again every interval, so that accounts come back after a database
was restored or someone deleted one. Two replicas doing the same at once end with the same accounts.

During a rotation two versions of the pod run. The newer one has the administrator's password; the older one is done
with a round when the logins of the teams' jobs work, so that a container of it that starts again does not take the pod
out of service.

STATE is touched after every round and written to once a round has succeeded. `alive` is the probe: exit 0 when a
round ended within SECONDS; with `--done`, only if one has succeeded. A pod of a rollout whose accounts cannot be
made is thus never ready, and the rollout stops where it is visible.
"""

import argparse
import base64
import json
import secrets
import signal
import ssl
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

API = "/api/2.0/mlflow/users/"
RETRY_SECONDS = 2.0


class RoundError(Exception):
    """A round could not be finished; the text says why and holds no password."""


class NotAdministratorError(RoundError):
    """The server takes none of the administrator's passwords."""


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


@dataclass(frozen=True)
class Server:
    """The server's address, and the file with the authority of its certificate."""

    url: str
    authority: str


def call(
    server: Server, account: Account, method: str, path: str, body: dict[str, str] | None = None
) -> tuple[int, str, dict[str, Any]]:
    """One request; the status, MLflow's error code (empty when there is none) and the answer.

    Raises RoundError when the server does not answer.
    """
    request = urllib.request.Request(  # noqa: S310 — the URL is the pod's own server
        server.url + API + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": account.header(), "Content-Type": "application/json"},
    )
    try:
        context = ssl.create_default_context(cafile=server.authority)
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:  # noqa: S310
            return answer.status, "", dict(json.loads(answer.read() or b"{}"))
    except urllib.error.HTTPError as error:
        with error:
            content = error.read()
        try:
            code = str(json.loads(content).get("error_code", ""))
        except (ValueError, AttributeError):
            code = ""
        return error.code, code, {}
    except OSError as error:  # URLError and timeouts
        raise RoundError(f"the server does not answer: {error}") from None


def administrator(server: Server, accounts: list[Account]) -> Account:
    """The first of the accounts, after it has been given its password where only that of the second works.

    Raises NotAdministratorError when neither does, RoundError when the server cannot tell.
    """
    now, *before = accounts
    status, code, _ = call(server, now, "GET", "current")
    if status == 200:
        return now
    if status >= 500:  # the database is away, or takes its user no more: no word on the password
        raise RoundError(f"account {now.name!r}: the server answers {status} {code}".rstrip())
    for old in before:
        body = {"username": now.name, "password": now.password, "current_password": old.password}
        if call(server, old, "PATCH", "update-password", body)[0] == 200:
            log(f"account {now.name!r} updated")
            return now
    raise NotAdministratorError(f"the server does not take the password of {now.name!r}: was it changed in the server?")


def ensure(server: Server, admin: Account, name: str, password: str | None) -> str:
    """Makes one account usable with its password, or with none: "kept", "created", "updated" or "closed".

    Raises RoundError when the server refuses.
    """
    if password is not None and call(server, Account(name, password), "GET", "current")[0] == 200:
        return "kept"
    status, code, _ = call(server, admin, "GET", "get?" + urllib.parse.urlencode({"username": name}))
    body = {"username": name, "password": password or secrets.token_urlsafe(32)}
    done = ""
    if status == 404:
        status, code, _ = call(server, admin, "POST", "create", body)
        done = "created"
        if code == "RESOURCE_ALREADY_EXISTS":  # the other replica was quicker, with the same password
            return "kept"
    elif status == 200:
        status, code, _ = call(server, admin, "PATCH", "update-password", body)
        done = "updated" if password else "closed"
    if status != 200 or not done:
        raise RoundError(f"account {name!r}: the server answers {status} {code}".rstrip())
    return done


def teams_log_in(server: Server, wanted: dict[str, str | None]) -> bool:
    """Whether the logins of the teams' jobs work, each team's last: all that a pod of before a rotation is still asked
    for. Those before it have gone, and people have the newer pod's."""
    last: dict[str, tuple[int, Account]] = {}
    for name, password in wanted.items():
        team, plus, who = name.partition("+")
        if password is not None and (who.isdigit() or not plus):
            version = int(who or 1)
            last[team] = max(
                last.get(team, (0, Account(name, password))),
                (version, Account(name, password)),
                key=lambda each: each[0],
            )
    return bool(last) and all(call(server, each, "GET", "current")[0] == 200 for _, each in last.values())


def superseded(name: str, wanted: dict[str, str | None]) -> bool:
    """Whether a login is one that the file does not name any more: a person's, or an older password of a team."""
    account, plus, who = name.partition("+")
    if not plus or name in wanted:
        return False
    versions = [
        int(mine) for of, _, mine in (each.partition("+") for each in wanted) if of == account and mine.isdigit()
    ]
    return not who.isdigit() or int(who) < max(versions, default=1)


def remove_superseded(server: Server, admin: Account, wanted: dict[str, str | None]) -> None:
    """Deletes logins of people who left and of passwords before the last. Raises RoundError when the server refuses."""
    status, code, answer = call(server, admin, "GET", "list")
    if status != 200:
        raise RoundError(f"list of accounts: the server answers {status} {code}".rstrip())
    for name in (str(user["username"]) for user in answer["users"]):
        if superseded(name, wanted):
            status, code, _ = call(server, admin, "DELETE", "delete", {"username": name})
            if status not in (200, 204, 404):
                raise RoundError(f"login {name!r}: the server answers {status} {code}".rstrip())
            log(f"login {name!r} deleted")


def one_round(server: Server, admin_name: str, directory: Path) -> None:
    """Ensures every account of the file. Raises RoundError naming each one that failed."""
    try:
        passwords = [
            (directory / name).read_text("utf-8").strip() for name in ("admin-password", "admin-password-before")
        ]
        wanted = dict(json.loads((directory / "users.json").read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise RoundError(f"cannot read {directory}: {type(error).__name__}") from None
    try:
        admin = administrator(server, [Account(admin_name, password) for password in passwords if password])
    except NotAdministratorError:
        if not teams_log_in(server, wanted):
            raise
        log(f"a newer pod has replaced the password of {admin_name!r} and keeps the accounts; the teams' logins work")
        return
    problems = []
    for name, password in wanted.items():
        try:
            done = ensure(server, admin, name, password)
        except RoundError as error:
            problems.append(str(error))
        else:
            if done not in ("kept", "closed"):
                log(f"account {name!r} {done}")
    if problems:
        raise RoundError("; ".join(sorted(set(problems))))
    remove_superseded(server, admin, wanted)


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
            one_round(Server(arguments.url, arguments.authority), arguments.admin, arguments.directory)
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
    runner.add_argument("authority")
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
