"""Whether something is there already that the stack would make under the same name, or that there is one of only."""

from __future__ import annotations

from typing import Any, Final

from trainyard.account.aws import Account, RefusedError, tags_in
from trainyard.account.marks import marks_of
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Lines, lines_of
from trainyard.recorded.read import value_at
from trainyard.recorded.types import DETECTOR, LOG_GROUP

NAME: Final = "already there"
_line = lines_of(NAME)


def check(subject: AwsSubject, account: Account) -> Lines:
    """Clusters and log groups by their names, and the one GuardDuty detector of a region."""
    found = [*_clusters(subject, account), *_log_groups(subject, account), *_detector(subject, account)]
    yield from found
    if not found:
        yield _line("names", Answer.FINE, "nothing is there under a name that the stack gives")


def _clusters(subject: AwsSubject, account: Account) -> Lines:
    for cluster in subject.plan.clusters:
        try:
            there = account.call("eks", "describe_cluster", name=cluster.name)["cluster"]
        except RefusedError as error:
            if error.is_absence:
                continue
            raise
        if _is_own(there, subject):
            yield _line(cluster.name, Answer.FINE, f"cluster {cluster.name} is this stack's, from an earlier `up`")
        else:
            told = f"there is a cluster {cluster.name} already, and it is not this stack's"
            yield _line(cluster.name, Answer.FAILS, told, "give the stack another client or environment")


def _log_groups(subject: AwsSubject, account: Account) -> Lines:
    """EKS makes a deleted cluster's log group anew: with the name that the next `up` wants to make."""
    marks = marks_of(subject.plan.core.tags)
    for resource in subject.resources.of(LOG_GROUP):
        if "name" in resource.from_check:
            continue
        name = value_at(resource.inputs, "name", unknown=None)
        if not isinstance(name, str):
            continue
        there = [
            each
            for each in account.each("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
            if each["logGroupName"] == name
        ]
        if not there:
            continue
        tags = account.call("logs", "list_tags_for_resource", resourceArn=there[0]["arn"].removesuffix(":*"))
        if marks.items() <= tags_in(tags).items():
            yield _line(name, Answer.FINE, f"log group {name} is this stack's, from an earlier `up`")
            continue
        command = f"aws logs delete-log-group --log-group-name {name} --region {account.region}"
        told = f"there is a log group {name} already, as EKS makes one anew after a cluster is deleted"
        yield _line(name, Answer.FAILS, told, "delete it, or import it into the stack", command)


def _detector(subject: AwsSubject, account: Account) -> Lines:
    if not subject.resources.of(DETECTOR):
        return
    for id_ in account.each("guardduty", "list_detectors", "DetectorIds"):
        if _is_own(account.call("guardduty", "get_detector", DetectorId=id_), subject):
            yield _line("GuardDuty", Answer.FINE, f"detector {id_} is this stack's, from an earlier `up`")
            continue
        told = f"there is a detector {id_} in {account.region}, and a region has one only"
        remedy = "say whose it is: `audit: { threatDetection: { by: account, reason: ... } }`"
        yield _line("GuardDuty", Answer.FAILS, told, remedy)


def _is_own(entry: dict[str, Any], subject: AwsSubject) -> bool:
    return marks_of(subject.plan.core.tags).items() <= tags_in(entry).items()
