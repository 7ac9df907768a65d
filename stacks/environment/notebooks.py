"""The notebooks of a cluster: from the plan and its ground to `Notebooks`."""

from __future__ import annotations

import pulumi

from trainyard.components.k8s.notebooks import Notebooks, NotebooksArgs
from trainyard.components.k8s.notebooks_values import NotebookProfileArgs, NotebookSignOnArgs
from trainyard.components.k8s.teams import TeamNamespaces
from trainyard.conventions import gpu_node_tolerations
from trainyard.plan.parts import ClusterPlan, NotebookProfilePlan, NotebookSignOnPlan, Plan
from trainyard.stacks.environment.ground import Ground, chart, resource_prefix


def notebooks(
    plan: Plan, planned: ClusterPlan, ground: Ground, teams: TeamNamespaces, opts: pulumi.ResourceOptions
) -> Notebooks | None:
    """Makes them; None where the plan goes without."""
    own = planned.notebooks
    if own is None:
        return None
    args: NotebooksArgs = {
        "chart": chart(plan, "jupyterhub"),
        "image": plan.core.pins.image("notebook"),
        "sign_on": _sign_on(own.sign_on),
        "profiles": [_profile(each, planned, ground) for each in own.profiles],
        "people": own.people,
        "storage_gib": own.storage_gib,
        "kernel_idle_seconds": own.kernel_idle_minutes * 60,
        "idle_seconds": own.idle_minutes * 60,
        "longest_seconds": own.longest_hours * 3600,
        "addresses": ground.addresses,
        "groups": list(teams.groups.values()),
        "subjects": [subject for team in planned.teams for subject in ground.subjects.get(team.name, ())],
        "node_selector": dict(ground.system_nodes),
    }
    if own.zone:
        args["zone"] = own.zone
    if ground.block_storage_class is not None:
        args["storage_class"] = ground.block_storage_class
    if plan.core.egress.mode == "allowlist":
        args["egress_direct"] = list(ground.direct_names)
    return Notebooks(f"{resource_prefix(plan, planned)}notebooks", args, opts)


def _sign_on(own: NotebookSignOnPlan) -> NotebookSignOnArgs:
    args: NotebookSignOnArgs = {
        "provider": own.provider,
        "client_id": own.client_id,
        "callback_url": own.callback_url,
        "groups": list(own.groups),
    }
    if own.provider == "github":
        return args
    args["authorize_url"], args["token_url"], args["userdata_url"] = (
        own.authorize_url,
        own.token_url,
        own.userdata_url,
    )
    args["person_claim"], args["claim"], args["scopes"] = own.person_claim, own.claim, list(own.scopes)
    return args


def _profile(own: NotebookProfilePlan, planned: ClusterPlan, ground: Ground) -> NotebookProfileArgs:
    size = f"{own.cpu:g} cores, {own.memory_gib:g} GiB"
    if not own.node_group:
        return {
            "name": own.name,
            "title": f"No GPU: {size}",
            "cpu": own.cpu,
            "memory_gib": own.memory_gib,
            "node_selector": dict(ground.cpu_nodes),
            "tolerations": [],
        }
    (group,) = (group for group in planned.node_groups if group.name == own.node_group)
    return {
        "name": own.name,
        "title": f"{own.gpu}: {size}",
        "cpu": own.cpu,
        "memory_gib": own.memory_gib,
        "node_selector": ground.flavor_labels(group),
        "tolerations": gpu_node_tolerations(group.capacity),
        "gpus": 1,
        "most": own.most,
    }
