"""What is right, somebody else's, or not known is no finding: correct stacks that are not ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests.rehearsal.refusals.builders import obj, resource
from tests.rehearsal.refusals.good_kubernetes import KUBERNETES
from tests.rehearsal.works.mistakes_queues import each, on, told, without
from tests.rehearsal.works.queues.test_check import CONTEXT, findings
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.queues.check_provisioning import check_provisioning
from trainyard.rehearsal.works.queues.room import Room

GPU = "nvidia.com/gpu"
TOLERATION = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}


def kueue(kind: str, name: str, namespace: str = "", version: str = "v1beta2", **body: Any):
    return obj(f"kueue.x-k8s.io/{version}", kind, name, namespace, **body)


def group(name: str, types: list[str], **more: Any):
    return resource(
        "aws:eks/nodeGroup:NodeGroup",
        name,
        {
            "nodeGroupName": name,
            "instanceTypes": types,
            "scalingConfig": {"minSize": 0, "maxSize": 4, "desiredSize": 0},
            "taints": [{"key": GPU, "value": "present", "effect": "NO_SCHEDULE"}],
            **more,
        },
    )


def release(version: Any = "0.19.2", **configuration: Any):
    text = yaml.safe_dump({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **configuration})
    values = {"managerConfig": {"controllerManagerConfigYaml": text}} if configuration else {}
    return resource(
        "kubernetes:helm.sh/v3:Release",
        "kueue",
        {"chart": "kueue", "version": version, "namespace": "kueue-system", "values": values},
    )


def flavor(name: str, labels: dict[str, Any], **spec: Any):
    return kueue("ResourceFlavor", name, spec={"nodeLabels": labels, "tolerations": [TOLERATION], **spec})


def queue(name: str, flavors: dict[str, dict[str, str]], **spec: Any):
    covered = list(next(iter(flavors.values())))
    return kueue(
        "ClusterQueue",
        name,
        spec={
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
            "resourceGroups": [
                {
                    "coveredResources": covered,
                    "flavors": [
                        {"name": one, "resources": [{"name": key, "nominalQuota": given[key]} for key in covered]}
                        for one, given in flavors.items()
                    ],
                }
            ],
            **spec,
        },
    )


def job(name: str, namespace: str, labels: dict[str, str], requests: dict[str, str], **spec: Any):
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "x", "resources": {"requests": requests, "limits": requests}}],
    }
    return obj(
        "batch/v1", "Job", name, namespace, metadata={"labels": labels}, spec={"template": {"spec": pod}, **spec}
    )


IN_QUEUE = {"kueue.x-k8s.io/queue-name": "main"}
NAMESPACE = obj("v1", "Namespace", "vision")
LOCAL = kueue("LocalQueue", "main", "vision", spec={"clusterQueue": "vision"})
FOREIGN = [
    group("gpu-spot", ["p4d.24xlarge"], capacityType="SPOT"),
    group("gpu", ["p4d.24xlarge"]),
    release(),
    flavor("spot", {"eks.amazonaws.com/capacityType": "SPOT"}),
    flavor("on-demand", {"eks.amazonaws.com/capacityType": "ON_DEMAND", "eks.amazonaws.com/nodegroup": "gpu"}),
    queue(
        "vision",
        {
            "spot": {"cpu": "384", "memory": "4Ti", GPU: 32},
            "on-demand": {"cpu": "384", "memory": "4Ti", GPU: 32},
        },
    ),
    NAMESPACE,
    LOCAL,
    job("train", "vision", IN_QUEUE, {"cpu": "90", "memory": "1000Gi", GPU: "8"}, parallelism=4, completions=4),
    job("clean", "vision", {}, {"cpu": "1"}),
    job("backup", "default", {}, {"cpu": "1"}),
]
"""A team's queue of every resource on EKS, with the chart as it comes."""


def test_a_foreign_stack_that_is_right_has_no_finding():
    assert not findings(FOREIGN)


def test_the_recorded_good_stack_has_none():
    assert not findings(KUBERNETES)


