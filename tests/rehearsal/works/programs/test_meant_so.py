"""What looks like a mistake and is somebody's way of working is no error; beside each stands what is one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check


def told(*resources: Any) -> list[str]:
    """Levels and rules of what is told of a program of somebody else's."""
    stack = Stack(list(resources), CONTEXT)
    check(stack)
    return [f"{finding.level} {finding.rule}" for finding in stack.findings]


def gang(*command: str, pods: int = 4, **env: str) -> Any:
    """An indexed job whose pods find each other by name."""
    container = {
        "name": "train", "image": "acme/train:1", "command": list(command),
        "env": [{"name": name, "value": value} for name, value in env.items()],
    }  # fmt: skip
    spec = {"restartPolicy": "Never", "subdomain": "sweep", "containers": [container]}
    return obj(
        "batch/v1", "Job", "sweep", "vision",
        spec={"parallelism": pods, "completions": pods, "completionMode": "Indexed", "template": {"spec": spec}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("torchrun", "--standalone", "--nnodes=1", "--nproc-per-node=8", "train.py"), []),
        (("torchrun", "--nnodes=4", "train.py"), []),
        (("torchrun", "--nnodes=3", "train.py"), ["error programs-gang"]),
    ],
)
def test_a_sweep_is_as_many_trainings_as_pods(command, found):
    assert told(gang(*command)) == found


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("sweep-0.sweep", []),
        ("rendezvous.vision.svc.cluster.local", []),
        ("rendezvous.vision", []),
        ("rendezvous.language.svc.cluster.local", ["error programs-gang"]),
        ("sweep-0.weep", ["error programs-gang"]),
    ],
)
def test_the_first_rank_may_be_found_by_a_service(head, found):
    service = obj("v1", "Service", "rendezvous", "vision", spec={"selector": {"rank": "0"}, "ports": [{"port": 29500}]})
    assert [one for one in told(service, gang("python", "train.py", MASTER_ADDR=head)) if "gang" in one] == found
