"""The smoke jobs of an environment, through the queue that its users use, as part of `pulumi up`.

They run beside each other, each in the queue of a team that owns what it proves, so that others who borrow it give
way. A job that gets no nodes in time fails the `up`, unless it is advisory, as those on spot are: nodes that the
owners' own work of at least the same priority fills, or, for a job larger than what its team owns, that others use.
No output of the stack waits for any of them: a failed proof leaves the kubeconfig to find out why.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypedDict

import pulumi

from trainyard.components.k8s.slice_proof import SliceProof, SliceProofArgs
from trainyard.components.k8s.smoke import SmokeJob, smoke_args
from trainyard.components.k8s.teams import TeamNamespaces
from trainyard.conventions import SMOKE_COMPONENT_PREFIX, SMOKE_LOCAL_QUEUE, team_prefix
from trainyard.plan.parts import ClusterPlan, Plan
from trainyard.plan.smoke import smoke_spec
from trainyard.stacks.environment.ground import Ground, resource_prefix


class SmokeProof(TypedDict):
    """A smoke job as the stack's outputs tell it. How it ends is no output: one that waits for it would keep all the
    others away where it fails, the kubeconfig first (Pulumi registers a stack's outputs once, when the last is known).
    """

    job: pulumi.Output[str]
    """Name of the Job."""
    namespace: str
    """The namespace that it runs in."""
    waitedFor: bool
    """Whether `pulumi up` ends with an error where it fails. One that is not says so by its verdict alone."""
    verdict: pulumi.Output[str]
    """The command that tells how it ended."""


def smoke_jobs(
    plan: Plan,
    cluster: ClusterPlan,
    ground: Ground,
    teams: TeamNamespaces,
    after: Sequence[pulumi.Resource],
) -> dict[str, SmokeProof]:
    """Makes the planned smoke jobs of a cluster; what is told of each, by node group ("train-spot").

    `after` is everything that a user's job needs: queues, volumes, device plugins, the autoscaler, accounts.
    """
    prefix = resource_prefix(plan, cluster)
    jobs = {}
    for job in cluster.smoke.jobs:
        team = cluster.team(job.team)
        args = smoke_args(smoke_spec(plan, cluster, job))
        args["namespace"] = teams.namespaces[team.name]
        # The team's own prefix: what its role may write.
        folder = f"/{team_prefix(team.name)}smoke/{prefix}{job.name}"
        args["checkpoint_uri"] = (
            pulumi.Output.concat(ground.checkpoints_uri, folder)
            if ground.smoke_checkpoints is None
            else f"{ground.smoke_checkpoints}/smoke/{prefix}{job.name}"
        )
        args["node_image"] = ground.node_images[job.name]
        args["advisory"] = job.capacity in cluster.smoke.advisory
        needs = [*after, *ground.team_identities[team.name].wait_for]
        opts = pulumi.ResourceOptions(providers=list(ground.providers), depends_on=needs)
        jobs[job.name] = SmokeJob(f"{SMOKE_COMPONENT_PREFIX}{prefix}{job.name}", args, opts)
    return {
        job.name: {
            "job": jobs[job.name].job_name,
            "namespace": cluster.team(job.team).namespace,
            "waitedFor": job.capacity not in cluster.smoke.advisory,
            "verdict": jobs[job.name].job_name.apply(partial(_verdict, cluster.team(job.team).namespace)),
        }
        for job in cluster.smoke.jobs
    }


def slice_proofs(
    plan: Plan,
    cluster: ClusterPlan,
    ground: Ground,
    teams: TeamNamespaces,
    after: Sequence[pulumi.Resource],
) -> dict[str, SmokeProof]:
    """Makes the jobs that prove the TPU slices of a cluster; what is told of each, by node pool."""
    prefix, jobs = resource_prefix(plan, cluster), {}
    for slices in ground.slices:
        for one in slices.proofs:
            team = cluster.team(one.team)
            advisory = one.advisory or one.capacity in cluster.smoke.advisory
            args: SliceProofArgs = {
                "node_pool": one.name,
                "runtime": slices.runtime,
                "node_labels": one.node_labels,
                "namespace": teams.namespaces[team.name],
                "queue": SMOKE_LOCAL_QUEUE,
                "priority": cluster.smoke.priority,
                "start_timeout_s": cluster.scheduling.pods_ready_timeout_minutes * 60,
                "advisory": advisory,
                "rerun_on": {"kubernetesVersion": cluster.kubernetes_version},
                "node_image": one.node_image,
            }
            needs = [*after, *ground.team_identities[team.name].wait_for]
            opts = pulumi.ResourceOptions(providers=list(ground.providers), depends_on=needs)
            made = SliceProof(f"{SMOKE_COMPONENT_PREFIX}{prefix}{one.name}", args, opts)
            jobs[one.name] = SmokeProof(
                job=made.job_name,
                namespace=team.namespace,
                waitedFor=not advisory,
                verdict=made.job_name.apply(partial(_verdict, team.namespace)),
            )
    return jobs


def _verdict(namespace: str, job: str) -> str:
    """The command that tells how a job ended, or that it has not."""
    path = '{range .status.conditions[?(@.status=="True")]}{.type} {.reason} {.message}{"\n"}{end}'
    return f"kubectl get job --namespace {namespace} {job} -o jsonpath='{path}'"