def test_a_foreign_stack_is_judged_none_the_less():
    rules = {
        finding.rule
        for changed in (
            on("job-train", lambda i: i["spec"].update(parallelism=5, completions=5)),
            on("job-train", lambda i: i["metadata"]["labels"].update({"kueue.x-k8s.io/queue-name": "mian"})),
            on("localqueue-main", lambda i: i["metadata"].update(namespace="visoin")),
            on(
                "resourceflavor-spot",
                lambda i: i["spec"]["nodeLabels"].update({"eks.amazonaws.com/capacityType": "spot"}),
            ),
        )
        for finding in findings(changed(FOREIGN))
    }
    assert rules >= {"queues-never-admitted", "queues-no-local-queue", "kueue-flavor-labels"}


@pytest.mark.parametrize(
    "labels",
    [
        {"node.kubernetes.io/instance-type": "p4d.24xlarge"},
        {"topology.kubernetes.io/zone": "us-east-1b"},
        {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"},
        {"eks.amazonaws.com/nodegroup": "gpu"},
        {"kubernetes.io/arch": "amd64"},
        {"pool": UNKNOWN},
    ],
)
def test_labels_that_clouds_and_operators_set_are_no_mistake(labels):
    change = on("resourceflavor-on-demand", lambda i: i["spec"].update(nodeLabels=labels))
    assert not [one for one in findings(change(FOREIGN)) if one.rule == "kueue-flavor-labels"]


@pytest.mark.parametrize(
    "labels",
    [
        {"node.kubernetes.io/instance-type": "p5.48xlarge"},
        {"eks.amazonaws.com/capacityType": "RESERVED"},
        {"eks.amazonaws.com/nodegroup": "gpus"},
        {"pool": "train"},
    ],
)
def test_labels_that_no_node_can_have_are_one(labels):
    change = on("resourceflavor-on-demand", lambda i: i["spec"].update(nodeLabels=labels))
    assert [one for one in findings(change(FOREIGN)) if one.rule == "kueue-flavor-labels"]


def test_nodes_of_karpenter_and_of_scripts_may_have_any_label():
    change = on("resourceflavor-on-demand", lambda i: i["spec"].update(nodeLabels={"pool": "train"}))
    node_pool = obj("karpenter.sh/v1", "NodePool", "train", spec={})
    assert not findings([*change(FOREIGN), node_pool])
    template = resource("aws:ec2/launchTemplate:LaunchTemplate", "t", {"userData": "--node-labels=pool=train"}, "lt-1")
    joined = on(["gpu", "gpu-spot"], lambda i: i.update(launchTemplate={"id": "lt-1"}))
    assert not findings([*joined(change(FOREIGN)), template])


@pytest.mark.parametrize("version", ["0.16.4", "v0.17.1", "0.20.0", UNKNOWN])
def test_objects_of_another_version_are_judged_by_no_schema_of_this_one(version):
    changed = each(
        on("kueue", lambda i: i.update(version=version)),
        on("clusterqueue-vision", lambda i: i["spec"].update(cohort="all", admissionChecks=[])),
    )(FOREIGN)
    told_of = [one for one in check_values(changed, CONTEXT) if one.urn.endswith("::clusterqueue-vision")]
    assert not told_of, told_of


def test_objects_of_this_version_are():
    changed = on("clusterqueue-vision", lambda i: i["spec"].update(cohort="all"))(FOREIGN)
    assert "k8s-unknown-field" in {one.rule for one in check_values(changed, CONTEXT)}


def test_objects_of_the_old_api_are_read_alike():
    old = [
        replace(
            one,
            type=one.type.replace("v1beta2", "v1beta1"),
            inputs={**one.inputs, "apiVersion": "kueue.x-k8s.io/v1beta1"},
        )
        if "kueue.x-k8s.io" in one.type
        else one
        for one in FOREIGN
    ]
    old = on("clusterqueue-vision", lambda i: i["spec"].update(cohort="all", admissionChecks=[]))(old)
    assert not findings(old)
    assert not [one for one in check_values(old, CONTEXT) if "kueue" in one.type and one.level == "error"]
    broken = on("job-train", lambda i: i["spec"].update(parallelism=5, completions=5))(old)
    assert "queues-never-admitted" in {one.rule for one in findings(broken)}


def test_a_quota_that_is_a_number_is_taken():
    assert not [one for one in check_values(FOREIGN, CONTEXT) if one.rule in ("kueue-quota", "k8s-type")]


@pytest.mark.parametrize(
    "gone",
    [
        ("clusterqueue-vision", "resourceflavor-spot", "resourceflavor-on-demand", "kueue"),
        ("localqueue-main", "kueue"),
        ("resourceflavor-spot", "resourceflavor-on-demand", "kueue"),
        ("localqueue-main", "namespace-vision", "clusterqueue-vision"),
        ("kueue",),
        ("gpu", "gpu-spot"),
    ],
)
def test_what_another_stack_may_make_is_not_missed(gone):
    assert not findings(without(*gone)(FOREIGN))


def test_what_a_chart_of_ones_own_may_make_is_not_missed():
    own = resource("kubernetes:helm.sh/v3:Release", "queues", {"chart": "./charts/team-queues", "version": "1.0.0"})
    changed = without("clusterqueue-vision", "resourceflavor-spot", "resourceflavor-on-demand")(FOREIGN)
    assert not [one for one in findings([*changed, own]) if one.rule.startswith("queues-")]


@pytest.mark.parametrize("path", ["resourceGroups", "namespaceSelector", "cohortName", "admissionChecksStrategy"])
def test_what_is_not_known_yet_is_no_mistake(path):
    assert not findings(on("clusterqueue-vision", lambda i: i["spec"].update({path: UNKNOWN}))(FOREIGN))


@pytest.mark.parametrize(
    "name", ["job-train", "localqueue-main", "resourceflavor-spot", "clusterqueue-vision", "kueue"]
)
@pytest.mark.parametrize("path", ["spec", "metadata", "values"])
@pytest.mark.parametrize("value", [UNKNOWN, "text", ["a", "list"], 7, {}])
def test_a_wrong_kind_of_input_makes_nothing_crash(name, path, value):
    findings(on(name, lambda i: i.update({path: value}))(FOREIGN))


def test_a_manager_with_pods_integrated_reads_the_label_on_pods():
    changed = on("job-train", lambda i: i["spec"]["template"].update(metadata={"labels": i["metadata"].pop("labels")}))
    assert not findings(changed(FOREIGN))


def test_a_resource_that_is_transformed_is_not_judged():
    manager = release(resources={"transformations": [{"input": GPU, "strategy": "Replace", "outputs": {"gpu": "1"}}]})
    changed = [manager if one.name == "kueue" else one for one in FOREIGN]
    assert not findings(changed)


def test_spare_capacity_in_a_queue_without_a_local_queue_is_lent():
    lender = queue("spare", {"spot": {"cpu": "1", "memory": "1", GPU: "8"}}, cohortName="all", namespaceSelector={})
    own = on("clusterqueue-vision", lambda i: i["spec"].update(cohortName="all"))(FOREIGN)
    own = on(
        "clusterqueue-vision",
        lambda i: i["spec"]["resourceGroups"][0]["flavors"][0]["resources"][2].update(nominalQuota=24),
    )(own)
    assert not [one for one in findings([*own, lender]) if one.rule.startswith("queues-")]


@pytest.mark.parametrize(("labels", "cores"), [({"pool": "cpu"}, "32"), ({"pool": "cpu"}, "100000"), ({}, "8")])
def test_a_queue_of_cores_on_nodes_that_take_such_work(labels, cores):
    nodes = group("cpu", ["m7i.2xlarge"], labels={"pool": "cpu"}, taints=[])
    more = [
        nodes,
        kueue("ResourceFlavor", "cores", spec={"nodeLabels": labels}),
        queue("team-cpu", {"cores": {"cpu": cores}}),
    ]
    assert not findings([*FOREIGN, *more])


def test_partly_unknown_settings_of_the_manager_leave_jobs_alone(rehearsed):
    resources = list(rehearsed("demo").resources)
    hidden = on("kueue-release", lambda i: i["values"]["managerConfig"].update(controllerManagerConfigYaml=UNKNOWN))
    assert not [one for one in findings(hidden(resources)) if one.rule.startswith("queues-")]


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["waitForPodsReady"].update(timeout="10m"),
        lambda c: c.update(resources={"quotaCheckStrategy": "IgnoreUndeclared"}),
        lambda c: c["integrations"]["frameworks"].append("ray.io/rayjob"),
        lambda c: c.pop("managedJobsNamespaceSelector"),
        lambda c: c.update(manageJobsWithoutQueueName=False),
    ],
)
def test_other_settings_of_the_manager_that_work(rehearsed, change):
    assert not findings(told(change)(list(rehearsed("demo").resources)))


