"""What is made in a service of AWS and comes to nothing, because its other half is not there or says otherwise.

Sources: Amazon SQS Developer Guide, "Using dead-letter queues" (`redrivePermission`); Amazon EBS User Guide, "Automate
backups with Amazon Data Lifecycle Manager" (target tags); Amazon API Gateway Developer Guide, "Publish HTTP APIs"
(a stage serves what is deployed to it); AWS Certificate Manager User Guide, "DNS validation"; Amazon ECS Developer
Guide, "Use load balancing" (a group of targets needs a load balancer before a service may name it), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from trainyard.recorded.types import (
    AUTOSCALING_GROUP,
    CERTIFICATE,
    DATASYNC_TASK,
    DNS_RECORD,
    EBS_VOLUME,
    EC2_INSTANCE,
    ECS_SERVICE,
    EKS_NODE_GROUP,
    EVENT_SOURCE_MAPPING,
    FUNCTION,
    FUNCTION_PERMISSION,
    FUNCTION_URL,
    HTTP_API,
    HTTP_INTEGRATION,
    IAM_POLICY,
    LAUNCH_TEMPLATE,
    LISTENER_RULE,
    LOG_RESOURCE_POLICY,
    QUEUE,
    ROLE_POLICY,
    SCHEDULE,
    SEARCH_DOMAIN,
)
from trainyard.rehearsal.context import Stack, View, expand, listed, show
from trainyard.rehearsal.refusals.aws.balancers import LISTENER
from trainyard.rehearsal.refusals.aws.containers import target_group
from trainyard.rehearsal.refusals.aws.front_doors import INTEGRATION, METHOD
from trainyard.rehearsal.refusals.aws.state_machines import STATE_MACHINE
from trainyard.rehearsal.refusals.aws.texts import read

_ALLOWS: Final = "aws:sqs/redriveAllowPolicy:RedriveAllowPolicy"
_REDRIVE: Final = "aws:sqs/redrivePolicy:RedrivePolicy"
_SNAPSHOTS: Final = "aws:dlm/lifecyclePolicy:LifecyclePolicy"
_LAYER: Final = "aws:lambda/layerVersion:LayerVersion"
_REST: Final = "aws:apigateway/restApi:RestApi"
_RESOURCE: Final = "aws:apigateway/resource:Resource"
_REST_STAGE: Final = "aws:apigateway/stage:Stage"
_STAGE: Final = "aws:apigatewayv2/stage:Stage"
_VALIDATION: Final = "aws:acm/certificateValidation:CertificateValidation"


def check(stack: Stack) -> None:
    """Every pair of halves."""
    _dead_letters(stack)
    for policy in stack.of_type(_SNAPSHOTS):
        _snapshots(stack, policy)
    for stage in stack.of_type(_STAGE):
        if (stage.lacks("autoDeploy") or stage.flag("autoDeploy") is False) and stage.lacks("deploymentId"):
            stage.warning(
                "programs-switched-off",
                "autoDeploy",
                "is off, and no deployment is named: the stage serves nothing",
                allowed="true, or deploymentId",
            )
    for certificate in stack.of_type(CERTIFICATE):
        _certificate(stack, certificate)
    for integration in stack.of_type(HTTP_INTEGRATION):
        _called(stack, integration)
        _awaited(stack, integration, "integrationUri")
    for integration in stack.of_type(INTEGRATION):
        _awaited(stack, integration, "uri")
    for service in stack.of_type(ECS_SERVICE):
        _balanced(stack, service)
    _logs(stack)
    for function in stack.of_type(FUNCTION):
        _layers(stack, function)
    for method in stack.of_type(METHOD):
        _let_in(stack, method)


_LOGGED: Final = (
    (DATASYNC_TASK, "cloudwatchLogGroupArn", "datasync.amazonaws.com"),
    (SEARCH_DOMAIN, "logPublishingOptions[].cloudwatchLogGroupArn", "es.amazonaws.com"),
    ("aws:route53/queryLog:QueryLog", "cloudwatchLogGroupArn", "route53.amazonaws.com"),
)
"""Who writes to a log group by the account's policy for logs alone."""


