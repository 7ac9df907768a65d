"""The scheduler's filters, each by its rule, on small stacks of somebody else's."""

import base64
import json
from dataclasses import replace

import pytest

from tests.rehearsal.refusals.builders import obj, resource
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.node_groups import LAUNCH_TEMPLATE
from trainyard.recorded.types import ADD_ON, EKS_CLUSTER, HELM_RELEASE, SUBNET
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.placement.check import check
from trainyard.rehearsal.works.placement.kubernetes.requests import requested

GIB = 2**30
CONTEXT = ValueContext("1.35", "us-east-1")


def told(*resources):
    stack = Stack(resources, CONTEXT)
    check(stack)
    return [(finding.level, finding.rule) for finding in stack.findings]


def group(name="general", types=("m5.large",), most=3, **more):
    sizes = {"minSize": 0, "maxSize": most, "desiredSize": 0}
    return resource(
        "aws:eks/nodeGroup:NodeGroup",
        name,
        {"clusterName": "c", "instanceTypes": list(types), "scalingConfig": sizes, "amiType": "AL2023_x86_64_STANDARD"}
        | more,
    )


CLUSTER = resource(EKS_CLUSTER, "c", {"name": "c"})


def pods(kind="Deployment", replicas=1, name="web", labels=None, **spec):
    container = {"name": "a", **spec.pop("container", {})}
    template = {"metadata": {"labels": labels or {"app": name}}, "spec": {"containers": [container], **spec}}
    body = {"selector": {"matchLabels": labels or {"app": name}}, "template": template}
    return obj("apps/v1", kind, name, "web", spec=body | ({} if kind == "DaemonSet" else {"replicas": replicas}))


def asking(**amounts):
    return {"resources": {"requests": {key.replace("_", "/"): value for key, value in amounts.items()}}}


NO_NODE = [("error", "placement-no-node")]


def test_a_plain_pod_runs_on_a_plain_node():
    assert told(CLUSTER, group(), pods(container=asking(cpu="500m", memory="1Gi"))) == []


