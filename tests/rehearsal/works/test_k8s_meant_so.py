"""What a cluster may well hold, beside the rules that the sixth and seventh set brought: no room refuses it.

Some of it is told as a warning, because a mistake looks the same.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.rehearsal.works.mistakes import DROP, Change, added, both, edit, put, told
from tests.rehearsal.works.mistakes_k8s_first import (
    CLUSTER_QUEUE,
    DEPLOYMENT,
    FIRST,
    JOB,
    LIMITS,
    NOTEBOOKS,
    POD_MONITOR,
    PROVISIONING,
    RUNTIME,
    SERVICE_MONITOR,
    STACK,
    TRAIN,
    VOLUME,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_fourth import PRIORITY_CLASS
from tests.rehearsal.works.mistakes_k8s_second import CLASS
from tests.rehearsal.works.mistakes_k8s_seventh import retold
from tests.rehearsal.works.mistakes_k8s_sixth import CLAIMS, GOOGLE, NODE, PODS, jobset, profile, variable
from tests.rehearsal.works.test_k8s_both_clouds import ALONE, JOBSET, POOL, REQUEST, claim, recorded, service, shared
from tests.rehearsal.works.test_k8s_sets import of
from tests.rehearsal.works.test_k8s_unseen import refused
from trainyard.recorded.model import UNKNOWN

__all__ = ["of"]  # the fixture

ROLE = "rbac.authorization.k8s.io/v1:ClusterRole"
MONITORED = "spec.podMetricsEndpoints[0]"
NAMELESS = added(
    "storage.k8s.io/v1:StorageClass", "later", {"provisioner": "ebs.csi.aws.com", "metadata": {"name": UNKNOWN}}
)


def alert(expr: str) -> Change:
    """An alert of one's own."""
    groups = [{"name": "own", "rules": [{"alert": "Own", "expr": expr}]}]
    return added("monitoring.coreos.com/v1:PrometheusRule", "own", {"spec": {"groups": groups}}, "monitoring")


def seldom(name: str, expr: str) -> Change:
    """A figure that is recorded every quarter of an hour, and an alert that asks for it."""
    groups = [
        {"name": "seldom", "interval": "15m", "rules": [{"record": name, "expr": "sum(up)"}]},
        {"name": "often", "rules": [{"alert": "Own", "expr": expr}]},
    ]
    return added("monitoring.coreos.com/v1:PrometheusRule", "seldom", {"spec": {"groups": groups}}, "monitoring")


