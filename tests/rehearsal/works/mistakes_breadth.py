"""What is sold nowhere, too small to start, shut from everywhere or told of nobody: kinds of mistakes of every room."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, Recorded, added, both, drop, edit, in_json, put
from tests.rehearsal.works.mistakes_told import DEPLOYMENT, RELEASE, RUNTIME
from trainyard.recorded.model import RecordedResource

DATABASE = "aws:rds/instance:Instance"
BUDGET = "aws:budgets/budget:Budget"
ACTION = "aws:budgets/budgetAction:BudgetAction"
GROUP = "aws:autoscaling/group:Group"
TAG = "aws:autoscaling/tag:Tag"
VOLUME = "kubernetes:core/v1:PersistentVolume"
DAEMONS = "kubernetes:apps/v1:DaemonSet"
GKE = "gcp:container/cluster:Cluster"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
DOMAIN = "aws:sagemaker/domain:Domain"
OUT = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
ADD_ON = "aws:eks/addon:Addon"
POD = "spec.template.spec"
MLFLOW, PROXY, TRAIN = "mlflow-deployment", "egress-deployment", "runtimes-torch-train"
OWN, MANAGED = "acme-demo-mlflow", "small-aws"
DNS = "controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic"


def beside(type_: str, name: str, like: str, inputs: dict[str, Any]) -> Change:
    """Adds a resource of a provider, made where one of another type is."""

    def change(resources: Recorded) -> list[RecordedResource]:
        one = next(resource for resource in resources if resource.type == like)
        urn = f"{one.urn.rpartition('::')[0]}::{name}"
        return [*resources, replace(one, type=type_, urn=urn, name=name, id=name, outputs={}, inputs=inputs)]

    return change


def installed(name: str, chart: str, **values: Any) -> Change:
    """Adds a release of a chart to the cluster's own namespace."""
    inputs = {"chart": chart, "version": "1.0.0", "name": name, "namespace": "kube-system", "values": values}
    return beside(RELEASE, name, RELEASE, inputs)


def options(volume: str, *given: str) -> Change:
    """Gives a volume other options of its mount."""
    return edit(VOLUME, volume, put("spec.mountOptions", list(given)))


def limited(deployment: str, memory: str) -> Change:
    """Limits the first container's memory."""
    sizes = {"cpu": "100m", "memory": memory}
    return edit(DEPLOYMENT, deployment, put(f"{POD}.containers[0].resources", {"requests": sizes, "limits": sizes}))


def told_of_heap(name: str, value: str) -> Change:
    """Tells the tracking server's program of its memory."""
    into = put(f"{POD}.containers[0].env[0]", {"name": name, "value": value})
    return edit(DEPLOYMENT, MLFLOW, into)


def first(container: dict[str, Any], at: int = 0) -> Change:
    """Puts a container before the tracking server's others."""
    return edit(
        DEPLOYMENT, MLFLOW, lambda inputs: inputs["spec"]["template"]["spec"]["initContainers"].insert(at, container)
    )


def plugin(**env: str) -> Change:
    """Tells the VPC CNI something more."""
    return edit(
        ADD_ON, "cluster-vpc-cni", in_json("configurationValues", lambda held: held.setdefault("env", {}).update(env))
    )


def acting(**given: Any) -> Change:
    """Adds an action to the stack's budget."""
    return beside(ACTION, "act", BUDGET, {
        "budgetName": "acme-demo", "approvalModel": "AUTOMATIC", "actionType": "APPLY_IAM_POLICY",
        "actionThreshold": {"actionThresholdType": "PERCENTAGE", "actionThresholdValue": 100},
        "subscribers": [{"address": "ml@acme.example", "subscriptionType": "EMAIL"}], **given,
    })  # fmt: skip


def tagged(*keys: str) -> Change:
    """Adds a group of nodes that EKS does not manage."""
    tags = [{"key": key, "value": "owned", "propagateAtLaunch": True} for key in keys]
    return beside(GROUP, "own", BUDGET, {"minSize": 0, "maxSize": 4, "tags": tags})


def _reversed(inputs: dict[str, Any]) -> None:
    inputs["spec"]["template"]["spec"]["initContainers"].reverse()


def _two_tables(inputs: dict[str, Any]) -> None:
    inputs["routeTableIds"] = inputs["routeTableIds"][:2]


