"""Who calls a service of Cloud Run, and whether it takes the call: from where it comes, and whom its token is for.

Sources: Cloud Run, "Restrict network ingress" (`internal` is the network and some services of Google's; an external
Application Load Balancer needs `internal-and-cloud-load-balancing`, and the internet `all`), "Authenticating
service-to-service" and "Custom audiences" (a token is for the service's own address or a custom audience); Cloud
Monitoring, "Uptime checks" (probes come from the internet), as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import (
    GCP_BACKEND,
    GCP_REGIONAL_BACKEND,
    GCP_REGIONAL_ENDPOINTS,
    GCP_RUN_SERVICE,
    GCP_SCHEDULE,
    GCP_SUBSCRIPTION,
    GCP_UPTIME_CHECK,
)
from trainyard.rehearsal.context import Stack, View, show

_INTERNAL: Final = "INGRESS_TRAFFIC_INTERNAL_ONLY"
_EVERYWHERE: Final = "INGRESS_TRAFFIC_ALL"
_EXTERNAL: Final = ("EXTERNAL", "EXTERNAL_MANAGED")
_HOST: Final = re.compile(r"https?://([^/:?]+)")
_OF_RUN: Final = re.compile(r"(https://)?[\w.-]+\.run\.app(/.*)?")
_MAPPING: Final = re.compile(r"gcp:cloudrun/domainMapping:\w+")
_GRANT: Final = re.compile(r"gcp:cloudrun(v2)?/service(IamMember|IamBinding|IamPolicy):\w+")
_CALLERS: Final = (
    (GCP_SUBSCRIPTION, "pushConfig.pushEndpoint", "pushConfig.oidcToken.audience"),
    (GCP_SCHEDULE, "httpTarget.uri", "httpTarget.oidcToken.audience"),
)


def check(stack: Stack) -> None:
    """Every service of Cloud Run that the stack makes, and who calls it."""
    services = [view for view in stack.of_type(GCP_RUN_SERVICE) if not view.resource.read]
    if services:
        _balanced(stack)
        _probed(stack, services)
        _audiences(stack, services)


def _balanced(stack: Stack) -> None:
    """A service behind a balancer of the internet that takes the network's calls alone."""
    for type_ in (GCP_BACKEND, GCP_REGIONAL_BACKEND):
        for backend in stack.of_type(type_):
            if backend.lacks("loadBalancingScheme"):
                scheme: str | None = "EXTERNAL" if type_ == GCP_BACKEND else "INTERNAL"
            else:
                scheme = backend.text("loadBalancingScheme")
            if scheme not in _EXTERNAL:
                continue
            for service in _behind(stack, backend):
                if service.text("ingress") == _INTERNAL:
                    words = f"takes calls of the network alone, and {backend.name} is a balancer of the internet: "
                    service.error(
                        "programs-ingress", "ingress", f"{words}each of its calls is refused",
                        allowed="INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER",
                    )  # fmt: skip


def _behind(stack: Stack, backend: View) -> Iterator[View]:
    services = stack.of_type(GCP_RUN_SERVICE)
    for path, _ in backend.items("backends"):
        group = backend.referred(f"{path}.group", GCP_REGIONAL_ENDPOINTS)
        name = group.text("cloudRun.service") if group is not None else None
        region = group.text("region") if group is not None else None
        for service in services if name else ():
            if service.text("name") == name and region in (None, service.text("location")):
                yield service


def _host(service: View) -> str | None:
    """The host that the service is given by Google; None where that is not known."""
    uri = service.resource.outputs.get("uri")
    found = _HOST.match(uri) if isinstance(uri, str) else None
    return found[1] if found else None


def _probed(stack: Stack, services: list[View]) -> None:
    """An uptime check comes from the internet, unless it is one of the network."""
    hosts = {host: view for view in services if (host := _host(view)) is not None}
    for probe in stack.of_type(GCP_UPTIME_CHECK):
        service = hosts.get(probe.text("monitoredResource.labels.host") or "")
        if service is None or probe.text("checkerType") == "VPC_CHECKERS" or probe.is_unknown("checkerType"):
            continue
        ingress = service.text("ingress")
        if ingress is not None and ingress != _EVERYWHERE:
            words = f"its probes come from the internet, and {service.name} takes none from there: it always fails"
            probe.error("programs-ingress", "monitoredResource.labels.host", words, allowed=f"ingress {_EVERYWHERE}")


def _audiences(stack: Stack, services: list[View]) -> None:
    """A token that is for another name than the service's is refused."""
    if any(_MAPPING.match(view.type) for view in stack.views):
        return
    hosts = {host: view for view in services if (host := _host(view)) is not None}
    for type_, endpoint, audience in _CALLERS:
        for view in stack.of_type(type_):
            found = _HOST.match(view.text(endpoint) or "")
            service = hosts.get(found[1]) if found else None
            said = view.text(audience)
            if service is None or said is None or _OF_RUN.fullmatch(said) or _takes(service, said):
                continue
            words = f"is {show(said)}, which is no name of the service {service.name}: it refuses each call"
            view.error("programs-audience", audience, words, allowed="the service's address, or a custom audience")


def _takes(service: View, audience: str) -> bool:
    """Whether a service takes tokens for a name, or asks nobody for one."""
    path = "customAudiences"
    if audience in service.texts(path) or service.blurred(path) or service.is_unknown(path):
        return True
    return service.flag("invokerIamDisabled") is True or any(
        view.has("policyData") or "allUsers" in (view.text("member"), *view.texts("members"))
        for view in service.stack.views
        if _GRANT.match(view.type) and _is_of(view, service)
    )


def _is_of(grant: View, service: View) -> bool:
    """Whether a grant is for a service, or it is not known for which."""
    path = "service" if grant.has("service") else "name"
    said = grant.text(path)
    return said is None or said.rpartition("/")[2] == service.text("name")
