"""The tracking server of a cluster: from the plan and its ground to `MlflowServer`."""

from __future__ import annotations

from collections.abc import Set

import pulumi

from trainyard.components.k8s.egress_proxy import proxy_url
from trainyard.components.k8s.mlflow import MlflowServer
from trainyard.components.k8s.mlflow_args import MlflowServerArgs
from trainyard.components.k8s.mlflow_sign_on import MlflowSignOnArgs
from trainyard.components.k8s.platform_flows import EGRESS_PROXY, SIGN_ON_PORT
from trainyard.components.k8s.teams import TeamNamespaces
from trainyard.conventions import MLFLOW_NAMESPACE
from trainyard.plan.parts import ClusterPlan, Plan, SignOnPlan
from trainyard.stacks.environment.ground import Ground, resource_prefix


def tracking_server(
    plan: Plan, planned: ClusterPlan, ground: Ground, teams: TeamNamespaces, opts: pulumi.ResourceOptions
) -> MlflowServer | None:
    """Makes it, with an account for each team of the cluster; None where it has no database."""
    if ground.database is None:
        return None
    of_cluster = {team.name for team in planned.teams}
    args: MlflowServerArgs = {
        "namespace": MLFLOW_NAMESPACE,
        "image": plan.core.pins.image("mlflow"),
        "replicas": plan.core.mlflow.replicas,
        "workers": plan.core.mlflow.workers,
        "cpu": plan.core.mlflow.cpu,
        "memory": plan.core.mlflow.memory,
        "database": ground.database,
        "artifacts_uri": ground.artifacts_uri,
        "environment": ground.environment,
        "node_selector": ground.system_nodes,
        "addresses": ground.addresses,
        "service_account_annotations": ground.mlflow_identity.annotations,
        "team_namespaces": {team.name: teams.namespaces[team.name] for team in planned.teams},
        "people": {team.name: team.people for team in plan.core.teams if team.people and team.name in of_cluster},
        "default_permission": plan.core.mlflow.default_permission,
        "password_version": plan.core.mlflow.password_version,
    }
    if plan.core.mlflow.sign_on is not None:
        args["sign_on"] = _sign_on(plan.core.mlflow.sign_on, of_cluster, plan.core.egress.mode == "allowlist")
    return MlflowServer(f"{resource_prefix(plan, planned)}mlflow", args, opts)


def _sign_on(sign_on: SignOnPlan, teams: Set[str], proxied: bool) -> MlflowSignOnArgs:
    args: MlflowSignOnArgs = {
        "issuer": sign_on.issuer,
        "audience": sign_on.audience,
        "keys_url": sign_on.keys_url,
        "claim": sign_on.claim,
        "person_claim": sign_on.person_claim,
        "teams": {team: group for team, group in sign_on.teams if team in teams},
    }
    if proxied:
        namespace = EGRESS_PROXY.namespace
        args["proxy"] = {"url": proxy_url(SIGN_ON_PORT), "namespace": namespace, "port": SIGN_ON_PORT}
    return args