def _logs(stack: Stack) -> None:
    """A policy for a log group lets in who writes there; the account may have others, which nobody sees here."""
    policies = [view.text("policyDocument") or "" for view in stack.of_type(LOG_RESOURCE_POLICY)]
    if any(view.is_unknown("policyDocument") for view in stack.of_type(LOG_RESOURCE_POLICY)):
        return
    for type_, at, service in _LOGGED:
        for view in stack.of_type(type_):
            for path, arn in expand(view.inputs, at):
                group = str(arn).removesuffix(":*")
                about = [text for text in policies if group in text]
                if about and not any(service in text for text in policies):
                    view.error(
                        "rights-delivery",
                        path,
                        f"{service} cannot write to log group {group.rpartition(':')[2]}: the policy "
                        "for it lets somebody else in",
                        allowed=f"a LogResourcePolicy for {service}",
                    )


def _layers(stack: Stack, function: View) -> None:
    """A layer says which runtimes and which chips it was built for."""
    chips, runtime = function.texts("architectures") or ["x86_64"], function.text("runtime")
    for layer in stack.of_type(_LAYER):
        if _arn(layer) not in function.texts("layers") or layer.resource.read:
            continue
        of = layer.texts("compatibleArchitectures")
        if (
            of
            and not layer.blurred("compatibleArchitectures")
            and not function.blurred("architectures")
            and not set(chips) & set(of)
        ):
            function.warning(
                "programs-layer",
                "layers",
                f"has layer {layer.name}, built for {', '.join(of)}, and runs on {', '.join(chips)}",
                allowed="a layer of its own architecture",
            )
        runtimes = layer.texts("compatibleRuntimes")
        if runtimes and runtime is not None and runtime not in runtimes and not layer.blurred("compatibleRuntimes"):
            function.warning(
                "programs-layer",
                "layers",
                f"has layer {layer.name}, built for {', '.join(runtimes)}, and runs {runtime}",
                allowed="a layer of its own runtime",
            )


def _let_in(stack: Stack, method: View) -> None:
    """A permission of a function that names a method of a REST interface lets just that one in."""
    rest, resource, verb = (
        method.referred("restApi", _REST),
        method.referred("resourceId", _RESOURCE),
        method.text("httpMethod"),
    )
    path = _path(resource) if resource is not None else None
    source = rest.resource.outputs.get("executionArn") if rest is not None else None
    if rest is None or path is None or verb is None or not isinstance(source, str):
        return
    staged = [
        str(stage.resource.outputs.get("executionArn"))
        for stage in stack.of_type(_REST_STAGE)
        if stage.text("restApi") in (None, rest.resource.id)
    ]
    for integration in stack.of_type(INTEGRATION):
        if (
            integration.text("resourceId") != method.text("resourceId")
            or integration.text("httpMethod") != verb
            or integration.has("credentials")
        ):
            continue
        for function in stack.of_type(FUNCTION):
            arn = _arn(function)
            if not arn or arn not in (integration.text("uri") or "") or function.resource.read:
                continue
            let = [
                view
                for view in stack.of_type(FUNCTION_PERMISSION)
                if view.is_unknown("function")
                or function.resource.urn in view.resource.property_dependencies.get("function", ())
                or view.text("function") in (function.text("name"), arn)
            ]
            asked = f"/{verb if verb != 'ANY' else 'GET'}{path}"
            if not any(_admits(view, asked, source, staged) for view in let):
                integration.error(
                    "rights-delivery",
                    "uri",
                    f"apigateway.amazonaws.com cannot call {function.name} for {verb} {path}: no "
                    "permission of it lets that in",
                    allowed=f"sourceArn …/*/{verb}{path}, or …/*/*",
                )


