"""What a pod security level keeps out of a namespace, asked of the guards where the namespace itself enforces none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from trainyard.conventions.gpudirect import DEVICES_PREFIX
from trainyard.policies.guard_attacks import Wall
from trainyard.policies.guard_objects import CPU, Made, asks, container, pod

_HOST_FOLDER: Final = {"name": "v", "hostPath": {"path": "/"}}


def _container(**more: Any) -> Made:
    return {"containers": [container(CPU), {**container(CPU, **more), "name": "b"}]}


def _pods(what: str, words: tuple[str, ...], *specs: Made, twin: Made | None = None) -> Wall:
    return Wall(
        what, "", "pods", words, tuple(asks(pod(CPU, **spec)) for spec in specs), asks(pod(CPU, **(twin or {})))
    )


def _added(*capabilities: str) -> Made:
    return {"securityContext": {"capabilities": {"add": list(capabilities)}}}


_DEBUG: Final = pod(CPU, ephemeralContainers=[{"name": "d", "securityContext": {"privileged": True}}])

LEVEL_WALLS: Final = (
    _pods("privileged pods", ("privileged",), _container(securityContext={"privileged": True})),
    _pods("pods in the host's namespaces", ("hostNetwork",),
          *({key: True} for key in ("hostNetwork", "hostPID", "hostIPC"))),
    _pods("pods with the host's folders", ("volumes",), {"volumes": [_HOST_FOLDER]}),
    _pods("pods with more capabilities", ("capabilities",), _container(**_added("SYS_ADMIN")),
          _container(**_added("NET_ADMIN")), {"initContainers": [{**container(CPU), "name": "i", **_added("BPF")}]}),
    _pods("pods without a profile of system calls", ("seccompProfile",),
          {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}),
    _pods("pods with ports of the host", ("hostPort",), _container(ports=[{"containerPort": 80, "hostPort": 80}])),
    Wall("privileged containers for debugging", "", "pods/ephemeralcontainers", ("ephemeralContainers",),
         (asks(_DEBUG, operation="UPDATE", old=pod(CPU)),), None, "UPDATE"),
)  # fmt: skip
"""What the level `baseline` keeps out (Kubernetes, "Pod Security Standards")."""


def daemon_walls(daemon: Made, volumes: Sequence[Made]) -> tuple[Wall, ...]:
    """What a pod with a daemon that is root of its node could be made to do, by the daemon and its pod's volumes."""
    own = {mount["name"] for mount in daemon["volumeMounts"]}
    volumes = [volume for volume in volumes if "hostPath" in volume or volume["name"] in own]
    name, twin = str(daemon["name"]), {"initContainers": [daemon], "volumes": volumes}
    loader = {"name": "LD_PRELOAD", "value": "/run/mine.so"}

    def other(**more: Any) -> Made:
        return {**twin, "initContainers": [{**daemon, **more}]}

    nosy = {**container(CPU), "name": "b", "volumeMounts": [{"name": volumes[0]["name"], "mountPath": "/node"}]}
    swapped = [{"name": volume["name"], "emptyDir": {}} for volume in volumes]
    words = (name,)
    entered = {"kind": "PodExecOptions", "metadata": {}, "container": name, "command": ["sh"]}
    return (
        _pods(
            f"other programs as {name}", words,
            other(image="registry.example.com/mine:1"), other(command=["sh", "-c", "sleep 1d"], args=[]),
            other(env=[*daemon.get("env", []), loader]), other(lifecycle={"postStart": {"exec": {"command": ["sh"]}}}),
            other(livenessProbe={"exec": {"command": ["sh"]}}), twin=twin,
        ),
        _pods(f"containers that look into the folders of {name}", words,
              {**twin, "containers": [container(CPU), nosy]}, twin=twin),
        _pods(f"libraries of anybody's in {name}", words, {**twin, "volumes": swapped}, twin=twin),
        *(
            Wall(f"people who enter {name} by {how}", "", f"pods/{how}", words, (asks(entered, operation="CONNECT"),),
                 asks({**entered, "container": "node"}, operation="CONNECT"), "CONNECT")
            for how in ("exec", "attach")
        ),
        Wall(
            "devices of the node by annotation", "", "pods", (DEVICES_PREFIX,),
            (asks(_annotated(pod(CPU))),), asks(pod(CPU)),
        ),
    )  # fmt: skip


def _annotated(item: Made) -> Made:
    asked = {f"{DEVICES_PREFIX}/container.a": '[{"path":"/dev/nvme0n1"}]'}
    return {**item, "metadata": {**item["metadata"], "annotations": asked}}
