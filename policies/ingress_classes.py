"""Who serves an Ingress, by its class: a balancer of the cloud is made for it, or a proxy in the cluster takes it in.

Sources: Kubernetes documentation, "Ingress" (`IngressClass`, its default); AWS Load Balancer Controller, "IngressClass"
and "IngressClassParams"; EKS user guide, "Create an IngressClass to configure an Application Load Balancer"; GKE,
"Configure Ingress for external Application Load Balancers"; values of the charts ingress-nginx 4, traefik 37, kong 2
and haproxy-ingress 0, as generally known (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import HELM_RELEASE, INGRESS_CLASS, INGRESS_CLASS_PARAMETERS

BY_AWS, BY_GOOGLE, IN_THE_CLUSTER, UNTOLD = "aws", "google", "in the cluster", "untold"
"""Whoever serves a class; untold: its name says nothing, or it has none."""
_CONTROLLERS: Final[Mapping[str, str]] = {
    "ingress.k8s.aws/alb": BY_AWS,
    "eks.amazonaws.com/alb": BY_AWS,
    "k8s.io/ingress-gce": BY_GOOGLE,
}
_NAMES: Final[Mapping[str, str]] = {
    "alb": BY_AWS,
    "eks.amazonaws.com/alb": BY_AWS,
    "gce": BY_GOOGLE,
    "gce-internal": BY_GOOGLE,
    **dict.fromkeys(("nginx", "traefik", "kong", "haproxy"), IN_THE_CLUSTER),
}
_DEFAULT: Final = "ingressclass.kubernetes.io/is-default-class"


@dataclass(frozen=True)
class Proxy:
    """The chart of a proxy that serves Ingresses in the cluster, with a Service that is public where nobody says."""

    service: str  # path of the Service's values
    switches: tuple[tuple[str, ...], ...]  # below it; the Service is not made, or none to the outside, where one is off
    default: tuple[tuple[str, ...], ...]  # paths of the values by which it serves an Ingress without a class
    is_default: bool = False  # where nobody says


PROXIES: Final[Mapping[str, Proxy]] = {
    "ingress-nginx": Proxy(
        "controller.service",
        (("enabled",), ("external", "enabled")),
        (("controller", "ingressClassResource", "default"), ("controller", "watchIngressWithoutClass")),
    ),
    "traefik": Proxy("service", (("enabled",),), (("ingressClass", "isDefaultClass"),), is_default=True),
    "kong": Proxy("proxy", (("enabled",),), ()),
    "haproxy-ingress": Proxy("controller.service", (), (("controller", "ingressClassResource", "default"),)),
}


class IngressClasses:
    """The classes of a stack, and who serves them."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._classes = {
            str(value_at(found.inputs, "metadata", "name", unknown=None)): found
            for found in resources.of(INGRESS_CLASS)
        }

    def server_of(self, name: str) -> str:
        """Who serves the Ingresses of a class, or those of none.

        A name that is no controller's own is of a class that somebody made elsewhere.
        """
        found = self._classes.get(name) if name else self._default()
        if found is not None:
            controller = str(value_at(found.inputs, "spec", "controller", default="", unknown=""))
            return _CONTROLLERS.get(controller, IN_THE_CLUSTER) if controller else UNTOLD
        if not name:
            return IN_THE_CLUSTER if any(map(_is_default, self._resources.of(HELM_RELEASE))) else UNTOLD
        return _NAMES.get(name, UNTOLD)

    def scheme_of(self, name: str) -> str:
        """The scheme that a class gives its balancers whatever an Ingress says (IngressClassParams); empty: none."""
        found = self._classes.get(name) if name else self._default()
        wanted = value_at(found.inputs, "spec", "parameters", "name", unknown=None) if found is not None else None
        for parameters in self._resources.of(*INGRESS_CLASS_PARAMETERS) if wanted else ():
            if value_at(parameters.inputs, "metadata", "name", unknown=None) == wanted:
                return str(value_at(parameters.inputs, "spec", "scheme", default="", unknown=""))
        return ""

    def _default(self) -> RecordedResource | None:
        """The class of Ingresses that name none."""
        said = (found for found in self._classes.values() if _says_so(found))
        return next(said, None)


def _says_so(found: RecordedResource) -> bool:
    return str(value_at(found.inputs, "metadata", "annotations", _DEFAULT, unknown="")).lower() == "true"


def _is_default(release: RecordedResource) -> bool:
    """Whether a chart's class is that of Ingresses which name none."""
    proxy = PROXIES.get(str(value_at(release.inputs, "chart", default="", unknown="")).rpartition("/")[2])
    return proxy is not None and any(
        value_at(release.inputs, "values", *path, default=proxy.is_default, unknown=False) is True
        for path in proxy.default
    )
