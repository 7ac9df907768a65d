"""Mutants of the demo stack: one thing changed in its settings, or in what the program asked the engine for."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.recorded.model import RecordedResource

Resources = Sequence[RecordedResource]
Change = Callable[[Resources], list[RecordedResource]]


@dataclass(frozen=True)
class Mutant:
    """A change that one policy must catch, and no other."""

    policy: str
    what: str
    overrides: Mapping[str, Any] = field(default_factory=dict)  # of the stack file
    change: Change | None = None  # of the recorded requests, in the preview and in the known run
    settings: Mapping[str, Any] = field(default_factory=dict)  # what the pack is told of the stack file besides
    others: Mapping[str, str] = field(default_factory=dict)  # and of what it says to others, by full key


def edit(type_: str, name: str, into: Callable[[dict[str, Any]], Any], **fields: Any) -> Change:
    """Changes the inputs (and fields) of the one resource of that type and name."""

    def change(resources: Resources) -> list[RecordedResource]:
        found = []
        for resource in resources:
            if (resource.type, resource.name) == (type_, name):
                inputs = copy.deepcopy(dict(resource.inputs))
                into(inputs)
                resource = replace(resource, inputs=inputs, **fields)
            found.append(resource)
        assert any(new is not old for new, old in zip(found, resources, strict=True)), f"no {type_} {name}"
        return found

    return change


def put(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    """Puts a value at a path of the inputs."""

    def into(inputs: dict[str, Any]) -> None:
        target: Any = inputs
        for part in path[:-1]:
            target = target[part]
        target[path[-1]] = value

    return into


def drop(type_: str, name: str) -> Change:
    """Takes a resource out."""

    def change(resources: Resources) -> list[RecordedResource]:
        found = [resource for resource in resources if (resource.type, resource.name) != (type_, name)]
        assert len(found) < len(resources), f"no {type_} {name}"
        return found

    return change


def without_key(resources: Resources) -> list[RecordedResource]:
    """The cluster's log group loses its key, and the reference to it."""
    changed = edit(LOG_GROUP, "cluster-logs", lambda inputs: inputs.pop("kmsKeyId"))(resources)
    return [
        replace(found, property_dependencies={k: v for k, v in found.property_dependencies.items() if k != "kmsKeyId"})
        if found.name == "cluster-logs"
        else found
        for found in changed
    ]


def without_smoke_jobs(resources: Resources) -> list[RecordedResource]:
    """No smoke job, where the stack has any."""
    return [
        found
        for found in resources
        if "ml.platform/smoke-pool" not in (found.inputs.get("metadata") or {}).get("labels", {})
    ]


def _first_rule(inputs: dict[str, Any]) -> None:
    inputs["rules"][0]["expiration"] = {"days": 30}


def _privileged(inputs: dict[str, Any]) -> None:
    inputs["spec"]["template"]["spec"]["containers"][0]["securityContext"]["privileged"] = True


def _tagged_image(inputs: dict[str, Any]) -> None:
    container = inputs["spec"]["template"]["spec"]["containers"][0]
    container["image"] = f"registry.example/{container['image'].split('@')[0]}"


def _large_quota(inputs: dict[str, Any]) -> None:
    for flavor in inputs["spec"]["resourceGroups"][0]["flavors"]:
        flavor["resources"][0]["nominalQuota"] = "48"


def _nobody_is_told(inputs: Any) -> None:
    config = inputs["values"]["alertmanager"]["config"]
    config["route"] = {"receiver": "nobody", "routes": [{"receiver": "nobody", "matchers": ['severity="critical"']}]}


def _no_forecast(inputs: dict[str, Any]) -> None:
    inputs["notifications"] = [alert for alert in inputs["notifications"] if alert["notificationType"] == "ACTUAL"]


def _plain_http(inputs: dict[str, Any]) -> None:
    if isinstance(inputs["policy"], str):  # else it is not known yet
        document = json.loads(inputs["policy"])
        document["Statement"] = [one for one in document["Statement"] if one["Sid"] != "DenyPlainHttp"]
        inputs["policy"] = json.dumps(document)


