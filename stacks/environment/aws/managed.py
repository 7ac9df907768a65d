"""Managed training: from the plan to the components of `trainyard.components.aws.managed`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from trainyard.components.aws.budget import BudgetAlerts
from trainyard.components.aws.existing_network import AnyNetwork
from trainyard.components.aws.managed.alarms import JobAlerts, SpendingBrake, rule_name
from trainyard.components.aws.managed.domain import ManagedDomain
from trainyard.components.aws.managed.job_alarms import JobAlarms
from trainyard.components.aws.managed.network import TrainingWall
from trainyard.components.aws.managed.roles import TRACKING_PREFIX, ManagedRoles, role_name
from trainyard.components.aws.managed.tracking import ManagedTracking, ModelRegistry
from trainyard.components.aws.storage import StorageTiers
from trainyard.conventions import SMOKE_PREFIX
from trainyard.plan.aws.parts import AwsPlan, ManagedPlan
from trainyard.plan.aws.training import image_account, training_smoke
from trainyard.plan.parts import Plan
from trainyard.smoke_jobs.launch import sagemaker
from trainyard.smoke_jobs.launch.payload import digest
from trainyard.stacks.environment.aws.keys import Keys
from trainyard.stacks.environment.aws.storage import uri

_ROLES, _ALERTS = "managed", "managed-jobs"


@dataclass(frozen=True)
class Managed:
    """What was made, as far as the stack tells of it and jobs need it."""

    planned: ManagedPlan
    roles: ManagedRoles
    wall: TrainingWall
    outputs: dict[str, pulumi.Input[object]]
    subnet_ids: Sequence[pulumi.Input[str]]
    output_key_arn: pulumi.Input[str]
    ready: list[pulumi.Resource]


def roles_outside(plan: Plan[AwsPlan], account: pulumi.Input[str]) -> list[pulumi.Input[str]]:
    """Roles that use the buckets from elsewhere than the network, as patterns: a bucket comes before them.

    Editors of a public domain stand in a network of SageMaker's, and so does the tracking app in any.
    """
    managed = plan.ground.managed
    if managed is None:
        return []
    kinds = [*([] if managed.private_domain else ["people"]), *(["tracking"] if managed.tracking else [])]
    path = plan.ground.roles.path
    return [pulumi.Output.concat("arn:aws:iam::", account, f":role{path}{role_name(_ROLES, kind)}-*") for kind in kinds]


def alert_rules(plan: Plan[AwsPlan], account: pulumi.Input[str]) -> list[pulumi.Input[str]]:
    """The rules that publish to the topic of alerts, as patterns: its policy comes before them."""
    if plan.ground.managed is None:
        return []
    pattern = f":rule/{rule_name(_ALERTS)}-*"
    return [pulumi.Output.concat("arn:aws:events:", plan.ground.region, ":", account, pattern)]


def make_managed(
    plan: Plan[AwsPlan],
    planned: ManagedPlan,
    account: pulumi.Input[str],
    network: AnyNetwork,
    storage: StorageTiers,
    keys: Keys,
    opts: pulumi.ResourceOptions,
) -> Managed:
    """Makes roles, editors, tracking and registry."""
    name, region = plan.core.name, plan.ground.region
    subnets = [network.private_subnet_ids[zone.name] for zone in plan.ground.network.zones]
    wall = TrainingWall("training", {"vpc_id": network.vpc_id, "internet": planned.private_domain}, opts)
    roles = ManagedRoles(
        _ROLES,
        {
            "place": {"region": region, "account_id": account},
            "ceilings": {
                "training_types": planned.training_types,
                "editor_types": planned.editor_types,
                "max_runtime_seconds": planned.max_runtime_hours * 3600,
                "subnet_ids": subnets,
                "security_group_id": wall.security_group_id,
                "output_key_arn": keys.tracking.key_arn,
                "project": dict(plan.core.tags)["project"],
            },
            "tiers": {
                "data_arn": storage.data_bucket["arn"],
                "checkpoints_arn": storage.checkpoints_bucket["arn"],
                "artifacts_arn": storage.artifacts_bucket["arn"],
                "key_arns": [keys.data.key_arn, keys.checkpoints.key_arn, keys.tracking.key_arn],
            },
            "people_arns": sorted({who for team in plan.core.teams for who in team.principals}),
            "model_groups": f"{name}-",
            "image_registries": [
                f"arn:aws:ecr:{region}:{image_account(region)}:repository/*",
                pulumi.Output.concat("arn:aws:ecr:", region, ":", account, ":repository/*"),
            ],
            "tracking": planned.tracking,
        },
        opts,
    )
    domain = ManagedDomain(
        "studio",
        {
            "domain_name": name,
            "vpc_id": network.vpc_id,
            "subnet_ids": subnets,
            "security_group_id": wall.security_group_id,
            "private": planned.private_domain,
            "key_arn": keys.data.key_arn,
            "execution_role_arn": roles.people_role_arn,
            "user_profiles": [seat.name for seat in planned.seats],
            "editor_type": planned.editor_types[0],
            "idle_minutes": planned.idle_minutes,
            "kernel_idle_minutes": planned.kernel_idle_minutes,
            "space_gib": planned.space_gib,
            "max_space_gib": planned.max_space_gib,
            "protect": plan.core.protect,
        },
        pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[*roles.ready, *network.ways_out])),
    )
    roles.edits(domain.domain_id)
    outputs: dict[str, pulumi.Input[object]] = {
        "studioDomain": domain.domain_id,
        "studioUrl": domain.domain_url,
        "peopleRole": roles.people_role_arn,
        "jobRole": roles.job_role_arn,
        "trainingSubnets": subnets,
        "trainingSecurityGroup": wall.security_group_id,
        "outputKey": keys.tracking.key_arn,
        "trainingTypes": list(planned.training_types),
        "maxRuntimeHours": planned.max_runtime_hours,
    }
    app_arn = None
    if roles.tracking_role_arn is not None:
        tracking = ManagedTracking(
            "tracking",
            {
                "app_name": name,
                "role_arn": roles.tracking_role_arn,
                "artifact_uri": pulumi.Output.concat(uri(storage.artifacts_bucket), "/", TRACKING_PREFIX.rstrip("/")),
                "domain_id": domain.domain_id,
                "protect": plan.core.protect,
            },
            pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=roles.ready)),
        )
        # Beside a cluster the server on it has the name.
        uri_output = "managedTrackingUri" if plan.ground.control_planes else "mlflowTrackingUri"
        app_arn = outputs[uri_output] = tracking.app_arn
    groups = [f"{name}-{team.name}" for team in plan.core.teams]
    registry = ModelRegistry("models", {"group_names": groups, "protect": plan.core.protect}, opts)
    outputs["modelGroups"] = registry.group_arns
    ready = [*roles.ready, *roles.trusts_tracking(app_arn), *network.ways_out]
    return Managed(planned, roles, wall, outputs, subnets, keys.tracking.key_arn, ready)


def make_proof(
    plan: Plan[AwsPlan],
    made: Managed,
    storage: StorageTiers,
    opts: pulumi.ResourceOptions,
) -> None:
    """Makes what proves at `pulumi up` that a job trains, after all that a job needs."""
    spec = training_smoke(plan)
    if spec is None:
        return
    # Of every environment on AWS few have one, and the SDK is not for nothing.
    import pulumi_command

    from trainyard.components.training_proof import TrainingProof

    subnets = len(made.subnet_ids)
    values: dict[str, pulumi.Input[str]] = {
        "SMOKE_ROLE_ARN": made.roles.job_role_arn,
        "SMOKE_BUCKET": pulumi.Output.concat(uri(storage.artifacts_bucket), "/", SMOKE_PREFIX),
        "SMOKE_SECURITY_GROUP": made.wall.security_group_id,
        "SMOKE_KMS_KEY": made.output_key_arn,
        **{f"SMOKE_SUBNET_{zone}": subnet for zone, subnet in enumerate(made.subnet_ids)},
    }

    def settings(found: dict[str, str]) -> sagemaker.SagemakerSettings:
        return sagemaker.SagemakerSettings(
            role_arn=found["SMOKE_ROLE_ARN"],
            bucket=found["SMOKE_BUCKET"],
            spot=False,
            subnets=tuple(found[f"SMOKE_SUBNET_{zone}"] for zone in range(subnets)),
            security_groups=(found["SMOKE_SECURITY_GROUP"],),
            kms_key=found["SMOKE_KMS_KEY"],
            tags=plan.core.tags,
        )

    known = pulumi.Output.all(**values)
    TrainingProof(
        spec.name,
        {
            "arguments": [plan.core.stack, "--target", "sagemaker", "--no-spot"],
            "options": [
                "--role-arn=SMOKE_ROLE_ARN",
                "--bucket=SMOKE_BUCKET",
                *(f"--subnet=SMOKE_SUBNET_{zone}" for zone in range(subnets)),
                "--security-group=SMOKE_SECURITY_GROUP",
                "--kms-key=SMOKE_KMS_KEY",
            ],
            "values": values,
            "triggers": [
                # The very request, so that it is judged before there is an account, and another one runs the job again.
                known.apply(lambda found: json.dumps(sagemaker.render(spec, settings(found), spec.name))),
                known.apply(lambda found: digest(json.dumps(sagemaker.files(spec, settings(found), spec.name)))),
            ],
        },
        pulumi.ResourceOptions.merge(
            opts, pulumi.ResourceOptions(providers=[pulumi_command.Provider("command")], depends_on=made.ready)
        ),
    )


def make_alarms(
    plan: Plan[AwsPlan],
    made: Managed,
    budget: BudgetAlerts,
    key_arn: pulumi.Input[str],
    account: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> None:
    """Makes what tells of jobs that end badly or waste GPUs, and what holds people at their budget."""
    JobAlerts(
        _ALERTS,
        {
            "topic_arn": budget.topic_arn,
            "region": plan.ground.region,
            "dashboard_name": plan.core.name,
            "show_spending": made.planned.spending_shown,
        },
        opts,
    )
    alarms = made.planned.alarms
    if alarms is not None:
        JobAlarms(
            _ALERTS,
            {
                "topic_arn": budget.topic_arn,
                "key_arn": key_arn,
                "environment_name": plan.core.name,
                "retention_days": plan.ground.network.flow_log_retention_days,
                "runbooks": alarms.runbooks,
                "gpu_use_percent": alarms.gpu_use_percent,
                "gpus_at_least": alarms.gpus_at_least,
                "idle_minutes": alarms.idle_minutes,
                "failed_percent": alarms.failed_percent,
                "failed_of": alarms.failed_of,
                "wait_hours": alarms.wait_hours,
            },
            opts,
        )
    if not made.planned.deny_over_budget:
        return
    SpendingBrake(
        "managed",
        {
            "account_id": account,
            "budget_name": budget.budget_name,
            "topic_arn": budget.topic_arn,
            "role_names": [made.roles.people_role_name, made.roles.job_role_name],
            "role_arns": [made.roles.people_role_arn, made.roles.job_role_arn],
        },
        opts,
    )
