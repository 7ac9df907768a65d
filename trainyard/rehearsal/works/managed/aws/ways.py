"""Ways of training jobs and editors in a VPC: they fetch their data and put their results over its routes and walls.

Source: Amazon SageMaker AI developer guide, "Give SageMaker Training Jobs Access to Resources in Your Amazon VPC" and
"Connect Studio notebooks in a VPC to external resources" (2026-11): their interfaces have private addresses alone, so
that S3 is reached through an endpoint, or a NAT gateway; without either a job ends with "Data download failed".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.types import (
    BATCH_ENVIRONMENT,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
)
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.flows.addresses import PRIVATE, Addresses
from trainyard.rehearsal.works.flows.model import Place, Port
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN
from trainyard.rehearsal.works.managed.aws.jobs import Job, jobs
from trainyard.rehearsal.works.paths.aws.endpoints import Endpoints
from trainyard.rehearsal.works.paths.aws.groups import Groups
from trainyard.rehearsal.works.paths.aws.network import Network

_S3: Final = "s3"
_HTTPS: Final = Port(443)
_PUBLIC: Final = Addresses.of("0.0.0.0/0") - PRIVATE
_GROUPS: Final = "defaultUserSettings.securityGroups"
_GROUPS_OF_BATCH: Final = "computeResources.securityGroupIds"


def check(stack: Stack) -> None:
    """Looks at every job and every domain whose people work in a VPC."""
    _heard(stack)
    _sent(stack)
    network = Network(stack)
    if not network.subnets:
        return
    endpoints, groups = Endpoints(network), Groups(network)
    for job in jobs(stack):
        subnets, walls = job.at("vpcConfig.subnets"), job.at("vpcConfig.securityGroupIds")
        _job(job, endpoints, groups, list(_texts(subnets)), list(_texts(walls)))
    for domain in stack.of_type(DOMAIN):
        if domain.text("appNetworkAccessType") == "VpcOnly":
            _domain(domain, endpoints, groups)


def _heard(stack: Stack) -> None:
    """What a group sends to itself, as ranks of a job do to each other, it lets in too."""
    into = stack.of_type(SECURITY_GROUP_INGRESS_RULE)
    for rule in stack.of_type(SECURITY_GROUP_EGRESS_RULE):
        own = rule.text("securityGroupId")
        if own is None or rule.text("referencedSecurityGroupId") != own:
            continue
        group = rule.referred("securityGroupId", SECURITY_GROUP)
        if group is None or group.has("ingress") or any(one.is_unknown("securityGroupId") for one in into):
            continue
        heard = [one for one in into if one.text("securityGroupId") == own]
        if not heard or (_opens_any(rule) and not any(map(_opens_any, heard)) and own in stack.once(_of_ranks)):
            message = (
                f"{group.name} may send to itself, and lets nothing in: machines of one job do not hear each other"
                if not heard
                else f"{group.name} may send to itself on any port, and lets in on some: ranks of a job choose others"
            )
            hint = "a rule that lets the group in from itself, on all ports"
            rule.error("managed-not-heard", "referencedSecurityGroupId", message, hint=hint)


def _sent(stack: Stack) -> None:
    """What a group lets in from itself on any port, it sends too: of EC2's own rule to let all out nothing is left."""
    out = stack.of_type(SECURITY_GROUP_EGRESS_RULE)
    for rule in stack.of_type(SECURITY_GROUP_INGRESS_RULE):
        own = rule.text("securityGroupId")
        if own is None or rule.text("referencedSecurityGroupId") != own or not _opens_any(rule):
            continue
        group = rule.referred("securityGroupId", SECURITY_GROUP)
        if group is None or group.has("egress") or any(one.is_unknown("securityGroupId") for one in out):
            continue
        said = [one for one in out if one.text("securityGroupId") == own]
        if said and not any(map(_opens_any, said)) and own in stack.once(_of_ranks):
            message = f"{group.name} lets itself in on any port, and sends to some alone: ranks of a job choose others"
            hint = "a rule that lets the group out to itself, on all ports"
            rule.warning("managed-not-heard", "referencedSecurityGroupId", message, hint=hint)


