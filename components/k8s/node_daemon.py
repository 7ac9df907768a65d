"""A daemon of a node's network beside the training, which needs what no other container of a team's may have.

It stands in a pod's own network, so it is a container of the pod; it is root with capabilities and folders of the
node, so whoever ran another program in it, or could enter it, would be root of the node. The level of the namespace
knows no exception for one container. The namespace therefore enforces none, and these policies hold the level: for all
containers but this one, which has to be the one that the platform pinned, field by field.

- Image, command, arguments, variables, user, capabilities and mounts are fixed; nothing else is said of it: no other
  probe and no hook, which are commands too, no source of variables, no folder to work in, no terminal.
- It is a sidecar among the init containers. No other container has its name, by which the injector gives devices.
- Its folders of the node are the named ones, and no other container mounts them. A volume of one of their names is
  nothing else in its pod, so that nobody's library is loaded in it.
- Its pod has the node to itself: it asks for all GPUs of a node of the daemon's pools, and stands in no other pool.
- No process of the pod sees its processes, and nobody enters it (`pods/exec`, `pods/attach`,
  a container for debugging that is aimed at it).
- The annotation that has devices of the node given to a container is the daemon's, word by word: the injector gives any
  device to any container, a disk too.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s.admission import ANNOTATIONS_CHANGED, SPEC_CHANGED, in_team_namespaces, rule
from trainyard.components.k8s.pod_expressions import accepts_pool, every_container, listed, needs, present, text
from trainyard.conventions import GPU_RESOURCE

PODS_POLICY = "pods-keep-to-baseline"
ENTER_POLICY = "node-daemons-are-not-entered"

OF_JOBS = "JOB"
"""How variables begin that the controllers of jobs write into every container of a pod (`JOB_COMPLETION_INDEX`)."""

_TOKENS = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where the API server mounts a pod's token, into every container."""


class NodeDaemonArgs(TypedDict):
    """The daemon, and what of the node it may have."""

    container: Mapping[str, Any]
    """The sidecar as pods have it, in the spelling of Kubernetes: name, image, command, args, env, startupProbe, its
    user, added capabilities and volumeMounts are what is held."""
    node_folders: Mapping[str, str]
    """Folders of the node that it alone mounts, by the name of the volume: {"sys": "/sys"}."""
    worker_folders: NotRequired[Mapping[str, str]]
    """Folders of the node that other containers mount, at the same path, by the name of the volume. Default: none."""
    socket_volume: NotRequired[str]
    """Name of the `emptyDir` in which others meet it. Default: there is none."""
    annotations: Mapping[str, str]
    """Annotations of a pod by which it gets devices of the node."""
    gpus: int
    """GPUs of a node: a pod with the daemon asks for them all, so that nobody else's pods are there."""
    other_pools: Sequence[str]
    """Pools without it, which may have more GPUs a node, or slices by the same name."""
    runtimes: Sequence[str]
    """Runtimes of TrainJobs whose pods have it."""
    annotation_prefix: str
    """How the keys of such annotations begin, whose ever they are."""


def stands_alone(pod: str, daemon: NodeDaemonArgs) -> str:
    """Whether a pod's containers are not the daemon, or, in its one place, exactly it, and leave it alone."""
    name = text(daemon["container"]["name"])
    entering = listed(pod, "ephemeralContainers")
    elsewhere = (
        f"({listed(pod, 'containers')} + {entering}).all(c, c.name != {name}) && "
        f"{entering}.all(c, !has(c.targetContainerName) || c.targetContainerName != {name})"
    )
    exact = f"{listed(pod, 'initContainers')}.all(c, c.name != {name} || ({_is(daemon)}))"
    others = f"{every_container(pod)}.all(c, c.name == {name} || {_leaves_alone(daemon)})"
    beside = f"{others} && {_shares_no_processes(pod)} && {_has_a_node_to_itself(pod, daemon)}"
    return f"({elsewhere} && {exact} && (!{_is_there(pod, daemon)} || ({beside})))"