@pytest.mark.parametrize(
    ("nodes", "spec", "runs"),
    [
        ({"labels": {"pool": "a"}}, {"nodeSelector": {"pool": "a"}}, True),
        ({"labels": {"pool": "a"}}, {"nodeSelector": {"pool": "b"}}, False),
        ({"labels": {"pool": UNKNOWN}}, {"nodeSelector": {"pool": "b"}}, True),
        ({"labels": UNKNOWN}, {"nodeSelector": {"pool": "b"}}, True),
        ({}, {"nodeSelector": UNKNOWN}, True),
        ({}, {"nodeSelector": {"eks.amazonaws.com/capacityType": "ON_DEMAND"}}, True),
        ({}, {"nodeSelector": {"eks.amazonaws.com/capacityType": "SPOT"}}, False),
        ({"capacityType": "SPOT"}, {"nodeSelector": {"eks.amazonaws.com/capacityType": "SPOT"}}, True),
        ({}, {"nodeSelector": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}}, True),
        ({}, {"nodeSelector": {"kubernetes.io/os": "windows"}}, False),
        ({}, {"nodeSelector": {"kubernetes.io/arch": "arm64"}}, False),
        ({"instanceTypes": ["m7g.large"]}, {"nodeSelector": {"kubernetes.io/arch": "arm64"}}, True),
        ({}, {"nodeSelector": {"node.kubernetes.io/instance-type": "m5.large"}}, True),
        ({}, {"nodeSelector": {"node.kubernetes.io/instance-type": "m5.xlarge"}}, False),
        ({}, {"nodeSelector": {"topology.kubernetes.io/zone": "us-east-1a"}}, True),  # subnets of somebody else's
        ({}, {"nodeSelector": {"nvidia.com/gpu.present": "true"}}, True),  # whoever discovers it
        ({"taints": [{"key": "a", "value": "b", "effect": "NO_SCHEDULE"}]}, {}, False),
        ({"taints": [{"key": "a", "value": "b", "effect": "PREFER_NO_SCHEDULE"}]}, {}, True),
        (
            {"taints": [{"key": "a", "effect": "NO_EXECUTE"}]},
            {"tolerations": [{"key": "a", "operator": "Exists"}]},
            True,
        ),
        ({"taints": [{"key": "a", "effect": "NO_EXECUTE"}]}, {"tolerations": [{"key": "a"}]}, True),
        ({"taints": [{"key": "a", "value": "b", "effect": "NO_EXECUTE"}]}, {"tolerations": [{"key": "a"}]}, False),
        (
            {"taints": [{"key": "a", "value": "b", "effect": "NO_EXECUTE"}]},
            {"tolerations": [{"operator": "Exists"}]},
            True,
        ),
        ({"taints": [{"key": "a", "value": UNKNOWN, "effect": "NO_EXECUTE"}]}, {"tolerations": [{"key": "a"}]}, True),
        ({"taints": UNKNOWN}, {}, True),
        ({"instanceTypes": UNKNOWN}, {"container": asking(cpu="900")}, True),
        ({"instanceTypes": ["z9.large"]}, {"container": asking(cpu="900")}, True),
        ({}, {"container": asking(cpu="2")}, False),
        ({}, {"container": asking(cpu="1900m")}, True),
        ({}, {"container": asking(memory="8Gi")}, False),
        ({}, {"container": asking(memory="6Gi")}, True),
        ({"instanceTypes": ["m5.4xlarge", "m6i.4xlarge"]}, {"container": asking(memory="32Gi")}, True),
        ({"instanceTypes": ["t3.medium"]}, {"container": asking(memory="4Gi")}, False),
        ({}, {"container": asking(**{"ephemeral-storage": "30Gi"})}, False),  # of 20 GiB without a template
        ({"diskSize": 100}, {"container": asking(**{"ephemeral-storage": "30Gi"})}, True),
        ({}, {"container": asking(**{"nvidia.com_gpu": "1"})}, False),
        ({}, {"container": asking(**{"example.com_fpga": "1"})}, True),  # of a plugin that nobody here knows
        ({"instanceTypes": ["g5.xlarge"]}, {"container": asking(**{"nvidia.com_gpu": "1"})}, True),  # plugin elsewhere
        ({"instanceTypes": ["g5.xlarge"]}, {"container": asking(**{"nvidia.com_gpu": "2"})}, True),
    ],
)
def test_a_filter(nodes, spec, runs):
    assert told(CLUSTER, group(**nodes), pods(**spec)) == ([] if runs else NO_NODE)


def test_a_pod_that_only_the_larger_of_two_machines_holds_is_a_risk():
    mixed = group(types=("m5.large", "m5.4xlarge"))
    assert told(CLUSTER, mixed, pods(container=asking(memory="32Gi"))) == [("warning", "placement-shared-room")]


def term(*expressions):
    found = [{"key": key, "operator": operator, "values": list(values)} for key, operator, *values in expressions]
    return {"matchExpressions": found}


@pytest.mark.parametrize(
    ("terms", "runs"),
    [
        ([term(("pool", "In", "a", "b"))], True),
        ([term(("pool", "In", "c"))], False),
        ([term(("pool", "In", "c")), term(("pool", "Exists"))], True),
        ([term(("pool", "In", "a"), ("size", "Exists"))], False),
        ([term(("pool", "NotIn", "a"))], False),
        ([term(("size", "NotIn", "a"))], True),
        ([term(("size", "DoesNotExist"))], True),
        ([term(("pool", "DoesNotExist"))], False),
        ([term(("count", "Gt", "3"))], True),
        ([term(("count", "Lt", "3"))], False),
        ([term(("pool", "In", UNKNOWN))], True),
        (UNKNOWN, True),
    ],
)
def test_node_affinity(terms, runs):
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    nodes = group(labels={"pool": "a", "count": "4"})
    assert told(CLUSTER, nodes, pods(affinity=affinity)) == ([] if runs else NO_NODE)


def labelled_by_itself(text, **more):
    user_data = base64.b64encode(text.encode()).decode()
    return resource(LAUNCH_TEMPLATE, "lt", {"userData": user_data, **more})


