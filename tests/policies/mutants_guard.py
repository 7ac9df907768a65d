"""Mutants of what keeps teams to their queues: admission policies, quotas, what GPU nodes start with."""

from __future__ import annotations

import base64
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


def _for_everybody(inputs: dict[str, Any]) -> None:
    inputs["spec"]["matchConditions"] = []


def _but_vision(inputs: dict[str, Any]) -> None:
    expression = {"key": "ml.platform/team", "operator": "NotIn", "values": ["vision"]}
    inputs["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"].append(expression)


def _as_it_comes(inputs: dict[str, Any]) -> None:
    text = base64.b64decode(inputs["userData"]).decode().replace("unprivileged=false", "unprivileged=true")
    inputs["userData"] = base64.b64encode(text.encode()).decode()


GUARD = (
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
    Mutant(PAST_THE_QUEUE, "owners of anybody's", change=edit(POLICY, "kueue-owner-guard", _for_everybody)),
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
