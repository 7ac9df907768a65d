"""What a pod security level keeps out of a namespace, asked of the guards where the namespace itself enforces none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from trainyard.conventions import CPU_ONLY_PRIORITY, GPU_RESOURCE
from trainyard.conventions.gpudirect import DEVICES_PREFIX
from trainyard.policies.guard_attacks import FORGED, JOB_CONTROLLER, POD_SET_LABEL, Wall, pods
from trainyard.policies.guard_objects import CPU, Made, asks, container, pod
from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import list_at, value_at
from trainyard.rehearsal.works.rights.kubernetes.admission import Request

_OF_A_JOB: Final = Request(None, JOB_CONTROLLER, ("system:serviceaccounts", "system:authenticated"))
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
"""Prefix of the annotations that asked for a profile before there was a field."""
_HOST_FOLDER: Final = {"name": "v", "hostPath": {"path": "/"}}


def _container(**more: Any) -> Made:
    return {"containers": [container(CPU), {**container(CPU, **more), "name": "b"}]}


def _annotated(what: str, key: str, value: str) -> Wall:
    item = pod(CPU)
    attack = {**item, "metadata": {**item["metadata"], "annotations": {key: value}}}
    return Wall(what, "", "pods", (key.partition("/")[0],), (asks(attack),), asks(item))


def _profiled(*contexts: Made) -> list[Made]:
    """Each of a pod, and of a container."""
    return [made for each in contexts for made in ({"securityContext": each}, _container(securityContext=each))]


def _added(*capabilities: str) -> Made:
    return {"securityContext": {"capabilities": {"add": list(capabilities)}}}


_DEBUG: Final = pod(CPU, ephemeralContainers=[{"name": "d", "securityContext": {"privileged": True}}])

LEVEL_WALLS: Final = (
    pods("privileged pods", ("privileged",), _container(securityContext={"privileged": True})),
    pods("pods in the host's namespaces", ("hostNetwork",),
          *({key: True} for key in ("hostNetwork", "hostPID", "hostIPC"))),
    pods("pods with the host's folders", ("volumes",), {"volumes": [_HOST_FOLDER]}),
    pods("pods with more capabilities", ("capabilities",), _container(**_added("SYS_ADMIN")),
          _container(**_added("NET_ADMIN")), {"initContainers": [{**container(CPU), "name": "i", **_added("BPF")}]}),
    pods("pods without a profile of system calls", ("seccompProfile",),
          *_profiled({"seccompProfile": {"type": "Unconfined"}})),
    pods("pods without a profile of AppArmor", ("appArmorProfile",),
          *_profiled({"appArmorProfile": {"type": "Unconfined"}})),
    _annotated("pods without a profile of AppArmor by annotation", f"{_APP_ARMOR}a", "unconfined"),
    pods("pods under another's label of SELinux", ("seLinuxOptions",),
          *_profiled(*({"seLinuxOptions": {key: "spc_t"}} for key in ("type", "user", "role")))),
    pods("pods with unsafe sysctls", ("sysctls",),
          {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}),
    pods("pods with an unmasked /proc", ("procMount",), _container(securityContext={"procMount": "Unmasked"})),
    pods("pods with ports of the host", ("hostPort",), _container(ports=[{"containerPort": 80, "hostPort": 80}])),
    Wall("privileged containers for debugging", "", "pods/ephemeralcontainers", ("ephemeralContainers",),
         (asks(_DEBUG, operation="UPDATE", old=pod(CPU)),), None, "UPDATE"),
)  # fmt: skip
"""What the level `baseline` keeps out (Kubernetes, "Pod Security Standards")."""


def daemon_walls(daemon: Made, spec: Made) -> tuple[Wall, ...]:
    """What a pod with a daemon that is root of its node could be made to do, by the daemon and what is beside it.

    `spec` is of a pod that has it. The pods are of a job that a queue has admitted, since they have GPUs.
    """
    own = {mount["name"] for mount in daemon["volumeMounts"]}
    volumes = [each for each in list_at(spec, "volumes") if "hostPath" in each or each["name"] in own]
    folders = [each["name"] for each in volumes if "hostPath" in each and each["name"] in own]
    worker = container({**CPU, GPU_RESOURCE: _gpus(spec)})
    where: Made = {key: spec[key] for key in ("nodeSelector", "affinity") if key in spec and not has_unknown(spec[key])}
    usual: Made = {**where, "containers": [worker], "initContainers": [daemon], "volumes": volumes}
    name = str(daemon["name"])
    loader = {"name": "LD_PRELOAD", "value": "/run/mine.so"}
    first, *mounts = daemon["volumeMounts"]

    def other(**more: Any) -> Made:
        return {"initContainers": [{**daemon, **more}]}

    def beside(volume: str) -> Made:
        nosy = {**container(CPU), "name": "b", "volumeMounts": [{"name": volume, "mountPath": "/node"}]}
        return {"containers": [worker, nosy]}

    def wall(what: str, word: str, *changes: Made) -> Wall:
        attacks = tuple(_admitted({**usual, **change}) for change in changes)
        return Wall(what, "", "pods", (name, word), attacks, _admitted(usual))

    # Its folders are refused of a pod without it among the first containers; its capabilities are the rest.
    kept = {key: value for key, value in daemon.items() if key not in ("restartPolicy", "startupProbe")}
    plain = {"initContainers": [], "volumes": [], "containers": [worker, {**kept, "volumeMounts": []}]}
    small = {"containers": [container({**CPU, GPU_RESOURCE: "1"})]}
    without = {"containers": [container(CPU)], "priorityClassName": CPU_ONLY_PRIORITY}
    swapped = [{"name": volume["name"], "emptyDir": {}} for volume in volumes]
    aimed = {"name": "d", "image": "registry.example.com/mine:1"}

    def debugged(target: str) -> Request:
        spec = {**usual, "ephemeralContainers": [{**aimed, "targetContainerName": target}]}
        return replace(_OF_A_JOB, item=_of_a_job(spec), operation="UPDATE", old=_of_a_job(usual))

    entered = {"kind": "PodExecOptions", "metadata": {}, "container": name, "command": ["sh"]}
    return (
        wall(
            f"other programs as {name}", "image",
            other(image="registry.example.com/mine:1"), other(command=["sh", "-c", "sleep 1d"], args=[]),
            other(env=[*daemon.get("env", []), loader]), other(lifecycle={"postStart": {"exec": {"command": ["sh"]}}}),
            other(livenessProbe={"exec": {"command": ["sh"]}}),
        ),
        wall(f"{name} as a container like others", "restartPolicy", plain),
        wall(f"parts of folders in {name}", "subPath", other(volumeMounts=[{**first, "subPath": "mine"}, *mounts])),
        wall(f"containers that look into the folders of {name}", "volumeMounts", *map(beside, folders)),
        wall(f"libraries of anybody's in {name}", "volumes", {"volumes": swapped}),
        wall(f"containers that see the processes of {name}", "shareProcessNamespace", {"shareProcessNamespace": True}),
        wall(f"{name} on nodes of other pods", GPU_RESOURCE, small, without),
        Wall(
            f"containers for debugging that are aimed at {name}", "", "pods/ephemeralcontainers",
            ("targetContainerName",), (debugged(name),), debugged("a"), "UPDATE",
        ),
        *(
            Wall(f"people who enter {name} by {how}", "", f"pods/{how}", (name,), (asks(entered, operation="CONNECT"),),
                 asks({**entered, "container": "node"}, operation="CONNECT"), "CONNECT")
            for how in ("exec", "attach")
        ),
        _annotated("devices of the node by annotation", f"{DEVICES_PREFIX}/container.a", '[{"path":"/dev/nvme0n1"}]'),
    )  # fmt: skip


def _gpus(spec: Made) -> str:
    """The GPUs that a pod asks for."""
    asked = (value_at(each, "resources", "limits", GPU_RESOURCE) for each in list_at(spec, "containers"))
    return str(sum(int(each) for each in map(str, asked) if each.isdigit()))


def _admitted(spec: Made) -> Request:
    return replace(_OF_A_JOB, item=_of_a_job(spec))


def _of_a_job(spec: Made) -> Made:
    """A pod as the controller of an admitted job makes it; with GPUs, unless the spec says otherwise."""
    item = pod({**CPU, GPU_RESOURCE: "1"}, **spec)
    labels = {POD_SET_LABEL: "main"}
    return {**item, "metadata": {**item["metadata"], "labels": labels, "ownerReferences": [FORGED]}}
