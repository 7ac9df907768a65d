"""Containers of Amazon ECS: what Fargate sells, what a task's containers need of the task, and a service of its task.

Sources: Amazon ECS Developer Guide, "Amazon ECS task definition parameters for Fargate" (sizes, network mode, roles)
and "Service definition parameters"; Application Auto Scaling API reference, `RegisterScalableTarget` (ids, dimensions)
and `PutScalingPolicy` (metrics), 2026-11.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import ECS_SERVICE, SCALING_POLICY, SCALING_TARGET
from trainyard.rehearsal.context import Stack, View, by_name, listed, show
from trainyard.rehearsal.refusals.aws.texts import TASK, read
from trainyard.rehearsal.refusals.rules import Rules

TARGET_GROUP: Final = "aws:lb/targetGroup:TargetGroup"
_GIB: Final = 1024
_SIZES: Final = {
    256: (512, 1024, 2048),
    512: tuple(range(1024, 4097, 1024)),
    1024: tuple(range(2048, 8193, 1024)),
    2048: tuple(range(4096, 16385, 1024)),
    4096: tuple(range(8192, 30721, 1024)),
    8192: tuple(range(16384, 61441, 4096)),
    16384: tuple(range(32768, 122881, 8192)),
}
"""MiB of memory that Fargate sells with so many CPU units."""


def _units(text: Any, word: str, each: int) -> float | None:
    """A size as a number of units, whichever way it is written: `1024`, `1 vCPU`, `2 GB`."""
    if isinstance(text, str) and (found := re.fullmatch(rf"\s*(\d+(?:\.\d*)?|\.\d+)\s*{word}\s*", text, re.I)):
        return float(found[1]) * each
    return as_number(text)


def containers(definition: View) -> list[Mapping[str, Any]]:
    """The containers of a task definition; none where they are not known."""
    return [one for one in listed(read(definition.text("containerDefinitions"))) if isinstance(one, dict)]


def task(view: View) -> None:
    """What Fargate takes, and what containers need of their task."""
    on_fargate = "FARGATE" in view.texts("requiresCompatibilities")
    if on_fargate:
        _fargate(view)
    names = [one.get("name") for one in containers(view)]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        view.error("ecs-task", "containerDefinitions", f"has {', '.join(twice)} twice", allowed="each name once")
    if names and all(one.get("essential") is False for one in containers(view)):
        view.error("ecs-task", "containerDefinitions", "has no container that is essential", allowed="one at least")
    memory = _units(view.value("memory"), "GB", _GIB)
    for index, one in enumerate(containers(view)):
        at, own = f"containerDefinitions[{index}]", as_number(one.get("memory"))
        _within_its_task(view, at, one, names)
        _logged(view, at, one, on_fargate=on_fargate)
        if one.get("secrets") and view.lacks("executionRoleArn"):
            view.error("ecs-task", "executionRoleArn", "is missing beside secrets", allowed="a role that may read them")
        if own is not None and memory is not None and own > memory:
            told = f"got {own:g}, and the task has {memory:g}"
            view.error("ecs-task", f"{at}.memory", told, allowed=f"at most {memory:g}")


def _fargate(view: View) -> None:
    mode = view.text("networkMode")
    if view.lacks("networkMode") or mode not in (None, "awsvpc"):
        view.error("ecs-fargate", "networkMode", f"got {show(mode) if mode else 'none'}", allowed="awsvpc on Fargate")
    for name in ("cpu", "memory"):
        if view.lacks(name):
            view.error("ecs-fargate", name, "is missing on Fargate", allowed="a size that Fargate sells")
    cpu, memory = _units(view.value("cpu"), "vCPU", _GIB), _units(view.value("memory"), "GB", _GIB)
    for name, size in (("cpu", cpu), ("memory", memory)):
        if size is None and view.text(name):
            view.error("ecs-fargate", name, f"got {show(view.text(name))}", allowed="a size: 1024, 1 vCPU or 2 GB")
    if cpu is not None and cpu not in _SIZES:
        view.error("ecs-fargate", "cpu", f"got {cpu:g}", allowed=", ".join(map(str, _SIZES)))
    elif cpu is not None and memory is not None and memory not in _SIZES[int(cpu)]:
        sold = _SIZES[int(cpu)]
        told = f"got {memory:g} MiB with {cpu:g} CPU units"
        view.error("ecs-fargate", "memory", told, allowed=f"{sold[0]} to {sold[-1]} in steps that Fargate sells")
    asked = [need.get("type") for one in containers(view) for need in _dicts(one.get("resourceRequirements"))]
    if "GPU" in asked:
        view.error("ecs-fargate", "containerDefinitions", "asks for a GPU: Fargate has none", allowed="EC2")


def _within_its_task(view: View, at: str, one: Mapping[str, Any], names: list[Any]) -> None:
    """Volumes, other containers and ports that a container names are there."""
    volumes = {entry.get("name") for _, entry in view.items("volumes")}
    for mount in _dicts(one.get("mountPoints")):
        source = mount.get("sourceVolume")
        if isinstance(source, str) and source not in volumes and not view.blurred("volumes"):
            allowed = ", ".join(sorted(map(str, volumes))) or "a volume of the task"
            view.error("ecs-task", at, f"mounts {show(source)}, which is no volume of the task", allowed=allowed)
    for other in _dicts(one.get("dependsOn")):
        if other.get("containerName") not in names:
            told = f"waits for {show(other.get('containerName'))}, which is no container"
            view.error("ecs-task", at, told, allowed=", ".join(map(str, names)))
    for port in _dicts(one.get("portMappings")):
        inner, outer = port.get("containerPort"), port.get("hostPort")
        if view.text("networkMode") == "awsvpc" and outer not in (None, 0, inner):
            view.error("ecs-task", at, f"maps port {inner} to {outer}", allowed="the same port in awsvpc")


def _logged(view: View, at: str, one: Mapping[str, Any], *, on_fargate: bool) -> None:
    logs = one.get("logConfiguration")
    options = logs.get("options") if isinstance(logs, dict) and logs.get("logDriver") == "awslogs" else None
    if not isinstance(options, dict):
        return
    needed = ("awslogs-group", "awslogs-region", *(("awslogs-stream-prefix",) if on_fargate else ()))
    for option in needed:
        if option not in options:
            view.error("ecs-task", at, f"writes its log without {option}", allowed=option)
    if on_fargate and view.lacks("executionRoleArn"):
        view.error("ecs-task", "executionRoleArn", "is missing beside awslogs on Fargate", allowed="a role")


def _dicts(value: Any) -> Iterator[Mapping[str, Any]]:
    return (one for one in listed(value) if isinstance(one, dict))


def service(view: View) -> None:
    """A service against its task and the groups that its load balancer sends to."""
    balanced = not view.lacks("loadBalancers") or not view.lacks("vpcLatticeConfigurations")
    if view.number("healthCheckGracePeriodSeconds") and not balanced:
        view.error("ecs-service", "healthCheckGracePeriodSeconds", "is given without a load balancer", allowed="none")
    low, high = view.number("deploymentMinimumHealthyPercent"), view.number("deploymentMaximumPercent")
    if low is not None and high is not None and low >= high:
        view.warning(
            "ecs-service",
            "deploymentMinimumHealthyPercent",
            f"{low:g} is not below deploymentMaximumPercent {high:g}",
            allowed="below it: nothing could be deployed",
        )
    definition = view.referred("taskDefinition", TASK)
    if definition is None:
        return
    mode = definition.text("networkMode")
    if mode == "awsvpc" and view.lacks("networkConfiguration"):
        view.error("ecs-service", "networkConfiguration", "is missing for a task in awsvpc", allowed="its subnets")
    if mode in ("bridge", "host") and view.has("networkConfiguration"):
        view.error("ecs-service", "networkConfiguration", f"is given for a task in {mode}", allowed="awsvpc")
    if (
        view.text("launchType") == "FARGATE"
        and "FARGATE" not in (kinds := definition.texts("requiresCompatibilities"))
        and kinds
    ):
        view.error(
            "ecs-service", "launchType", f"is FARGATE, and its task is for {', '.join(kinds)}", allowed="FARGATE"
        )
    known = by_name(containers(definition))
    for path, entry in view.items("loadBalancers"):
        name, port = entry.get("containerName"), as_number(entry.get("containerPort"))
        container = known.get(str(name))
        if known and isinstance(name, str) and container is None:
            view.error(
                "ecs-service",
                f"{path}.containerName",
                f"got {show(name)}, which is no container of its task",
                allowed=", ".join(known),
                hint=nearest(name, known),
            )
        if container is not None and port is not None:
            ports = [as_number(one.get("containerPort")) for one in _dicts(container.get("portMappings"))]
            if port not in ports:
                shown = ", ".join(f"{one:g}" for one in ports if one is not None)
                view.error(
                    "ecs-service",
                    f"{path}.containerPort",
                    f"got {port:g}, which container {name} does not map",
                    allowed=shown or "a port in its portMappings",
                )
        group = target_group(view.stack, entry.get("targetGroupArn"))
        if group is None or mode != "awsvpc" or group.is_unknown("targetType"):
            continue
        if (group.text("targetType") or "instance") == "instance":
            told = f"is instance, and the tasks of {view.name} have addresses of their own"
            group.error("ecs-service", "targetType", told, allowed="ip")


def target_group(stack: Stack, arn: Any) -> View | None:
    """The group of targets that has this ARN; None where it is no text, or none of the stack's."""
    return stack.once(_target_groups).get(arn) if isinstance(arn, str) else None