def _admits(view: View, asked: str, source: str, staged: list[str]) -> bool:
    """Whether a permission lets in what is asked of an interface, on any of its stages."""
    wanted = view.text("sourceArn")
    if view.is_unknown("sourceArn") or view.is_unknown("function") or view.is_unknown("principal"):
        return True
    if view.text("principal") not in ("apigateway.amazonaws.com", "*"):
        return False
    if wanted is None or fnmatchcase(f"{source}/stage{asked}", wanted):
        return True
    for stage in staged:  # a stage's own ARN is the interface's and the name of the stage
        if wanted.startswith(f"{stage}/"):
            return fnmatchcase(asked, wanted.removeprefix(stage))
    _, mark, rest = wanted.removeprefix(f"{source}/").partition("/")
    return wanted.startswith(f"{source}/") and bool(mark) and fnmatchcase(asked, f"/{rest}")


def _path(resource: View) -> str | None:
    """The path of a resource of a REST interface; None where a part of it is not known or is a parameter."""
    part = resource.text("pathPart")
    if part is None or "{" in part:
        return None
    if not resource.resource.property_dependencies.get("parentId"):
        return None
    above = resource.referred("parentId", _RESOURCE)
    if above is None:
        return f"/{part}"
    before = _path(above)
    return None if before is None else f"{before}/{part}"


def _read(text: str | None) -> Mapping[str, Any]:
    found = read(text)
    return found if isinstance(found, dict) else {}


def _arn(view: View) -> str:
    return str(view.resource.outputs.get("arn") or "")


def _dead_letters(stack: Stack) -> None:
    queues = {_arn(view): view for view in stack.of_type(QUEUE)}
    by_id = {str(view.resource.id): view for view in stack.of_type(QUEUE)}
    sends: list[tuple[View, str, str]] = []  # who says it, the queue's ARN, where its dead letters go
    for view in stack.of_type(QUEUE):
        sends.append((view, _arn(view), str(_read(view.text("redrivePolicy")).get("deadLetterTargetArn") or "")))
    for view in stack.of_type(_REDRIVE):
        of = by_id.get(view.text("queueUrl") or "")
        target = str(_read(view.text("redrivePolicy")).get("deadLetterTargetArn") or "")
        sends.append((view, _arn(of) if of is not None else "", target))
    allows: dict[str, Mapping[str, Any]] = {}
    for view in stack.of_type(QUEUE):
        if view.text("redriveAllowPolicy"):
            allows[_arn(view)] = _read(view.text("redriveAllowPolicy"))
    for view in stack.of_type(_ALLOWS):
        of = by_id.get(view.text("queueUrl") or "")
        if of is not None:
            allows[_arn(of)] = _read(view.text("redriveAllowPolicy"))
    for view, source, target in sends:
        if not source or not target:
            continue
        if source == target:
            view.error(
                "sqs-redrive", "redrivePolicy", "names the queue itself for its dead letters", allowed="another queue"
            )
            continue
        other, own = queues.get(target), queues.get(source)
        if other is not None and own is not None and bool(own.flag("fifoQueue")) != bool(other.flag("fifoQueue")):
            view.error(
                "sqs-redrive",
                "redrivePolicy",
                f"names {other.name}, and only one of the two is FIFO",
                allowed="two of one kind",
            )
        said = allows.get(target, {})
        sources = listed(said.get("sourceQueueArns"))
        shut = said.get("redrivePermission") == "denyAll" or (
            said.get("redrivePermission") == "byQueue" and source not in sources
        )
        if shut:
            view.error(
                "sqs-redrive",
                "redrivePolicy",
                f"names {queues[target].name if target in queues else target} for dead letters, "
                "which lets this queue send it none",
                allowed="its redriveAllowPolicy with this queue's ARN",
            )


