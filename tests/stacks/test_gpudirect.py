"""large-gcp with a pool of A3 Mega (TCPXO) or A3 High (TCPX): networks, agents, daemons, and what holds them."""

from __future__ import annotations

import copy
import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.attacks.test_guard import ADA, OWNER, Wall
from tests.components.k8s.admission import JOB_CONTROLLER
from tests.rehearsal.works.mistakes import Change, both, drop, edit, put, told
from tests.shared import ROOT
from tests.stacks.test_fabric_networks import inputs
from trainyard.conventions.gpudirect import TRANSPORTS, Transport
from trainyard.policies.pack import POLICIES
from trainyard.recorded.node_groups import gpu_node_groups
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_NETWORK, JOB
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.policy_check.check import check_policies

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
NAMESPACE = "kubernetes:core/v1:Namespace"
POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
PARAMETERS = "kubernetes:networking.gke.io/v1:GKENetworkParamSet"
MEGA = TRANSPORTS["tcpxo"]


def with_pool(transport: Transport) -> Rehearsal:
    given = yaml.safe_load((ROOT / "stacks" / "Pulumi.large-gcp.yaml").read_text())["config"]
    pools = {**given["trainyard:gpuPools"], "fast": {
        "instanceType": transport.machine, "zone": "us-east4-b", "spot": {"maxNodes": 2}, "onDemand": {"maxNodes": 2},
        "gangNodes": 2,
    }}  # fmt: skip
    pools["train"]["fabric"] = False
    changed = {"trainyard:gcp": {**given["trainyard:gcp"], "fastNetwork": transport.name}, "trainyard:gpuPools": pools}
    return rehearse(ROOT, "large-gcp", config_overrides=changed)


@pytest.fixture(scope="module")
def run() -> Rehearsal:
    return with_pool(MEGA)


@pytest.fixture(scope="module")
def high() -> Rehearsal:
    return with_pool(TRANSPORTS["tcpx"])


def judged(run: Rehearsal, resources: Any = None) -> list[str]:
    known = run.known.resources if resources is None else resources
    found = check_policies("large-gcp", [], known, {"environment": "production"})
    return [str(each) for each in found.violations]