def test_a_gke_node_pool_is_read_too():
    pool = resource(
        "gcp:container/nodePool:NodePool",
        "train",
        {
            "name": "train",
            "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
            "nodeConfig": {
                "machineType": "a2-highgpu-8g",
                "spot": True,
                "guestAccelerators": [{"type": "nvidia-tesla-a100", "count": 8}],
                "taints": [{"key": GPU, "value": "present", "effect": "NO_SCHEDULE"}],
            },
        },
    )
    others = without("gpu", "gpu-spot", "resourceflavor-on-demand", "resourceflavor-spot", "clusterqueue-vision")(
        FOREIGN
    )
    on_gke = [
        pool,
        *others,
        kueue("ResourceFlavor", "spot", spec={"nodeLabels": {"cloud.google.com/gke-spot": "true"}}),
        queue("vision", {"spot": {"cpu": "300", "memory": "3Ti", GPU: "32"}}),
    ]
    on_gke = on("job-train", lambda i: i["spec"].update(parallelism=3, completions=3))(on_gke)
    assert not findings(on_gke)
    more = on(
        "clusterqueue-vision",
        lambda i: i["spec"]["resourceGroups"][0]["flavors"][0]["resources"][2].update(nominalQuota="40"),
    )
    assert "kueue-quota-nodes" in {one.rule for one in findings(more(on_gke))}