def gathered(labels: Any) -> Change:
    """A role that is gathered from those with some labels."""
    return added(ROLE, "all", {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": labels}]}})


def scraped(*relabelings: dict[str, Any]) -> Change:
    """The exporter of GPUs, whose labels are called otherwise where the target's are not dropped."""
    return edit(POD_MONITOR, "monitoring-gpus", put(f"{MONITORED}.honorLabels", False),
                put(f"{MONITORED}.relabelings", list(relabelings)))  # fmt: skip


def of_one_team(resources: Any) -> Any:
    """A team's own runtime, with a template that nobody else has."""
    runtime = copy.deepcopy(dict(next(one for one in resources if (one.type, one.name) == (RUNTIME, TRAIN)).inputs))
    put(f"{PODS}.spec.resourceClaims[0].resourceClaimTemplateName", "quite-another")(runtime)
    runtime |= {"kind": "TrainingRuntime", "metadata": {"labels": runtime["metadata"].get("labels", {})}}
    return added("trainer.kubeflow.org/v1alpha1:TrainingRuntime", "own", runtime, "team-foundation")(resources)


def beside(inputs: dict[str, Any]) -> None:
    """The claim is used by a helper that runs as long as the pod."""
    pod = inputs["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    helper = {**copy.deepcopy(pod["containers"][0]), "name": "helper", "restartPolicy": "Always"}
    pod.setdefault("initContainers", []).append(helper)
    pod["containers"][0]["resources"].pop("claims")


def twice(inputs: dict[str, Any]) -> None:
    """A second container, which has one GPU too."""
    pod = inputs["spec"]["template"]["spec"]
    pod["containers"].append({**copy.deepcopy(pod["containers"][0]), "name": "second"})


def fixed(resources: Any) -> Any:
    """Groups of as many nodes as they have, and a limit of that many."""
    groups = [one for one in resources if one.type == "aws:eks/nodeGroup:NodeGroup"]
    total = sum(one.inputs["scalingConfig"]["minSize"] for one in groups)
    for one in groups:
        size = one.inputs["scalingConfig"]["minSize"]
        resources = edit(one.type, one.name, put("scalingConfig.desiredSize", size),
                         put("scalingConfig.maxSize", size), put("tags.fixed", "yes"))(resources)  # fmt: skip
    return values("autoscaler-release", "extraArgs.max-nodes-total", str(total))(resources)


def budget(**spec: Any) -> Change:
    """A budget of the proofs' pods."""
    selector = {"matchLabels": {"app.kubernetes.io/name": "trainyard-smoke"}}
    return added("policy/v1:PodDisruptionBudget", "proofs", {"spec": {"selector": selector, **spec}}, "team-vision")


def long_named(**spec: Any) -> Change:
    """A JobSet with a name so long that its pods' are too long, where they are counted."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "node", "image": "python:3.13"}]}
    jobs = [{"name": "workers", "template": {"spec": {"parallelism": 2, "template": {"spec": pod}, **spec}}}]
    return added("jobset.x-k8s.io/v1alpha2:JobSet", "hyperparameter-search-for-segmentation-in-2026",
                 {"spec": {"replicatedJobs": jobs}}, "mlflow")  # fmt: skip


def split(resources: Any) -> Any:
    """Two that tell of objects, each of its own namespaces."""
    spaces = [one.inputs["metadata"]["name"] for one in resources if one.type == "kubernetes:core/v1:Namespace"]
    rest = {"chart": "kube-state-metrics", "namespace": "monitoring", "values": {"namespaces": ",".join(spaces[1:])}}
    here = values(STACK, "kube-state-metrics.namespaces", ",".join(spaces[:1]))(resources)
    return added("helm.sh/v3:Release", "rest", rest)(here)


FOR_EVER = said("spec/mountOptions", "metadata-cache:ttl-secs:0", "metadata-cache:ttl-secs:-1")
OLD_CLAIM = {"spec": {"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu.nvidia.com"}]}}}
MEANT: dict[str, tuple[str, str, str, Change]] = {
    "what a container asks for is not known": (
        "demo", "programs", "programs-scrape",
        both(edit(POD_MONITOR, "monitoring-gpus", put("spec.sampleLimit", 5000)),
             edit(JOB, "smoke-dev-on-demand-job", put("spec.template.spec.containers[0].resources", UNKNOWN)))),
    "an expression of RE2's own": (
        "demo", "programs", "programs-scrape", scraped({"action": "labeldrop", "regex": r"\pN"})),
    "flags within an expression": (
        "demo", "programs", "programs-scrape", scraped({"action": "labeldrop", "regex": "a(?i)b"})),
    "figures whose namespace is the exporter's": ("demo", "programs", "programs-scrape", scraped()),
    "labels that are not known yet": ("demo", "references", "reference-aggregation", gathered(UNKNOWN)),
    "roles that Kueue's chart makes": (
        "demo", "references", "reference-aggregation", gathered({"rbac.kueue.x-k8s.io/batch-user": "true"})),
    "limits of notebooks that are not known": (
        NOTEBOOKS, "references", "reference-notebooks",
        values("notebooks-release", "singleuser.extraResource",
               {"guarantees": {"nvidia.com/gpu": "1"}, "limits": UNKNOWN})),
    "limits of all notebooks": (
        NOTEBOOKS, "references", "reference-notebooks",
        both(values("notebooks-release", "singleuser.extraResource.limits", {"example.com/nic": "1"}),
             profile(0, lambda one: one.update(extra_resource_guarantees={"example.com/nic": "1"})))),
    "network of the pod": (
        GOOGLE, "references", "reference-device-claim", edit(RUNTIME, TRAIN, put(f"{NODE}.resources.claims", DROP))),
    "a helper that has the claim": (GOOGLE, "references", "reference-device-claim", edit(RUNTIME, TRAIN, beside)),
    "a runtime of one team": (GOOGLE, "references", "reference-class", of_one_team),
    "classes of other drivers": (
        GOOGLE, "references", "reference-device-class",
        edit(CLAIMS, "teams-foundation-fabric-train", put(f"{REQUEST}.exactly.deviceClassName", "gpu.example.com"))),
    "load a core": ("demo", "programs", "watching-unit", alert("instance:node_load1_per_cpu:ratio > 2")),
    "how often it changed": (
        "demo", "programs", "watching-unit", alert("changes(DCGM_FI_PROF_GR_ENGINE_ACTIVE[10m]) > 3")),
    "hours without work": (
        "demo", "programs", "watching-unit", alert("avg_over_time(DCGM_FI_DEV_GPU_UTIL[6h]) < 0.5")),
    "a count of those without": (
        "demo", "programs", "watching-unit",
        alert("count(DCGM_FI_DEV_FB_USED unless on(gpu) DCGM_FI_PROF_GR_ENGINE_ACTIVE) > 8")),
    "each node reads what it wrote": (
        "demo-gcp", "programs", "programs-mount-option", edit(VOLUME, "volumes-vision-checkpoints-volume", FOR_EVER)),
    "the last of some hours": (
        "demo", "programs", "programs-scrape",
        seldom("own:sum", 'last_over_time(own:sum{cluster="a"}[2h]) > 1 and rate(own:sum{x=""}[1h]) > 0')),
    "the queue's other resources": (
        GOOGLE, "queues", "queues-provisioning",
        both(edit(CLUSTER_QUEUE, "kueue-cluster-queue-foundation",
                  put("spec.admissionChecksStrategy.admissionChecks[0].onFlavors", DROP),
                  put("spec.resourceGroups[0].flavors", ALONE)),
             edit(PROVISIONING, "kueue-provisioning-train-flex-start",
                  put("spec.managedResources", ["nvidia.com/gpu"]), put("metadata.annotations", {"own": "yes"})))),
    "work that takes what is left over": (
        "demo", "programs", "programs-priority", edit(PRIORITY_CLASS, "teams-cpu-only", put("value", -100))),
    "proofs that nobody may move": ("demo", "placement", "placement-drain", budget(maxUnavailable=0)),
    "nor any of them": ("demo", "placement", "placement-drain", budget(maxUnavailable="0%")),
    "all of them stay": ("demo", "placement", "placement-drain", budget(minAvailable="100%")),
    "a claim that is switched off": (
        "demo", "programs", "programs-claim",
        values(STACK, "grafana.persistence",
               {"enabled": False, "accessModes": ["ReadWriteMany"], "storageClassName": "trainyard-gp3"})),
    "a claim that is there already": (
        "demo", "programs", "programs-claim",
        values(STACK, "grafana.persistence",
               {"existingClaim": "own", "accessModes": ["ReadWriteMany"], "storageClassName": "trainyard-gp3"})),
    "a claim of the default class": (
        "demo", "programs", "programs-claim",
        both(NAMELESS, claim("own", {"accessModes": ["ReadWriteMany"]}))),
    "two containers of one GPU each": (
        GOOGLE, "placement", "placement-shared-gpu",
        both(shared("gpu-nodes-dev-on-demand"), edit(JOB, "smoke-dev-on-demand-job", twice))),
    "names of Prometheus 3": ("demo", "programs", "watching-syntax", recorded(record="trainyard.gpus.active")),
    "who asks is said by a class of scrapes": (
        "demo", "programs", "reference-monitor-path",
        edit(SERVICE_MONITOR, "monitoring-queues", put("spec.endpoints[0].bearerTokenFile", DROP),
             put("spec.endpoints[0].tlsConfig", DROP), put("spec.scrapeClass", "own"))),
    "a config map that outranks the file": (
        "demo", "programs", "programs-exporter",
        values("gpu-dcgm-exporter", "arguments",
               ["-m", "monitoring:own", "-f", "/etc/dcgm-exporter/default-counters.csv"])),
    "names by a service of one's own": (
        "demo", "references", "reference-host-names",
        both(jobset(network={"enableDNSHostnames": False}),
             edit(JOBSET, "added-sweep",
                  put("spec.replicatedJobs[0].template.spec.template.spec.subdomain", "sweep")))),
    "groups that are as large as they may be": ("demo", "placement", "placement-autoscaler", fixed),
    "a device that many share": (
        "demo", "references", "reference-limits",
        edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].default", {"smarter-devices/fuse": "1"}))),
    "two that tell of their own namespaces": ("demo", "references", "reference-state-metrics", split),
    "GPUs by another variable": (
        "demo", "programs", "programs-visible", edit(RUNTIME, TRAIN, variable("CUDA_VISIBLE_DEVICES", "$(GPUS)"))),
    "one GPU of several": (
        "demo", "programs", "programs-visible", edit(RUNTIME, TRAIN, variable("CUDA_VISIBLE_DEVICES", "0"))),
    "endpoints that a program writes": (
        "demo", "references", "reference-service-selects-nothing", service({"ports": [{"port": 5432}]})),
    "sockets, while somebody looks for a fault": (
        "demo", "programs", "programs-interface", edit(RUNTIME, TRAIN, variable("NCCL_NET_PLUGIN", "none"))),
    "a home that nobody writes to": (
        "demo", "programs", "programs-read-only", edit(RUNTIME, "runtimes-torch", retold("HOME", "/root"))),
    "a number beside a port": (
        "demo-gcp", "programs", "programs-port",
        edit(DEPLOYMENT, "monitoring-alert-log-deployment", put(f"{FIRST}.args", ["8081"]))),
    "a hub of one workshop": (
        NOTEBOOKS, "references", "reference-notebooks", values("notebooks-release", "hub.db.type", "sqlite-memory")),
}  # fmt: skip
UNTOLD = frozenset({
    "what a container asks for is not known", "an expression of RE2's own", "labels that are not known yet",
    "roles that Kueue's chart makes", "limits of all notebooks", "a helper that has the claim", "load a core",
    "how often it changed", "a count of those without", "the last of some hours", "two containers of one GPU each",
    "a config map that outranks the file", "names by a service of one's own", "GPUs by another variable",
    "two that tell of their own namespaces", "the queue's other resources",
})  # fmt: skip
"""Of which no warning is given either."""


@pytest.mark.parametrize("name", MEANT)
def test_what_is_meant_so_is_no_error(of, name):
    stack, room, rule, change = MEANT[name]
    found = [one for one in told(of(stack), change, room, ours=True) if one.rule == rule]
    assert not [one for one in found if one.level == "error" or name in UNTOLD]


@pytest.mark.parametrize(
    ("stack", "change"),
    [
        ("demo", added("resource.k8s.io/v1beta1:ResourceClaim", "old", OLD_CLAIM, "mlflow")),
        (GOOGLE, edit(CLAIMS, "teams-foundation-fabric-train", put(f"{REQUEST}.exactly.count", 0))),
        ("demo", long_named()),
    ],
    ids=["a request of v1beta1", "no count", "pods that are not counted"],
)
def test_what_the_api_takes_is_not_refused(of, stack, change):
    assert not refused(of(stack), change)


def test_pods_that_are_counted_have_names_too_long(of):
    assert refused(of("demo"), long_named(completions=2)) == {"k8s-name"}


def test_a_disk_for_machines_with_gpus_alone_is_a_warning(of):
    """Some machine of the cluster takes it: whose pods are there is not known here."""
    change = edit(CLASS, "disks-class", put("parameters.type", "hyperdisk-balanced"))
    with_gpus = both(change, added_pool("a3-highgpu-8g"))
    found = [one for one in told(of("demo-gcp"), with_gpus, "programs") if one.rule == "programs-storage-class"]
    assert [one.level for one in found] == ["warning"]


def added_pool(machine: str) -> Change:
    """One more pool of machines with GPUs."""

    def change(resources: Any) -> Any:
        first = next(one for one in resources if one.type == POOL and "guestAccelerators" in one.inputs["nodeConfig"])
        return edit(POOL, first.name, put("nodeConfig.machineType", machine))(resources)

    return change


def test_a_folder_that_is_written_to_is_an_error(of):
    """Beside the home: what a program surely writes to is an error."""
    change = edit(RUNTIME, "runtimes-torch", variable("TMPDIR", "/nowhere"))
    found = [one for one in told(of("demo"), change, "programs") if one.rule == "programs-read-only"]
    assert {one.level for one in found} == {"error"}
