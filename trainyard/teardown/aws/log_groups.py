"""Log groups that services make again once Pulumi has deleted them: what still flows needs a place.

EKS's service-linked role makes `/aws/eks/<cluster>/cluster` anew while the control plane's last lines come
(terraform-aws-modules/terraform-aws-eks, issue 2763); RDS, FSx, VPC flow logs, Lambda and the CloudWatch agent have the
same way of writing. Such a group has none of the environment's tags, is kept for ever, and stops the next `up`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from trainyard.account.aws import Account, RefusedError
from trainyard.recorded.types import EKS_CLUSTER, LOG_GROUP
from trainyard.teardown.cloud import Say
from trainyard.teardown.state import State

LOOK_SECONDS: Final = 30.0
QUIET_LOOKS: Final = 10
"""Looks in a row, five minutes together, that find nothing made again: then nobody writes any more. CloudWatch gets a
control plane's lines within minutes; how late the last may come is published nowhere."""
MOST_LOOKS: Final = 40
"""Twenty minutes: what is made again until then is told by the proof."""

_OF_CLUSTER: Final = ("/aws/eks/{}/cluster", *(f"/aws/containerinsights/{{}}/{part}" for part in (
    "application", "dataplane", "host", "performance",
)))  # fmt: skip
"""Groups that services make for a cluster whether the stack had them or not (CloudWatch user guide, "Container Insights
metrics"; 2026-11)."""


def names_of(stood: Iterable[State]) -> list[str]:
    """The groups that a stack has in any of its states, and those that services make for its clusters."""
    states = list(stood)
    own = [str(each["id"]) for state in states for each in state.of(LOG_GROUP)]
    clusters = [
        pattern.format(each["id"]) for state in states for each in state.of(EKS_CLUSTER) for pattern in _OF_CLUSTER
    ]
    return list(dict.fromkeys((*own, *clusters)))


def made_again(names: Iterable[str], since: datetime, marks: Iterable[str], account: Account) -> Iterator[str]:
    """Those of the groups that were made since then and have none of these keys of tags: no program of ours made them.

    What is older was never the stack's: Container Insights that somebody turned on by hand has its history there.
    Their own service is asked for the tags: the tagging service tells those of a deleted group for hours.
    """
    wanted, from_ms = set(marks), since.timestamp() * 1000
    for name in names:
        for each in account.each("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name):
            if each["logGroupName"] != name or each["creationTime"] < from_ms:
                continue
            if not wanted & _tags(each, account).keys():
                yield name


def sweep_log_groups(
    stood: Iterable[State],
    since: datetime,
    marks: Iterable[str],
    account: Account,
    say: Say,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Deletes groups that services make again, until none has come for a while; how many were deleted.

    One that keeps coming is left to the proof, which says how to take it away later.
    """
    names, keys = names_of(stood), list(marks)
    if not names:
        return 0
    say(f"waiting until no service makes a log group again (about {QUIET_LOOKS * LOOK_SECONDS / 60:g} minutes)")
    swept = quiet = 0
    for look in range(MOST_LOOKS):
        found = list(made_again(names, since, keys, account))
        for name in found:
            say(f"deleting log group {name}, which a service made again")
            _delete(name, account)
        swept += len(found)
        quiet = 0 if found else quiet + 1
        if quiet >= QUIET_LOOKS:
            break
        if look < MOST_LOOKS - 1:
            sleep(LOOK_SECONDS)
    return swept


def _delete(name: str, account: Account) -> None:
    try:
        account.call("logs", "delete_log_group", logGroupName=name)
    except RefusedError as error:
        if not error.is_absence:
            raise


def _tags(group: dict[str, Any], account: Account) -> dict[str, str]:
    try:
        found = account.call("logs", "list_tags_for_resource", resourceArn=group["arn"].removesuffix(":*"))
    except RefusedError as error:
        if error.is_absence:
            return {}
        raise
    return dict(found.get("tags") or {})