@pytest.mark.parametrize(
    "others",
    [
        [],  # no cluster of its own: the nodes are elsewhere
        [resource("aws:eks/fargateProfile:FargateProfile", "f", {}), CLUSTER],
        [resource("aws:autoscaling/group:Group", "g", {}), CLUSTER],
        [obj("karpenter.sh/v1", "NodePool", "default"), CLUSTER],
        [resource(HELM_RELEASE, "k", {"chart": "oci://public.ecr.aws/karpenter/karpenter"}), CLUSTER],
        [resource(EKS_CLUSTER, "c", {"computeConfig": {"enabled": True}})],
    ],
)
def test_where_nodes_may_come_from_elsewhere_nothing_is_told(others):
    assert told(*others, group(), pods(nodeSelector={"pool": "b"})) == []


def test_machines_of_ecs_are_no_nodes_that_may_join():
    of_ecs = resource("aws:autoscaling/group:Group", "g", {"tags": [{"key": "AmazonECSManaged", "value": "true"}]})
    assert told(of_ecs, CLUSTER, group(), pods(nodeSelector={"pool": "b"})) == NO_NODE


def test_pods_of_another_cluster_are_not_looked_at():
    kubernetes = resource("pulumi:providers:kubernetes", "other", {"kubeconfig": "{}"})
    lost = pods(nodeSelector={"pool": "b"})
    elsewhere = replace(lost, provider=f"{kubernetes.urn}::id")
    assert told(CLUSTER, group(), kubernetes, elsewhere) == []
    of_cluster = replace(kubernetes, property_dependencies={"kubeconfig": (CLUSTER.urn,)})
    assert told(CLUSTER, group(), of_cluster, elsewhere) == NO_NODE
    second = resource(EKS_CLUSTER, "d", {"name": "d"})
    assert told(CLUSTER, second, group(), lost) == []


def test_images_of_one_architecture():
    arm = group(types=("m7g.large",), amiType="AL2023_ARM_64_STANDARD")
    training = "public.ecr.aws/deep-learning-containers/pytorch-training:2.7.1-cpu-py312-ubuntu22.04-ec2"
    for image, runs in (("nginx:1.29", True), ("a/b:v1-amd64", False), (training, False), ("a/b:v1-arm64", True)):
        assert told(CLUSTER, arm, pods(container={"image": image})) == ([] if runs else NO_NODE)
    assert told(CLUSTER, group(), pods(container={"image": training})) == []


def test_labels_of_start_up_data_and_of_images_of_one_s_own_may_be_anything():
    by_data = labelled_by_itself("#!/bin/bash\n/etc/eks/bootstrap.sh c --kubelet-extra-args --node-labels=pool=b")
    by_image = labelled_by_itself("", imageId="ami-0123456789abcdef0")
    for template in (by_data, by_image):
        nodes = group(launchTemplate={"id": "lt-id", "version": "1"})
        assert told(CLUSTER, template, nodes, pods(nodeSelector={"pool": "b"})) == []
    plain = labelled_by_itself("MIME-Version: 1.0\n")
    nodes = group(launchTemplate={"id": "lt-id", "version": "1"})
    assert told(CLUSTER, plain, nodes, pods(nodeSelector={"pool": "b"})) == NO_NODE


def plugin(**values):
    everywhere = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}
    values = {"affinity": everywhere, **values}
    return resource(HELM_RELEASE, "p", {"chart": "nvidia-device-plugin", "name": "p", "values": values})


GPUS = {"types": ("g5.12xlarge",), "amiType": "AL2023_x86_64_NVIDIA"}


