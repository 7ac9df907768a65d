"""What holds who sends jobs of managed training: conditions of IAM on SageMaker, quotas of Vertex AI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from trainyard.policies.grants import PROJECT_GRANTS, grants
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import is_set, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_CUSTOM_ROLE, GCP_ORGANISATION_ROLE, IAM_POLICY, ROLE, ROLE_POLICY

RIGHTS: Final = (ROLE_POLICY, IAM_POLICY, ROLE)
CUSTOM_ROLES: Final = (GCP_CUSTOM_ROLE, GCP_ORGANISATION_ROLE)
MEMBERS: Final = PROJECT_GRANTS
MANAGED: Final = "aws:sagemaker/*"
"""Pattern of the types of managed training."""

STARTS: Final = ("sagemaker:createtrainingjob", "sagemaker:createhyperparametertuningjob")
"""Actions that send a job, in lower case, as IAM compares them."""

_TAG: Final = "aws:requesttag/"

CEILINGS: Final[Mapping[str, str]] = {
    "sagemaker:instancetypes": "instance types (sagemaker:InstanceTypes)",
    "sagemaker:maxruntimeinseconds": "the longest run (sagemaker:MaxRuntimeInSeconds)",
    "sagemaker:vpcsubnets": "subnets (sagemaker:VpcSubnets)",
    "sagemaker:outputkmskey": "the key of its output (sagemaker:OutputKmsKey)",
    _TAG: "a tag for the bill (aws:RequestTag/…)",
}
"""Condition keys of CreateTrainingJob in lower case, as IAM compares them, and what each holds (Service Authorization
Reference, "Condition keys for Amazon SageMaker", 2026-11)."""

VERTEX_SENDERS: Final = ("roles/aiplatform.user", "roles/aiplatform.admin")
"""Predefined roles that hold aiplatform.customJobs.create; of owners and editors `wildcard-admin` tells."""
VERTEX_SENDS: Final = ("aiplatform.customJobs.create", "aiplatform.hyperparameterTuningJobs.create")


def missing(resources: Resources) -> Iterator[tuple[RecordedResource, str, list[str]]]:
    """Statements by which jobs are sent, with the ceilings that they lack: the resource, the statement's id, words."""
    is_managed = bool(resources.of(MANAGED))
    forbidden = {resource.urn: _held(resource, "Deny", resources) for resource in resources.of(*RIGHTS)}
    for resource in resources.of(*RIGHTS):
        for statement in _statements(resource):
            if value_at(statement, "Effect") != "Allow" or not _sends(statement):
                continue
            if not is_managed and not _names_service(statement):
                continue  # everything, where nobody trains in SageMaker: `wildcard-admin` tells of that
            held = _of_allow(statement) | forbidden[resource.urn]
            lacking = [what for key, what in CEILINGS.items() if key not in held]
            if lacking:
                yield resource, str(value_at(statement, "Sid", default="without a Sid")), lacking


def forced_tags(resources: Resources) -> set[str]:
    """Keys of the tags that every job has to carry, since nobody may send one without; none where nobody sends any."""
    every = [
        {tag for _, key, _ in _conditions(one) if (tag := key.removeprefix(_TAG)) != key}
        for resource in resources.of(*RIGHTS)
        for one in _statements(resource)
        if value_at(one, "Effect") == "Allow" and _sends(one)
    ]
    return set.intersection(*every) if every else set()


def vertex_senders(resources: Resources) -> list[RecordedResource]:
    """What lets people send custom jobs: roles of the project's own, and predefined ones that are given to persons.

    An account that is given one is a program's. Whom a custom role is given to is not looked at: it is for somebody.
    """
    found = [
        role
        for role in resources.of(*CUSTOM_ROLES)
        if not {str(each) for each in list_at(role.inputs, "permissions")}.isdisjoint(VERTEX_SENDS)
    ]
    return found or [
        resource
        for resource in resources.of(*MEMBERS)
        for grant in grants(resource)
        if grant.role in VERTEX_SENDERS and any(who.startswith(("user:", "group:")) for who in grant.members)
    ]


def _statements(resource: RecordedResource) -> Iterator[Mapping[str, Any]]:
    for holder in (resource.inputs, *list_at(resource.inputs, "inlinePolicies")):
        yield from statements(holder, "policy")


def _sends(statement: Mapping[str, Any]) -> bool:
    if is_set(statement, "NotAction"):
        return False  # whatever is not listed: `wildcard-admin` tells of that
    wanted = [str(action).lower() for action in list_at(statement, "Action")]
    return any(fnmatchcase(action, pattern) for action in STARTS for pattern in wanted)


def _names_service(statement: Mapping[str, Any]) -> bool:
    """Whether jobs are sent by more than an action that is every service's."""
    return any(":" in str(action) and str(action)[0] not in "*?" for action in list_at(statement, "Action"))


def _held(resource: RecordedResource, effect: str, resources: Resources) -> set[str]:
    """Ceilings of statements that forbid, in the document itself and in others of the same role."""
    roles = resources.referred(resource, "role", ROLE) if resource.type == ROLE_POLICY else []
    others = [other for role in roles for other in resources.referring(role, "role", ROLE_POLICY)]
    return {
        _ceiling(key)
        for document in {each.urn: each for each in (resource, *others)}.values()
        for statement in _statements(document)
        if value_at(statement, "Effect") == effect and _sends(statement)
        for _, key, _ in _conditions(statement)
    }


def _of_allow(statement: Mapping[str, Any]) -> set[str]:
    """Ceilings of a statement that allows: a request without the key, or with one value too many, is refused."""
    conditions = list(_conditions(statement))
    there = {_ceiling(key) for operator, key, values in conditions if operator == "null" and values == ["false"]}
    return {
        ceiling for operator, key, values in conditions if _closes(operator, ceiling := _ceiling(key), values, there)
    }


def _ceiling(key: str) -> str:
    """The key of `CEILINGS` for a condition's: every tag is the same."""
    return _TAG if key.startswith(_TAG) else key


def _closes(operator: str, key: str, values: list[str], there: set[str]) -> bool:
    if key not in CEILINGS or not values or any(not value.strip("*?") for value in values):
        return False
    if key == "sagemaker:maxruntimeinseconds":
        return operator in ("numericlessthan", "numericlessthanequals")
    for_all, _, plain = operator.rpartition(":")
    if for_all == "foranyvalue" or plain.endswith("ifexists") or plain == "null" or "not" in plain:
        return False
    return for_all != "forallvalues" or key in there


def _conditions(statement: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Operator, key and values, in lower case but for values."""
    for operator, keys in mapping_at(statement, "Condition").items():
        for key, values in mapping_at(keys).items():
            yield operator.lower(), key.lower(), [_text(value) for value in list_at({"": values}, "")]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
