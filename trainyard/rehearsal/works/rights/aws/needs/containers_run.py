"""Who runs tasks of Amazon ECS hands roles on to them, and what tasks and functions are told to read or write in S3.

Sources: Amazon ECS Developer Guide, "Amazon ECS EventBridge IAM role" and "Infrastructure for EventBridge Scheduler"
(`ecs:RunTask` on the definition, `iam:PassRole` on both roles of a task); AWS Step Functions Developer Guide, "Run
Amazon ECS tasks"; a program reads what its variables name with the rights of its task's role (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import follow
from trainyard.recorded.types import BUCKET, EVENT_TARGET, FUNCTION, SCHEDULE
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.refusals.aws.containers import containers
from trainyard.rehearsal.refusals.aws.conveyors import PIPE
from trainyard.rehearsal.refusals.aws.state_machines import STATE_MACHINE, tasks
from trainyard.rehearsal.refusals.aws.texts import TASK
from trainyard.rehearsal.works.rights.aws.needs.flows_of_data import need
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need, refused
from trainyard.rehearsal.works.rights.aws.needs.places import Places

_RUN: Final = (
    (SCHEDULE, "target.roleArn", "target.ecsParameters", "target.arn"),
    (EVENT_TARGET, "roleArn", "ecsTarget", "arn"),
    (PIPE, "roleArn", "targetParameters.ecsTaskParameters", "target"),
)
"""Who runs tasks: where its role, what it runs, and the cluster stand."""
_PASSED: Final[Mapping[str, str]] = {"iam:PassedToService": "ecs-tasks.amazonaws.com"}
_ADDRESS: Final = re.compile(r"s3a?://(?P<bucket>[a-z0-9][a-z0-9.-]+)/(?P<key>[\w!./=-]+)")
_DONE: Final = ("s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:GetObjectVersion")


def needs(places: Places) -> Iterator[Need]:
    """What runs tasks needs; addresses that nobody with a task's role has any right on are told at once."""
    for type_, role, at, cluster in _RUN:
        for view in places.stack.of_type(type_):
            if view.has(at):
                deeds = list(_of_task(places, view.text(f"{at}.taskDefinitionArn"), view.text(cluster)))
                yield from need(places, view, role, view.text(role), "run its task", deeds)
    for machine in places.stack.of_type(STATE_MACHINE):
        for at, resource, given in tasks(machine):
            if re.match(r"arn:[\w-]+:states:::ecs:runTask", resource):
                named, cluster_arn = (given or {}).get("TaskDefinition"), (given or {}).get("Cluster")
                deeds = list(_of_task(places, named, cluster_arn))
                yield from need(places, machine, f"definition.{at}", machine.text("roleArn"), "run its task", deeds)
    for task in places.stack.of_type(TASK):
        for index, one in enumerate(containers(task)):
            told = {str(follow(entry, "name")): follow(entry, "value") for entry in listed(one.get("environment"))}
            _told(places, task, f"containerDefinitions[{index}]", task.text("taskRoleArn"), told)
    for function in places.stack.of_type(FUNCTION):
        told = dict(function.mapping("environment.variables"))
        _told(places, function, "environment.variables", function.text("role"), told)


def _of_task(places: Places, named: Any, cluster: Any) -> Iterator[Deed]:
    if not isinstance(named, str):
        return
    plain = re.sub(r":\d+$", "", named)
    task = next(
        (
            one
            for one in places.stack.of_type(TASK)
            if plain in (one.text("family"), one.resource.outputs.get("arnWithoutRevision"))
            or named == one.resource.outputs.get("arn")
        ),
        None,
    )
    if task is None or task.resource.read:
        return
    arn, without = (task.resource.outputs.get(key) for key in ("arn", "arnWithoutRevision"))
    if isinstance(arn, str) and isinstance(without, str):
        in_cluster = {"ecs:cluster": cluster} if isinstance(cluster, str) and cluster.startswith("arn:") else {}
        yield Deed("ecs:RunTask", arn, in_cluster, spellings=(without, f"{without}:*"))
    for key in ("executionRoleArn", "taskRoleArn"):
        role = task.text(key)
        if role is not None and places.role(role) is not None:
            yield Deed("iam:PassRole", role, _PASSED)


def _told(places: Places, view: View, path: str, role: str | None, told: Mapping[str, Any]) -> None:
    """Folders of the stack's buckets in variables, on which the role has no right of any kind."""
    taken = places.role(role or "")
    buckets = {one.text("bucket"): one for one in places.stack.of_type(BUCKET) if not one.resource.read}
    for name, value in told.items() if taken is not None and buckets else ():
        found = _ADDRESS.fullmatch(value) if isinstance(value, str) else None
        bucket = buckets.get(found["bucket"]) if found is not None else None
        arn = bucket.resource.outputs.get("arn") if bucket is not None else None
        if found is None or taken is None or not isinstance(arn, str) or view.is_secret(path):
            continue
        wanted = found["key"]
        ways = [f"{arn}/{wanted}", f"{arn}/{wanted.rstrip('/')}/x"]
        if all(refused(places.account, taken[1], Deed(action, ways[1], spellings=(ways[0],))) for action in _DONE):
            view.error(
                "rights-role-lacks", path,
                f"{name} names s3://{found['bucket']}/{wanted}, and role {taken[0].name} may neither read nor write "
                "anything there", allowed="a statement for that folder, or a folder of its statements",
            )  # fmt: skip
