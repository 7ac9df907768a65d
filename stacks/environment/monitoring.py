"""The monitoring of a cluster: from the plan and its ground to `Monitoring`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

from trainyard.components.k8s.checkpoint_check import CheckpointCheck
from trainyard.components.k8s.checkpoint_drill import CheckpointDrill, CheckpointDrillArgs
from trainyard.components.k8s.gpu import METRICS, NAMESPACE
from trainyard.components.k8s.mlflow import MlflowServer
from trainyard.components.k8s.monitoring import Monitoring, MonitoringArgs, certificate_rules
from trainyard.components.k8s.monitoring_flows import EXPORTER_LABELS
from trainyard.components.k8s.teams import TeamNamespaces
from trainyard.conventions import team_prefix
from trainyard.conventions.monitoring import BUDGET_KEEPER, IDLE_KEEPER, PLATFORM_NAMESPACES
from trainyard.monitoring.recordings import Money
from trainyard.monitoring.rules import rules
from trainyard.plan.parts import ClusterPlan, MonitoringPlan, Plan
from trainyard.stacks.environment.ground import Ground, chart, resource_prefix


def monitoring(
    plan: Plan, planned: ClusterPlan, ground: Ground, server: MlflowServer | None, opts: pulumi.ResourceOptions
) -> Monitoring | None:
    """Makes it; None where the plan goes without. `server` is the tracking server, where the cluster has one."""
    own = planned.monitoring
    if own is None:
        return None
    made = _rules(plan, planned, own, ground)
    args: MonitoringArgs = {
        "chart": chart(plan, "kube-prometheus-stack"),
        "cluster": planned.name,
        "size": {
            "retention_days": own.retention_days,
            "storage_gib": own.storage_gib,
            "cpu": own.cpu,
            "memory": own.memory,
        },
        "rules": made,
        "name_service": ground.name_service,
        "keepers": _keepers(planned),
        "addresses": ground.addresses,
        "node_selector": ground.system_nodes,
        "service_account_annotations": ground.alertmanager_identity.annotations,
    }
    if ground.slices:
        args["chips"] = True
    if ground.block_storage_class is not None:
        args["storage_class"] = ground.block_storage_class
    if METRICS in ground.gpu_add_ons:
        args["gpu_exporter"] = {"namespace": NAMESPACE, "labels": EXPORTER_LABELS}
    elif ground.gpu_exporter is not None:
        args["gpu_exporter"] = ground.gpu_exporter
    if server is not None:
        args["certificates"] = {"mlflow": server.certificate_ends}
    if ground.figures is not None:
        args["remote"] = ground.figures.remote
        certificates = args.get("certificates", {})
        groups = [*made["groups"], *([certificate_rules(certificates)] if certificates else [])]
        ground.figures.evaluate({"groups": groups})
    elif ground.alerts_by_log:
        args["alert_log_image"] = plan.core.pins.image("mlflow")  # the smallest of the platform's images with Python
    elif ground.alert_route is not None:
        args["route"] = ground.alert_route
    return Monitoring(f"{resource_prefix(plan, planned)}monitoring", args, opts)


def _rules(plan: Plan, planned: ClusterPlan, own: MonitoringPlan, ground: Ground) -> dict[str, Any]:
    people = {team.name: team.members for team in plan.core.teams}
    members = {team.namespace: (team.name, people[team.name]) for team in planned.teams}
    return rules(
        own.thresholds,
        namespaces=PLATFORM_NAMESPACES,
        members=members,
        runbooks=own.runbooks,
        money=_money(plan, planned, ground),
        gpu_series=ground.gpu_series,
        elsewhere=planned.name if ground.figures is not None else None,
    )


def _keepers(planned: ClusterPlan) -> list[str]:
    """The keepers that ask Prometheus."""
    there = {
        BUDGET_KEEPER: planned.ledger is not None and planned.ledger.hold,
        IDLE_KEEPER: planned.idle_jobs is not None,
    }
    return [name for name, asks in there.items() if asks]


def _money(plan: Plan, planned: ClusterPlan, ground: Ground) -> Money | None:
    if planned.ledger is None:
        return None
    return Money(
        gpu_hour_usd={price.name: price.usd for price in planned.ledger.gpu_hour_usd},
        node_hour_usd=dict(planned.ledger.node_hour_usd),
        volume_gib_month_usd=dict(planned.ledger.volume_gib_month_usd),
        budgets={team.name: (team.cluster_queue, plan.budget_usd_at(planned, team.name)) for team in planned.teams},
        also_of={team.off_peak_queue: team.name for team in planned.teams if team.off_peak_queue is not None},
        chips=bool(ground.slices),
        chip_hour_usd={flavor: usd for slices in ground.slices for flavor, usd in slices.chip_hour_usd.items()},
    )


def checkpoint_drill(
    plan: Plan, planned: ClusterPlan, ground: Ground, teams: TeamNamespaces, after: Sequence[pulumi.Resource]
) -> CheckpointDrill | None:
    """Makes the weekly drill; None where the plan goes without. `after` is what a user's job needs."""
    own = planned.drill
    if own is None:
        return None
    team, prefix = planned.team(own.team), resource_prefix(plan, planned)
    mounted = ground.smoke_checkpoints  # a folder: the tier is a mount there
    args: CheckpointDrillArgs = {
        "namespace": teams.namespaces[team.name],
        "queue": team.local_queue,
        "image": own.image,
        "checkpoint_uri": f"{mounted}/drill"
        if mounted is not None
        else pulumi.Output.concat(ground.checkpoints_uri, f"/{team_prefix(team.name)}drill"),
        "schedule": own.schedule,
        "cpu": own.cpu,
        "memory_gib": own.memory_gib,
        "deadline_s": own.deadline_s,
        "environment": dict(planned.smoke.environment),
        "cpu_nodes": ground.cpu_nodes,
    }
    if mounted is not None:
        args["mounts"] = {claim: path for claim, path in planned.smoke.mounts if mounted.startswith(path)}
        args["pod_annotations"] = dict(planned.smoke.pod_annotations)
    needs = [*after, *ground.team_identities[team.name].wait_for]
    opts = pulumi.ResourceOptions(providers=list(ground.providers), depends_on=needs)
    return CheckpointDrill(f"{prefix}checkpoint-drill", args, opts)


def checkpoint_checks(
    plan: Plan, planned: ClusterPlan, ground: Ground, teams: TeamNamespaces, opts: pulumi.ResourceOptions
) -> None:
    """Makes the daily look at each team's own checkpoints, where the plan has one.

    Each waits for its team's identity and for nothing of the other teams: there is one for each, and what it mounts is
    asked for at its first run.
    """
    own, monitored = planned.check, planned.monitoring
    if own is None or monitored is None:
        return
    for name in own.teams:
        team = planned.team(name)
        CheckpointCheck(
            f"{resource_prefix(plan, planned)}checkpoint-check-{name}",
            {
                "namespace": teams.namespaces[name],
                "queue": team.local_queue,
                "image": own.image,
                "folder": own.folder,
                "schedule": own.schedule,
                "cpu": own.cpu,
                "memory_gib": own.memory_gib,
                "deadline_s": own.deadline_s,
                "older_than_hours": monitored.thresholds.checkpoint_hours,
                "pod_annotations": dict(planned.smoke.pod_annotations),
                "cpu_nodes": ground.cpu_nodes,
            },
            pulumi.ResourceOptions.merge(
                opts, pulumi.ResourceOptions(depends_on=list(ground.team_identities[name].wait_for))
            ),
        )
