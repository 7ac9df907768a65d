"""A member of a team who wants GPUs that no queue has counted, or what is not his own, and one who only works.

Every request goes to all admission policies of the demo stack that judge its kind, as the API server would have it.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.components.k8s.admission import JOB_CONTROLLER, refusals
from trainyard.rehearsal.works.workloads.read import filled

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
ADA = "ada@acme.example"
TRAINER = "system:serviceaccount:kubeflow-system:kubeflow-trainer-controller-manager"
JOB_SETS = "system:serviceaccount:jobset-system:jobset-controller"
KUEUE = "system:serviceaccount:kueue-system:kueue-controller-manager"

GPU = {"name": "a", "resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "2"}}}
CPU = {"name": "a", "resources": {"requests": {"cpu": "2"}}}
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "1", "controller": True}
GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists"}


class Wall:
    """The admission policies of a stack, by the kind that they judge."""

    def __init__(self, resources: Any) -> None:
        self.resources = resources
        self.policies = [item.inputs["spec"] for item in self.resources if item.type == POLICY]

    def said(self, kind: str, item: dict[str, Any] | None, username: str = ADA, **request: Any) -> list[str]:
        found = []
        for policy in self.policies:
            kinds = [name for rule in policy["matchConstraints"]["resourceRules"] for name in rule["resources"]]
            if kind in kinds:
                found += refusals(policy, item, username, **request)
        return found


@pytest.fixture(scope="module")
def wall(rehearsed: Any) -> Wall:
    return Wall(rehearsed("demo").resources)


def pod(container: dict[str, Any] = CPU, **spec: Any) -> dict[str, Any]:
    """A pod of a member's, counted as pods without GPUs are, unless its spec says otherwise."""
    return {"metadata": {}, "spec": {"containers": [container], "priorityClassName": "cpu-only", **spec}}


def of_a_job(**spec: Any) -> dict[str, Any]:
    """A pod with GPUs with all that a pod of an admitted job has."""
    metadata = {"labels": {"kueue.x-k8s.io/podset": "main"}, "ownerReferences": [OWNER]}
    return {"metadata": metadata, "spec": {"containers": [GPU], **spec}}


