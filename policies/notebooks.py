"""Notebooks: who comes in, and that what nobody uses gives its GPU back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.notebooks import KERNELS, hubs, server_settings
from trainyard.recorded.read import as_number, is_set, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import HELM_RELEASE

_CONFIG = ("values", "hub", "config")
_FILES = ("valueYamlFiles",)
"""Files of values, which a recording does not hold: a release with some is not judged by the rest."""
CHART_AUTHENTICATOR: Final = "dummy"
CHART_SERVICE: Final = "LoadBalancer"
CHART_TIMEOUT_S: Final = 3600
"""What the chart has where its values do not say (jupyterhub 4.4.0)."""
_ANYBODY: Final = ("dummy", "null", "tmp", "first-use", "native")
"""Authenticators that ask nobody else who somebody is: JupyterHub's own for trials, and those where whoever comes first
chooses a password (JupyterHub documentation, authenticators, 2026-11)."""


@stack_rule(
    "notebooks-let-anybody-in",
    "A hub of notebooks must ask an identity provider who somebody is, and let in those whom it is for.",
    types=(HELM_RELEASE,),
    severity=Severity.CRITICAL,
    controls=("ISO 27001:2022 A.5.15", "NIST 800-53r5 AC-3"),
    fix="Set hub.config.JupyterHub.authenticator_class to an identity provider's, with who is allowed; no allow_all.",
)
def notebooks_let_anybody_in(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """An authenticator that is configured in Python, or in a Secret, is not judged."""
    for release in _told_by_values(resources):
        if any(is_set(release.inputs, "values", "hub", key) for key in ("extraConfig", "existingSecret")):
            continue
        kind = str(value_at(release.inputs, *_CONFIG, "JupyterHub", "authenticator_class", default=CHART_AUTHENTICATOR))
        if kind.lower() in _ANYBODY or kind.rpartition(".")[2].lower().startswith(("dummy", "null", "tmp")):
            yield release, f"its authenticator is {kind}: whoever reaches it is whom he likes"
        config = value_at(release.inputs, *_CONFIG, default={})
        for section in config:
            if value_at(config, section, "allow_all") is True:
                yield release, f"{section}.allow_all lets in everybody whom the identity provider knows"


@stack_rule(
    "notebooks-open-to-the-outside",
    "A hub of notebooks is not on a load balancer of its own without encryption.",
    types=(HELM_RELEASE,),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.20", "NIST 800-53r5 SC-7"),
    fix="Set proxy.service.type to ClusterIP: by kubectl port-forward, or an ingress of yours with a certificate.",
)
def notebooks_open_to_the_outside(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """The chart's default is a load balancer in the clear; one with `proxy.https` is somebody's own choice."""
    for release in _told_by_values(resources):
        kind = value_at(release.inputs, "values", "proxy", "service", "type", default=CHART_SERVICE)
        encrypted = value_at(release.inputs, "values", "proxy", "https", "enabled", default=False)
        if kind in ("LoadBalancer", "NodePort") and encrypted is not True:
            yield release, f"its proxy is a service of type {kind}, and passwords and code go to it in the clear"


@stack_rule(
    "notebooks-keep-their-gpus",
    "A notebook that nobody uses must end within the hour, though a tab of it is open.",
    types=(HELM_RELEASE,),
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Leave notebooks.idleMinutes and notebooks.kernelIdleMinutes within the hour; a hub of your own: cull.timeout, "
    "and MappingKernelManager.cull_idle_timeout with cull_connected in singleuser.extraFiles.",
    config={"maxIdleMinutes": {"type": "number", "minimum": 1, "default": 60}},
)
def notebooks_keep_their_gpus(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """The hub's culler ends servers, Jupyter's own ends kernels: a server whose kernel lives is in use."""
    most_s = config["maxIdleMinutes"] * 60
    for release in _told_by_values(resources):
        if value_at(release.inputs, "values", "cull", "enabled", default=True) is False:
            yield release, "cull.enabled is false: a notebook stays until somebody ends it"
            continue
        timeout = as_number(value_at(release.inputs, "values", "cull", "timeout", default=CHART_TIMEOUT_S))
        if timeout is not None and timeout > most_s:
            yield release, f"ends a notebook after {timeout / 60:g} idle minutes; at most {most_s / 60:g} are allowed"
        if is_set(release.inputs, "values", "hub", "extraConfig"):
            continue  # a spawner's arguments may say it
        kernels = server_settings(release, KERNELS)
        idle = as_number(kernels.get("cull_idle_timeout") or 0)
        if idle is None:
            continue  # no number that a server takes: it does not start
        if not idle:
            yield release, "nothing ends a kernel that does nothing, and a notebook with a kernel is in use"
        elif idle > most_s:
            yield release, f"ends a kernel after {idle / 60:g} idle minutes; at most {most_s / 60:g} are allowed"
        if idle and kernels.get("cull_connected") is not True:
            yield release, "cull_connected is not set: an open tab keeps its kernel"


def _told_by_values(resources: Resources) -> Iterator[RecordedResource]:
    """The hubs whose values the stack itself has, and not a file. Raises NotApplicable where there is no hub at all."""
    there = False
    for release in hubs(resources):
        there = True
        if not is_set(release.inputs, *_FILES):
            yield release
    if not there:
        raise NotApplicable("no hub of notebooks")


POLICIES: Final = (notebooks_let_anybody_in, notebooks_open_to_the_outside, notebooks_keep_their_gpus)
"""Those of this module."""
