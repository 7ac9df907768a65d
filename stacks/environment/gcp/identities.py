"""What runs on the cluster and who signs in to it, as principals of Google Cloud."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_gcp.projects as projects

from trainyard.components.gcp.cluster import GkeCluster
from trainyard.components.gcp.identity import FolderRightArgs, PodIdentity
from trainyard.components.gcp.storage import GcsStorageTiers
from trainyard.components.k8s import mlflow
from trainyard.conventions import INGEST_NAMESPACE, MLFLOW_NAMESPACE, TRAINER_SERVICE_ACCOUNT, data_prefix, team_prefix
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.stacks.environment.gcp.storage import ARTIFACTS_PREFIX
from trainyard.stacks.environment.ground import WorkloadIdentity, resource_prefix

SIGN_IN = "roles/container.clusterViewer"
"""To reach the API and nothing in it: what somebody may do there is RBAC's to say."""


def identity(made: Mapping[str, PodIdentity], workload: str) -> WorkloadIdentity:
    """A principal is named by namespace and service account; nothing is written on the latter."""
    return WorkloadIdentity(wait_for=made[workload].granted if workload in made else [])


def pod_identities(
    plan: Plan[GcpPlan],
    planned: ClusterPlan,
    cluster: GkeCluster,
    storage: GcsStorageTiers,
    opts: pulumi.ResourceOptions,
) -> dict[str, PodIdentity]:
    """The rights of everything that runs on a cluster, by workload."""
    prefix, made = resource_prefix(plan, planned), {}

    def add(workload: str, namespace: str, account: str, *rights: FolderRightArgs) -> None:
        made[workload] = PodIdentity(
            f"{prefix}{workload}",
            {
                "project_number": plan.ground.project_number,
                "workload_pool": cluster.workload_pool,
                "namespace": namespace,
                "service_account": account,
                "rights": rights,
            },
            opts,
        )

    data, checkpoints = storage.data_bucket, storage.checkpoints_bucket
    if plan.tracks(planned):
        artifacts: FolderRightArgs = {
            "name": "artifacts",
            "bucket": storage.artifacts_bucket,
            "folder": f"{ARTIFACTS_PREFIX}/",
            "write": True,
        }
        add("mlflow", MLFLOW_NAMESPACE, mlflow.SERVICE_ACCOUNT, artifacts)
    add("ingest", INGEST_NAMESPACE, INGEST_NAMESPACE, {"name": "data", "bucket": data, "write": True})
    for team in planned.teams:
        read: FolderRightArgs = {"name": "data", "bucket": data, "write": False}
        if plan.core.storage.data_access == "team":
            read["folder"] = data_prefix(team.name)
        write: FolderRightArgs = {
            "name": "checkpoints",
            "bucket": checkpoints,
            "folder": team_prefix(team.name),
            "write": True,
        }
        add(f"team-{team.name}", team.namespace, TRAINER_SERVICE_ACCOUNT, read, write)
    return made


def people(plan: Plan[GcpPlan], planned: ClusterPlan, opts: pulumi.ResourceOptions) -> None:
    """Lets everybody of a team, and whoever brings the data in, reach the API: each once."""
    on_it = [team.name for team in planned.teams]
    named = {principal: team.name for team in plan.core.teams for principal in team.principals if team.name in on_it}
    for principal in plan.core.storage.ingest_principals:
        named.setdefault(principal, INGEST_NAMESPACE)
    for principal, of in named.items():
        projects.IAMMember(
            f"{resource_prefix(plan, planned)}{of}-{principal.partition(':')[2]}",
            project=plan.ground.project,
            role=SIGN_IN,
            member=principal,
            opts=opts,
        )
