"""Mutants of what keeps teams to their queues: admission policies, quotas, what GPU nodes start with."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from tests.policies.mutants import QUOTA, TEMPLATE, Mutant, drop, edit, put

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
BINDING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"
SELECTOR = ("spec", "matchResources", "namespaceSelector")
PAST_THE_QUEUE, QUOTAS, VARIABLE = "gpus-past-the-queue", "team-without-quotas", "gpus-by-a-variable"
NODES, NODE_GROUP = "platform-nodes-open-to-teams", "aws:eks/nodeGroup:NodeGroup"


def _without_init_containers(inputs: dict[str, Any]) -> None:
    for part in (*inputs["spec"]["variables"], *inputs["spec"]["validations"]):
        part["expression"] = part["expression"].replace("initContainers", "containers")


def _trusting(inputs: dict[str, Any]) -> None:
    for part in inputs["spec"]["variables"]:
        part["expression"] = part["expression"].partition(" && request.userInfo.username")[0]


def _only_created(inputs: dict[str, Any]) -> None:
    for rule in inputs["spec"]["matchConstraints"]["resourceRules"]:
        rule["operations"] = ["CREATE"]


def _by_nobody(inputs: dict[str, Any]) -> None:
    inputs["spec"]["matchConditions"][0]["expression"] = "request.userInfo.username == 'root'"


def _but_vision(inputs: dict[str, Any]) -> None:
    expression = {"key": "ml.platform/team", "operator": "NotIn", "values": ["vision"]}
    inputs["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"].append(expression)


def _as_it_comes(inputs: dict[str, Any]) -> None:
    text = base64.b64decode(inputs["userData"]).decode().replace("unprivileged=false", "unprivileged=true")
    inputs["userData"] = base64.b64encode(text.encode()).decode()


def vain(inputs: dict[str, Any]) -> None:
    """Every validation asked in vain."""
    for part in inputs["spec"]["validations"]:
        part["expression"] = f"true || ({part['expression']})"


def but(expression: str) -> Callable[[dict[str, Any]], None]:
    """A condition more."""
    condition = {"name": "but", "expression": expression}
    return lambda inputs: inputs["spec"].setdefault("matchConditions", []).append(condition)


def constrained(**more: Any) -> Callable[[dict[str, Any]], None]:
    """Constraints more."""
    return lambda inputs: inputs["spec"]["matchConstraints"].update(more)


def _of_the_cluster(inputs: dict[str, Any]) -> None:
    inputs["spec"]["matchConstraints"]["resourceRules"][0]["scope"] = "Cluster"


def _with_a_parameter(inputs: dict[str, Any]) -> None:
    inputs["spec"]["paramRef"] = {"name": "gone", "namespace": "kueue-system", "parameterNotFoundAction": "Allow"}


_OF_JOBS = ("kueue-jobs-pods-guard", "kueue-jobsets-pods-guard", "kueue-trainjobs-pods-guard", "kueue-jobs-guard",
            "kueue-jobsets-guard", "kueue-trainjobs-guard", "kueue-owner-guard", "kueue-end-guard")  # fmt: skip
_EXEMPT = "has(object.metadata.labels) && 'exempt' in object.metadata.labels && object.metadata.labels['exempt'] == 'y'"
_ALL_PODS = {"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["pods"]}

HOLES = (
    *(Mutant(PAST_THE_QUEUE, f"{name} is gone", change=drop(POLICY, name)) for name in _OF_JOBS),
    *(
        Mutant(PAST_THE_QUEUE, f"{name} is bound nowhere", change=drop(BINDING, f"{name}-binding"))
        for name in _OF_JOBS[:2]
    ),
    *(Mutant(PAST_THE_QUEUE, f"{name} asks in vain", change=edit(POLICY, name, vain)) for name in _OF_JOBS[2:4]),
    Mutant(PAST_THE_QUEUE, "asked in vain", change=edit(POLICY, "kueue-gpu-guard", vain)),
    Mutant(PAST_THE_QUEUE, "a label lets by", change=edit(POLICY, "kueue-gpu-guard", but(f"!({_EXEMPT})"))),
    Mutant(
        PAST_THE_QUEUE,
        "a team is let by",
        change=edit(POLICY, "kueue-gpu-guard", but("object.metadata.namespace != 'team-vision'")),
    ),
    Mutant(
        PAST_THE_QUEUE,
        "a group of everybody is let by",
        change=edit(POLICY, "kueue-gpu-guard", but("!('system:authenticated' in request.userInfo.groups)")),
    ),
    Mutant(PAST_THE_QUEUE, "of the cluster alone", change=edit(POLICY, "kueue-gpu-guard", _of_the_cluster)),
    Mutant(
        PAST_THE_QUEUE,
        "in no namespace",
        change=edit(POLICY, "kueue-gpu-guard", constrained(namespaceSelector={"matchLabels": {"guarded": "yes"}})),
    ),
    Mutant(
        PAST_THE_QUEUE,
        "of labelled pods",
        change=edit(POLICY, "kueue-gpu-guard", constrained(objectSelector={"matchLabels": {"guarded": "yes"}})),
    ),
    Mutant(
        PAST_THE_QUEUE,
        "pods excluded",
        change=edit(POLICY, "kueue-gpu-guard", constrained(excludeResourceRules=[_ALL_PODS])),
    ),
    Mutant(PAST_THE_QUEUE, "a parameter is gone", change=edit(BINDING, "kueue-gpu-guard-binding", _with_a_parameter)),
)

GUARD = (
    *HOLES,
    Mutant(PAST_THE_QUEUE, "no policy", change=drop(POLICY, "kueue-gpu-guard")),
    Mutant(PAST_THE_QUEUE, "no binding", change=drop(BINDING, "kueue-gpu-guard-binding")),
    Mutant(
        PAST_THE_QUEUE,
        "failures ignored",
        change=edit(POLICY, "kueue-gpu-guard", put("spec", "failurePolicy", value="Ignore")),
    ),
    Mutant(
        PAST_THE_QUEUE,
        "audited only",
        change=edit(BINDING, "kueue-gpu-guard-binding", put("spec", "validationActions", value=["Audit", "Warn"])),
    ),
    Mutant(PAST_THE_QUEUE, "a team left out", change=edit(BINDING, "kueue-gpu-guard-binding", _but_vision)),
    Mutant(
        PAST_THE_QUEUE,
        "one team only",
        change=edit(
            BINDING, "kueue-gpu-guard-binding", put(*SELECTOR, value={"matchLabels": {"ml.platform/team": "vision"}})
        ),
    ),
    Mutant(PAST_THE_QUEUE, "containers only", change=edit(POLICY, "kueue-gpu-guard", _without_init_containers)),
    Mutant(PAST_THE_QUEUE, "a label is believed", change=edit(POLICY, "kueue-gpu-guard", _trusting)),
    Mutant(PAST_THE_QUEUE, "owners may be added later", change=edit(POLICY, "kueue-owner-guard", _only_created)),
    Mutant(PAST_THE_QUEUE, "owners of anybody's", change=edit(POLICY, "kueue-owner-guard", _by_nobody)),
    Mutant(PAST_THE_QUEUE, "deletions are not asked", change=drop(POLICY, "kueue-end-guard")),
    Mutant(QUOTAS, "no quota of claims", change=drop(QUOTA, "teams-vision-quota")),
    Mutant(
        QUOTAS,
        "claims without their size",
        change=edit(QUOTA, "teams-vision-quota", lambda inputs: inputs["spec"]["hard"].pop("requests.storage")),
    ),
    Mutant(QUOTAS, "system priorities", change=drop(QUOTA, "teams-vision-no-system-priority")),
    Mutant(
        QUOTAS,
        "one pod of a system priority",
        change=edit(QUOTA, "teams-vision-no-system-priority", put("spec", "hard", "pods", value="1")),
    ),
    Mutant(QUOTAS, "pods without GPUs", change=drop(QUOTA, "teams-vision-cpu-only")),
    Mutant(VARIABLE, "the toolkit as it comes", change=edit(TEMPLATE, "gpu-nodes-train-spot-template", _as_it_comes)),
    Mutant(
        VARIABLE,
        "no user data",
        change=edit(TEMPLATE, "gpu-nodes-dev-on-demand-template", lambda inputs: inputs.pop("userData")),
    ),
    Mutant(NODES, "no taint", change=edit(NODE_GROUP, "cluster-system", lambda inputs: inputs.pop("taints"))),
    Mutant(
        NODES,
        "a wish",
        change=edit(NODE_GROUP, "cluster-system", put("taints", 0, "effect", value="PREFER_NO_SCHEDULE")),
    ),
    Mutant(
        NODES,
        "a taint that teams may tolerate",
        change=edit(NODE_GROUP, "cluster-system", put("taints", 0, "key", value="dedicated")),
    ),
)
