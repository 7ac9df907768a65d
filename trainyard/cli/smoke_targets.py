"""From the command line of `trainyard smoke` to one launcher of `smoke_jobs.launch`, imported when it is used."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from trainyard.cli.smoke_options import Target, TargetOptions, tags_of

if TYPE_CHECKING:
    from trainyard.plan.parts import Plan
    from trainyard.smoke_jobs.launch.follow import Ended, View
    from trainyard.smoke_jobs.launch.job import SmokeSpec
    from trainyard.smoke_jobs.launch.pod import Manifest


HOW_TO_APPLY = "# kubectl create -f FILE (apply only with --server-side: the worker outgrows its annotation)\n"


@dataclass(frozen=True, slots=True)
class Launcher:
    """One job on one target; both raise LaunchError."""

    render: Callable[[], str]
    run: Callable[[View], Ended]


def launcher(spec: SmokeSpec, target: Target, options: TargetOptions, plan: Plan | None = None) -> Launcher:
    """The launcher of a target; of a stack's plan, as whom the stack's program comes in."""
    if target is Target.sagemaker:
        return _sagemaker(spec, options, plan)
    return {
        Target.local: _local,
        Target.kubernetes: _kubernetes,
        Target.trainjob: _trainjob,
        Target.slurm: _slurm,
        Target.vertex: _vertex,
    }[target](spec, options)


def _local(spec: SmokeSpec, options: TargetOptions) -> Launcher:
    from trainyard.smoke_jobs.launch import local

    return Launcher(lambda: local.render(spec), lambda view: local.run(spec, view, options.result_dir))


def _kubernetes(spec: SmokeSpec, options: TargetOptions) -> Launcher:
    from trainyard.smoke_jobs.launch import kubernetes

    return _on_cluster(lambda spec: kubernetes.render(spec).manifests, spec, options)


def _trainjob(spec: SmokeSpec, options: TargetOptions) -> Launcher:
    from trainyard.smoke_jobs.launch import trainjob

    return _on_cluster(lambda spec: trainjob.render(spec).manifests, spec, options)


def _on_cluster(
    manifests: Callable[[SmokeSpec], tuple[Manifest, ...]], spec: SmokeSpec, options: TargetOptions
) -> Launcher:
    from trainyard.smoke_jobs.launch import kubernetes

    def run(view: View) -> Ended:
        from trainyard.smoke_jobs.launch.cluster import Cluster
        from trainyard.smoke_jobs.launch.cluster_watch import Watch, submitted

        made = manifests(_once(spec))
        cluster = Cluster.connect(spec.namespace, options.context)
        with submitted(cluster, made, options.keep) as job:
            return Watch(cluster, job, view, _limit_s(spec, options)).run()

    return Launcher(lambda: HOW_TO_APPLY + kubernetes.to_yaml(manifests(spec)), run)


def sweep(spec: SmokeSpec, target: Target, options: TargetOptions, view: View) -> tuple[str, dict[str, object], int]:
    """A job on every node of the pool or partition, then on pairs: the sweep as text, as a document, its exit code."""
    from trainyard.cli import smoke_sweep

    if target is Target.slurm:
        from trainyard.smoke_jobs.launch import slurm

        nodes = slurm.nodes(spec.queue)
    else:
        from trainyard.smoke_jobs.launch.cluster import Cluster

        nodes = Cluster.connect(spec.namespace, options.context).nodes(smoke_sweep.selector(spec))
    results = smoke_sweep.sweep(spec, nodes, lambda one, view: launcher(one, target, options).run(view), view)
    return smoke_sweep.told(results)


def _once(spec: SmokeSpec) -> SmokeSpec:
    """The same job under a name of this submission's own, so that it meets neither an earlier one nor the stack's."""
    now = datetime.now(UTC).isoformat()
    return replace(spec, rerun_on=(*spec.rerun_on, ("submitted", now)))


def _limit_s(spec: SmokeSpec, options: TargetOptions) -> int:
    """Seconds that a job may take from submission to its end, the time in the queue included."""
    return round(options.queue_timeout * 60) + spec.start_timeout_s + spec.run_timeout_s


def _slurm(spec: SmokeSpec, options: TargetOptions) -> Launcher:
    from trainyard.smoke_jobs.launch import slurm

    settings = slurm.SlurmSettings(account=options.account, python=options.python, container=options.container)
    return Launcher(lambda: slurm.render(spec, settings), lambda view: slurm.run(spec, view, settings))


def _sagemaker(spec: SmokeSpec, options: TargetOptions, plan: Plan | None) -> Launcher:
    from trainyard.smoke_jobs.launch import sagemaker
    from trainyard.smoke_jobs.launch.job import submission_name

    settings = sagemaker.SagemakerSettings(
        role_arn=options.role_arn,
        bucket=options.bucket,
        spot=options.spot,
        subnets=tuple(options.subnets or ()),
        security_groups=tuple(options.security_groups or ()),
        kms_key=options.kms_key,
        tags=tuple(tags_of(options).items()),
    )

    def render() -> str:
        request = sagemaker.render(spec, settings, submission_name(spec, time.time()))
        return json.dumps(request, indent=2) + "\n"

    def run(view: View) -> Ended:
        if plan is None or plan.ground.kind != "aws":
            return sagemaker.run(spec, settings, view, sagemaker.connect(options.region or None))
        from trainyard.account.aws import account_of

        login = plan.ground.login
        account = account_of(options.region, login.assume_role, login.profile)
        return sagemaker.run(spec, settings, view, (account.client("sagemaker"), account.client("s3")))

    return Launcher(render, run)


def _vertex(spec: SmokeSpec, options: TargetOptions) -> Launcher:
    from trainyard.smoke_jobs.launch import vertex
    from trainyard.smoke_jobs.launch.job import submission_name

    settings = vertex.VertexSettings(
        bucket=options.bucket,
        project=options.gcp_project,
        region=options.region,
        service_account=options.service_account,
        spot=options.spot,
        kms_key=options.kms_key,
        labels=tuple(tags_of(options).items()),
    )

    def render() -> str:
        return json.dumps(vertex.render(spec, settings, submission_name(spec, time.time())), indent=2) + "\n"

    return Launcher(render, lambda view: vertex.run(spec, settings, view, vertex.connect(settings)))