def test_gpus_are_there_where_the_plugin_runs():
    four, eight = (pods(container=asking(**{"nvidia.com_gpu": count})) for count in ("4", "8"))
    assert told(CLUSTER, group(**GPUS), plugin(), four) == []
    assert told(CLUSTER, group(**GPUS), plugin(), eight) == NO_NODE
    tainted = group(**GPUS, taints=[{"key": "team", "value": "a", "effect": "NO_SCHEDULE"}])
    rules = told(CLUSTER, tainted, plugin(), four)
    assert ("error", "placement-device-plugin") in rules
    shared = plugin(config={"map": {"default": "sharing: {}"}})
    assert told(CLUSTER, group(**GPUS), shared, eight) == []
    operator = resource(HELM_RELEASE, "o", {"chart": "gpu-operator", "name": "o"})
    assert (
        told(
            CLUSTER,
            tainted,
            operator,
            pods(container=asking(**{"nvidia.com_gpu": "8"}), tolerations=[{"operator": "Exists"}]),
        )
        == []
    )


def test_zones_of_subnets_and_of_volumes():
    subnet = resource(SUBNET, "a", {"availabilityZone": "us-east-1a"})
    nodes = group(subnetIds=["a-id"])
    zone = {"key": "topology.ebs.csi.aws.com/zone", "operator": "In"}
    claim = obj("v1", "PersistentVolumeClaim", "disk", "web", spec={"volumeName": "v"})
    mount = [{"name": "d", "persistentVolumeClaim": {"claimName": "disk"}}]
    for where, expected in (("us-east-1a", []), ("us-east-1b", NO_NODE)):
        terms = [{"matchExpressions": [{**zone, "values": [where]}]}]
        volume = obj("v1", "PersistentVolume", "v", spec={"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}})
        assert told(CLUSTER, subnet, nodes, claim, volume, pods(volumes=mount)) == expected
        kept = {
            "provisioner": "ebs.csi.aws.com",
            "allowedTopologies": [{"matchLabelExpressions": [{**zone, "values": [where]}]}],
        }
        of_class = obj("v1", "PersistentVolumeClaim", "disk", "web", spec={"storageClassName": "gp3"})
        storage = obj("storage.k8s.io/v1", "StorageClass", "gp3", **kept)
        assert told(CLUSTER, subnet, nodes, of_class, storage, pods(volumes=mount)) == expected


def test_pods_a_node_without_prefixes():
    def many(configuration):
        add_on = resource(ADD_ON, "cni", {"addonName": "vpc-cni", "configurationValues": json.dumps(configuration)})
        return told(CLUSTER, group(most=1), add_on, pods(replicas=60, container=asking(cpu="1m")))

    assert many({}) == [("error", "placement-capacity")]
    assert many({"env": {"ENABLE_PREFIX_DELEGATION": "true"}}) == []


def test_what_a_pod_requests():
    one = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    sidecar = {"restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}
    heavy = {"resources": {"requests": {"cpu": "3"}, "limits": {"memory": "2Gi"}}}
    assert requested({"containers": [one, one]}) == {"cpu": 2, "memory": 2 * GIB}
    assert requested({"initContainers": [heavy], "containers": [one]}) == {"cpu": 3, "memory": 2 * GIB}
    assert requested({"initContainers": [sidecar, heavy], "containers": [one]})["cpu"] == pytest.approx(3.1)
    assert requested({"initContainers": [heavy, sidecar], "containers": [one]})["cpu"] == pytest.approx(3)
    assert requested({"containers": [one], "overhead": {"cpu": "250m"}})["cpu"] == pytest.approx(1.25)
    assert requested({"containers": [one], "resources": {"requests": {"cpu": "500m"}}})["cpu"] == pytest.approx(0.5)
    assert requested({"containers": UNKNOWN}) == {}


def test_a_rolling_update_that_finds_no_room_is_a_risk():
    large = pods(replicas=3, container=asking(cpu="1500m"))
    assert told(CLUSTER, group(most=3), large) == [("warning", "placement-update-room")]
    assert told(CLUSTER, group(most=4), large) == []


def test_a_chart_s_update_finds_room_too():
    """Kueue's chart says nothing of a strategy: of two pods, a third is there for a while."""

    def kueue(**more):
        manager = {"replicas": 2, "manager": {"resources": {"requests": {"cpu": "1500m", "memory": "512Mi"}}}, **more}
        return resource(HELM_RELEASE, "kueue", {"chart": "kueue", "values": {"controllerManager": manager}})

    assert told(CLUSTER, group(most=2), kueue()) == [("warning", "placement-update-room")]
    assert told(CLUSTER, group(most=3), kueue()) == []
    assert told(CLUSTER, group(most=2), kueue(strategy={"type": "Recreate"})) == []
    in_place = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    assert told(CLUSTER, group(most=2), kueue(strategy=in_place)) == []
    hub = {"hub": {"resources": {"requests": {"cpu": "1500m"}}}, "prePuller": {"hook": {"enabled": False}}}
    of_hub = resource(HELM_RELEASE, "hub", {"chart": "jupyterhub", "values": hub})
    assert told(CLUSTER, group(most=1), of_hub) == []


def test_pods_that_need_company():
    near = {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    web = pods(affinity=affinity)
    assert told(CLUSTER, group(), web) == [("warning", "placement-company")]
    assert told(CLUSTER, group(), web, pods(name="cache")) == []


def test_inputs_of_another_kind_end_nothing():
    for value in ("text", 3, True, [], {}, [3], ["a"], [None], {"a": 1}, [UNKNOWN], UNKNOWN, None):
        keys = ("nodeSelector", "tolerations", "affinity", "volumes", "topologySpreadConstraints", "containers")
        for key in keys:
            told(CLUSTER, group(), pods(**{key: value}), pods(kind="DaemonSet", name="d", **{key: value}))
        for key in ("labels", "taints", "instanceTypes", "scalingConfig", "subnetIds", "launchTemplate", "amiType"):
            told(CLUSTER, group(**{key: value}), pods())
        for inner in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
            told(CLUSTER, group(), pods(affinity={inner: value}))
            told(CLUSTER, group(), pods(affinity={inner: {"requiredDuringSchedulingIgnoredDuringExecution": value}}))
        told(CLUSTER, group(), pods(container={"resources": value, "ports": value}))
        told(CLUSTER, group(), obj("policy/v1", "PodDisruptionBudget", "b", "web", spec={"selector": value}), pods())
        told(CLUSTER, group(), resource(HELM_RELEASE, "k", {"chart": "kueue", "values": value}))
        told(CLUSTER, group(), resource(ADD_ON, "k", {"addonName": "vpc-cni", "configurationValues": value}))


def test_a_scheduler_that_nothing_runs():
    lost = pods(schedulerName="volcano")
    assert told(CLUSTER, group(), lost) == [("warning", "placement-scheduler")]
    assert told(CLUSTER, group(), pods(schedulerName="default-scheduler")) == []
    assert told(CLUSTER, group(), lost, resource(HELM_RELEASE, "v", {"chart": "volcano", "name": "v"})) == []
    assert told(CLUSTER, group(), lost, pods(name="volcano-scheduler")) == []


def scaler(*, kind="HorizontalPodAutoscaler", version="autoscaling/v2", **spec):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return obj(version, kind, "web", "web", spec={"scaleTargetRef": target, "maxReplicas": 6, **spec})


@pytest.mark.parametrize(
    ("scale", "can_be_drained"),
    [
        ([], False),
        ([scaler()], False),  # which keeps one pod where it does not say
        ([scaler(minReplicas=1)], False),
        ([scaler(minReplicas=2)], True),
        ([scaler(minReplicas=UNKNOWN)], True),  # nobody knows
        ([scaler(kind="ScaledObject", version="keda.sh/v1alpha1", minReplicaCount=2)], True),
    ],
)
def test_pods_are_as_many_as_their_autoscaler_keeps(scale, can_be_drained):
    selector = {"matchLabels": {"app": "web"}}
    budget = obj("policy/v1", "PodDisruptionBudget", "b", "web", spec={"minAvailable": 1, "selector": selector})
    web = pods()
    spec = {key: value for key, value in web.inputs["spec"].items() if key != "replicas"}
    left_out = replace(web, inputs={**web.inputs, "spec": spec})
    found = told(CLUSTER, group(), left_out, budget, *scale)
    assert found == ([] if can_be_drained else [("warning", "placement-drain")])
