"""Who may log in at the MLflow server, with which password, and how a password is replaced by the next.

A team has one account, whose rights count, and logins to it: its own, for its jobs, and one a person. A login
after the first is called `team+who`; `mlflow_runtime/tracking_guard.py` reads it so. With `password_version` N the
team's jobs get the login of version N, and that of N-1 goes on working until the next: jobs that run are not cut off,
and no two pods of a rollout disagree about a password, since a login keeps the one it was made with.
"""

import json
from collections.abc import Mapping, Sequence

import pulumi
import pulumi_random as random

from trainyard.conventions import MLFLOW_ADMIN, MLFLOW_AUTHORIZATION


class Logins:
    """Makes the passwords of a server; each is a resource of its own, so that none changes with another."""

    def __init__(self, name: str, version: int, opts: pulumi.ResourceOptions) -> None:
        """Raises ValueError for a version below 1."""
        if version < 1:
            raise ValueError(f"{name}: password_version has to be at least 1, got {version}")
        self.version = version
        self._name = name
        self._opts = opts

    def password(self, suffix: str, version: int = 1) -> pulumi.Output[str]:
        """32 letters and digits: more than 190 bits, and nothing to escape in an ini file, in JSON or in a URL."""
        name = f"{self._name}-{suffix}" if version == 1 else f"{self._name}-{suffix}-v{version}"
        made = random.RandomPassword(name, length=32, special=False, opts=self._opts)
        return pulumi.Output.secret(made.result)

    def latest(self, suffix: str) -> tuple[pulumi.Output[str], pulumi.Output[str] | None]:
        """The password of this version, and that of the one before where there was one."""
        before = self.password(suffix, self.version - 1) if self.version > 1 else None
        return self.password(suffix, self.version), before

    def of_team(self, team: str) -> tuple[str, dict[str, pulumi.Output[str] | None]]:
        """The login that the team's jobs get, and every login of the team to its password; None for an account that
        nobody logs in with by its own name any more."""
        now, before = self.latest(f"user-{team}")
        found: dict[str, pulumi.Output[str] | None] = {team: None}
        if before is not None:
            found[login(team, self.version - 1)] = before
        found[login(team, self.version)] = now
        return login(team, self.version), found

    def of_people(self, team: str, people: Sequence[str]) -> dict[str, pulumi.Output[str]]:
        """A login a person. A person gets the new password at once: there is nobody to hand the old one on to."""
        return {f"{team}+{who}": self.password(f"person-{team}-{who}", self.version) for who in sorted(people)}


def login(team: str, version: int) -> str:
    """The team's login of a version of the passwords."""
    return team if version == 1 else f"{team}+{version}"


def as_json(logins: Mapping[str, pulumi.Output[str] | None]) -> pulumi.Output[str]:
    """The file that `mlflow_runtime/users.py` reads."""
    return pulumi.Output.all(**logins).apply(lambda known: json.dumps(known, sort_keys=True))


def auth_configuration(*, database_uri: str, admin_password: str, default_permission: str) -> str:
    """The file that `MLFLOW_AUTH_CONFIG_PATH` names.

    Accounts are in the same database as the runs: their tables keep their version apart, in `alembic_version_auth`
    (read in MLflow 3.17.2). A successful login is remembered for a minute in each process, which spares a password
    hash at every request and lets an old password work that much longer.
    """
    entries = {
        "default_permission": default_permission,
        "database_uri": database_uri,
        "admin_username": MLFLOW_ADMIN,
        "admin_password": admin_password,
        "authorization_function": MLFLOW_AUTHORIZATION,
        "auth_cache_ttl_seconds": "60",
    }
    # `%` starts an interpolation in an ini file.
    lines = [f"{key} = {value.replace('%', '%%')}" for key, value in entries.items()]
    return "\n".join(["[mlflow]", *lines, ""])