@pytest.mark.parametrize("which", ["run", "high"])
def test_all_of_it_is_taken_works_and_breaks_no_policy(which: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(which)
    assert not [finding for finding in found.findings if finding.rule != "logged"]
    assert judged(found) == []


@pytest.mark.parametrize(("which", "count"), [("run", 8), ("high", 4)])
def test_each_interface_has_a_network_of_its_own(which: str, count: int, request: pytest.FixtureRequest) -> None:
    run = request.getfixturevalue(which)
    groups = [group for group in gpu_node_groups(Resources(run.known.resources)) if group.pool == "fast"]
    assert {group.fabric_interfaces for group in groups} == {count}
    networks = [found for name, found in inputs(run, GCP_NETWORK).items() if name.startswith("fabric-networks-")]
    assert len(networks) == count and {found["mtu"] for found in networks} == {8244}
    assert not any("networkProfile" in found for found in networks)
    assert {found["spec"]["deviceMode"] for found in inputs(run, PARAMETERS).values()} == {"NetDevice"}


@pytest.mark.parametrize("which", ["run", "high"])
def test_runtime_and_smoke_job_have_one_and_the_same_daemon(which: str, request: pytest.FixtureRequest) -> None:
    run = request.getfixturevalue(which)
    transport = MEGA if which == "run" else TRANSPORTS["tcpx"]
    (job,) = inputs(run, RUNTIME)["runtimes-torch-fast"]["spec"]["template"]["spec"]["replicatedJobs"]
    of_runtime = job["template"]["spec"]["template"]
    smoke = next(found for name, found in inputs(run, JOB).items() if name.startswith("smoke-fast-on-demand"))
    of_smoke = smoke["spec"]["template"]
    for template in (of_runtime, of_smoke):
        spec, worker = template["spec"], template["spec"]["containers"][0]
        *_, first, daemon = spec["initContainers"]
        assert first["command"][-2:] == [str(transport.interfaces), "ethernet"]
        assert daemon == transport.container(daemon["image"]) and daemon["restartPolicy"] == "Always"
        assert dict([transport.device_annotation]).items() <= template["metadata"]["annotations"].items()
        asked = json.loads(template["metadata"]["annotations"]["networking.gke.io/interfaces"])
        assert [each["network"] for each in asked] == ["default", *transport.networks]
        variables = {each["name"]: each.get("value") for each in worker["env"]}
        assert transport.environment.items() <= variables.items()
        assert not {mount["name"] for mount in worker["volumeMounts"]} & set(transport.node_folders)
        assert "add" not in worker["securityContext"].get("capabilities", {})
    options = next(
        each["value"] for each in of_smoke["spec"]["containers"][0]["env"] if each["name"] == "SMOKE_OPTIONS"
    )
    assert json.loads(options)["expect_transport"] == "gpudirect"
    assert "expect_adapters" not in json.loads(options), "no RDMA adapter is there to be counted"
    kubernetes_validate.validate({"apiVersion": "batch/v1", "kind": "Job", **smoke}, "1.35", strict=True)


def test_the_agents_stand_on_the_pools_nodes_alone(run: Rehearsal) -> None:
    agents = {name: found for name, found in inputs(run, DAEMON_SET).items() if name.startswith("gpudirect")}
    assert {found["metadata"]["name"] for found in agents.values()} == {"nccl-tcpxo-installer", "device-injector"}
    for found in agents.values():
        affinity = found["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
        (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert term["matchExpressions"] == [{"key": "ml.platform/pool", "operator": "In", "values": ["fast"]}]


def test_libraries_that_running_jobs_have_mapped_are_not_written_over(run: Rehearsal, tmp_path: Path) -> None:
    steps = inputs(run, DAEMON_SET)["gpudirect-installer"]["spec"]["template"]["spec"]["initContainers"]
    script = next(step for step in steps if step["name"] == "install")["command"][-1]
    for path in ("/var/lib", "/usr/local", "/scripts"):
        script = script.replace(path, f"{tmp_path}{path}")
    source, there = tmp_path / "var/lib/tcpxo/lib64", tmp_path / "usr/local/nvidia/lib64"
    for folder in (source / "more", there, tmp_path / "scripts"):
        folder.mkdir(parents=True)
    (tmp_path / "scripts/container_entry.sh").write_text("#!/bin/sh\n")
    for library in ("libnccl-net.so.1", "more/a b.so"):
        (source / library).write_bytes(b"new")
    (source / "libnccl-net.so").symlink_to("libnccl-net.so.1")
    (there / "libnccl-net.so.1").write_bytes(b"old")
    (there / "libcuda.so").write_bytes(b"driver")
    with (there / "libnccl-net.so.1").open("rb") as mapped:
        for _ in range(2):  # a node has it already
            subprocess.run(["sh", "-c", script], check=True, capture_output=True)
        assert mapped.read() == b"old"
    found = {str(path.relative_to(there)): path.read_bytes() for path in there.rglob("*") if path.is_file()}
    libraries = ("libnccl-net.so", "libnccl-net.so.1", "more/a b.so")
    assert found == {**dict.fromkeys(libraries, b"new"), "libcuda.so": b"driver"}
    assert (there / "libnccl-net.so").is_symlink()


# What holds the daemon


@pytest.fixture(scope="module")
def wall(run: Rehearsal) -> Wall:
    return Wall(run.known.resources)


@pytest.fixture(scope="module")
def template(run: Rehearsal) -> dict[str, Any]:
    """The pod template of the smoke job, as its controller makes pods of it."""
    found = next(found for name, found in inputs(run, JOB).items() if name.startswith("smoke-fast-on-demand"))
    made: dict[str, Any] = copy.deepcopy(found["spec"]["template"])
    for container in made["spec"]["initContainers"] + made["spec"]["containers"]:
        index = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['x']"}}}
        container["env"] = [*container.get("env", []), index]
        container["terminationMessagePath"] = "/dev/termination-log"
    return made


def pod(template: dict[str, Any]) -> dict[str, Any]:
    metadata = {**template["metadata"], "ownerReferences": [OWNER]}
    return {"metadata": {**metadata, "labels": {"kueue.x-k8s.io/podset": "main"}}, "spec": template["spec"]}


def job(template: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {}, "spec": {"template": template}}


def job_set(template: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {}, "spec": {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": template}}}]}}


def test_a_job_as_the_platform_renders_it_passes(wall: Wall, template: dict[str, Any]) -> None:
    assert wall.said("pods", pod(template), JOB_CONTROLLER) == []
    assert wall.said("jobs", job(template)) == []
    assert wall.said("jobsets", job_set(template)) == []
    path = "/var/run/secrets/kubernetes.io/serviceaccount"
    token = {"name": "kube-api-access-x", "mountPath": path, "readOnly": True}
    with_token = copy.deepcopy(template)
    with_token["spec"]["initContainers"][-1]["volumeMounts"].append(token)
    with_token["spec"]["volumes"].append({"name": "kube-api-access-x", "projected": {}})
    assert wall.said("pods", pod(with_token), JOB_CONTROLLER) == []


def daemon(**more: Any) -> Callable[[dict[str, Any]], None]:
    return lambda spec: spec["initContainers"][-1].update(more)


def worker(**more: Any) -> Callable[[dict[str, Any]], None]:
    return lambda spec: spec["containers"][0].update(more)


def mounted(container: int, kind: str = "containers", **mount: Any) -> Callable[[dict[str, Any]], None]:
    return lambda spec: spec[kind][container]["volumeMounts"].append(mount)


def volume(name: str, **source: Any) -> Callable[[dict[str, Any]], None]:
    def change(spec: dict[str, Any]) -> None:
        spec["volumes"] = [each for each in spec["volumes"] if each["name"] != name] + [{"name": name, **source}]

    return change


def as_worker(spec: dict[str, Any]) -> None:
    spec["containers"].append({**spec["initContainers"].pop(-1), "restartPolicy": None})


def renamed(spec: dict[str, Any]) -> None:
    spec["initContainers"][-1]["name"] = "tcpx0-daemon"


def no_longer_there(spec: dict[str, Any]) -> None:
    del spec["initContainers"][-1]


def preload(spec: dict[str, Any]) -> None:
    spec["initContainers"][-1]["env"].append({"name": "LD_PRELOAD", "value": "/tmp/mine.so"})


def libraries_elsewhere(spec: dict[str, Any]) -> None:
    spec["initContainers"][-1]["env"][0]["value"] = "/mine"


def libraries_by_config(spec: dict[str, Any]) -> None:
    spec["initContainers"][-1]["env"][0] = {
        "name": "LD_LIBRARY_PATH", "valueFrom": {"configMapKeyRef": {"name": "mine", "key": "a"}},
    }  # fmt: skip


def writable_libraries(spec: dict[str, Any]) -> None:
    del spec["initContainers"][-1]["volumeMounts"][0]["readOnly"]


def added(*capabilities: str) -> dict[str, Any]:
    return {"runAsUser": 0, "capabilities": {"add": list(capabilities)}}


def asks_for(gpus: int | None) -> Callable[[dict[str, Any]], None]:
    def change(spec: dict[str, Any]) -> None:
        for kind in ("limits", "requests"):
            asked = {"nvidia.com/gpu": str(gpus)} if gpus is not None else {}
            given = spec["containers"][0]["resources"].get(kind, {})
            spec["containers"][0]["resources"][kind] = {
                **{key: value for key, value in given.items() if key != "nvidia.com/gpu"}, **asked,
            }  # fmt: skip

    return change


ATTACKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "another image": daemon(image="registry.example.com/mine:1"),
    "another tag": daemon(image="us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:latest"),
    "another command": daemon(command=["sleep"]),
    "other arguments": daemon(args=["sleep 1d"]),
    "no command": daemon(command=None, args=None),
    "a folder to work in": daemon(workingDir="/tmp/mine"),
    "a library before all others": preload,
    "libraries elsewhere": libraries_elsewhere,
    "libraries as a ConfigMap says": libraries_by_config,
    "variables of a ConfigMap": daemon(envFrom=[{"configMapRef": {"name": "mine"}}]),
    "a probe that is a command": daemon(livenessProbe={"exec": {"command": ["sh"]}}),
    "another probe of its start": daemon(startupProbe={"exec": {"command": ["sh", "-c", "mine"]}}),
    "a probe of its start by address": daemon(startupProbe={"httpGet": {"host": "10.0.0.1", "port": 80}}),
    "a hook": daemon(lifecycle={"postStart": {"exec": {"command": ["sh"]}}}),
    "a terminal": daemon(stdin=True, tty=True),
    "its end told into a file": daemon(terminationMessagePath="/fts/entrypoint_rxdm_container.sh"),
    "privileged": daemon(securityContext={"privileged": True}),
    "a capability more": daemon(securityContext=added("NET_ADMIN", "SYS_ADMIN")),
    "all capabilities": daemon(securityContext=added("ALL")),
    "a capability less": daemon(securityContext=added("NET_ADMIN")),
    "no capability": daemon(securityContext=added()),
    "a capability that is taken away": daemon(
        securityContext={"runAsUser": 0, "capabilities": {"add": [*MEGA.capabilities], "drop": ["KILL"]}}
    ),
    "another user": daemon(securityContext={**added(*MEGA.capabilities), "runAsUser": 1000}),
    "the user of its image": daemon(securityContext={"capabilities": {"add": [*MEGA.capabilities]}}),
    "nothing of its rights said": daemon(securityContext=None),
    "/proc unmasked": daemon(securityContext={**added(*MEGA.capabilities), "procMount": "Unmasked"}),
    "a port of the host": daemon(ports=[{"containerPort": 1, "hostPort": 1}]),
    "a mount more": mounted(-1, "initContainers", name="smoke-tmp", mountPath="/fts"),
    "its program from a volume": mounted(
        -1, "initContainers", name="smoke-tmp", mountPath="/fts/entrypoint_rxdm_container.sh"
    ),
    "a part of a mount": mounted(-1, "initContainers", name="sys", mountPath="/hostsysfs", subPath="kernel"),
    "libraries that it may write": writable_libraries,
    "not beside the training": daemon(restartPolicy=None),
    "among the containers": as_worker,
    "by another name": renamed,
    "its folders without it": no_longer_there,
    "the training in its folders": mounted(0, name="proc-sys", mountPath="/node"),
    "its first container in its folders": lambda spec: spec["initContainers"][0].update(
        volumeMounts=[{"name": "sys", "mountPath": "/node"}]
    ),
    "the training's libraries to write": mounted(0, name="nvidia-libraries", mountPath="/usr/local/nvidia/lib64"),
    "registers at another place": mounted(0, name="aperture-devices", mountPath="/etc"),
    "a part of the registers": mounted(0, name="aperture-devices", mountPath="/dev/aperture_devices", subPath="../.."),
    "registers handed on": mounted(
        0, name="aperture-devices", mountPath="/dev/aperture_devices", mountPropagation="Bidirectional"
    ),
    "another folder of the node": volume("mine", hostPath={"path": "/"}),
    "another folder by its name": volume("sys", hostPath={"path": "/"}),
    "the folder above": volume("nvidia-libraries", hostPath={"path": "/home/kubernetes/bin"}),
    "a folder that is made": volume("sys", hostPath={"path": "/sys", "type": "DirectoryOrCreate"}),
    "anybody's libraries": volume("nvidia-libraries", emptyDir={}),
    "anybody's libraries of a claim": volume("nvidia-libraries", persistentVolumeClaim={"claimName": "scratch"}),
    "on a node with others": asks_for(4),
    "on a node without GPUs": asks_for(None),
    "on a node of more GPUs": asks_for(16),
    "in another pool": lambda spec: (
        spec.pop("affinity"), spec.update(nodeSelector={"ml.platform/pool": "train"})
    ),
    "in any pool": lambda spec: spec.pop("affinity"),
    "all processes together": lambda spec: spec.update(shareProcessNamespace=True),
    "the host's network": lambda spec: spec.update(hostNetwork=True),
    "the host's processes": lambda spec: spec.update(hostPID=True),
    "the host's memory": lambda spec: spec.update(hostIPC=True),
    "an unsafe sysctl": lambda spec: spec["securityContext"].update(sysctls=[{"name": "kernel.msgmax"}]),
    "the training privileged": worker(securityContext={"privileged": True}),
    "the training with its capability": worker(securityContext=added("NET_ADMIN")),
    "a first container with its capability": lambda spec: spec["initContainers"][0].update(
        securityContext=added("NET_ADMIN")
    ),
    "no profile": worker(securityContext={"seccompProfile": {"type": "Unconfined"}}),
}  # fmt: skip


def attacked(template: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    made = copy.deepcopy(template)
    change(made["spec"])
    for container in [*made["spec"]["initContainers"], *made["spec"]["containers"]]:
        for key in [key for key, value in container.items() if value is None]:
            del container[key]
    return made


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_else_is_made_of_the_opening(wall: Wall, template: dict[str, Any], attack: str) -> None:
    made = attacked(template, ATTACKS[attack])
    assert wall.said("pods", pod(made), JOB_CONTROLLER), "a pod"
    assert wall.said("pods", {"metadata": made["metadata"], "spec": made["spec"]}, ADA)
    assert wall.said("jobs", job(made)), "a job whose pods would be refused one by one"
    assert wall.said("jobsets", job_set(made))


DISK = '[{"path":"/dev/nvme0n1"}]'


@pytest.mark.parametrize(
    "annotations",
    [
        {"devices.gke.io/container.smoke": DISK},
        {"devices.gke.io/container.tcpxo-daemon": DISK},
        {"devices.gke.io/container.smoke": MEGA.device_annotation[1]},
    ],
)
def test_no_container_gets_devices_of_the_node_by_annotation(
    wall: Wall, template: dict[str, Any], annotations: dict[str, str]
) -> None:
    made = copy.deepcopy(template)
    made["metadata"]["annotations"] |= annotations
    for kind, item, who in (
        ("pods", pod(made), JOB_CONTROLLER),
        ("jobs", job(made), ADA),
        ("jobsets", job_set(made), ADA),
    ):
        assert any("Devices of the node" in message for message in wall.said(kind, item, who)), kind
    plain = {"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "a"}]}}
    old = {"metadata": {}, "spec": plain["spec"]}
    assert any("Devices" in said for said in wall.said("pods", plain, operation="UPDATE", old=old)), "added later"


def test_a_pod_with_an_earlier_daemon_ends_as_others_do(wall: Wall, template: dict[str, Any]) -> None:
    """The controller of its job takes the finalizer off it: a pod whose change is refused stays for good."""
    before = attacked(template, daemon(image="us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v0"))
    assert wall.said("pods", pod(before), JOB_CONTROLLER), "a new one has today's"
    held, free = pod(before), pod(before)
    held["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    assert wall.said("pods", free, JOB_CONTROLLER, operation="UPDATE", old=held) == []
    more = attacked(before, lambda spec: spec.update(activeDeadlineSeconds=60))
    assert wall.said("pods", pod(more), ADA, operation="UPDATE", old=held), "what is changed is judged"


def test_a_patch_of_the_runtime_leaves_the_daemon_alone(wall: Wall) -> None:
    def patched(runtime: str = "torch-distributed-fast", **spec: Any) -> dict[str, Any]:
        jobs = [{"name": "node", "template": {"spec": {"template": {"metadata": {}, "spec": spec}}}}]
        patch = {"manager": "me", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}
        own = {"runtimeRef": {"name": runtime}, "trainer": {"numNodes": 2}, "runtimePatches": [patch]}
        return {"metadata": {}, "spec": own}

    usual = {"containers": [{"name": "node", "volumeMounts": [{"name": "more", "mountPath": "/more"}]}],
             "volumes": [{"name": "more", "emptyDir": {}}]}  # fmt: skip
    assert wall.said("trainjobs", patched(**usual)) == []
    for attack in (
        {"initContainers": [{"name": "tcpxo-daemon", "env": [{"name": "LD_PRELOAD", "value": "/mine.so"}]}]},
        {"containers": [{"name": "node", "volumeMounts": [{"name": "proc-sys", "mountPath": "/node"}]}]},
        {"volumes": [{"name": "nvidia-libraries", "emptyDir": {}}]},
        {"shareProcessNamespace": True},
    ):
        assert any("pod security level" in message for message in wall.said("trainjobs", patched(**attack))), attack
        elsewhere = wall.said("trainjobs", patched("torch-distributed-cpu", **attack))
        assert bool(elsewhere) is ("initContainers" in attack), "its name is taken everywhere, and nothing else is"


@pytest.mark.parametrize("how", ["pods/exec", "pods/attach"])
def test_nobody_enters_the_daemon(wall: Wall, how: str) -> None:
    for who in (ADA, "system:serviceaccount:team-vision:trainer"):
        assert any(
            "Nobody enters" in each for each in wall.said(how, {"container": MEGA.daemon}, who, operation="CONNECT")
        )
    for fair in ({"container": "smoke", "command": ["sh"]}, {"command": ["sh"]}):
        assert wall.said(how, fair, operation="CONNECT") == []


def test_containers_for_debugging_keep_to_the_level_too(wall: Wall, template: dict[str, Any]) -> None:
    for more, refused in (
        ({"securityContext": {"privileged": True}}, True),
        ({"volumeMounts": [{"name": "proc-sys", "mountPath": "/node"}]}, True),
        ({"targetContainerName": MEGA.daemon}, True),
        ({"targetContainerName": "smoke"}, False),
        ({}, False),
    ):
        made = pod(template)
        made["spec"] = {**made["spec"], "ephemeralContainers": [{"name": "d", "image": "a", **more}]}
        found = wall.said("pods/ephemeralcontainers", made, operation="UPDATE", old=pod(template))
        assert any("level" in message for message in found) is refused


def test_a_pod_without_the_daemon_keeps_to_the_level(wall: Wall) -> None:
    counted = {"metadata": {}, "spec": {"containers": [{"name": "a"}], "priorityClassName": "cpu-only"}}
    assert wall.said("pods", counted) == []
    own = {"name": "a", "volumeMounts": [{"name": "sys", "mountPath": "/sys-of-mine"}]}
    fair = {"shareProcessNamespace": True, "volumes": [{"name": "sys", "emptyDir": {}}], "containers": [own]}
    assert wall.said("pods", {**counted, "spec": {**counted["spec"], **fair}}) == [], "what baseline allows"
    assert wall.said("jobs", job({"spec": {**counted["spec"], **fair}})) == []
    capable = {"name": "a", "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}
    folder = {"name": "v", "hostPath": {"path": "/"}}
    for spec in ({"hostNetwork": True}, {"volumes": [folder]}, {"containers": [capable]}):
        assert wall.said("pods", {**counted, "spec": {**counted["spec"], **spec}}), spec


def without(run: Rehearsal, name: str) -> list[str]:
    return judged(run, [each for each in run.known.resources if each.name != name])


@pytest.mark.parametrize("guard", ["teams-baseline-guard", "teams-enter-guard"])
def test_a_namespace_without_what_holds_its_level_breaks_a_policy(run: Rehearsal, guard: str) -> None:
    assert any("namespace-without-pod-security" in each for each in without(run, guard))
    assert any("namespace-without-pod-security" in each for each in without(run, f"{guard}-binding"))


LET_BY = {
    "procMount": ("procMount == 'Default'", "procMount != ''", "unmasked /proc"),
    "AppArmor": ("appArmorProfile.type in [", "appArmorProfile.type in ['Unconfined', ", "profile of AppArmor"),
    "AppArmor by annotation": ("!k.startsWith('container.apparmor", "true || !k.startsWith('container.apparmor",
                               "AppArmor by annotation"),
    "SELinux": ("seLinuxOptions.type in [", "seLinuxOptions.type in ['spc_t', ", "label of SELinux"),
    "sysctls": ("y.name in [", "y.name in ['kernel.msgmax', ", "unsafe sysctls"),
    "shared processes": ("&& object.spec.shareProcessNamespace)", "&& false)", "see the processes of"),
    "a plain container": (".all(c, c.name != 'tcpxo-daemon') &&", ".all(c, true) &&", "as a container like others"),
    "subPath": ("m.subPath == ''", "true", "parts of folders"),
    "aimed": ("c.targetContainerName != 'tcpxo-daemon'", "true", "aimed at"),
    "its second folder": ("!(m.name in ['nvidia-libraries', 'sys', 'proc-sys'])", "m.name != 'nvidia-libraries'",
                          "look into the folders"),
    "another's node": ("== 8.0", ">= 0.0", "on nodes of other pods"),
}  # fmt: skip
"""What of the policy is taken back, by what; and what is then not kept out."""


@pytest.mark.parametrize("what", LET_BY)
def test_a_policy_that_lets_by_what_the_level_refuses_breaks_a_policy(run: Rehearsal, what: str) -> None:
    old, new, told = LET_BY[what]

    def weaken(item: Any) -> Any:
        rules = [{**rule, "expression": rule["expression"].replace(old, new)} for rule in item["spec"]["validations"]]
        assert rules != item["spec"]["validations"]
        return {**item, "spec": {**item["spec"], "validations": rules}}

    changed = [
        dataclasses.replace(each, inputs=weaken(each.inputs)) if each.name == "teams-baseline-guard" else each
        for each in run.known.resources
    ]
    name = "namespace-without-pod-security"
    rules = [policy for policy in POLICIES if policy.name == name]
    found = check_policies("large-gcp", [], changed, {"environment": "production"}, policies=rules).violations
    assert any(name in str(each) and told in str(each) for each in found)


def test_the_namespaces_wait_for_what_holds_their_level(run: Rehearsal) -> None:
    made = next(each for each in run.known.resources if each.name == "teams-foundation-namespace")
    assert any(urn.endswith("teams-baseline-guard-binding") for urn in made.dependencies)
    assert (
        inputs(run, NAMESPACE)["mlflow-namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
        == "restricted"
    )


INSTALLER, INJECTOR, ON_DEMAND = "gpudirect-installer", "gpudirect-injector", "smoke-fast-on-demand-job"


def dev(inputs: dict[str, Any]) -> None:
    annotations = inputs["spec"]["template"]["metadata"]["annotations"]
    annotations["devices.gke.io/container.tcpxo-daemon"] = '[{"path":"/dev/nvidia0"}]'


def not_annotated(inputs: dict[str, Any]) -> None:
    del inputs["spec"]["template"]["metadata"]["annotations"]["devices.gke.io/container.tcpxo-daemon"]


def of_the_other(inputs: dict[str, Any]) -> None:
    for container in inputs["spec"]["template"]["spec"]["initContainers"]:
        container["image"] = container["image"].replace("gpudirect-tcpxo", "gpudirect-tcpx")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (drop(PARAMETERS, "pod-networks-vpc8-parameters"), "reference-pod-network"),
        (edit(PARAMETERS, "pod-networks-vpc3-parameters", put("spec.vpcSubnet", "other")), "reference-pod-network"),
        (drop(DAEMON_SET, INSTALLER), "reference-gpudirect"),
        (drop(DAEMON_SET, INJECTOR), "reference-gpudirect"),
        (both(drop(DAEMON_SET, INSTALLER), drop(DAEMON_SET, INJECTOR)), "reference-gpudirect"),
        (edit(DAEMON_SET, INSTALLER, of_the_other), "reference-gpudirect"),
        (edit(JOB, ON_DEMAND, not_annotated), "reference-gpudirect"),
        (edit(JOB, ON_DEMAND, dev), "reference-gpudirect"),
    ],
    ids=["no parameters", "another subnet", "no plug-in", "no injector", "no agents", "the other plug-in",
         "no devices", "one device of eleven"],
)  # fmt: skip
def test_a_break_of_the_way_from_annotation_to_daemon_is_told(run: Rehearsal, change: Change, rule: str) -> None:
    assert rule in {finding.rule for finding in told(run, change)}


def test_agents_by_other_names_and_from_a_mirror_are_as_good(run: Rehearsal) -> None:
    def mirrored(inputs: dict[str, Any]) -> None:
        inputs["metadata"]["name"] = "mine"
        for container in inputs["spec"]["template"]["spec"]["initContainers"]:
            container["image"] = container["image"].replace("us-docker.pkg.dev", "registry.example.com/google")

    found = told(run, edit(DAEMON_SET, INSTALLER, mirrored))
    assert "reference-gpudirect" not in {finding.rule for finding in found}