def target_groups(view: View, *paths: str) -> list[View]:
    """The groups that the entries of its lists at `paths` name by `targetGroupArn`, each once."""
    named = (target_group(view.stack, entry.get("targetGroupArn")) for path in paths for _, entry in view.items(path))
    return list({group.resource.urn: group for group in named if group is not None}.values())


def _target_groups(stack: Stack) -> dict[str, View]:
    groups = [(view.resource.outputs.get("arn"), view) for view in stack.of_type(TARGET_GROUP)]
    often = Counter(arn for arn, _ in groups if isinstance(arn, str))  # stand-ins of one logical name are alike
    return {arn: view for arn, view in groups if isinstance(arn, str) and often[arn] == 1}


_RESOURCES: Final = {
    "ecs": (r"service/[^/]+/[^/]+", "service/CLUSTER/SERVICE"),
    "sagemaker": (r"endpoint/[^/]+/variant/[^/]+|inference-component/.+", "endpoint/NAME/variant/VARIANT"),
    "dynamodb": (r"table/[^/]+(/index/[^/]+)?", "table/NAME"),
    "lambda": (r"function:[^:]+:[^:]+", "function:NAME:ALIAS"),
    "ec2": (r"spot-fleet-request/.+", "spot-fleet-request/ID"),
    "elasticache": (r"(replication-group|cache-cluster|serverless-cache)/.+", "replication-group/ID"),
    "rds": (r"cluster:.+", "cluster:ID"),
    "elasticmapreduce": (r"instancegroup/.+/.+", "instancegroup/CLUSTER/GROUP"),
    "kafka": (r"arn:.+", "the cluster's ARN"),
}
_PREDEFINED: Final = {
    "ALBRequestCountPerTarget": "ecs ec2",
    "AppStreamAverageCapacityUtilization": "appstream",
    "CassandraReadCapacityUtilization": "cassandra",
    "CassandraWriteCapacityUtilization": "cassandra",
    "DynamoDBReadCapacityUtilization": "dynamodb",
    "DynamoDBWriteCapacityUtilization": "dynamodb",
    "EC2SpotFleetRequestAverageCPUUtilization": "ec2",
    "EC2SpotFleetRequestAverageNetworkIn": "ec2",
    "EC2SpotFleetRequestAverageNetworkOut": "ec2",
    "ECSServiceAverageCPUUtilization": "ecs",
    "ECSServiceAverageMemoryUtilization": "ecs",
    "KafkaBrokerStorageUtilization": "kafka",
    "LambdaProvisionedConcurrencyUtilization": "lambda",
    "RDSReaderAverageCPUUtilization": "rds",
    "RDSReaderAverageDatabaseConnections": "rds",
    "SageMakerVariantInvocationsPerInstance": "sagemaker",
    "SageMakerVariantProvisionedConcurrencyUtilization": "sagemaker",
    "SageMakerInferenceComponentInvocationsPerCopy": "sagemaker",
}
"""Which services have which metric of a target that is tracked."""


