"""Who is given what on Google Cloud: members, bindings and policies of IAM, whatever they are on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_set, list_at, value_at

GRANTS: Final = tuple(f"gcp:*{iam}{kind}" for iam in ("IAM", "Iam") for kind in ("Member", "Binding", "Policy"))
"""Patterns of the types that give roles away: on a project, a bucket, a folder of it, a key, a secret, an account."""

PROJECT_GRANTS: Final = tuple(
    f"gcp:{place}/iAM{kind}:IAM{kind}"
    for place in ("projects", "folder", "organizations")
    for kind in ("Member", "Binding", "Policy")
)
"""Those on a project or on what is above it: a role there is on everything of its kind."""

EVERYBODY: Final = ("allUsers", "allAuthenticatedUsers")
_AGENT: Final = re.compile(
    r"serviceAccount:(service-\d+@[a-z0-9.-]+|\d+@cloud(services|build)\.gserviceaccount\.com)", re.IGNORECASE
)
_POD: Final = re.compile(r"/workloadIdentityPools/[^/]+/subject/ns/(?P<namespace>[^/]+)/sa/(?P<account>[^/]+)$")
_PODS: Final = re.compile(
    r"principalSet://iam\.googleapis\.com/.*/workloadIdentityPools/[^/]+/namespace/(?P<namespace>[^/]+)"
)
_POD_OF_OLD: Final = re.compile(r"serviceAccount:[^\[]+\.svc\.id\.goog\[(?P<namespace>[^/]+)/(?P<account>[^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Grant:
    """A role that is given to members."""

    role: str
    holder: Any  # where the members stand: they may be unknown where the role is not
    conditional: bool  # a condition of IAM narrows it

    @property
    def members(self) -> tuple[str, ...]:
        """Who has it; raises UnknownInput where somebody is not known yet."""
        return tuple(map(str, (*list_at(self.holder, "member"), *list_at(self.holder, "members"))))


def grants(resource: RecordedResource) -> Iterator[Grant]:
    """What a resource of one of the types of `GRANTS` gives away."""
    inputs = resource.inputs
    for each in _bindings(value_at(inputs, "policyData")) if is_set(inputs, "policyData") else [inputs]:
        yield Grant(str(value_at(each, "role", default="")), each, is_set(each, "condition"))


def _bindings(data: Any) -> list[Any]:
    """The bindings of a policy in JSON; none in a text that is something else."""
    try:
        document = json.loads(data) if isinstance(data, str) else data
    except ValueError:
        return []
    return list_at(document, "bindings") if isinstance(document, Mapping) else []


def is_agent(member: str) -> bool:
    """Whether a member is an agent by which a service of Google's acts in the project."""
    return _AGENT.fullmatch(member) is not None


def namespace_of(member: str) -> str:
    """The namespace of the pods that a member is, direct or by an account of Google's; empty for anybody else."""
    found = _POD.search(member) or _PODS.fullmatch(member) or _POD_OF_OLD.fullmatch(member)
    return found["namespace"] if found else ""
