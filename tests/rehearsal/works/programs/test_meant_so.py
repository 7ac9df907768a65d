"""What looks like a mistake and is somebody's way of working is no error; beside each stands what is one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.check import check
from trainyard.rehearsal.works.references.check import check as check_references


def told(*resources: Any) -> list[str]:
    """Levels and rules of what is told of a program of somebody else's."""
    stack = Stack(list(resources), CONTEXT)
    check(stack)
    return [f"{finding.level} {finding.rule}" for finding in stack.findings]


def told_of_names(*resources: Any) -> list[str]:
    stack = Stack(list(resources), CONTEXT)
    check_references(stack)
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


@pytest.mark.parametrize(
    ("route", "found"),
    [
        ({"matchers": ['alertname="KubeSchedulerDown"', 'severity="critical"']}, []),
        ({"matchers": ['alertname="KubeSchedulerDown", severity="critical"']}, []),
        ({"match": {"severity": "critical"}, "match_re": {"namespace": "dev-.*"}}, []),
        ({"match": [{"severity": "critical"}]}, []),
        ({"matchers": ['severity="critical"']}, ["warning reference-alert-route"]),
        ({"matchers": ['severity=~"critical|page"']}, ["warning reference-alert-route"]),
        ({"match": {"severity": "critical"}}, ["warning reference-alert-route"]),
    ],
)
@pytest.mark.parametrize("above", [{}, {"matchers": ['namespace="dev"']}])
def test_one_alert_that_is_always_false_is_sent_nowhere(route, found, above):
    inner = {"routes": [{"receiver": "null", **route}]}
    routes = {"routes": [{"receiver": "pager", **above, **inner}]} if above else inner
    config = {"receivers": [{"name": "null"}, {"name": "pager", "webhook_configs": [{"url": "https://pager.example"}]}],
              "route": {"receiver": "pager", **routes}}  # fmt: skip
    release = resource(
        "kubernetes:helm.sh/v3:Release", "monitoring",
        {"chart": "kube-prometheus-stack", "namespace": "monitoring", "values": {"alertmanager": {"config": config}}},
    )  # fmt: skip
    found = [] if above else found
    assert [one for one in told_of_names(release) if "alert-route" in one] == found
