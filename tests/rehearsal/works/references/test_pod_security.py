"""Pods and the Pod Security level that their namespace enforces: what it refuses, and what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj
from tests.rehearsal.works.references.test_mistakes import findings
from trainyard.recorded.model import UNKNOWN

SAFE = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
USER = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def told(level: str, context: Any = None, **spec: Any) -> bool:
    container = {"name": "a", "image": "a", **({"securityContext": context} if context is not None else {})}
    pod = {"restartPolicy": "Never", "containers": [container], **spec}
    stack = [
        obj("v1", "Namespace", "web", metadata={"labels": {"pod-security.kubernetes.io/enforce": level}}),
        obj("batch/v1", "Job", "import", "web", spec={"template": {"spec": pod}}),
    ]
    return "reference-pod-security" in {finding.rule for finding in findings(stack, CONTEXT)}


@pytest.mark.parametrize(
    ("context", "spec", "is_told"),
    [
        (None, {}, False),
        (None, {"hostNetwork": True}, True),
        (None, {"hostNetwork": UNKNOWN}, False),
        (None, {"volumes": [{"name": "a", "hostPath": {"path": "/var/log"}}]}, True),
        (None, {"volumes": [{"name": "a", "emptyDir": {}}]}, False),
        ({"privileged": True}, {}, True),
        ({"capabilities": {"add": ["SYS_ADMIN"]}}, {}, True),
        ({"capabilities": {"add": ["NET_BIND_SERVICE"]}}, {}, False),
        ({"seccompProfile": {"type": "Unconfined"}}, {}, True),
        ({"runAsUser": 0}, {}, False),
    ],
)
def test_baseline(context, spec, is_told):
    assert told("baseline", context, **spec) is is_told
    assert told("privileged", context, **spec) is False


@pytest.mark.parametrize(
    ("context", "spec", "is_told"),
    [
        (SAFE, {"securityContext": USER}, False),
        ({**SAFE, **USER}, {}, False),
        (None, {"securityContext": USER}, True),
        (SAFE, {}, True),
        (SAFE, {"securityContext": UNKNOWN}, False),
        (UNKNOWN, {"securityContext": USER}, False),
        ({**SAFE, "runAsNonRoot": False}, {"securityContext": USER}, True),
        ({**SAFE, "runAsUser": 0}, {"securityContext": USER}, True),
        (SAFE, {"securityContext": USER, "volumes": [{"name": "a", "nfs": {"server": "a", "path": "/"}}]}, True),
        (SAFE, {"securityContext": USER, "volumes": [{"name": "a", "csi": {"driver": "s3.csi.aws.com"}}]}, False),
        ({**SAFE, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}, {"securityContext": USER}, False),
        ({**SAFE, "capabilities": {"drop": ["NET_RAW"]}}, {"securityContext": USER}, True),
    ],
)
def test_restricted(context, spec, is_told):
    assert told("restricted", context, **spec) is is_told
