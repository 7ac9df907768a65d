"""The keeper of idle jobs: GPUs that a job holds and does nothing with are given back, after a warning.

What it decides, from the figures of the GPUs' exporter, stands in `keepers/idle.py`. Its rights are to read the jobs
and pods of the teams' namespaces, to change their Workloads and to write events beside them, and nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s.keeper_pod import keeper_account, keeper_deployment, keeper_role
from trainyard.conventions import GPU_RESOURCE
from trainyard.conventions.monitoring import IDLE_KEEPER, PROMETHEUS_URL
from trainyard.monitoring.alerts.gpu import BUSY_FROM, SCRAPE_SECONDS
from trainyard.monitoring.names import BUSY

RULES: Sequence[rbac.PolicyRuleArgsDict] = (
    {"api_groups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["list", "patch"]},
    {"api_groups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"api_groups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    {"api_groups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["get"]},
    {"api_groups": ["trainer.kubeflow.org"], "resources": ["trainjobs"], "verbs": ["get"]},
    {"api_groups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
)
"""What it may do in the namespace of a team."""


class IdleJobsArgs(TypedDict):
    """When an idle job gives its GPUs back."""

    image: str
    """Image with Python, `image:tag@sha256:...`."""
    prometheus_url: NotRequired[str]
    """Who is asked, as pods of the cluster reach it. Default: Prometheus of the cluster."""
    after_minutes: int
    """Minutes in which nothing was computed on any rank."""
    grace_minutes: int
    """Minutes between the warning and the eviction."""


def idle_keeper(
    name: str,
    args: IdleJobsArgs,
    namespaces: Mapping[str, pulumi.Input[str]],
    namespace: pulumi.Input[str],
    node_selector: Mapping[str, str],
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource],
) -> None:
    """Makes the keeper, with its rights in the namespaces of these teams."""
    opts = pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on))
    subject = keeper_account(f"{name}-idle", IDLE_KEEPER, namespace, opts)
    for team, own in namespaces.items():
        keeper_role(f"{name}-idle-{{}}-{team}", IDLE_KEEPER, own, RULES, subject, opts)
    configuration = pulumi.Output.json_dumps(
        {
            "prometheus": args.get("prometheus_url", PROMETHEUS_URL),
            "metric": BUSY,
            "busy_from": BUSY_FROM,
            "namespaces": list(namespaces.values()),
            "resource": GPU_RESOURCE,
            "idle_seconds": args["after_minutes"] * 60,
            "grace_seconds": args["grace_minutes"] * 60,
            "sample_seconds": SCRAPE_SECONDS,
        }
    )
    keeper_deployment(f"{name}-idle", IDLE_KEEPER, "idle", args["image"], configuration, subject, node_selector, opts)