RESTRICTED = {
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
}
WAITS = {
    **RESTRICTED, "name": "wait", "image": "busybox:1.36",
    "command": ["sh", "-c", "until nc -z localhost 5000; do :; done"],
}  # fmt: skip
SERVES = {**RESTRICTED, "name": "proxy", "image": "acme.example/proxy:1", "ports": [{"containerPort": 5432}]}
STAYS = {
    **RESTRICTED, "name": "sync", "image": "acme.example/sync:1", "command": ["sh", "-c", "while true; do sync; done"],
}  # fmt: skip
SMALL = {"requests": {"cpu": "500m", "memory": "64Mi"}, "limits": {"cpu": "2", "memory": "64Mi"}}
SLOW = {"requests": {"cpu": "10m", "memory": "512Mi"}, "limits": {"cpu": "20m", "memory": "1Gi"}}
OWN_NETWORK = {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone"}
FRAMEWORK = "metadata.labels.trainer~kubeflow~org/framework"
FIRST_NODE = "spec.template.spec.replicatedJobs[0].name"

SOLD = [
    Mistake("zero", "a version that RDS never had", edit(DATABASE, OWN, put("engineVersion", "17.0")),
            "machines-database-version"),
    Mistake("withdrawn", "a version of which RDS makes no new instance",
            edit(DATABASE, OWN, put("engineVersion", "17.2")), "machines-database-version"),
    Mistake("class-later", "a class that came with a later minor version",
            edit(DATABASE, OWN, put("instanceClass", "db.m7g.large"), put("engineVersion", "13.3")),
            "machines-database-class"),
]  # fmt: skip
TOLD = [
    Mistake("elsewhere", "the driver of Lustre asks another region",
            edit(RELEASE, "drivers-fsx", put("values.controller.region", "us-west-2")), "charts-region"),
    Mistake("balancer", "the load balancer controller asks another region",
            installed("lbc", "aws-load-balancer-controller", clusterName="acme-demo", region="us-west-2"),
            "charts-region"),
    Mistake("account", "the driver's service account has another name than its association says",
            edit(RELEASE, "drivers-fsx", put("values.controller.serviceAccount.name", "fsx-controller")),
            "rights-binding-no-account"),
    Mistake("owner", "the owner of a bucket's files is a name",
            options("volumes-vision-checkpoints-volume", "region us-east-1", "prefix teams/vision/", "uid trainer"),
            "programs-mount-option"),
    Mistake("option", "an option of Mountpoint with one letter more",
            options("volumes-vision-checkpoints-volume", "prefix teams/vision/", "allow-deletes"),
            "programs-mount-option"),
    Mistake("slash", "a prefix that ends with no slash",
            options("volumes-vision-checkpoints-volume", "prefix teams/vision"), "programs-mount-option"),
    Mistake("mode", "files that have a decimal mode",
            options("volumes-vision-checkpoints-volume", "prefix teams/vision/", "file-mode 0888"),
            "programs-mount-option"),
    Mistake("locks", "an option of Lustre with one letter more", options("volumes-vision-scratch-volume", "flocks"),
            "programs-mount-option"),
    Mistake("own-file", "the collector's configuration is mounted where its image does not look",
            edit(DAEMONS, "team-logs", put(f"{POD}.containers[0].volumeMounts[0].mountPath", "/etc/fluent")),
            "programs-configuration"),
    Mistake("twice", "the GPU operator beside the device plugin",
            installed("gpu-operator", "gpu-operator", driver={"enabled": False}), "charts-twice"),
]  # fmt: skip
FIRST = [
    Mistake("waits", "the first container waits for the server's own port", first(WAITS), "reference-init"),
    Mistake("serves", "a server among the first containers is no sidecar", first(SERVES), "reference-init"),
    Mistake("stays", "a first container that never ends", first(STAYS), "reference-init"),
    Mistake("order", "the reader of a file starts before its writer", edit(DEPLOYMENT, MLFLOW, _reversed),
            "reference-init"),
    Mistake("framework", "a framework that the client does not know", edit(RUNTIME, TRAIN, put(FRAMEWORK, "pytorch")),
            "reference-framework"),
    Mistake("no-framework", "a runtime that the client does not list",
            edit(RUNTIME, TRAIN, put("metadata.labels", DROP)), "reference-framework"),
    Mistake("first-rank", "ranks look for the first under another job's name",
            edit(RUNTIME, TRAIN, put(FIRST_NODE, "worker")), "reference-replicated-job"),
    Mistake("no-subnets", "pods get addresses of subnets that nobody names", plugin(**OWN_NETWORK),
            "reference-pod-subnets"),
    Mistake("one-zone", "pods of one zone alone get addresses",
            both(plugin(**OWN_NETWORK), added("crd.k8s.amazonaws.com/v1alpha1:ENIConfig", "us-east-1a", {"spec": {}})),
            "reference-pod-subnets"),
]  # fmt: skip
SMALL_ONES = [
    Mistake("server", "four workers in 128 MiB", limited(MLFLOW, "128Mi"), "programs-memory"),
    Mistake("proxy", "a proxy in 32 MiB", limited(PROXY, "32Mi"), "programs-memory"),
    Mistake("manager", "Kueue in 64 MiB", edit(RELEASE, "kueue-release",
            put("values.controllerManager.manager.resources", SMALL)), "programs-memory"),
    Mistake("slow", "Kueue with a fiftieth of a core", edit(RELEASE, "kueue-release",
            put("values.controllerManager.manager.resources", SLOW)), "programs-cores"),
    Mistake("prometheus", "Prometheus in 128 MiB", edit(RELEASE, "monitoring-release",
            put("values.prometheus.prometheusSpec.resources", {"limits": {"memory": "128Mi"}})), "programs-memory"),
    Mistake("go", "Go may take more than the container", told_of_heap("GOMEMLIMIT", "8GiB"), "programs-memory"),
    Mistake("java", "Java may take more than the container", told_of_heap("JAVA_TOOL_OPTIONS", "-Xmx8g"),
            "programs-memory"),
    Mistake("node", "Node may take more than the container",
            told_of_heap("NODE_OPTIONS", "--max-old-space-size=8192"), "programs-memory"),
]  # fmt: skip
WAYS = [
    Mistake("no-rule", "a job's group lets nothing out to S3", drop(OUT, "training-https"), "managed-closed-to-s3",
            stack=MANAGED),
    Mistake("own-network", "a job's group lets it out to its own network alone",
            edit(OUT, "training-https", put("cidrIpv4", "10.0.0.0/16")), "managed-closed-to-s3", stack=MANAGED),
    Mistake("editors", "editors in the network are let out to it alone",
            both(edit(DOMAIN, "studio", put("appNetworkAccessType", "VpcOnly")), drop(OUT, "training-https")),
            "managed-closed-to-s3", stack=MANAGED),
    Mistake("tables", "S3's endpoint is in no table of the job's subnets", edit(ENDPOINT, "network-s3", _two_tables),
            "managed-no-way-to-s3", stack=MANAGED),
    Mistake("no-endpoint", "nothing leads to S3", drop(ENDPOINT, "network-s3"), "managed-no-way-to-s3", stack=MANAGED),
    Mistake("shut", "the cluster's API takes nobody from anywhere", edit(GKE, "cluster-cluster", put(DNS, False)),
            "paths-api-unreachable", stack="demo-gcp"),
    Mistake("services", "eight addresses for Services",
            edit(SUBNET, "network-nodes", put("secondaryIpRanges[1].ipCidrRange", "172.20.0.0/29")), "paths-range",
            stack="demo-gcp"),
]  # fmt: skip
COUNTED = [
    Mistake("short", "a service by its short name",
            edit(BUDGET, "budget-budget", put("costFilters", [{"name": "Service", "values": ["Amazon EC2"]}])),
            "programs-budget"),
    Mistake("no-budget", "an action on a budget that is not there", acting(budgetName="acme-dem"),
            "programs-budget-action"),
    Mistake("one-per-cent", "an action in the first hours",
            acting(actionThreshold={"actionThresholdType": "PERCENTAGE", "actionThresholdValue": 1}),
            "programs-budget-action"),
    Mistake("adapters", "the autoscaler is not told of a group's EFA",
            drop(TAG, "gpu-nodes-train-spot-resources-vpc-amazonaws-com-efa"), "placement-scaling-tag"),
    Mistake("not-found", "a group of one's own that the autoscaler does not find",
            tagged("kubernetes.io/cluster/acme-demo"), "placement-scaling-tag"),
    Mistake("unread", "the collector of logs runs on no node with a taint",
            edit(DAEMONS, "team-logs", put(f"{POD}.tolerations", [])), "placement-logs"),
]  # fmt: skip
SWITCHED_ON = [
    Mistake("api", "the API of databases is not switched on", drop("gcp:projects/service:Service", "services-sqladmin"),
            "rights-api-off", stack="demo-gcp"),
]  # fmt: skip
MISTAKES = [*SOLD, *TOLD, *FIRST, *SMALL_ONES, *WAYS, *COUNTED, *SWITCHED_ON]
