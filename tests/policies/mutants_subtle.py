"""Mutants that look sound at a glance: a rule that is half kept, or kept in one place and broken in another."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import yaml

from tests.policies.mutants import (
    CLUSTER,
    EVERYTHING,
    INGRESS_RULE,
    LOG_GROUP,
    QUEUE,
    RELEASE,
    TEMPLATE,
    Change,
    Mutant,
    Resources,
    edit,
    put,
)
from trainyard.recorded.model import RecordedResource

ROLE = "aws:iam/role:Role"
INLINE = "aws:iam/rolePolicy:RolePolicy"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
BUCKET = "aws:s3/bucket:Bucket"
BUCKET_POLICY = "aws:s3/bucketPolicy:BucketPolicy"
BUDGET = "aws:budgets/budget:Budget"
READ_S3 = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"


def add(type_: str, name: str, inputs: dict[str, Any]) -> Change:
    """Adds a resource beside the buckets."""

    def change(resources: Resources) -> list[RecordedResource]:
        beside = next(found for found in resources if found.type == BUCKET)
        urn = f"{beside.urn.rsplit('::', 2)[0]}::{type_}::{name}"
        added = replace(beside, type=type_, name=name, urn=urn, inputs=inputs, property_dependencies={})
        return [*resources, added]

    return change


def _both_strategies(inputs: dict[str, Any]) -> None:
    text = inputs["values"]["managerConfig"]["controllerManagerConfigYaml"]
    configuration = yaml.safe_load(text)
    configuration["fairSharing"]["preemptionStrategies"].append("LessThanInitialShare")
    inputs["values"]["managerConfig"]["controllerManagerConfigYaml"] = yaml.safe_dump(configuration)


def halved_nodes(resources: Resources) -> list[RecordedResource]:
    """Two teams own half of two spot nodes each, instead of one of them."""
    found = list(resources)
    for team, gpus in (("language", "12"), ("tabular", "4")):
        found = edit(QUEUE, f"kueue-cluster-queue-{team}", _spot_quota(gpus))(found)
    return found


def _spot_quota(gpus: str) -> Callable[[dict[str, Any]], Any]:
    def into(inputs: dict[str, Any]) -> None:
        (spot,) = [
            flavor for flavor in inputs["spec"]["resourceGroups"][0]["flavors"] if flavor["name"] == "train-spot"
        ]
        spot["resources"][0]["nominalQuota"] = gpus

    return into


def without(*path: str | int) -> Callable[[dict[str, Any]], Any]:
    """Takes away what lies at a path of the inputs."""

    def into(inputs: dict[str, Any]) -> None:
        target: Any = inputs
        for part in path[:-1]:
            target = target[part]
        target.pop(path[-1])

    return into


def allowing(**statement: Any) -> Callable[[dict[str, Any]], None]:
    """Puts a policy of one statement in place of the own one."""
    return put("policy", value=json.dumps({"Statement": [{"Effect": "Allow", **statement}]}))


def _nobody_listens(inputs: dict[str, Any]) -> None:
    for alert in inputs["notifications"]:
        alert.pop("subscriberSnsTopicArns", None)
        alert.pop("subscriberEmailAddresses", None)


def _too_late(inputs: dict[str, Any]) -> None:
    for alert in inputs["notifications"]:
        alert["threshold"] = 500


def _own_quota(inputs: dict[str, Any]) -> None:
    quota = {"name": "train-spot", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "500"}]}
    inputs["spec"] = {"resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [quota]}]}


def _halves(inputs: dict[str, Any]) -> None:
    inputs["vpcConfig"].update(endpointPublicAccess=True, publicAccessCidrs=["0.0.0.0/1", "128.0.0.0/1"])


def _everybody_over_tls(resources: Resources) -> list[RecordedResource]:
    """A statement beside the sound ones, where the document is known."""
    found = []
    for resource in resources:
        policy = resource.inputs.get("policy")
        if (resource.type, resource.name) == (BUCKET_POLICY, "acme-demo-data-policy") and isinstance(policy, str):
            document = json.loads(policy)
            tls = {"Bool": {"aws:SecureTransport": "true"}}
            document["Statement"].append(
                {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*", "Condition": tls}
            )
            inputs = {**copy.deepcopy(dict(resource.inputs)), "policy": json.dumps(document)}
            resource = replace(resource, inputs=inputs)
        found.append(resource)
    return found


def _nobody_stays(inputs: dict[str, Any]) -> None:
    inputs["spec"].pop("maxUnavailable", None)
    inputs["spec"]["minAvailable"] = 0


SUBTLE = (
    Mutant("budget-without-alerts", "alerts that nobody gets", change=edit(BUDGET, "budget-budget", _nobody_listens)),
    Mutant("budget-without-alerts", "alerts at five times the budget", change=edit(BUDGET, "budget-budget", _too_late)),
    Mutant(
        "off-peak-work-does-not-wait",
        "a queue for the night that takes what others have",
        {"offPeak": {"from": "20:00", "to": "07:00", "timeZone": "Europe/Berlin"}},
        change=edit(
            QUEUE, "kueue-cluster-queue-vision-off-peak", put("spec", "preemption", "reclaimWithinCohort", value="Any")
        ),
    ),
    Mutant(
        "spot-share-below-target",
        "a spot pool by its label only",
        change=edit(NODE_GROUP, "gpu-nodes-train-spot", put("capacityType", value="ON_DEMAND")),
    ),
    Mutant(
        "costed-resource-without-cost-tags",
        "an empty tag",
        change=edit(BUCKET, "acme-demo-data", put("tagsAll", "cost-centre", value="")),
    ),
    Mutant(
        "storage-without-environment-key",
        "the key is gone, the reference stays",
        change=edit(LOG_GROUP, "cluster-logs", without("kmsKeyId")),
    ),
    Mutant(
        "storage-without-environment-key",
        "S3's own key",
        change=edit(
            ENCRYPTION,
            "acme-demo-data-encryption",
            put("rules", value=[{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}]),
        ),
    ),
    Mutant(
        "storage-without-environment-key",
        "a disk with the account's key",
        change=edit(TEMPLATE, "gpu-nodes-train-spot-template", without("blockDeviceMappings", 0, "ebs", "kmsKeyId")),
    ),
    Mutant(
        "public-bucket",
        "a public access list",
        change=add("aws:s3/bucketAcl:BucketAcl", "acl", {"acl": "public-read"}),
    ),
    Mutant("public-bucket", "everybody, over TLS", change=_everybody_over_tls),
    Mutant("public-cluster-endpoint", "the internet in halves", change=edit(CLUSTER, "cluster-cluster", _halves)),
    Mutant(
        "security-group-open-to-internet",
        "half of the internet",
        change=edit(INGRESS_RULE, "network-endpoints-https", put("cidrIpv4", value="0.0.0.0/1")),
    ),
    Mutant(
        "wildcard-admin",
        "all of IAM in this account",
        change=edit(INLINE, "autoscaler-role-policy", allowing(Action="iam:*", Resource="arn:aws:iam::*:*")),
    ),
    Mutant(
        "wildcard-admin",
        "inside the role",
        change=edit(ROLE, "autoscaler-role", put("inlinePolicies", value=[{"name": "all", "policy": EVERYTHING}])),
    ),
    Mutant(
        "node-role-with-workload-rights",
        "managed policies of the role",
        change=edit(ROLE, "cluster-node", put("managedPolicyArns", value=[READ_S3])),
    ),
    Mutant(
        "silently-global-resource",
        "uploads through any edge",
        {"residency": "us"},
        change=add("aws:s3/bucketAccelerateConfiguration:BucketAccelerateConfiguration", "fast", {"status": "Enabled"}),
    ),
    Mutant(
        "quota-exceeds-pool",
        "quota of the cohort's own",
        change=edit("kubernetes:kueue.x-k8s.io/v1beta2:Cohort", "kueue-cohort", _own_quota),
    ),
    Mutant("owner-cannot-reclaim", "a node in two halves, the sum kept", change=halved_nodes),
    Mutant(
        "owner-cannot-reclaim",
        "weight 0",
        change=edit(QUEUE, "kueue-cluster-queue-tabular", put("spec", "fairSharing", "weight", value="0")),
    ),
    Mutant(
        "owner-cannot-reclaim",
        "both strategies",
        change=edit(RELEASE, "kueue-release", _both_strategies),
    ),
    Mutant(
        "production-does-not-outrank-development",
        "development before jobs without a priority",
        {"scheduler": {"priorities": {"development": 100}}},
    ),
    Mutant(
        "queue-admits-everything",
        "any team",
        change=edit(
            QUEUE,
            "kueue-cluster-queue-language",
            put(
                "spec",
                "namespaceSelector",
                value={"matchExpressions": [{"key": "ml.platform/team", "operator": "Exists"}]},
            ),
        ),
    ),
    Mutant(
        "unpinned-version",
        "the latest add-on",
        change=edit("aws:eks/addon:Addon", "cluster-coredns", put("addonVersion", value="latest")),
    ),
    Mutant(
        "unpinned-version", "a range of charts", change=edit(RELEASE, "kueue-release", put("version", value="^0.1"))
    ),
    Mutant(
        "missing-disruption-budget",
        "a budget that keeps nobody",
        change=edit("kubernetes:policy/v1:PodDisruptionBudget", "mlflow-disruption-budget", _nobody_stays),
    ),
)
