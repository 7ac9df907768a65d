"""Kinds of mistakes of every room are told; what is unusual and right beside each is not."""

from __future__ import annotations

import pytest

from tests.conftest import WHOLE
from tests.rehearsal.works.mistakes import added, both, drop, edit, put, tells, told
from tests.rehearsal.works.mistakes_breadth import (
    BUDGET,
    DAEMONS,
    DATABASE,
    DNS,
    DOMAIN,
    ENDPOINT,
    FIRST_NODE,
    FRAMEWORK,
    GKE,
    MANAGED,
    MISTAKES,
    MLFLOW,
    OUT,
    OWN,
    OWN_NETWORK,
    POD,
    PROXY,
    RELEASE,
    RUNTIME,
    SERVES,
    STAYS,
    SUBNET,
    TRAIN,
    WAITS,
    beside,
    first,
    installed,
    limited,
    options,
    plugin,
    tagged,
    told_of_heap,
)
from tests.rehearsal.works.together import told_together

SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"


def of(rehearsed, stack):
    return rehearsed(WHOLE if stack == "demo" else stack)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: f"{one.stack}-{one.name}")
def test_a_mistake_is_told(rehearsed, mistake):
    found = tells(of(rehearsed, mistake.stack), mistake.change, mistake.rule)
    assert mistake.rule in found, found


