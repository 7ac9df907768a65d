"""Security: single sign-on at the tracking server lets in whom it is for, and each as one team."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import Severity

from trainyard.conventions import MLFLOW_ADMIN, MLFLOW_SIGN_ON
from trainyard.policies.rules import Config, resource_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.types import CONFIG_MAP


@resource_rule(
    "sign-on-lets-in-others",
    "Tokens that open the tracking server are of one issuer, made for it, and of one team's group each.",
    types=(CONFIG_MAP,),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 IA-2", "NIST 800-53r5 IA-8", "ISO 27001:2022 A.8.5"),
    fix="Give mlflow.signOn an issuer and keys over https, the audience of its own client, and a group a team.",
)
def sign_on_lets_in_others(resource: RecordedResource, _: Config) -> Iterator[str]:
    """What the guard of the tracking server is told; a file of the same name that is something else is not judged."""
    text = value_at(resource.inputs, "data", MLFLOW_SIGN_ON)
    if text is None:
        return
    try:
        found = json.loads(str(text))
    except ValueError:
        return
    if not isinstance(found, dict) or not {"keysUrl", "teams"} <= found.keys():
        return
    for key in ("issuer", "keysUrl"):
        if not str(found.get(key) or "").startswith("https://"):
            yield f"{key} is {found.get(key)!r}: whoever is in between makes tokens of their own"
    if not isinstance(audience := found.get("audience"), str) or not audience.strip(" *"):
        yield f"audience is {audience!r}: a token that was made for any other service of the issuer opens it too"
    yield from _teams(found["teams"])


def _teams(teams: Any) -> Iterator[str]:
    if not isinstance(teams, Mapping):
        yield "teams is no mapping of teams to groups"
        return
    for group, times in Counter(map(str, teams.values())).items():
        if times > 1:
            sharing = sorted(str(team) for team, own in teams.items() if str(own) == group)
            yield f"the group {group!r} is that of {' and '.join(sharing)}"
        if not group:
            yield "a team's group is empty"
    if MLFLOW_ADMIN in teams:
        yield f"a group opens the account {MLFLOW_ADMIN}, which may do everything"