def _token(inputs: dict[str, Any]) -> None:
    inputs["type"] = "kubernetes.io/service-account-token"


LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
RELEASE = "kubernetes:helm.sh/v3:Release"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
NAMESPACE = "kubernetes:core/v1:Namespace"
QUOTA = "kubernetes:core/v1:ResourceQuota"
QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
CLUSTER = "aws:eks/cluster:Cluster"
INGRESS_RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
PUBLIC_BLOCK = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
RICH = {"monthlyBudgetUsd": 900_000}
EVERYTHING = json.dumps({"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]})
EXPIRED = {"policy": "image-without-digest", "resource": "*", "reason": "r", "owner": "o", "expires": "2020-01-01"}

HUB = {"hub": True, "signOn": {"provider": "github", "clientId": "Iv1.0123456789abcdef", "groups": ["acme"]}}
"""Notebooks, which the demo stack has none of."""

MUTANTS = (
    Mutant(
        "budget-without-alerts",
        "no forecast alert",
        change=edit("aws:budgets/budget:Budget", "budget-budget", _no_forecast),
    ),
    Mutant("ceiling-spend-over-budget", "a third of the budget", {"monthlyBudgetUsd": 20_000}),
    Mutant(
        "costed-resource-without-cost-tags",
        "a bucket without the team's tag",
        change=edit("aws:s3/bucket:Bucket", "acme-demo-data", lambda inputs: inputs["tagsAll"].pop("team")),
    ),
    Mutant(
        "gpu-model-outside-profile",
        "H100s",
        {"gpuPools": {"huge": {"gpu": "H100", "onDemand": {"maxNodes": 1}}}, **RICH},
    ),
    Mutant("gpu-count-over-profile", "ten nodes", {"gpuPools": {"train": {"spot": {"maxNodes": 10}}}, **RICH}),
    Mutant(
        "spot-share-below-target",
        "more on demand than on spot",
        {"gpuPools": {"train": {"onDemand": {"maxNodes": 4}, "spot": {"maxNodes": 1}}}, **RICH},
    ),
    Mutant("gpu-pool-never-scales-down", "a node that stays", {"gpuPools": {"tune": {"onDemand": {"minNodes": 1}}}}),
    Mutant(
        "idle-gpus-keep-running",
        "idle for three hours",
        change=edit(RELEASE, "autoscaler-release", put("values", "extraArgs", "scale-down-unneeded-time", value="3h")),
    ),
    Mutant(
        "budget-holds-nobody",
        "the keeper of budgets is switched off",
        change=edit(DEPLOYMENT, "kueue-budgets-deployment", put("spec", "replicas", value=0)),
    ),
    Mutant(
        "idle-jobs-keep-their-gpus",
        "the keeper of idle jobs is switched off",
        change=edit(DEPLOYMENT, "kueue-idle-deployment", put("spec", "replicas", value=0)),
    ),
    Mutant(
        "notebooks-let-anybody-in",
        "the chart's own authenticator",
        {"notebooks": HUB},
        change=edit(RELEASE, "notebooks-release", put("values", "hub", "config", value={})),
    ),
    Mutant(
        "notebooks-open-to-the-outside",
        "the chart's own load balancer",
        {"notebooks": HUB},
        change=edit(RELEASE, "notebooks-release", put("values", "proxy", "service", value={})),
    ),
    Mutant("notebooks-keep-their-gpus", "three hours", {"notebooks": {**HUB, "idleMinutes": 180}}),
    Mutant(
        "alerts-reach-nobody",
        "everything goes to the receiver of what nobody is told",
        change=edit(RELEASE, "monitoring-release", _nobody_is_told),
    ),
    Mutant(
        "figures-shorter-than-a-month",
        "two weeks",
        change=edit(
            RELEASE, "monitoring-release", put("values", "prometheus", "prometheusSpec", "retention", value="2w")
        ),
    ),
    Mutant(
        "spot-pool-without-checkpoint-tier",
        "a team without its claim",
        change=drop("kubernetes:core/v1:PersistentVolumeClaim", "volumes-language-checkpoints-claim"),
    ),
    Mutant(
        "lifecycle-deletes-newest-version",
        "checkpoints go by age",
        change=edit(LIFECYCLE, "acme-demo-checkpoints-lifecycle", _first_rule),
    ),
    Mutant(
        "bucket-without-versioning",
        "suspended",
        change=edit(
            "aws:s3/bucketVersioning:BucketVersioning",
            "acme-demo-checkpoints-versioning",
            put("versioningConfiguration", "status", value="Suspended"),
        ),
    ),
    Mutant("artifact-versions-kept-too-short", "a month", {"storage": {"artifactRetentionDays": 30}}),
    Mutant("stateful-resource-unprotected", "protect is off", {"protect": False}),
    Mutant("database-without-backups", "a day", {"mlflow": {"database": {"backupRetentionDays": 1}}}),
    Mutant(
        "lustre-without-durable-bucket",
        "no link",
        change=drop("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "acme-demo-lustre-data"),
    ),
    Mutant("storage-without-environment-key", "logs without a key", change=without_key),
    Mutant(
        "key-without-rotation",
        "never rotates",
        change=edit("aws:kms/key:Key", "platform-key", put("enableKeyRotation", value=False)),
    ),
    Mutant(
        "bucket-accepts-plain-http",
        "a policy that denies nothing",
        change=edit("aws:s3/bucketPolicy:BucketPolicy", "acme-demo-data-policy", _plain_http),
    ),
    Mutant(
        "database-accepts-plain-connections",
        "not forced",
        change=edit(
            "aws:rds/parameterGroup:ParameterGroup",
            "acme-demo-mlflow-parameters",
            put("parameters", 0, "value", value="0"),
        ),
    ),
    Mutant(
        "public-bucket",
        "policies may open it",
        change=edit(PUBLIC_BLOCK, "acme-demo-data-public-access", put("blockPublicPolicy", value=False)),
    ),
    Mutant(
        "public-database",
        "public",
        change=edit("aws:rds/instance:Instance", "acme-demo-mlflow", put("publiclyAccessible", value=True)),
    ),
    Mutant(
        "public-cluster-endpoint",
        "open",
        change=edit(CLUSTER, "cluster-cluster", put("vpcConfig", "endpointPublicAccess", value=True)),
    ),
    Mutant(
        "public-load-balancer",
        "MLflow on the internet",
        change=edit("kubernetes:core/v1:Service", "mlflow-service", put("spec", "type", value="LoadBalancer")),
    ),
    Mutant(
        "security-group-open-to-internet",
        "endpoints for all",
        change=edit(INGRESS_RULE, "network-endpoints-https", put("cidrIpv4", value="0.0.0.0/0")),
    ),
    Mutant(
        "node-with-public-address",
        "public subnets",
        change=edit("aws:ec2/subnet:Subnet", "network-public-us-east-1a", put("mapPublicIpOnLaunch", value=True)),
    ),
    Mutant(
        "wildcard-admin",
        "the autoscaler may do all",
        change=edit("aws:iam/rolePolicy:RolePolicy", "autoscaler-role-policy", put("policy", value=EVERYTHING)),
    ),
    Mutant(
        "long-lived-credentials",
        "a token in a secret",
        change=edit("kubernetes:core/v1:Secret", "mlflow-credentials-language", _token),
    ),
    Mutant(
        "instance-metadata-v1",
        "tokens optional",
        change=edit(TEMPLATE, "gpu-nodes-train-spot-template", put("metadataOptions", "httpTokens", value="optional")),
    ),
    Mutant(
        "node-role-with-workload-rights",
        "nodes read S3",
        change=edit(
            ATTACHMENT,
            "cluster-node-AmazonEKSWorkerNodePolicy",
            put("policyArn", value="arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"),
        ),
    ),
    Mutant("privileged-pod", "MLflow is privileged", change=edit(DEPLOYMENT, "mlflow-deployment", _privileged)),
    Mutant(
        "namespace-without-pod-security",
        "no label",
        change=edit(NAMESPACE, "mlflow-namespace", put("metadata", "labels", value={})),
    ),
    Mutant(
        "team-namespace-without-default-deny",
        "no fence",
        change=drop("kubernetes:networking.k8s.io/v1:NetworkPolicy", "teams-language-default-deny"),
    ),
    Mutant("image-without-digest", "a tag", change=edit(DEPLOYMENT, "mlflow-deployment", _tagged_image)),
    Mutant(
        "control-plane-logs-off",
        "one log",
        change=edit(CLUSTER, "cluster-cluster", put("enabledClusterLogTypes", value=["api"])),
    ),
    Mutant("logs-kept-too-short", "a month", {"logRetentionDays": "30"}),
    Mutant(
        "region-outside-residency",
        "a bucket in Ireland",
        {"residency": "us"},
        change=edit("aws:s3/bucket:Bucket", "acme-demo-data", put("region", value="eu-west-1")),
    ),
    Mutant(
        "silently-global-resource",
        "a key of many regions",
        {"residency": "us"},
        change=edit("aws:kms/key:Key", "platform-key", put("multiRegion", value=True)),
    ),
    Mutant(
        "quota-exceeds-pool",
        "six nodes of every pool for a team",
        change=edit(QUEUE, "kueue-cluster-queue-language", _large_quota),
    ),
    Mutant(
        "team-without-queue",
        "no queue",
        change=drop("kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue", "kueue-local-queue-language-default"),
    ),
    Mutant(
        "production-does-not-outrank-development",
        "development first",
        {"scheduler": {"priorities": {"production": 50, "standard": 500, "development": 100}}},
    ),
    Mutant(
        "queue-admits-everything",
        "everybody",
        change=edit(QUEUE, "kueue-cluster-queue-language", put("spec", "namespaceSelector", value={})),
    ),
    Mutant(
        "owner-cannot-reclaim",
        "nothing is given back",
        change=edit(
            QUEUE, "kueue-cluster-queue-vision", put("spec", "preemption", "reclaimWithinCohort", value="Never")
        ),
    ),
    Mutant(
        "namespace-quota-counts-gpu-pods",
        "CPU of all pods",
        change=edit(QUOTA, "teams-language-quota", put("spec", "hard", "requests.cpu", value="500")),
    ),
    Mutant(
        "placement-group-with-reservation",
        "both",
        change=edit(TEMPLATE, "gpu-nodes-train-reserved-template", put("placement", value={"groupName": "here"})),
    ),
    Mutant(
        "gpu-nodes-over-zones",
        "two zones of development nodes",
        change=edit(
            "aws:eks/nodeGroup:NodeGroup", "gpu-nodes-dev-on-demand", put("subnetIds", value=["subnet-a", "subnet-b"])
        ),
    ),
    Mutant(
        "gang-only-on-spot",
        "one node on demand",
        overrides={
            "gpuPools": {
                "train": {
                    "gangNodes": 1,
                    "reserved": {
                        "reservationId": "cr-0123456789abcdef0",
                        "nodes": 1,
                        "availabilityZone": "us-east-1b",
                    },
                }
            }
        },
    ),
    Mutant("pool-without-smoke-job", "no smoke jobs", change=without_smoke_jobs),
    Mutant(
        "unsupported-kubernetes-version",
        "an old cluster",
        change=edit(CLUSTER, "cluster-cluster", put("version", value="1.30")),
    ),
    Mutant(
        "unpinned-version",
        "any build of an add-on",
        change=edit("aws:eks/addon:Addon", "cluster-coredns", put("addonVersion", value=None)),
    ),
    Mutant(
        "outdated-add-on",
        "an old build of CoreDNS",
        change=edit("aws:eks/addon:Addon", "cluster-coredns", put("addonVersion", value="v1.9.3-eksbuild.2")),
    ),
    Mutant(
        "missing-disruption-budget",
        "none for MLflow",
        change=drop("kubernetes:policy/v1:PodDisruptionBudget", "mlflow-disruption-budget"),
    ),
    Mutant("exception-expired", "an old exception", settings={"policyExceptions": [EXPIRED]}),
)