CHECKPOINTS = "volumes-vision-checkpoints-volume"
ENDS = {**WAITS, "command": ["sh", "-c", "until nc -z db.acme.example 5432; do :; done"]}
SIDECAR = {**SERVES, "restartPolicy": "Always"}
EVENTUALLY = {**STAYS, "command": ["sh", "-c", "while true; do ready && break; done"]}
AFTER_IT = {**WAITS, "command": ["sh", "-c", "until nc -z localhost 5432; do :; done"]}
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
IN_ZONES = [added("crd.k8s.amazonaws.com/v1alpha1:ENIConfig", zone, {"spec": {}}) for zone in ZONES]
BASTION = beside("gcp:compute/instance:Instance", "bastion", SUBNET, {"machineType": "e2-micro"})
FOR_EDITORS = beside(ENDPOINT, "editors", SECURITY_GROUP, {"serviceName": "com.amazonaws.us-east-1.sagemaker.api"})
BY_ADDRESS = "masterAuthorizedNetworksConfig.cidrBlocks"
NOT_OURS = beside("gcp:pubsub/topic:Topic", "alerts", SUBNET, {"name": "alerts"})
NO_APIS = [drop("gcp:projects/service:Service", f"services-{name}") for name in ("compute", "container")]
SOUND = {
    "a stack that switches on what is unusual alone": ("demo-gcp", "rights", both(NOT_OURS, *NO_APIS)),
    "a minor version that is released": ("demo", "machines", edit(DATABASE, OWN, put("engineVersion", "17.9"))),
    "a driver that learns its region of its node": (
        "uae-aws", "charts", installed("fsx", "aws-fsx-csi-driver", controller={"replicaCount": 2})),
    "options with dashes, numbers and an equals sign": (
        "demo", "programs",
        options(CHECKPOINTS, "--allow-delete", "uid=1000", "file-mode 0640", "prefix=teams/vision/")),
    "an option that a version may have brought": (
        "demo", "programs", options(CHECKPOINTS, "prefix teams/vision/", "read-window 8")),
    "a collector that is told its file": (
        "demo", "programs",
        edit(DAEMONS, "team-logs", put(f"{POD}.containers[0].volumeMounts[0].mountPath", "/etc/fluent"),
             put(f"{POD}.containers[0].args", ["--config=/etc/fluent/fluent-bit.conf"]))),
    "the GPU operator without its plugin": (
        "demo", "charts",
        installed(
            "gpu-operator", "gpu-operator",
            **{part: {"enabled": False} for part in ("devicePlugin", "dcgmExporter", "driver", "toolkit")})),
    "a first container that waits for somebody else": ("demo", "references", first(ENDS)),
    "a sidecar that serves": ("demo", "references", first(SIDECAR)),
    "a loop that ends": ("demo", "references", first(EVENTUALLY)),
    "a wait for a sidecar that is there": ("demo", "references", both(first(AFTER_IT), first(SIDECAR))),
    "a runtime of JAX": ("demo", "references", edit(RUNTIME, TRAIN, put(FRAMEWORK, "jax"))),
    "a job of another name where no rank asks": (
        "demo", "references",
        edit(RUNTIME, TRAIN, put(FIRST_NODE, "worker"), put("spec.mlPolicy", {"numNodes": 1}))),
    "pods in subnets of their own": ("demo", "references", both(plugin(**OWN_NETWORK), *IN_ZONES)),
    "one worker in 256 MiB": (
        "demo", "programs", both(limited(PROXY, "64Mi"), told_of_heap("GOMEMLIMIT", "400MiB"))),
    "a limit of the heap below the container's": ("demo", "programs", told_of_heap("JAVA_TOOL_OPTIONS", "-Xmx512m")),
    "a manager without a limit": (
        "demo", "programs",
        edit(RELEASE, "kueue-release", put("values.controllerManager.manager.resources", {"requests": {"cpu": "1"}}))),
    "a job let out to S3's list": (
        MANAGED, "managed", edit(OUT, "training-https", put("cidrIpv4", None), put("prefixListId", "pl-63a5400a"))),
    "editors in the network": (
        MANAGED, "managed", both(edit(DOMAIN, "studio", put("appNetworkAccessType", "VpcOnly")), FOR_EDITORS)),
    "an API for networks of an office": (
        "demo-gcp", "paths",
        edit(GKE, "cluster-cluster", put(DNS, False), put(BY_ADDRESS, [{"cidrBlock": "192.0.2.0/24"}]))),
    "an API with a bastion inside": (
        "demo-gcp", "paths", both(edit(GKE, "cluster-cluster", put(DNS, False)), BASTION)),
    "a budget of one service": (
        "demo", "programs",
        edit(BUDGET, "budget-budget", put("costFilters",
             [{"name": "Service", "values": ["Amazon Elastic Compute Cloud - Compute", "Amazon Bedrock"]}]))),
    "a group of one's own that is found": (
        "demo", "placement", tagged("kubernetes.io/cluster/acme-demo", "k8s.io/cluster-autoscaler/enabled")),
    "a group of no cluster": ("demo", "placement", tagged("Name")),
    "logs of chosen nodes alone": (
        "demo", "placement",
        edit(DAEMONS, "team-logs", put(f"{POD}.nodeSelector", {"ml.platform/pool": "cpu"}),
             put(f"{POD}.tolerations", []))),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_what_is_right_is_not_told(rehearsed, name):
    which, room, _ = SOUND[name]
    stack = of(rehearsed, which)

    def judged(resources):
        return [f"{one.rule}: {one.message}" for one in told(stack, lambda _: list(resources), room)]

    changes = {what: change for what, (*where, change) in SOUND.items() if where == [which, room]}
    assert told_together((__name__, which, room), name, stack.known.resources, changes, judged) == []


def test_workers_are_counted(rehearsed):
    def one_worker(inputs):
        container = inputs["spec"]["template"]["spec"]["containers"][0]
        for key in ("command", "args"):
            container[key] = [word.replace("--workers=4", "--workers=1") for word in container.get(key, [])]

    narrow = edit("kubernetes:apps/v1:Deployment", MLFLOW, put(f"{POD}.containers[0].resources.limits.memory", "200Mi"))
    found = {one.rule for one in told(of(rehearsed, "demo"), narrow, "programs")}
    assert "programs-memory" in found
    fewer = edit("kubernetes:apps/v1:Deployment", MLFLOW, one_worker)
    after = {one.rule for one in told(of(rehearsed, "demo"), both(fewer, narrow), "programs")}
    assert "programs-memory" not in after