def by_request(checked: dict[str, Any], seconds: int = 3600) -> list[str]:
    """What is told of a queue of nodes that come by request alone, with its checks in one form or the other."""
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "gpu-nodes"}
    resources = [
        resource(
            "gcp:container/nodePool:NodePool",
            "gpu",
            {
                "name": "gpu",
                "queuedProvisioning": {"enabled": True},
                "autoscaling": {"maxNodeCount": 4},
                "nodeConfig": {
                    "machineType": "a3-highgpu-8g",
                    "labels": {"pool": "gpu"},
                    "maxRunDuration": "86400s",
                    "guestAccelerators": [{"type": "nvidia-h100-80gb", "count": 8}],
                },
            },
        ),
        flavor("gpu", {"pool": "gpu"}),
        queue("vision", {"gpu": {GPU: "8"}}, **checked),
        kueue(
            "AdmissionCheck",
            "nodes",
            spec={"controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": parameters},
        ),
        kueue(
            "ProvisioningRequestConfig",
            "gpu-nodes",
            spec={
                "provisioningClassName": "queued-provisioning.gke.io",
                "parameters": {"maxRunDurationSeconds": str(seconds)},
            },
        ),
    ]
    stack = Stack(resources, CONTEXT)
    check_provisioning(stack, Room.of(stack.resources))
    return [finding.path for finding in stack.findings]


STRATEGY = {"admissionChecks": [{"name": "nodes", "onFlavors": ["gpu"]}]}


@pytest.mark.parametrize(
    "checked",
    [
        {"admissionChecks": ["nodes"]},
        {"admissionChecksStrategy": STRATEGY},
        {"admissionChecksStrategy": {"admissionChecks": [{"name": "nodes"}]}},
    ],
)
def test_a_check_of_all_flavors_asks_for_nodes_too(checked):
    assert by_request(checked) == []
    assert by_request(checked, seconds=90000) == ["spec.parameters.maxRunDurationSeconds"]


def test_a_queue_of_requested_nodes_without_a_check_is_told():
    assert by_request({}) == ["spec.admissionChecksStrategy.admissionChecks"]
