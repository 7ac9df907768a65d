"""What a cluster may hold that is right, of other people's programs: unlike what a component makes, and not told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.works.mistakes import Change, added, told

Told = tuple[str, str, str, Change]
"""A stack, a room, a rule and what is changed."""


def pods(kind: str, namespace: str, *containers: dict[str, Any], **spec: Any) -> Change:
    """Pods of somebody's own."""
    labels = {"app": "theirs"}
    pod = {"containers": [{"image": "registry.example/theirs:1", **one} for one in containers], **spec}
    body = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return added(f"apps/v1:{kind}", "theirs", {"spec": body}, namespace)


def service(namespace: str, port: int) -> Change:
    body = {"selector": {"app": "theirs"}, "ports": [{"port": port}]}
    return added("core/v1:Service", "theirs", {"spec": body}, namespace)


RIGHT: dict[str, Told] = {
    "an exporter of the node's figures, as nobody": (
        "demo",
        "programs",
        "programs-node-logs",
        pods(
            "DaemonSet",
            "monitoring",
            {
                "name": "exporter",
                "args": ["--path.rootfs=/host"],
                "securityContext": {"runAsUser": 65534},
                "volumeMounts": [{"name": "node", "mountPath": "/host", "readOnly": True}],
            },
            volumes=[{"name": "node", "hostPath": {"path": "/"}}],
        ),
    ),
    "a reader of the kernel's log, as nobody": (
        "demo",
        "programs",
        "programs-node-logs",
        pods(
            "DaemonSet",
            "monitoring",
            {
                "name": "kernel",
                "args": ["--file=/var/log/kern.log"],
                "securityContext": {"runAsUser": 65534},
                "volumeMounts": [{"name": "logs", "mountPath": "/var/log", "readOnly": True}],
            },
            volumes=[{"name": "logs", "hostPath": {"path": "/var/log"}}],
        ),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not_told(rehearsed: Any, name: str) -> None:
    stack, room, rule, change = RIGHT[name]
    assert rule not in {one.rule for one in told(rehearsed(stack), change, room, ours=True)}
