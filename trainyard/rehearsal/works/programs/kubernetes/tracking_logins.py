"""Logins of the tracking server: those that programs use are among those that are made, and the administrator is one.

Sources: MLflow 3.17, "Authentication with Username and Password" (`admin_username` of `basic_auth.ini`,
`MLFLOW_TRACKING_USERNAME`); the keeper of logins, whose usage line says what is whose (`users.json`: name to password,
null where nobody logs in; `account+who` is a login of the account).
No message names what a Secret holds: accounts and the administrator stay untold.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.works.programs.kubernetes.mounted import files_of, plain, program, starts, usages
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster, Pod, place

_USERS: Final = "users.json"
_NAME, _WORD = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"
_ADMIN: Final = re.compile(r"^\s*admin_username\s*=\s*(\S+)\s*$", re.MULTILINE)


def check(cluster: Cluster) -> None:
    """Every Secret with a login, where one Secret of the stack has the accounts; every keeper of logins."""
    secrets = list(cluster.of("Secret"))
    holders = [texts[_USERS] for view in secrets if _USERS in (texts := _texts(view))]
    accounts = _accounts(holders[0]) if len(holders) == 1 else None
    for view in secrets if accounts is not None else ():
        _login(view, accounts or {})
    for pod in cluster.pods:
        administrators = {name for text in _mounted(pod, cluster) for name in _ADMIN.findall(text)}
        if len(administrators) == 1:
            _administrator(pod, administrators.pop(), cluster)


def _texts(view: View) -> dict[str, str]:
    """What a Secret holds by key: `data` in base64, `stringData`, which overwrites it, as it stands."""
    decoded = {key: _decoded(text) for key, text in view.mapping("data").items() if isinstance(text, str)}
    plain = {key: text for key, text in view.mapping("stringData").items() if isinstance(text, str)}
    return {key: text for key, text in {**decoded, **plain}.items() if text is not None}


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _accounts(text: str) -> Mapping[str, str | None] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _login(view: View, accounts: Mapping[str, str | None]) -> None:
    texts = _texts(view)
    name, word = texts.get(_NAME), texts.get(_WORD)
    if name is None or word is None or _USERS in texts:
        return
    path = f"{'stringData' if _NAME in view.mapping('stringData') else 'data'}.{_NAME}"
    made = name if name in accounts else name.partition("+")[0]
    if made not in accounts:
        view.error(
            "programs-login", path, f"logs in as {show(name)}, an account that is not made: every request is refused",
            allowed=f"an account of {_USERS}",
        )  # fmt: skip
    elif name in accounts and accounts[name] is not None and accounts[name] != word:
        view.error(
            "programs-login", path, f"logs in as {show(name)} with another password than that account is made with: "
            "every request is refused", allowed="the account's own name and password",
        )  # fmt: skip


def _mounted(pod: Pod, cluster: Cluster) -> Iterator[str]:
    """The texts of Secrets that a pod mounts."""
    for volume in listed(pod.spec.get("volumes")):
        held = volume.get("secret") if isinstance(volume, Mapping) else None
        name = held.get("secretName") if isinstance(held, Mapping) else None
        view = cluster.find("Secret", pod.namespace or "", name) if isinstance(name, str) else None
        if view is not None and (place(view) or "") == (pod.namespace or ""):
            yield from _texts(view).values()


def _administrator(pod: Pod, administrator: str, cluster: Cluster) -> None:
    for container in pod.containers:
        found = list(starts(container))
        files = files_of(pod, container, cluster) if found else None
        for start in found if files else ():
            one = program(start, files or {}, container)
            for line in usages(one) if one is not None else ():
                words = plain(line, start.words)
                literals = [word for _, word in words[: len(line.literals)]]
                if "ADMIN" not in line.wanted or literals != list(line.literals):
                    continue
                index = len(line.literals) + line.wanted.index("ADMIN")
                if index < len(words) and words[index][1] != administrator:
                    pod.view.error(
                        "programs-login", words[index][0],
                        f"logs in as {show(words[index][1])}, and the administrator that a mounted Secret names is "
                        "another: no account is made", allowed="the admin_username there",
                    )  # fmt: skip
