"""Parts of pods whose containers are restricted: not root, nothing writable but what is mounted."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes.core.v1 as core

from trainyard.conventions import SYSTEM_TOLERATION


def restricted_container(
    name: str, image: pulumi.Input[str], resources: core.ResourceRequirementsArgsDict
) -> core.ContainerArgsDict:
    """A container as the pod security level `restricted` wants it, without its command."""
    return {
        "name": name,
        "image": image,
        "image_pull_policy": "IfNotPresent",
        "working_dir": "/tmp",  # noqa: S108 — the image's own belongs to its user
        "resources": resources,
        "security_context": {
            "allow_privilege_escalation": False,
            "read_only_root_filesystem": True,
            "run_as_non_root": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def system_toleration() -> core.TolerationArgsDict:
    """Lets a pod of the platform's onto its nodes."""
    return {
        "key": SYSTEM_TOLERATION["key"],
        "operator": SYSTEM_TOLERATION["operator"],
        "value": SYSTEM_TOLERATION["value"],
        "effect": SYSTEM_TOLERATION["effect"],
    }


def variables(*groups: Mapping[str, pulumi.Input[str]]) -> list[core.EnvVarArgsDict]:
    """The environment variables of a container, group after group."""
    return [{"name": name, "value": value} for group in groups for name, value in group.items()]


def read_only(mount: core.VolumeMountArgsDict) -> core.VolumeMountArgsDict:
    """A mount, read-only."""
    return {**mount, "read_only": True}


def secret_volume(name: str, secret: pulumi.Input[str], keys: Sequence[str]) -> core.VolumeArgsDict:
    """Some keys of a Secret as files of mode 0440 with the pod's group: a container sees its own part only."""
    return {
        "name": name,
        "secret": {
            "secret_name": secret,
            "default_mode": 0o440,
            "items": [{"key": key, "path": key} for key in keys],
        },
    }


def exec_probe(*command: str, period: int, failures: int) -> core.ProbeArgsDict:
    """A probe that runs a command every `period` seconds and gives up after `failures` in a row."""
    return _probe({"exec_": {"command": list(command)}}, period, failures)


def http_probe(get: core.HTTPGetActionArgsDict, *, period: int, failures: int) -> core.ProbeArgsDict:
    """A probe that asks a server every `period` seconds and gives up after `failures` in a row."""
    return _probe({"http_get": get}, period, failures)


def _probe(asks: core.ProbeArgsDict, period: int, failures: int) -> core.ProbeArgsDict:
    return {**asks, "period_seconds": period, "timeout_seconds": 10, "failure_threshold": failures}
