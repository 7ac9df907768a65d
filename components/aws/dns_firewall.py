"""A firewall in front of the VPC's name server: names that nothing here needs are not looked up.

Whoever owns a domain reads what is asked of it: a pod that reaches no address outside of the network can still send
data out in the names that it looks up. What the platform itself needs is in `PLATFORM_NAMES`; the rest is given.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_aws.route53 as route53

from trainyard.components.outputs import register

PLATFORM_NAMES: Mapping[str, Sequence[str]] = {
    "AWS's own services, S3, EKS and databases": ("*.amazonaws.com", "*.api.aws"),
    "the network itself, and which name an address has": ("*.internal", "*.in-addr.arpa"),
    "Amazon ECR Public": ("public.ecr.aws", "*.cloudfront.net"),
    "registry.k8s.io": ("registry.k8s.io", "*.pkg.dev", "cdn.registry.k8s.io"),
    "Docker Hub": ("docker.io", "*.docker.io", "*.docker.com", "*.r2.cloudflarestorage.com"),
    "GitHub's container registry": ("ghcr.io", "*.githubusercontent.com"),
    "NVIDIA's container registry": ("nvcr.io", "*.nvcr.io", "*.nvidia.com"),
    "Quay": ("quay.io", "*.quay.io"),
}
"""Names by what needs them: the registries of pinned images and charts with what they send pulls to (general
knowledge and public allow-lists, 2026-11; no registry's own page was read). None of them hands zones below them to its
customers."""

ALLOW_FIRST, REST = 100, 200
"""Priorities of the rules: the lowest is asked first."""
ASSOCIATION_PRIORITY = 101
"""Between those that AWS Firewall Manager keeps for itself: 100 and 9900."""


class DnsFirewallArgs(TypedDict):
    """Arguments of `DnsFirewall`."""

    vpc_id: pulumi.Input[str]
    """Id of the VPC whose lookups are judged."""
    names: Sequence[str]
    """Names that may be looked up besides the platform's; one that begins with a dot is the name and all below it."""
    others: str
    """What becomes of any other name: `block` (the answer is that it does not exist) or `alert` (it is counted)."""


class DnsFirewall(pulumi.ComponentResource):
    """The lists, the rules and their place in front of the VPC's name server. It fails closed.

    Raises ValueError for `others` that is neither `block` nor `alert`.
    """

    rule_group_id: pulumi.Output[str]
    """Id of the group of rules."""

    def __init__(self, name: str, args: DnsFirewallArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        if args["others"] not in ("block", "alert"):
            raise ValueError(f"DnsFirewall {name!r}: others is {args['others']!r}; it may be 'block' or 'alert'")
        super().__init__("trainyard:index:DnsFirewall", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        group = route53.ResolverFirewallRuleGroup(f"{name}-rules", opts=child)
        allowed = route53.ResolverFirewallDomainList(
            f"{name}-allowed", domains=firewall_domains(args["names"]), opts=child
        )
        everything = route53.ResolverFirewallDomainList(f"{name}-everything", domains=["*"], opts=child)
        first = route53.ResolverFirewallRule(
            f"{name}-allow",
            name=f"{name}-allow",
            action="ALLOW",
            firewall_domain_list_id=allowed.id,
            # What an allowed name is an alias of (a CDN's, mostly) goes with it.
            firewall_domain_redirection_action="TRUST_REDIRECTION_DOMAIN",
            firewall_rule_group_id=group.id,
            priority=ALLOW_FIRST,
            opts=child,
        )
        block = args["others"] == "block"
        last = route53.ResolverFirewallRule(
            f"{name}-others",
            name=f"{name}-others",
            action="BLOCK" if block else "ALERT",
            block_response="NXDOMAIN" if block else None,
            firewall_domain_list_id=everything.id,
            firewall_rule_group_id=group.id,
            priority=REST,
            opts=child,
        )
        # With the last rule alone, nodes that start meanwhile would find no name at all.
        route53.ResolverFirewallRuleGroupAssociation(
            f"{name}-association",
            firewall_rule_group_id=group.id,
            vpc_id=args["vpc_id"],
            priority=ASSOCIATION_PRIORITY,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[first, last]),
        )
        route53.ResolverFirewallConfig(
            f"{name}-config", resource_id=args["vpc_id"], firewall_fail_open="DISABLED", opts=child
        )
        self.rule_group_id = group.id
        register(self)


def firewall_domains(names: Sequence[str]) -> list[str]:
    """The platform's names and these as the firewall takes them, each once."""
    given = [part for name in names for part in ((name[1:], f"*{name}") if name.startswith(".") else (name,))]
    return sorted({*given, *(name for needed in PLATFORM_NAMES.values() for name in needed)})
