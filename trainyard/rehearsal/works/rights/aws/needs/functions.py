"""Functions of AWS Lambda that services call: each caller has to be let in by a permission of the function.

Source: AWS Lambda Developer Guide, "Granting Lambda function access to AWS services", read 2026-11.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from trainyard.recorded.types import BUCKET, EVENT_RULE, FUNCTION, FUNCTION_PERMISSION, LOG_SUBSCRIPTION_FILTER
from trainyard.rehearsal.context import View, expand
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of, names_of

_CALLS: Final = {
    "aws:cloudwatch/eventTarget:EventTarget": ("arn", "events.amazonaws.com"),
    "aws:s3/bucketNotification:BucketNotification": ("lambdaFunctions[].lambdaFunctionArn", "s3.amazonaws.com"),
    "aws:sns/topicSubscription:TopicSubscription": ("endpoint", "sns.amazonaws.com"),
    "aws:secretsmanager/secretRotation:SecretRotation": ("rotationLambdaArn", "secretsmanager.amazonaws.com"),
    LOG_SUBSCRIPTION_FILTER: ("destinationArn", "logs.amazonaws.com"),
}
"""Where a resource names a function that a service calls for it, and the service."""


def check(places: Places) -> None:
    """Notes calls that no permission lets in."""
    functions = {view.resource.urn: view for view in places.stack.of_type(FUNCTION) if not view.resource.read}
    by_name = {name: urn for urn, view in functions.items() for name in names_of(view.resource)}
    permissions: dict[str, list[View]] = {}
    for permission in places.stack.of_type(FUNCTION_PERMISSION):
        if permission.is_unknown("function"):
            return  # it may be of any
        function = permission.referred("function", FUNCTION)
        of = function.resource.urn if function is not None else by_name.get(permission.text("function") or "", "")
        permissions.setdefault(of, []).append(permission)
    for type_, (at, service) in _CALLS.items():
        for view in places.stack.of_type(type_):
            for path, arn in expand(view.inputs, at):
                urn = by_name.get(arn) if isinstance(arn, str) else None
                if urn is not None and not any(
                    _lets(found, service, _source(view)) for found in permissions.get(urn, ())
                ):
                    view.error(
                        "rights-delivery",
                        path,
                        f"{service} cannot call function {functions[urn].name}: no permission of it lets it in",
                        allowed=f"a lambda.Permission for {service}",
                    )


def _lets(permission: View, service: str, source: str) -> bool:
    if permission.is_unknown("principal") or permission.is_unknown("sourceArn") or not source:
        return permission.text("principal") in (service, "*", None)
    wanted = permission.text("sourceArn")
    return permission.text("principal") in (service, "*") and (wanted is None or fnmatchcase(source, wanted))


def _source(view: View) -> str:
    """The ARN of what the service calls for; empty where it is not known."""
    rule = view.referred("rule", EVENT_RULE)
    if rule is not None:
        return arn_of(rule.resource)
    bucket = view.referred("bucket", BUCKET)
    if bucket is not None:
        return arn_of(bucket.resource)
    return view.text("topic") or ""