def has_its_volumes(pod: str, daemon: NodeDaemonArgs, plain: str) -> str:
    """Whether a pod's volumes are plain, which `plain` says of `v`, or the daemon's, where the pod has it. Elsewhere
    their names are anybody's."""
    meant = plain
    if "socket_volume" in daemon:
        meant = f"(v.name == {text(daemon['socket_volume'])} ? has(v.emptyDir) : {meant})"
    for name, path in _folders(daemon).items():
        kind = "(!has(v.hostPath.type) || v.hostPath.type == '')"
        folder = f"has(v.hostPath) && v.hostPath.path == {text(path)} && {kind}"
        meant = f"(v.name == {text(name)} ? ({folder}) : {meant})"
    volumes = listed(pod, "volumes")
    return f"({_is_there(pod, daemon)} ? {volumes}.all(v, {meant}) : {volumes}.all(v, {plain}))"


def patches_nothing_of_it(pod: str, daemon: NodeDaemonArgs, runtime: str) -> str:
    """Whether a patch of a pod touches neither the daemon nor, where the runtime has it, its volumes; `runtime` is the
    name of the runtime in CEL."""
    reserved = [*_folders(daemon), *([daemon["socket_volume"]] if "socket_volume" in daemon else [])]
    names = f"{every_container(pod)}.all(c, c.name != {text(daemon['container']['name'])})"
    volumes = f"{listed(pod, 'volumes')}.all(v, !(v.name in {_texts(reserved)}))"
    mounts = f"{every_container(pod)}.all(c, {listed('c', 'volumeMounts')}.all(m, !(m.name in {_texts(reserved)})))"
    beside = f"{volumes} && {mounts} && {_shares_no_processes(pod)}"
    return f"({names} && (!({runtime} in {_texts(daemon['runtimes'])}) || ({beside})))"


def asks_for_no_other_device(metadata: str, daemon: NodeDaemonArgs) -> str:
    """Whether the annotations of a pod have no devices of the node given to anybody but the daemon."""
    meant = " || ".join(
        f"(k == {text(key)} && {metadata}.annotations[k] == {text(value)})"
        for key, value in daemon["annotations"].items()
    )
    keys = f"{metadata}.annotations.all(k, !k.startsWith({text(daemon['annotation_prefix'])}) || {meant})"
    return f"(!({present(metadata, 'annotations')}) || {keys})"


def node_daemon_guard(
    name: str, daemon: NodeDaemonArgs, keeps_to: Sequence[admission.ValidationArgsDict], parent: pulumi.Resource
) -> list[pulumi.Resource]:
    """Makes the policies and binds them to the namespaces of teams; `keeps_to` is what is asked of every pod."""
    pods: admission.ValidatingAdmissionPolicySpecArgsDict = {
        "failure_policy": "Fail",
        # Whatever is changed of a pod, its annotations too: a pod that is made anew on its node has what they say then.
        "match_constraints": {"resource_rules": [rule("", "pods", "pods/ephemeralcontainers")]},
        # Not what leaves both as they are: a pod with the daemon of an earlier release has to end as others do.
        "match_conditions": [{"name": "asks-for-more", "expression": f"{SPEC_CHANGED} || {ANNOTATIONS_CHANGED}"}],
        "validations": list(keeps_to),
    }
    entered = f"!has(object.container) || object.container != {text(daemon['container']['name'])}"
    enter: admission.ValidatingAdmissionPolicySpecArgsDict = {
        "failure_policy": "Fail",
        "match_constraints": {"resource_rules": [rule("", "pods/exec", "pods/attach", operations=["CONNECT"])]},
        "validations": [{"expression": entered, "message": ENTER_MESSAGE, "reason": "Forbidden"}],
    }
    return [
        in_team_namespaces(f"{name}-baseline-guard", PODS_POLICY, pods, parent),
        in_team_namespaces(f"{name}-enter-guard", ENTER_POLICY, enter, parent),
    ]


DEVICES_MESSAGE = (
    "Devices of the node are given to the daemon of the fast network alone, as the pool's runtime has it: take other "
    "annotations of {} away."
)
ENTER_MESSAGE = "Nobody enters the daemon of the fast network, which is root of the node: name another container."


def _folders(daemon: NodeDaemonArgs) -> dict[str, str]:
    return {**daemon["node_folders"], **daemon.get("worker_folders", {})}