def _snapshots(stack: Stack, policy: View) -> None:
    wanted = policy.mapping("policyDetails.targetTags")
    kinds = policy.texts("policyDetails.resourceTypes")
    if not wanted or policy.blurred("policyDetails.targetTags") or not kinds:
        return
    types = (EBS_VOLUME, EC2_INSTANCE) if "VOLUME" in kinds else (EC2_INSTANCE,)
    made = [view for type_ in types for view in stack.of_type(type_) if not view.resource.read]
    if (
        not made
        or _are_tagged_elsewhere(stack, kinds)
        or any(view.is_unknown("tags") or view.is_unknown("tagsAll") for view in made)
    ):
        return
    held = [{**view.mapping("tags"), **view.mapping("tagsAll"), **view.mapping("volumeTags")} for view in made]
    if not any(tags.get(key) == value for tags in held for key, value in wanted.items()):
        shown = ", ".join(f"{key}={show(value)}" for key, value in wanted.items())
        policy.warning(
            "reference-backup",
            "policyDetails.targetTags",
            f"choose {shown}, which none of "
            f"{', '.join(view.name for view in made[:4])} has: no snapshot of the stack's is taken",
            allowed="tags of what is to be kept",
        )


_NO_VOLUMES: Final = ("instance", "network-interface", "spot-instances-request", "elastic-gpu")
"""What a template tags beside volumes."""


def _are_tagged_elsewhere(stack: Stack, kinds: list[str]) -> bool:
    """Whether machines that the stack only describes may have tags that nobody sees here, and their volumes.

    A group's tags go to its machines; volumes get those of a template's `tagSpecifications` (EC2 Auto Scaling User
    Guide, "Tag Auto Scaling groups and instances"). A cluster's volumes are made as its pods ask.
    """
    templates, specs = stack.of_type(LAUNCH_TEMPLATE), "tagSpecifications"
    if "VOLUME" not in kinds or stack.of_type(EKS_NODE_GROUP):
        return bool(templates or stack.of_type(AUTOSCALING_GROUP) or stack.of_type(EKS_NODE_GROUP))
    return any(
        view.blurred(specs) or any(entry.get("resourceType") not in _NO_VOLUMES for _, entry in view.items(specs))
        for view in templates
    )


def _certificate(stack: Stack, certificate: View) -> None:
    """A certificate that is proved by a record is issued when the record is there."""
    if (
        certificate.text("validationMethod") != "DNS"
        or certificate.resource.read
        or certificate.has("certificateAuthorityArn")
    ):
        return
    urn = certificate.resource.urn
    used = [
        view
        for view in stack.views
        if urn in (view.resource.dependencies or ())
        and view.type in (LISTENER, "aws:cloudfront/distribution:Distribution")
    ]
    proved = any(
        urn in (view.resource.dependencies or ())
        for view in stack.views
        if view.type in (DNS_RECORD, _VALIDATION) or not view.type.startswith("aws:")
    )
    arn = _arn(certificate)
    if not proved and any(arn in str(view.inputs) for view in used or stack.of_type(LISTENER)):
        certificate.warning(
            "reference-certificate",
            "validationMethod",
            "is DNS, and the stack makes no record that proves it: "
            "unless somebody else does, it is never issued, and who names it is refused",
            allowed="a record of domainValidationOptions, and a CertificateValidation",
        )


def _called(stack: Stack, integration: View) -> None:
    """An API that calls a function, or a name of one, is let in by a permission of just that."""
    uri = integration.text("integrationUri") or ""
    for function in stack.of_type(FUNCTION):
        arn = _arn(function)
        _, found, rest = uri.partition(arn)
        if not arn or not found or function.resource.read or integration.has("credentialsArn"):
            continue
        qualifier = rest.removesuffix("/invocations").lstrip(":")
        if rest and rest[0] not in ":/":
            continue
        let = [
            view
            for view in stack.of_type(FUNCTION_PERMISSION)
            if view.is_unknown("function")
            or function.resource.urn in view.resource.property_dependencies.get("function", ())
            or view.text("function") in (function.text("name"), arn, f"{arn}:{qualifier}")
        ]
        if any(_lets(view, qualifier) for view in let):
            continue
        integration.error(
            "rights-delivery",
            "integrationUri",
            f"apigateway.amazonaws.com cannot call {function.name}"
            f"{':' + qualifier if qualifier else ''}: no permission of it lets it in",
            allowed="a lambda.Permission for apigateway.amazonaws.com"
            + (f" with qualifier {qualifier}" if qualifier else ""),
        )


