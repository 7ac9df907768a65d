"""Ways between networks, and ways in: peerings with routes on one side alone, subnets for load balancers."""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import EKS_CLUSTER, INGRESS, SERVICE, VPC_PEERING
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.paths.aws.network import Network

_ROLES: Final = {"internet-facing": "kubernetes.io/role/elb", "internal": "kubernetes.io/role/internal-elb"}
"""Tag of the subnets that load balancers of a scheme are put in (EKS user guide, "Route TCP and UDP traffic with
Network Load Balancers", 2026-11)."""

_SERVICE_SCHEME: Final = "service.beta.kubernetes.io/aws-load-balancer-scheme"
_SERVICE_SUBNETS: Final = "service.beta.kubernetes.io/aws-load-balancer-subnets"
_INGRESS_SCHEME: Final = "alb.ingress.kubernetes.io/scheme"
_INGRESS_SUBNETS: Final = "alb.ingress.kubernetes.io/subnets"


def check(network: Network) -> None:
    """Notes peerings that answers do not come back through, and load balancers that find no subnet."""
    _peerings(network)
    _load_balancers(network)


def _peerings(network: Network) -> None:
    for view in network.stack.of_type(VPC_PEERING):
        ends = [network.vpcs.get(view.text(key) or "") for key in ("vpcId", "peerVpcId")]
        if None in ends or any(route.target is None for routes in network.routes.values() for route in routes):
            continue
        routed = {
            table.text("vpcId")
            for id_, table in network.tables.items()
            for route in network.routes.get(id_, ())
            if route.kind == "vpcPeeringConnectionId" and route.target == view.resource.id
        }
        missing = [end for end in ends if end is not None and end.resource.id not in routed]
        if routed and len(missing) == 1:
            view.error(
                "paths-peering-one-way",
                "",
                f"no route table of VPC {missing[0].name} leads here: answers do not come back",
                allowed="a route to the other VPC's block in the tables of both",
            )


def _load_balancers(network: Network) -> None:
    """Where subnets are found by their tags: not named by an annotation, in a VPC that the stack makes whole."""
    cluster = next(iter(network.stack.of_type(EKS_CLUSTER)), None)
    if cluster is None:
        return
    vpcs = {
        network.subnets[one].text("vpcId") for one in cluster.texts("vpcConfig.subnetIds") if one in network.subnets
    }
    subnets = [view for view in network.subnets.values() if view.text("vpcId") in vpcs]
    if not subnets or any(view.resource.read or view.blurred("tags") or view.is_unknown("tags") for view in subnets):
        return  # somebody else's subnets have tags that nobody here knows
    if network.stack.of_type("aws:ec2/tag:Tag"):
        return  # a tag of its own may be the one
    for view in (*network.stack.of_type(SERVICE), *network.stack.of_type(INGRESS)):
        scheme = _scheme(view)
        tag = _ROLES.get(scheme)
        if tag is not None and not any(str(one.mapping("tags").get(tag, "")) in ("1", "true") for one in subnets):
            view.warning(
                "paths-load-balancer-subnets",
                "metadata.annotations",
                f"asks for a load balancer that is {scheme}, and no subnet of the cluster's VPC has the tag {tag}",
                allowed=f"{tag}: 1 on the subnets, or an annotation that names them",
            )


def _scheme(view: View) -> str:
    """The scheme of the load balancer that an object asks for; empty where it asks for none that finds its subnets."""
    annotations = view.mapping("metadata.annotations")
    if view.type == SERVICE:
        outside = view.text("spec.type") == "LoadBalancer" and _SERVICE_SUBNETS not in annotations
        return str(annotations.get(_SERVICE_SCHEME, "")) if outside else ""
    named = view.text("spec.ingressClassName") == "alb" and _INGRESS_SUBNETS not in annotations
    return str(annotations.get(_INGRESS_SCHEME, "")) if named else ""