def _is_there(pod: str, daemon: NodeDaemonArgs) -> str:
    return f"{listed(pod, 'initContainers')}.exists(c, c.name == {text(daemon['container']['name'])})"


def _shares_no_processes(pod: str) -> str:
    return f"!(has({pod}.shareProcessNamespace) && {pod}.shareProcessNamespace)"


def _has_a_node_to_itself(pod: str, daemon: NodeDaemonArgs) -> str:
    whole = f"{needs(pod, GPU_RESOURCE)} == {float(daemon['gpus'])}"
    return " && ".join([whole, *(f"!{accepts_pool(pod, other)}" for other in daemon["other_pools"])])


def _is(daemon: NodeDaemonArgs) -> str:
    """Whether `c` is the daemon in all that it says, but for the rules of the level."""
    own = daemon["container"]
    variables = " || ".join(
        f"(e.name == {text(one['name'])} && has(e.value) && e.value == {text(one['value'])})" for one in own["env"]
    )
    mounts = " || ".join(map(_mount, [*own["volumeMounts"], {"mountPath": _TOKENS, "readOnly": True}]))
    log, given = "/dev/termination-log", own["securityContext"]
    rules = [
        f"c.image == {text(own['image'])}",
        f"has(c.restartPolicy) && c.restartPolicy == {text(own['restartPolicy'])}",
        f"{listed('c', 'command')} == {_texts(own['command'])}",
        f"{listed('c', 'args')} == {_texts(own.get('args', ()))}",
        f"{listed('c', 'env')}.all(e, e.name.startsWith({text(OF_JOBS)}) || {variables})",
        f"{listed('c', 'volumeMounts')}.all(m, {mounts})",
        *(f"{listed('c', field)}.size() == 0" for field in ("envFrom", "ports", "volumeDevices")),
        *(f"!has(c.{field})" for field in ("livenessProbe", "readinessProbe", "lifecycle")),
        f"{listed('c', 'securityContext.capabilities.add')} == {_texts(given['capabilities']['add'])}",
        f"{listed('c', 'securityContext.capabilities.drop')}.size() == 0",
        f"{present('c', 'securityContext.runAsUser')} && c.securityContext.runAsUser == {given['runAsUser']}",
        _probe(own),
        *(f"!(has(c.{field}) && c.{field})" for field in ("stdin", "stdinOnce", "tty")),
        "(!has(c.workingDir) || c.workingDir == '')",
        f"(!has(c.terminationMessagePath) || c.terminationMessagePath == {text(log)})",
    ]
    return " && ".join(rules)


def _probe(own: Mapping[str, Any]) -> str:
    """Whether `c` is asked whether it has started by the one command, or not at all."""
    if "startupProbe" not in own:
        return "!has(c.startupProbe)"
    asked, path = _texts(own["startupProbe"]["exec"]["command"]), "startupProbe.exec.command"
    return f"(!has(c.startupProbe) || ({present('c', path)} && c.{path} == {asked}))"


def _mount(mount: Mapping[str, Any]) -> str:
    named = [f"m.name == {text(mount['name'])}"] if "name" in mount else []
    read_only = ["has(m.readOnly) && m.readOnly"] if mount.get("readOnly") else []
    rules = [*named, f"m.mountPath == {text(mount['mountPath'])}", *read_only, _WHOLE]
    return f"({' && '.join(rules)})"


_WHOLE = (
    "(!has(m.subPath) || m.subPath == '') && (!has(m.subPathExpr) || m.subPathExpr == '') && "
    "(!has(m.mountPropagation) || m.mountPropagation == 'None')"
)


def _leaves_alone(daemon: NodeDaemonArgs) -> str:
    """Whether what `c` mounts is nothing that the daemon alone has of the node."""
    meant = f"!(m.name in {_texts(daemon['node_folders'])})"
    for name, path in daemon.get("worker_folders", {}).items():
        meant = f"(m.name == {text(name)} ? (m.mountPath == {text(path)} && {_WHOLE}) : {meant})"
    return f"{listed('c', 'volumeMounts')}.all(m, {meant})"


def _texts(values: Any) -> str:
    return f"[{', '.join(map(text, values))}]"