def _awaited(stack: Stack, integration: View, path: str) -> None:
    """A function that an API alone calls is waited for as long as the API waits: what takes longer is answered with an
    error, while the function goes on and is paid for. Others that call it may wait for longer."""
    uri, at_once = integration.text(path) or "", any("InvocationType" in text for _, text in integration.known_texts)
    api = integration.referred("apiId", HTTP_API)
    if integration.type == HTTP_INTEGRATION and (api is None or api.text("protocolType") != "HTTP"):
        return  # an API of WebSockets is answered later, by another way
    if integration.text("responseTransferMode") == "STREAM":
        return
    unsaid = 30_000 if api is not None else 29_000
    waits = unsaid if integration.lacks("timeoutMilliseconds") else integration.number("timeoutMilliseconds")
    for function in stack.of_type(FUNCTION) if waits is not None and uri and not at_once else ():
        arn = _arn(function)
        may = 3 if function.lacks("timeout") else function.number("timeout")
        if not arn or not re.search(rf"{re.escape(arn)}(?![\w-])", uri) or function.resource.read or may is None:
            continue
        if waits is not None and may * 1000 > waits and _is_called_by_apis_alone(stack, function):
            function.warning(
                "programs-timeout",
                "timeout",
                f"is {may:g} s, and {integration.name} waits for {waits / 1000:g} s: what takes longer is an error to "
                "whoever asks, and goes on all the same",
                allowed=f"at most {waits / 1000:g}",
            )


_CALLERS: Final = (IAM_POLICY, ROLE_POLICY, SCHEDULE, STATE_MACHINE)


def _is_called_by_apis_alone(stack: Stack, function: View) -> bool:
    if any(_tells_of(view, function) for type_ in _CALLERS for view in stack.of_type(type_)):
        return False  # who has a role calls without a permission
    let = [view for view in stack.of_type(FUNCTION_PERMISSION) if _names(view, "function", function)]
    others = [view for type_ in (EVENT_SOURCE_MAPPING, FUNCTION_URL) for view in stack.of_type(type_)]
    return (
        bool(let)
        and all(view.text("principal") == "apigateway.amazonaws.com" for view in let)
        and not any(_names(view, "functionName", function) for view in others)
    )


def _tells_of(view: View, function: View) -> bool:
    arn = _arn(function)
    return function.resource.urn in (view.resource.dependencies or ()) or any(
        arn in text for _, text in view.known_texts
    )


def _names(view: View, path: str, function: View) -> bool:
    """Whether an input names a function, or may."""
    return (
        view.is_unknown(path)
        or function.resource.urn in view.resource.property_dependencies.get(path, ())
        or view.text(path) in (function.text("name"), _arn(function))
    )


def _lets(view: View, qualifier: str) -> bool:
    if view.text("principal") not in ("apigateway.amazonaws.com", "*", None) or view.is_unknown("qualifier"):
        return view.text("principal") in ("apigateway.amazonaws.com", "*", None)
    named = view.text("qualifier") or (
        "" if (view.text("function") or "").count(":") < 7 else (view.text("function") or "").rpartition(":")[2]
    )
    return named == qualifier


def _sent_to(stack: Stack) -> str | None:
    """All that listeners do, as a text that has the groups in it; None where a part of it is not known."""
    views = [view for type_ in (LISTENER, LISTENER_RULE) for view in stack.of_type(type_)]
    keys = ("actions", "defaultActions")
    if any(view.blurred(key) or view.is_unknown(key) for view in views for key in keys):
        return None
    return " ".join(str(view.inputs.get(key)) for view in views for key in keys)


def _balanced(stack: Stack, service: View) -> None:
    """A group that no listener sends to is none of a load balancer's: the service is refused."""
    said = stack.once(_sent_to)
    if said is None:
        return
    for path, entry in service.items("loadBalancers"):
        arn = entry.get("targetGroupArn")
        group = target_group(stack, arn)
        if group is not None and not group.resource.read and str(arn) not in said:
            service.warning(
                "reference-target-group",
                f"{path}.targetGroupArn",
                f"no listener of the stack sends to {group.name}: unless somebody else's does, the service is refused",
                allowed="a listener or a rule that forwards to it",
            )
