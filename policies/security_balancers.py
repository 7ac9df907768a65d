"""Security: what puts a service in front of the internet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.each import of_each
from trainyard.policies.ingress_classes import BY_AWS, BY_GOOGLE, IN_THE_CLUSTER, PROXIES, IngressClasses
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, known_texts, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    GCP_FORWARDING_RULES,
    HELM_RELEASE,
    INGRESS,
    INGRESS_CLASS,
    INGRESS_CLASS_PARAMETERS,
    LOAD_BALANCER,
    SERVICE,
)

_ON_SERVICE, _ON_INGRESS = "service.beta.kubernetes.io/", "alb.ingress.kubernetes.io/"
SCHEMES: Final = (f"{_ON_SERVICE}aws-load-balancer-scheme", f"{_ON_INGRESS}scheme")
INTERNAL: Final = (
    (f"{_ON_SERVICE}aws-load-balancer-internal", "true"),
    ("networking.gke.io/load-balancer-type", "Internal"),
    ("cloud.google.com/load-balancer-type", "Internal"),
    ("kubernetes.io/ingress.class", "gce-internal"),
)
"""Annotations that make what is public otherwise internal."""
_BY_AWS: Final = ("service.k8s.aws/nlb", "eks.amazonaws.com/nlb")
"""Classes of the AWS Load Balancer Controller and of EKS's own mode, whose default is internal (its documentation,
"Service annotations" and "Ingress annotations", 2026-11). The cloud provider in the control plane's default is not."""
_BY_AWS_TYPES: Final = ("external", "nlb-ip")
_PUBLISHING: Final = (SERVICE, INGRESS, HELM_RELEASE, LOAD_BALANCER, *GCP_FORWARDING_RULES)


@stack_rule(
    "public-load-balancer",
    "Nothing on the cluster is published to the internet, MLflow least of all.",
    types=(*_PUBLISHING, INGRESS_CLASS, *INGRESS_CLASS_PARAMETERS),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.20"),
    fix="Keep services of type ClusterIP, or annotate the load balancer as internal.",
)
def public_load_balancer(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Checks services, ingresses and load balancers; of a chart only the values can be seen, and what it does without.

    An Ingress that a proxy in the cluster serves is as public as the Service of that proxy, which is judged itself.
    """
    yield from of_each(resources.of(*_PUBLISHING), partial(_published, IngressClasses(resources)))


def _published(classes: IngressClasses, resource: RecordedResource) -> Iterator[str]:
    props = resource.inputs
    if resource.type == LOAD_BALANCER:
        if not is_on(props, "internal"):
            yield "internal is off"
    elif resource.type in GCP_FORWARDING_RULES:
        scheme = str(value_at(props, "loadBalancingScheme", default="EXTERNAL"))
        if scheme.startswith("EXTERNAL"):
            yield f"loadBalancingScheme is {scheme}"
    elif resource.type == HELM_RELEASE:
        yield from _by_a_chart(props)
    elif resource.type == INGRESS:
        yield from _by_an_ingress(props, classes)
    else:
        if list_at(props, "spec", "externalIPs"):
            yield "a Service takes addresses from outside of the cluster (externalIPs)"
        if value_at(props, "spec", "type") == "LoadBalancer":
            said = _Said(_annotations(props), value_at(props, "spec", "loadBalancerClass"))
            if said.is_public:
                yield f"a Service of type LoadBalancer {said.why}"


@dataclass(frozen=True)
class _Said:
    """What is said of a Service of type LoadBalancer, besides."""

    annotations: Mapping[str, str]
    class_: Any

    @property
    def is_public(self) -> bool:
        scheme = self.annotations.get(SCHEMES[0])
        if scheme is not None:
            return scheme == "internet-facing"
        by_aws = self.annotations.get(f"{_ON_SERVICE}aws-load-balancer-type") in _BY_AWS_TYPES or self.class_ in _BY_AWS
        return not _is_internal(self.annotations) and not by_aws  # the controller of AWS makes internal ones untold

    @property
    def why(self) -> str:
        if self.annotations.get(SCHEMES[0]) == "internet-facing":
            return "whose scheme is internet-facing"
        return "without an annotation that makes it internal"


def _by_a_chart(props: Any) -> Iterator[str]:
    texts = dict(known_texts(value_at(props, "values")))
    told = set()
    for path, text in texts.items():
        if text == "LoadBalancer" and path.endswith("type"):
            beside = path.removesuffix("type")
            told.add(beside.removesuffix("."))
            if _beside(texts, beside).is_public:
                yield f"values.{path} is LoadBalancer"
    chart = str(value_at(props, "chart", default="", unknown="")).rpartition("/")[2]
    proxy = PROXIES.get(chart)
    if proxy is None or proxy.service in told:
        return
    service = value_at(props, "values", *proxy.service.split("."), unknown={"enabled": False})
    made = not any(value_at(service, *switch, unknown=False) is False for switch in proxy.switches)
    untold = value_at(service, "type", unknown="") is None
    if made and untold and _beside(texts, f"{proxy.service}.").is_public:
        yield f"values.{proxy.service}.type is LoadBalancer where nobody says otherwise: {chart} lets everybody in"


def _beside(texts: Mapping[str, str], beside: str) -> _Said:
    """What a chart's values say of the Service whose settings begin so."""
    within = f"{beside}annotations."
    annotations = {key.removeprefix(within): of for key, of in texts.items() if key.startswith(within)}
    return _Said(annotations, texts.get(f"{beside}loadBalancerClass"))


def _by_an_ingress(props: Any, classes: IngressClasses) -> Iterator[str]:
    annotations = _annotations(props)
    name = str(value_at(props, "spec", "ingressClassName", default="")) or annotations.get(
        "kubernetes.io/ingress.class", ""
    )
    server = classes.server_of(name)
    scheme = classes.scheme_of(name) or next((annotations[key] for key in SCHEMES if key in annotations), "")
    if server == IN_THE_CLUSTER:
        return
    if server == BY_GOOGLE:
        scheme = ""  # which is no word of its
    if scheme == "internet-facing":
        yield "an Ingress whose scheme is internet-facing"
    elif not scheme and server != BY_AWS and not (_is_internal(annotations) or name == "gce-internal"):
        if not name:
            yield "an Ingress without a class, or an annotation that makes it internal"
        elif server == BY_GOOGLE:
            yield "an Ingress without an annotation that makes it internal"


def _annotations(props: Any) -> dict[str, str]:
    return {key: str(value) for key, value in mapping_at(props, "metadata", "annotations").items()}


def _is_internal(annotations: Mapping[str, str]) -> bool:
    return any(annotations.get(key, "").lower() == value.lower() for key, value in INTERNAL)