def scaled(view: View) -> None:
    """What is scaled is called as its service calls it, and between two numbers."""
    service, dimension = view.text("serviceNamespace"), view.text("scalableDimension")
    least, most = view.number("minCapacity"), view.number("maxCapacity")
    if least is not None and most is not None and least > most:
        view.error("scaling-target", "minCapacity", f"{least:g} is above maxCapacity {most:g}", allowed="at most it")
    if service is not None and dimension is not None and dimension.partition(":")[0] != service:
        view.error("scaling-target", "scalableDimension", f"got {dimension} with {service}", allowed=f"{service}:…")
    form, named = _RESOURCES.get(service or "", ("", "")), view.text("resourceId")
    if form[0] and named is not None and not re.fullmatch(form[0], named):
        view.error("scaling-target", "resourceId", f"got {show(named)}", allowed=form[1])
    if view.type != SCALING_POLICY:
        return
    kind = view.text("policyType") or "StepScaling"
    wanted = {
        "TargetTrackingScaling": "targetTrackingScalingPolicyConfiguration",
        "StepScaling": "stepScalingPolicyConfiguration",
        "PredictiveScaling": "predictiveScalingPolicyConfiguration",
    }.get(kind)
    if wanted is not None and view.lacks(wanted) and not view.is_unknown("policyType"):
        view.error("scaling-policy", wanted, f"is missing for {kind}", allowed=wanted)
    metric = view.text("targetTrackingScalingPolicyConfiguration.predefinedMetricSpecification.predefinedMetricType")
    if metric in _PREDEFINED and service is not None and service not in _PREDEFINED[metric].split():
        view.error(
            "scaling-policy",
            "targetTrackingScalingPolicyConfiguration.predefinedMetricSpecification.predefinedMetricType",
            f"got {metric} for {service}",
            allowed=f"a metric of {service}",
        )


RULES: Final[Rules] = {task: (TASK,), service: (ECS_SERVICE,), scaled: (SCALING_TARGET, SCALING_POLICY)}
