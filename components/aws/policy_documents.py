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


def service_trust(service: str) -> pulumi.Output[str]:
    """The trust policy of a role that the AWS service `service` takes, such as `ec2.amazonaws.com`."""
    return document([{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}])