def template(container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    counted = {} if container is GPU else {"priorityClassName": "cpu-only"}
    selector = {"ml.platform/pool": "dev"}
    return {"spec": {"containers": [container], "nodeSelector": selector, **counted, **spec}}


def job(container: dict[str, Any] = GPU, **spec: Any) -> dict[str, Any]:
    return {"metadata": {}, "spec": {"template": template(container, **spec)}}


def job_set(container: dict[str, Any] = GPU, **spec: Any) -> dict[str, Any]:
    one = {"name": "a", "template": {"spec": {"template": template(container, **spec)}}}
    return {"metadata": {}, "spec": {"replicatedJobs": [one]}}


def train_job(container: dict[str, Any] = GPU, runtime: str = "torch-distributed", **spec: Any) -> dict[str, Any]:
    patch = {"template": {"spec": {"nodeSelector": {"ml.platform/pool": "dev"}, **spec}}}
    jobs = [{"name": "node", "template": {"spec": patch}}]
    patches = [{"manager": "me", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}]
    trainer = {"numNodes": 1, "resourcesPerNode": container["resources"]}
    return {"metadata": {}, "spec": {"runtimeRef": {"name": runtime}, "trainer": trainer, "runtimePatches": patches}}


MADE = {"jobs": job, "jobsets": job_set, "trainjobs": train_job}
CPU_RUNTIME = {"runtime": "torch-distributed-cpu"}

BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "a network file system": ({"volumes": [{"name": "v", "nfs": {"server": "a", "path": "/"}}]}, "Volumes are"),
    "the host's files": ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, "Volumes are"),
    "a disk of the cloud": ({"volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "v"}}]}, "Volumes are"),
    "a claim of its own making": ({"volumes": [{"name": "v", "ephemeral": {}}]}, "Volumes are"),
    "a driver's volume": ({"volumes": [{"name": "v", "csi": {"driver": "efs.csi.aws.com"}}]}, "Volumes are"),
    "a good volume before a bad one": (
        {"volumes": [{"name": "u", "emptyDir": {}}, {"name": "v", "hostPath": {"path": "/"}}]},
        "Volumes are",
    ),
    "a year to end in": ({"terminationGracePeriodSeconds": 31536000}, "terminationGracePeriodSeconds is at most 600"),
    "a second more than it may have": ({"terminationGracePeriodSeconds": 601}, "terminationGracePeriodSeconds"),
}
"""What no pod may have, and what is said of it. All of it can stand in a patch of a TrainJob's runtime too."""

OF_PODS: dict[str, tuple[dict[str, Any], str]] = {
    "devices by claim": (
        {"resourceClaims": [{"name": "g", "resourceClaimName": "gpu"}]},
        "take away the resource claims",
    ),
    "a node by name": ({"nodeName": "ip-10-0-0-1"}, "Pods name no node"),
}


@pytest.mark.parametrize("attack", sorted(BROKEN | OF_PODS))
def test_no_pod_has_what_a_team_does_not_need(wall: Wall, attack: str) -> None:
    spec, said = (BROKEN | OF_PODS)[attack]
    for made, who in ((pod(**spec), ADA), (of_a_job(**spec), JOB_CONTROLLER)):
        (message,) = wall.said("pods", made, who)
        assert said in message


# A TrainJob's patches have no field for a claim of devices, a node's name, or what is the host's.
@pytest.mark.parametrize(
    ("kind", "attack"),
    [(kind, attack) for kind in MADE for attack in sorted(BROKEN if kind == "trainjobs" else BROKEN | OF_PODS)],
)
def test_a_job_of_such_pods_is_refused_as_a_job(wall: Wall, kind: str, attack: str) -> None:
    """It would be admitted, hold its GPUs and never have a pod."""
    spec, said = (BROKEN | OF_PODS)[attack]
    (message,) = wall.said(kind, MADE[kind](**spec))
    assert said in message


SECURITY: dict[str, dict[str, Any]] = {
    "the host's network": {"hostNetwork": True},
    "the host's processes": {"hostPID": True},
    "the host's memory": {"hostIPC": True},
    "an unsafe sysctl": {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
    "no seccomp profile": {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
    "no AppArmor profile": {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
    "another SELinux user": {"securityContext": {"seLinuxOptions": {"user": "root"}}},
    "another SELinux type": {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}},
    "a process of the host's": {"securityContext": {"windowsOptions": {"hostProcess": True}}},
}
OF_THE_HOST = ("the host's network", "the host's processes", "the host's memory")
OF_CONTAINERS: dict[str, dict[str, Any]] = {
    "privileged": {"securityContext": {"privileged": True}},
    "an added capability": {"securityContext": {"capabilities": {"add": ["CHOWN", "SYS_ADMIN"]}}},
    "a port of the host's": {"ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}]},
    "/proc unmasked": {"securityContext": {"procMount": "Unmasked"}},
    "no seccomp profile of its own": {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
    "a probe of another host": {"livenessProbe": {"httpGet": {"host": "10.0.0.1", "port": 80}}},
    "a hook on another host": {"lifecycle": {"preStop": {"tcpSocket": {"host": "10.0.0.1", "port": 80}}}},
}


@pytest.mark.parametrize(
    ("kind", "attack"),
    [(kind, attack) for kind in MADE for attack in SECURITY if not (kind == "trainjobs" and attack in OF_THE_HOST)],
)
def test_a_job_whose_pods_the_namespace_refuses_holds_nothing(wall: Wall, kind: str, attack: str) -> None:
    (message,) = wall.said(kind, MADE[kind](**SECURITY[attack]))
    assert "pod security level baseline" in message


@pytest.mark.parametrize("where", ["containers", "initContainers", "ephemeralContainers"])
@pytest.mark.parametrize("attack", sorted(OF_CONTAINERS))
def test_nor_one_whose_containers_it_refuses(wall: Wall, where: str, attack: str) -> None:
    containers = [dict(GPU), {"name": "b", **OF_CONTAINERS[attack]}]
    for kind in ("jobs", "jobsets"):
        (message,) = wall.said(kind, MADE[kind](**{where: containers}))
        assert "pod security level baseline" in message
    patched = train_job(**{where: [{"name": "node", **OF_CONTAINERS[attack]}]})
    (message,) = wall.said("trainjobs", patched)
    assert "pod security level baseline" in message


def test_nor_one_that_asks_for_no_profile_by_annotation(wall: Wall) -> None:
    made = job()
    key = "container.apparmor.security.beta.kubernetes.io/a"
    for value, refused in (("unconfined", True), ("runtime/default", False), ("localhost/mine", False)):
        made["spec"]["template"]["metadata"] = {"annotations": {"other": "unconfined", key: value}}
        assert bool(wall.said("jobs", made)) is refused


@pytest.mark.parametrize("container", [GPU, CPU])
@pytest.mark.parametrize("kind", MADE)
def test_a_job_may_do_all_that_pod_security_lets_it(wall: Wall, kind: str, container: dict[str, Any]) -> None:
    """As root, with volumes of every kind that a team needs, and time for a large checkpoint."""
    security = {
        "runAsUser": 0,
        "seccompProfile": {"type": "RuntimeDefault"},
        "sysctls": [{"name": "net.ipv4.tcp_rmem"}],
    }
    volumes = ("configMap", "secret", "emptyDir", "projected", "downwardAPI", "persistentVolumeClaim")
    spec: dict[str, Any] = {
        "securityContext": security,
        "volumes": [{"name": f"v{index}", volume: {}} for index, volume in enumerate(volumes)],
        "terminationGracePeriodSeconds": 600,
    }
    own = {
        "name": "side",
        "securityContext": {"capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}, "procMount": "Default"},
        "livenessProbe": {"httpGet": {"path": "/", "port": 80}},
        **({} if kind == "trainjobs" else {"ports": [{"containerPort": 80}]}),
    }
    more = CPU_RUNTIME if (kind, container) == ("trainjobs", CPU) else {}
    assert wall.said(kind, MADE[kind](container, **spec, initContainers=[own], **more)) == []


# GPUs past the queue


@pytest.mark.parametrize(
    "who", [ADA, "system:serviceaccount:team-vision:trainer", "system:serviceaccount:kube-system:x"]
)
def test_a_pod_with_gpus_is_made_by_the_job_controller_or_not_at_all(wall: Wall, who: str) -> None:
    (message,) = wall.said("pods", of_a_job(), who)
    assert message.startswith("GPU pods run through a queue")
    assert wall.said("pods", of_a_job(tolerations=[GPU_TAINT]), JOB_CONTROLLER) == []


@pytest.mark.parametrize("where", ["containers", "initContainers"])
def test_gpus_count_wherever_they_are_asked_for(wall: Wall, where: str) -> None:
    made = pod(**{"containers": [CPU], where: [CPU, GPU]})
    assert any("GPU pods run through a queue" in message for message in wall.said("pods", made))


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"key": "", "operator": "Exists"},
        GPU_TAINT,
        {"key": "nvidia.com/mig", "operator": "Exists"},
        {"key": "ml.platform/capacity", "operator": "Exists"},
        {"key": "ml.platform/pool", "operator": "Exists"},
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": "node-role.kubernetes.io/control-plane"},
    ],
)
def test_pods_without_gpus_reach_neither_gpu_nodes_nor_the_platforms(wall: Wall, toleration: dict[str, Any]) -> None:
    """There `NVIDIA_VISIBLE_DEVICES=all` would show it every GPU."""
    for kind, made in (
        ("pods", pod(tolerations=[toleration])),
        ("jobs", job(CPU, tolerations=[toleration])),
        ("jobsets", job_set(CPU, tolerations=[toleration])),
        ("trainjobs", train_job(CPU, **CPU_RUNTIME, tolerations=[toleration])),
    ):
        (message,) = wall.said(kind, made)
        assert "stay off the nodes of GPU pools" in message


def test_other_tolerations_are_nobodys_business(wall: Wall) -> None:
    usual = [{"key": f"node.kubernetes.io/{what}", "operator": "Exists"} for what in ("not-ready", "unreachable")]
    usual.append({"key": "dedicated", "operator": "Equal", "value": "batch"})
    assert wall.said("pods", pod(tolerations=usual)) == []
    assert wall.said("jobs", job(CPU, tolerations=usual)) == []
    assert wall.said("jobs", job(GPU, tolerations=[GPU_TAINT])) == []


@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical"])
def test_nobodys_pod_outranks_the_platform(wall: Wall, name: str) -> None:
    assert wall.said("pods", pod(priorityClassName=name))
    assert wall.said("pods", of_a_job(priorityClassName=name), JOB_CONTROLLER)
    for kind in ("jobs", "jobsets"):
        for container in (GPU, CPU):
            assert wall.said(kind, MADE[kind](container, priorityClassName=name))


def test_a_pod_is_not_kept_alive_by_whoever_deletes_it(wall: Wall) -> None:
    for seconds, refused in ((31536000, True), (600, False), (0, False)):
        found = wall.said("pods", None, operation="DELETE", options={"gracePeriodSeconds": seconds})
        assert bool(found) is refused
    assert wall.said("pods", None, operation="DELETE") == []


@pytest.mark.parametrize("kind", MADE)
def test_an_owner_that_a_member_writes_is_nobodys(wall: Wall, kind: str) -> None:
    """A job that names an admitted one as its owner would count as a part of it, and never be charged."""
    owned = MADE[kind]()
    owned["metadata"] = {"ownerReferences": [OWNER]}
    (message,) = wall.said(kind, owned)
    assert "Owners of a job" in message
    for service in ("system:serviceaccount:team-vision:trainer", "system:serviceaccount:kueue-systems:x"):
        assert wall.said(kind, owned, service) == [message]
    for service in (TRAINER, JOB_SETS, KUEUE, "system:serviceaccount:kube-system:cronjob-controller"):
        assert wall.said(kind, owned, service) == []
    assert wall.said(kind, owned, operation="UPDATE", old=MADE[kind]()) == [message], "added later"
    labelled = copy.deepcopy(owned)
    labelled["metadata"]["labels"] = {"a": "b"}
    assert wall.said(kind, labelled, operation="UPDATE", old=owned) == [], "what a controller has written stays"
    assert wall.said(kind, MADE[kind](), operation="UPDATE", old=owned) == []


def test_a_job_set_makes_no_claims_for_who_may_not(wall: Wall) -> None:
    claims = job_set()
    claims["spec"]["volumeClaimPolicies"] = [{"templates": [{"metadata": {"name": "mine"}, "spec": {}}]}]
    (message,) = wall.said("jobsets", claims)
    assert "makes no claims" in message
    claims["spec"]["volumeClaimPolicies"] = []
    assert wall.said("jobsets", claims) == []


@pytest.mark.parametrize("kind", MADE)
def test_a_job_is_judged_again_when_its_author_changes_it(wall: Wall, kind: str) -> None:
    """While it waits in its queue, its template may change."""
    old, new = MADE[kind](), MADE[kind](terminationGracePeriodSeconds=31536000)
    (message,) = wall.said(kind, new, operation="UPDATE", old=old)
    assert "terminationGracePeriodSeconds" in message
    assert wall.said(kind, copy.deepcopy(new), operation="UPDATE", old=new) == [], "nothing new"
    stopped = copy.deepcopy(new)
    stopped["spec"]["suspend"] = True
    assert wall.said(kind, stopped, KUEUE, operation="UPDATE", old=new) == [], "the queue takes its nodes back"


def test_kueues_own_changes_of_a_job_pass(wall: Wall) -> None:
    waits, runs = job(), job(tolerations=[GPU_TAINT])
    waits["spec"]["suspend"], runs["spec"]["suspend"] = True, False
    assert wall.said("jobs", runs, KUEUE, operation="UPDATE", old=waits) == []


def test_a_job_asks_for_no_claims_of_devices_by_way_of_the_trainer(wall: Wall) -> None:
    claims = copy.deepcopy(train_job())
    claims["spec"]["trainer"]["resourcesPerNode"] = {**GPU["resources"], "claims": [{"name": "gpu"}]}  # type: ignore[dict-item]
    (message,) = wall.said("trainjobs", claims)
    assert "take away the resource claims" in message


# A TrainJob without GPUs


def test_a_train_job_runs_in_the_runtime_that_counts_it(wall: Wall) -> None:
    assert wall.said("trainjobs", train_job(GPU)) == []
    assert wall.said("trainjobs", train_job(CPU, **CPU_RUNTIME)) == []
    for wrong in (train_job(CPU), train_job(GPU, **CPU_RUNTIME)):
        (message,) = wall.said("trainjobs", wrong)
        assert "torch-distributed-cpu" in message
    bare = {"metadata": {}, "spec": {"runtimeRef": {"name": "torch-distributed-cpu"}}}
    assert wall.said("trainjobs", bare) == []
    assert wall.said("trainjobs", {"metadata": {}, "spec": {"runtimeRef": {"name": "mine"}}}) == [], "not ours to say"


TRAIN = {"runtime": "torch-distributed-train"}
NODE = {"name": "a", "resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"memory": "300Gi"}}}
IN_TRAIN = {"nodeSelector": {"ml.platform/pool": "train"}}


def test_a_train_job_of_a_pool_with_a_fabric_says_nothing_or_names_its_gpus(wall: Wall) -> None:
    bare = {"metadata": {}, "spec": {"runtimeRef": {"name": "torch-distributed-train"}, "trainer": {"numNodes": 2}}}
    assert wall.said("trainjobs", bare) == []
    assert wall.said("trainjobs", train_job(NODE, **TRAIN, **IN_TRAIN)) == []
    few = copy.deepcopy(bare)
    few["spec"]["trainer"]["resourcesPerNode"] = {"requests": {"cpu": "4"}}
    (message,) = wall.said("trainjobs", few)
    assert "starts a process for each core" in message


def test_the_runtime_of_a_pool_runs_on_no_other(wall: Wall) -> None:
    """It would be admitted there, hold GPUs, and fit no node: only its own pool has the adapters."""
    for asked in (NODE, {"name": "a", "resources": {"limits": {"nvidia.com/gpu": "1"}}}):
        (message,) = wall.said("trainjobs", train_job(asked, **TRAIN))  # patched to dev
        assert "fits no node of a pool" in message
    silent = train_job(NODE, **TRAIN)
    del silent["spec"]["trainer"]["resourcesPerNode"]
    (message,) = wall.said("trainjobs", silent)
    assert "fits no node of a pool" in message


@pytest.mark.parametrize(
    ("name", "container"),
    [("torch-distributed", GPU), ("torch-distributed-cpu", CPU), ("torch-distributed-train", NODE)],
)
def test_the_job_set_and_pods_of_a_train_job_are_let_in(wall: Wall, name: str, container: dict[str, Any]) -> None:
    """As the Trainer makes them of a runtime: with the TrainJob's resources merged over the container's."""
    (runtime,) = [
        item.inputs for item in wall.resources if item.type == RUNTIME and item.inputs["metadata"]["name"] == name
    ]
    spec = copy.deepcopy(runtime["spec"]["template"]["spec"])
    pod_template = spec["replicatedJobs"][0]["template"]["spec"]["template"]
    pod_template["spec"] = filled(pod_template["spec"], {"resourcesPerNode": container["resources"]})
    pod_template["spec"].setdefault("nodeSelector", {"ml.platform/pool": "dev"})
    owner = [{"kind": "TrainJob", "name": "x", "uid": "1", "controller": True, "apiVersion": "trainer.kubeflow.org/v1"}]
    made = {"metadata": {"ownerReferences": owner}, "spec": spec}
    assert wall.said("jobsets", made, TRAINER) == []
    child = {"metadata": {"ownerReferences": owner}, "spec": spec["replicatedJobs"][0]["template"]["spec"]}
    assert wall.said("jobs", child, JOB_SETS) == []
    labels = {"kueue.x-k8s.io/podset": "node"}
    last = {"metadata": {"labels": labels, "ownerReferences": [OWNER]}, "spec": child["spec"]["template"]["spec"]}
    assert wall.said("pods", last, JOB_CONTROLLER) == []