def _of_ranks(stack: Stack) -> frozenset[str]:
    """The groups of machines that run the ranks of jobs, whose ports nobody chooses: a service listens on its own."""
    found = {one for job in jobs(stack) for one in _texts(job.at("vpcConfig.securityGroupIds"))}
    found |= {one for domain in stack.of_type(DOMAIN) for one in domain.texts(_GROUPS)}
    found |= {one for view in stack.of_type(BATCH_ENVIRONMENT) for one in view.texts(_GROUPS_OF_BATCH)}
    return frozenset(found)


def _opens_any(rule: View) -> bool:
    """Whether a rule is about the ports that programs are given by the system, or may be."""
    if rule.text("ipProtocol") == "-1" or rule.is_unknown("ipProtocol"):
        return True
    first, last = rule.number("fromPort"), rule.number("toPort")
    return rule.text("ipProtocol") in ("tcp", "6") and (first is None or last is None or first <= _GIVEN <= last)


_GIVEN: Final = 40000
"""A port among those that Linux gives out (`net.ipv4.ip_local_port_range`, from 32768)."""


def _texts(value: object) -> Iterator[str]:
    yield from (one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _job(job: Job, endpoints: Endpoints, groups: Groups, subnets: list[str], walls: list[str]) -> None:
    why = _no_way(endpoints, subnets)
    if why:
        hint = "a gateway endpoint of S3 with the subnet's route table, or a route to a NAT gateway"
        job.error("managed-no-way-to-s3", "vpcConfig.subnets", f"{why}: the job fetches no data and keeps none", hint)
    closed = closed_to_s3(endpoints, groups, subnets, walls)
    if closed:
        hint = "a rule for TCP 443 out to S3's prefix list, or to 0.0.0.0/0"
        job.error("managed-closed-to-s3", "vpcConfig.securityGroupIds", f"{closed}: the job fetches no data", hint)


def _domain(domain: View, endpoints: Endpoints, groups: Groups) -> None:
    subnets = domain.texts("subnetIds")
    why = _no_way(endpoints, subnets, "sagemaker.api")
    # Where no subnet leads out, that is told of the domain's VPC.
    if why and not all(_no_way(endpoints, [subnet], "sagemaker.api") for subnet in subnets):
        domain.warning(
            "managed-private-without-way-out", "subnetIds",
            f"{why}: SageMaker puts an editor into any of the subnets, and in that one it reaches nothing",
            hint="a route to a NAT gateway in each of them, or an interface endpoint of sagemaker.api",
        )  # fmt: skip
    why = _no_way(endpoints, subnets)
    if why and endpoints.network.subnets:
        domain.warning(
            "managed-no-way-to-s3", "subnetIds", f"{why}: editors read and write no file there",
            hint="a gateway endpoint of S3 with the subnet's route table, or a route to a NAT gateway",
        )  # fmt: skip
    closed = closed_to_s3(endpoints, groups, subnets, domain.texts(_GROUPS))
    if closed and not domain.blurred(_GROUPS):
        domain.error(
            "managed-closed-to-s3", _GROUPS, f"{closed}: editors read and write no file there",
            hint="a rule for TCP 443 out to S3's prefix list, or to 0.0.0.0/0",
        )  # fmt: skip


_SPELT: Final = {_S3: "S3"}
"""Services that people call otherwise than their endpoints are called."""


def _no_way(endpoints: Endpoints, subnets: list[str], service: str = _S3) -> str:
    """Why one of the subnets does not reach a service; empty where each does, or may."""
    network = endpoints.network
    for subnet in subnets:
        view = network.subnets.get(subnet)
        if view is None or view.resource.read or endpoints.serves(service, subnet) or network.leads_elsewhere(subnet):
            continue
        way = network.internet(subnet, public=False)
        if way.open is False:
            return f"subnet {view.name} has no endpoint of {_SPELT.get(service, service)}, and {way.why}"
    return ""


def closed_to_s3(endpoints: Endpoints, groups: Groups, subnets: list[str], walls: list[str]) -> str:
    """Why no rule lets anything out to S3; empty where one does, or may: S3 has an address of the VPC's then."""
    network = endpoints.network
    vpcs = {network.subnets[subnet].text("vpcId") for subnet in subnets if subnet in network.subnets}
    if not walls or not vpcs or None in vpcs or any(endpoints.interfaces.get((str(vpc), _S3)) for vpc in vpcs):
        return ""
    return groups.closed("egress", frozenset(walls), Place("Amazon S3", "service", _PUBLIC), _HTTPS)
