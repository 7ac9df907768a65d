"""Domains, user profiles and spaces: what ends an editor, what it reaches, how much disk it has."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import ROUTE, ROUTE_TABLE, SAGEMAKER_DOMAIN, SAGEMAKER_USER, VPC, VPC_ENDPOINT
from trainyard.rehearsal.context import Stack, View, show

DOMAIN: Final = SAGEMAKER_DOMAIN
USER_PROFILE: Final = SAGEMAKER_USER
SPACE: Final = "aws:sagemaker/space:Space"
APP: Final = "aws:sagemaker/app:App"
SCRIPT: Final = "aws:sagemaker/studioLifecycleConfig:StudioLifecycleConfig"

MOST_GROUPS: Final = 4
"""Security groups of an editor: five, of which SageMaker adds one of its own (API, UserSettings.SecurityGroups)."""

_EDITORS: Final = ("jupyterLabAppSettings", "codeEditorAppSettings")
_SETTINGS: Final = ((DOMAIN, "defaultUserSettings"), (USER_PROFILE, "userSettings"))
_IDLE: Final = "appLifecycleManagement.idleSettings"
_WAYS_OUT: Final = ("natGatewayId", "transitGatewayId", "networkInterfaceId", "gatewayId", "vpcPeeringConnectionId")


def check(stack: Stack) -> None:
    """Looks at every domain with its people, and at scripts and running machines."""
    for type_, settings in _SETTINGS:
        for view in stack.of_type(type_):
            _groups(view, settings)
            _hidden(view, settings)
            _disk(view, f"{settings}.spaceStorageSettings.defaultEbsStorageSettings")
            for editor in _EDITORS:
                _idle(view, f"{settings}.{editor}.{_IDLE}")
                _script_of(view, f"{settings}.{editor}")
    for view in stack.of_type(SPACE):
        for editor in _EDITORS:
            # A space says its timeout alone: the bounds are the domain's.
            _idle(view, f"spaceSettings.{editor}.{_IDLE}")
    for domain in stack.of_type(DOMAIN):
        _one_without(domain)
        _private(domain, stack)
    for script in stack.of_type(SCRIPT):
        _content(script)
    for person in stack.of_type(USER_PROFILE):
        _signs_in(person)
    for app in stack.of_type(APP):
        message = (
            "is a running machine: it is paid for from this `up` on, idle settings delete it, the next `up` makes it"
        )
        app.warning("managed-app-made", "appType", message, hint="leave it out: people open theirs")


def _signs_in(person: View) -> None:
    """A profile names a person of IAM Identity Center where the domain asks that, and nowhere else."""
    domain = person.referred("domainId", DOMAIN)
    mode = domain.text("authMode") if domain is not None else None
    named = "singleSignOnUserIdentifier"
    if mode == "IAM" and (person.has(named) or person.has("singleSignOnUserValue")):
        message = "names a person of IAM Identity Center, and the domain signs in by IAM: it is refused"
        person.error("managed-sign-in", named, message, allowed="none, or authMode SSO of the domain")
    elif mode == "SSO" and person.lacks(named):
        message = "names nobody, and the domain signs in by IAM Identity Center: it is refused"
        person.error("managed-sign-in", named, message, allowed="UserName")


def _idle(view: View, path: str) -> None:
    timeout = view.number(f"{path}.idleTimeoutInMinutes")
    least, most = view.number(f"{path}.minIdleTimeoutInMinutes"), view.number(f"{path}.maxIdleTimeoutInMinutes")
    for low, high, what in (
        (least, timeout, "the timeout is below its least"),
        (timeout, most, "the timeout is above its most"),
        (least, most, "the least is above the most"),
    ):
        if low is not None and high is not None and low > high:
            message = f"{what}: {low:g} and {high:g} minutes"
            view.error("managed-idle-bounds", path, message, allowed="least, timeout and most in this order")
            break
    if (
        view.resource.type != SPACE
        and timeout is not None
        and not view.is_unknown(f"{path}.lifecycleManagement")
        and view.text(f"{path}.lifecycleManagement") != "ENABLED"
    ):
        message = f"a timeout of {timeout:g} minutes that stops nothing: lifecycleManagement is not ENABLED"
        view.warning("managed-idle-off", path, message, allowed="ENABLED")


def _one_without(domain: View) -> None:
    """People switch to the editor that nothing stops."""
    states = {editor: _is_stopped(domain, f"defaultUserSettings.{editor}.{_IDLE}") for editor in _EDITORS}
    if True in states.values() and False in states.values():
        editor = next(name for name, stopped in states.items() if stopped is False)
        path = f"defaultUserSettings.{editor}"
        message = "has no idle settings, while the other editor has: here nothing stops a machine"
        domain.warning("managed-idle-one-editor", path, message, hint="give both the same")


def _is_stopped(view: View, path: str) -> bool | None:
    if view.lacks(path):
        return False
    state = view.text(f"{path}.lifecycleManagement")
    return None if state is None else state == "ENABLED"


def _groups(view: View, settings: str) -> None:
    path = f"{settings}.securityGroups"
    count = len(view.entries(path))
    if count > MOST_GROUPS:
        message = f"{count} security groups, and SageMaker adds one of its own to at most five"
        view.error("managed-too-many-groups", path, message, allowed=f"at most {MOST_GROUPS}")


def _hidden(view: View, settings: str) -> None:
    """An editor that is set up is one that people find on the page of Studio."""
    path = f"{settings}.studioWebPortalSettings.hiddenAppTypes"
    for index, kind in enumerate(view.entries(path)):
        editor = f"{settings}.{kind[0].lower()}{kind[1:]}AppSettings" if isinstance(kind, str) and kind else ""
        if editor.endswith(tuple(f".{one}" for one in _EDITORS)) and view.mapping(editor):
            message = f"{kind} is set up and hidden: nobody finds it on the page"
            view.error("managed-editor-hidden", f"{path}[{index}]", message, hint="leave it out of the list")


def _disk(view: View, path: str) -> None:
    usual, most = view.number(f"{path}.defaultEbsVolumeSizeInGb"), view.number(f"{path}.maximumEbsVolumeSizeInGb")
    if usual is not None and most is not None and usual > most:
        message = f"the disk that an editor has is larger than the largest: {usual:g} and {most:g} GB"
        view.error("managed-disk-above-maximum", path, message, allowed=f"at most {most:g} GB")


def _script_of(view: View, editor: str) -> None:
    """The script that an editor starts with has to be one of those attached."""
    used, attached = f"{editor}.defaultResourceSpec.lifecycleConfigArn", f"{editor}.lifecycleConfigArns"
    if view.text(used) is None or view.blurred(attached):
        return
    if view.text(used) not in view.texts(attached):
        message = "is not among lifecycleConfigArns: SageMaker starts no script that is not attached"
        view.error("managed-script-not-attached", used, message, hint=f"add it to {attached}")


def _content(script: View) -> None:
    content = script.text("studioLifecycleConfigContent")
    if content is None:
        return
    try:
        text = base64.b64decode(content, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        message = f"is no base64: {show(content)}; no editor would start"
        script.error(
            "managed-script-not-encoded", "studioLifecycleConfigContent", message, allowed="base64 of a script"
        )
        return
    if not text.startswith("#!"):
        message = "does not begin with #!: what runs it is not said"
        script.warning("managed-script-not-encoded", "studioLifecycleConfigContent", message, allowed="#!/bin/bash")


def _private(domain: View, stack: Stack) -> None:
    if domain.text("appNetworkAccessType") != "VpcOnly":
        return
    path = "defaultUserSettings.securityGroups"
    if domain.lacks(path) or domain.value(path) == []:
        message = "appNetworkAccessType is VpcOnly, and editors have no security group"
        domain.error("managed-private-without-groups", path, message, allowed="one to four security groups")
    network = domain.referred("vpcId", VPC)
    if network is None or network.resource.id != domain.value("vpcId") or any(_leads_out(stack)) or _endpoint(stack):
        return
    if network.resource.read:  # somebody else's, whose routes nobody recorded
        return
    message = "appNetworkAccessType is VpcOnly, and nothing recorded leads out of the VPC: no editor reaches SageMaker"
    hint = "a NAT gateway, or interface endpoints of sagemaker.api, sagemaker.runtime, sts and studio"
    domain.warning("managed-private-without-way-out", "vpcId", message, hint=hint)


def _leads_out(stack: Stack) -> Iterator[bool]:
    """Whether a route leads beyond the network, or may: also those written in a table itself."""
    for route in stack.of_type(ROUTE):
        yield any(route.has(way) for way in _WAYS_OUT)
    for table in stack.of_type(ROUTE_TABLE):
        yield table.has("routes")


def _endpoint(stack: Stack) -> bool:
    names = [view.text("serviceName") for view in stack.of_type(VPC_ENDPOINT)]
    return any(name is None or name.endswith("sagemaker.api") for name in names)
