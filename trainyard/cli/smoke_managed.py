"""`trainyard smoke STACK` where a stack has managed training: the job below the stack's own ceilings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from trainyard.cli.programs import asked, is_there
from trainyard.cli.smoke_options import Target, TargetOptions, tags_of
from trainyard.conventions import MANAGED_NAMES, MANAGED_TARGETS, SMOKE_PREFIX
from trainyard.plan.aws.parts import AwsPlan
from trainyard.plan.aws.training import training_smoke as sagemaker_smoke
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.gcp.training import training_smoke as vertex_smoke
from trainyard.plan.parts import Plan
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec

OUTPUTS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "aws": {
        "role_arn": ("jobRole", "--role-arn"),
        "bucket": ("artifactsBucket", "--bucket"),
        "subnets": ("trainingSubnets", "--subnet"),
        "security_groups": ("trainingSecurityGroup", "--security-group"),
        "kms_key": ("outputKey", "--kms-key"),
    },
    "gcp": {
        "service_account": ("jobAccount", "--service-account"),
        "bucket": ("artifactsBucket", "--bucket"),
        "kms_key": ("outputKey", "--kms-key"),
    },
}
"""By cloud: option by its field, the output of the stack that holds it, and how it is spelt."""

BUCKETS: Mapping[str, str] = {"aws": "s3", "gcp": "gs"}
"""By cloud: how a bucket is addressed."""


def spec_of(plan: Plan, target: Target) -> SmokeSpec:
    """The job of a stack without a cluster. Raises LaunchError."""
    stack, kind = plan.core.stack, plan.ground.kind
    own = MANAGED_TARGETS[kind]
    if target != own:
        raise LaunchError(f"stack {stack} has no cluster, its jobs run on {MANAGED_NAMES[kind]}: --target {own}")
    if kind == "gcp":
        spec = vertex_smoke(cast("Plan[GcpPlan]", plan))
    else:
        spec = sagemaker_smoke(cast("Plan[AwsPlan]", plan))
    if spec is None:
        raise LaunchError(f"stack {stack} has no smoke job: smoke.enabled is false")
    return spec


def placed(plan: Plan, where: TargetOptions, project: Path, given: Mapping[str, str]) -> TargetOptions:
    """The options with the stack's own place where the command line names none: its outputs, which Pulumi tells.

    Raises LaunchError, naming what is missing.
    """
    changes: dict[str, Any] = {} if "spot" in given else {"spot": False}  # a quota of spot is another one, often none
    kind = plan.ground.kind
    if kind == "gcp" and not where.gcp_project:
        changes["gcp_project"] = cast("Plan[GcpPlan]", plan).ground.project
    missing = {field: told for field, told in OUTPUTS[kind].items() if not getattr(where, field)}
    if missing:
        outputs = _outputs(plan.core.stack, project, [flag for _, flag in missing.values()])
        lacking = [output for output, _ in missing.values() if output not in outputs]
        if lacking:
            raise LaunchError(f"stack {plan.core.stack} has no output {', '.join(lacking)} yet: run `pulumi up` first")
        for field, (output, _) in missing.items():
            value = outputs[output]
            if field == "bucket":
                value = f"{BUCKETS[kind]}://{value}/{SMOKE_PREFIX}"
            elif field in ("subnets", "security_groups"):
                value = value if isinstance(value, list) else [value]
            changes[field] = value
    own = cast("Plan[GcpPlan]", plan).ground.labels if kind == "gcp" else plan.core.tags
    tags = dict(own) | tags_of(where)
    return replace(where, tags=[f"{key}={value}" for key, value in tags.items()], **changes)


def _outputs(stack: str, project: Path, flags: list[str]) -> Mapping[str, Any]:
    either = f"give {', '.join(flags)}"
    if not is_there("pulumi"):
        raise LaunchError(f"the stack's outputs are Pulumi's to tell, and `pulumi` is not on the path: {either}")
    done = asked("pulumi", "stack", "output", "--json", "--stack", stack, cwd=project)
    if done.returncode != 0:
        raise LaunchError(f"`pulumi stack output` failed: {done.stderr.strip()}; or {either}")
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found
