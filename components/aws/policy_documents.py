"""The few shapes of IAM policy document that the components write: JSON text, with outputs anywhere inside."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi


def document(statements: Sequence[Mapping[str, Any]]) -> pulumi.Output[str]:
    """A policy document (JSON) of these statements."""
    return pulumi.Output.json_dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(
    sid: str,
    actions: Sequence[str],
    resources: Sequence[pulumi.Input[str]],
    condition: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A statement that allows `actions` on `resources`. `sid` is letters and digits, unique in its document."""
    statement: dict[str, Any] = {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": list(resources),
    }
    if condition is not None:
        statement["Condition"] = dict(condition)
    return statement


def service_trust(
    service: str, account_id: pulumi.Input[str] | None = None, source_arn: pulumi.Input[str] | None = None
) -> pulumi.Output[str]:
    """The trust policy of a role that the AWS service `service` takes, such as `ec2.amazonaws.com`.

    `account_id` and `source_arn` (which may hold wildcards) say for whom it does: else a service can be led to take the
    role on behalf of somebody else (IAM User Guide, "The confused deputy problem"). EC2 says neither when it takes the
    role of an instance, which is bound to the account by its instance profile.
    """
    statement: dict[str, Any] = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    if account_id is not None:
        statement["Condition"] = {"StringEquals": {"aws:SourceAccount": account_id}}
        if source_arn is not None:
            statement["Condition"]["ArnLike"] = {"aws:SourceArn": source_arn}
    return document([statement])


def cluster_arn(cluster_name: str, region: pulumi.Input[str], account_id: pulumi.Input[str]) -> pulumi.Output[str]:
    """The ARN of an EKS cluster, which its own role has to name before it exists."""
    return pulumi.Output.concat("arn:aws:eks:", region, ":", account_id, ":cluster/", cluster_name)
