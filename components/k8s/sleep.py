"""The keeper of nights: jobs of some priorities are switched off when the hours begin, and on again when they end.

What it decides stands in `keepers/sleep.py`. Its rights are to read the jobs of the teams' namespaces, to change their
Workloads and to write events beside them, and nothing else. It asks nobody but the API server.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s.keeper_pod import keeper_account, keeper_deployment, keeper_role
from trainyard.components.k8s.off_peak import HoursArgs, told_hours
from trainyard.conventions.monitoring import SLEEP_KEEPER

RULES: Sequence[rbac.PolicyRuleArgsDict] = (
    {"api_groups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["list", "patch"]},
    {"api_groups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    {"api_groups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["get"]},
    {"api_groups": ["trainer.kubeflow.org"], "resources": ["trainjobs"], "verbs": ["get"]},
    {"api_groups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
)
"""What it may do in the namespace of a team."""


class SleepArgs(TypedDict):
    """Whose jobs sleep, and when."""

    image: str
    """Image with Python and its time zones, `image:tag@sha256:...`."""
    hours: HoursArgs
    """The hours in which they do."""
    priorities: Sequence[str]
    """Names of the workload priorities whose jobs are switched off."""


def sleep_keeper(
    name: str,
    args: SleepArgs,
    namespaces: Mapping[str, pulumi.Input[str]],
    namespace: pulumi.Input[str],
    node_selector: Mapping[str, str],
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource],
) -> None:
    """Makes the keeper, with its rights in the namespaces of these teams."""
    opts = pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on))
    subject = keeper_account(f"{name}-sleep", SLEEP_KEEPER, namespace, opts)
    for team, own in namespaces.items():
        keeper_role(f"{name}-sleep-{{}}-{team}", SLEEP_KEEPER, own, RULES, subject, opts)
    configuration = pulumi.Output.json_dumps(
        {
            **told_hours(args["hours"]),
            "namespaces": list(namespaces.values()),
            "priorities": list(args["priorities"]),
        }
    )
    keeper_deployment(
        f"{name}-sleep", SLEEP_KEEPER, "sleep", args["image"], configuration, subject, node_selector, opts
    )
