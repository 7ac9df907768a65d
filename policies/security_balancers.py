"""Security: what puts a service in front of the internet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, resource_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, known_texts, list_at, mapping_at, value_at
from trainyard.recorded.types import GCP_FORWARDING_RULES, HELM_RELEASE, INGRESS, LOAD_BALANCER, SERVICE

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
_INGRESS_BY_AWS: Final = ("alb", "eks.amazonaws.com/alb")


@resource_rule(
    "public-load-balancer",
    "Nothing on the cluster is published to the internet, MLflow least of all.",
    types=(SERVICE, INGRESS, HELM_RELEASE, LOAD_BALANCER, *GCP_FORWARDING_RULES),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.20"),
    fix="Keep services of type ClusterIP, or annotate the load balancer as internal.",
)
def public_load_balancer(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Checks services, ingresses and load balancers; of a chart only the values can be seen."""
    props = resource.inputs
    if resource.type == LOAD_BALANCER:
        if not is_on(props, "internal"):
            yield "internal is off"
        return
    if resource.type in GCP_FORWARDING_RULES:
        scheme = str(value_at(props, "loadBalancingScheme", default="EXTERNAL"))
        if scheme.startswith("EXTERNAL"):
            yield f"loadBalancingScheme is {scheme}"
        return
    if resource.type == HELM_RELEASE:
        texts = dict(known_texts(value_at(props, "values")))
        for path, text in texts.items():
            if text == "LoadBalancer" and path.endswith("type"):
                beside = f"{path.removesuffix('type')}annotations."
                said = {key.removeprefix(beside): of for key, of in texts.items() if key.startswith(beside)}
                if not _is_internal(said) and said.get(SCHEMES[0]) != "internal":
                    yield f"values.{path} is LoadBalancer"
        return
    annotations = {key: str(value) for key, value in mapping_at(props, "metadata", "annotations").items()}
    schemes = {annotations[key] for key in SCHEMES if key in annotations}
    if resource.type == INGRESS:
        if "internet-facing" in schemes:
            yield "an Ingress whose scheme is internet-facing"
        elif not schemes and not _is_internal(annotations) and _class(props, annotations) not in _INGRESS_BY_AWS:
            yield "an Ingress without an annotation that makes it internal"
        return
    if list_at(props, "spec", "externalIPs"):
        yield "a Service takes addresses from outside of the cluster (externalIPs)"
    if value_at(props, "spec", "type") != "LoadBalancer":
        return
    if "internet-facing" in schemes:
        yield "a Service of type LoadBalancer whose scheme is internet-facing"
    elif not schemes and not _is_internal(annotations) and not _by_aws(props, annotations):
        yield "a Service of type LoadBalancer without an annotation that makes it internal"


def _is_internal(annotations: Mapping[str, str]) -> bool:
    return any(annotations.get(key, "").lower() == value.lower() for key, value in INTERNAL)


def _by_aws(props: Any, annotations: Mapping[str, str]) -> bool:
    """Whether a controller makes the balancer that makes internal ones unless it is told otherwise."""
    by_type = annotations.get(f"{_ON_SERVICE}aws-load-balancer-type") in _BY_AWS_TYPES
    return by_type or value_at(props, "spec", "loadBalancerClass") in _BY_AWS


def _class(props: Any, annotations: Mapping[str, str]) -> str:
    own = value_at(props, "spec", "ingressClassName", default="")
    return str(own) or annotations.get("kubernetes.io/ingress.class", "")
