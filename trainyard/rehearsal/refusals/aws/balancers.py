"""Load balancers, their groups of targets and their firewalls: what stands together.

Sources: Elastic Load Balancing, "Target groups", "Listeners" and "Health checks" of application and network load
balancers; AWS WAF Developer Guide, "AWS WAF resources" (scopes) and "Rule group rules"; Route 53 Developer Guide,
"Choosing between alias and non-alias records", 2026-11.
"""

from __future__ import annotations

import re
from typing import Any, Final

from trainyard.recorded.read import as_number
from trainyard.recorded.types import CERTIFICATE, DNS_RECORD, DNS_ZONE, LISTENER_RULE, LOAD_BALANCER, SUBNET
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.aws.containers import TARGET_GROUP, target_groups
from trainyard.rehearsal.refusals.rules import Rules

LISTENER: Final = "aws:lb/listener:Listener"
_ACL: Final = "aws:wafv2/webAcl:WebAcl"
_GROUP_OF_RULES: Final = "aws:wafv2/ruleGroup:RuleGroup"
_BOUND: Final = "aws:wafv2/webAclAssociation:WebAclAssociation"
_OF_APPLICATION, _OF_NETWORK = ("HTTP", "HTTPS"), ("TCP", "UDP", "TLS", "TCP_UDP", "QUIC", "TCP_QUIC")
_INTERVALS: Final = {"lambda": 35}
"""Seconds between two checks where nobody says, which are 30 of other targets."""


def balancer(view: View) -> None:
    """An application load balancer stands in two zones; an idle time-out is of an application's alone."""
    kind = view.text("loadBalancerType") or "application"
    if view.is_unknown("loadBalancerType"):
        return
    for path in ("subnets", "subnetMappings"):
        if kind != "application" or len(view.entries(path)) != 1 or view.blurred(path):
            continue
        (one,) = view.entries(path)
        if not _is_outside_a_region(view, one.get("subnetId") if isinstance(one, dict) else one):
            view.error("lb-zones", path, "is one subnet", allowed="subnets in two zones at least")
    if kind != "application" and view.has("idleTimeout"):
        view.warning(
            "lb-kind", "idleTimeout", f"is read by an application load balancer alone, and this is a {kind} one"
        )
    if kind == "gateway" and view.entries("securityGroups"):
        view.error("lb-kind", "securityGroups", "is given to a gateway load balancer", allowed="none")


_ZONE_OF_A_REGION: Final = re.compile(r"[a-z]+(-[a-z]+)+-\d[a-z]")


def _is_outside_a_region(view: View, subnet: Any) -> bool:
    """Whether a subnet is on an Outpost or in a Local Zone, where one is all that there is."""
    if view.has("customerOwnedIpv4Pool"):
        return True
    found = next((one for one in view.stack.of_type(SUBNET) if one.resource.id == subnet), None)
    if found is None:
        return False
    zone = found.text("availabilityZone")
    return found.has("outpostArn") or (zone is not None and not _ZONE_OF_A_REGION.fullmatch(zone))


def group(view: View) -> None:
    """What a group needs by the kind of its targets, and health checks that come to an end."""
    kind, protocol = view.text("targetType") or "instance", view.text("protocol")
    if view.is_unknown("targetType"):
        return
    for name in ("port", "protocol", "vpcId"):
        if kind != "lambda" and view.lacks(name):
            view.error("lb-target-group", name, f"is missing for targets by {kind}", allowed=name)
        if kind == "lambda" and view.has(name):
            view.warning("lb-target-group", name, "is given for a function: nobody reads it", allowed="none")
    _sticky(view, protocol)
    timeout = view.number("healthCheck.timeout")
    interval = _INTERVALS.get(kind, 30) if view.lacks("healthCheck.interval") else view.number("healthCheck.interval")
    may_equal = protocol in _OF_NETWORK or view.is_unknown("protocol")
    if timeout is not None and interval is not None and (timeout > interval or (timeout == interval and not may_equal)):
        view.error(
            "lb-health-check",
            "healthCheck.timeout",
            f"{timeout:g} s are {'above' if may_equal else 'not below'} the interval of {interval:g} s",
            allowed="at most it" if may_equal else "below it",
        )
    checked = view.text("healthCheck.protocol") or ""  # the provider's default is HTTP, whatever the group's is
    for name in ("matcher", "path"):
        if checked.upper() == "TCP" and view.text(f"healthCheck.{name}"):
            view.error("lb-health-check", f"healthCheck.{name}", "is given for a check by TCP", allowed="HTTP or HTTPS")
    if view.text("healthCheck.path") is not None and not str(view.text("healthCheck.path")).startswith("/"):
        view.error(
            "lb-health-check", "healthCheck.path", f"got {show(view.text('healthCheck.path'))}", allowed="a path from /"
        )
    for name, least, most in (
        ("interval", 5, 300),
        ("timeout", 2, 120),
        ("healthyThreshold", 2, 10),
        ("unhealthyThreshold", 2, 10),
    ):
        number = view.number(f"healthCheck.{name}")
        if number is not None and not least <= number <= most:
            view.error("lb-health-check", f"healthCheck.{name}", f"got {number:g}", allowed=f"{least} to {most}")


_STICKY: Final = {
    **dict.fromkeys(("HTTP", "HTTPS"), ("lb_cookie", "app_cookie")),
    **dict.fromkeys(("TCP", "UDP", "TLS", "TCP_UDP", "QUIC", "TCP_QUIC"), ("source_ip",)),
    "GENEVE": ("source_ip_dest_ip", "source_ip_dest_ip_proto"),
}
"""By what a group's requests may stick to a target, by its protocol."""


def _sticky(view: View, protocol: str | None) -> None:
    """Cookies are an application's; what goes by as packets sticks by its addresses."""
    kind, known = view.text("stickiness.type"), _STICKY.get((protocol or "").upper())
    if kind is not None and known is not None and kind not in known:
        view.error("lb-target-group", "stickiness.type", f"got {kind} for {protocol}", allowed=" or ".join(known))


def listener(view: View) -> None:
    """Who speaks TLS has a certificate, and who does not has none; a load balancer speaks its own protocols."""
    protocol = (view.text("protocol") or "").upper()
    if protocol in ("HTTPS", "TLS") and view.lacks("certificateArn"):
        view.error("lb-certificate", "certificateArn", f"is missing for {protocol}", allowed="a certificate of ACM")
    for name in ("certificateArn", "sslPolicy"):
        if protocol and protocol not in ("HTTPS", "TLS") and view.has(name):
            view.error("lb-certificate", name, f"is given with {protocol}", allowed="HTTPS or TLS")
    of = view.referred("loadBalancerArn", LOAD_BALANCER)
    if of is not None and protocol and not of.is_unknown("loadBalancerType"):
        kind = of.text("loadBalancerType") or "application"
        spoken = {"application": _OF_APPLICATION, "network": _OF_NETWORK}.get(kind)
        if spoken is not None and protocol not in spoken:
            view.error(
                "lb-protocol",
                "protocol",
                f"got {protocol} at a load balancer of kind {kind}",
                allowed=", ".join(spoken),
            )
        for group_view in _groups(view):
            speaks = (group_view.text("protocol") or "").upper()
            if speaks and spoken is not None and speaks not in (*spoken, *(("TCP_UDP",) if kind == "network" else ())):
                group_view.error(
                    "lb-protocol",
                    "protocol",
                    f"got {speaks}, and load balancer {of.name} is of kind {kind}",
                    allowed=", ".join(spoken),
                )
    for path, action in view.items("defaultActions"):
        _action(view, path, action)


def _groups(view: View) -> list[View]:
    return target_groups(view, "defaultActions", "actions")


_NEEDS: Final = {
    "fixed-response": "fixedResponse",
    "redirect": "redirect",
    "authenticate-cognito": "authenticateCognito",
    "authenticate-oidc": "authenticateOidc",
}


def _action(view: View, path: str, action: Any) -> None:
    kind = action.get("type")
    needed = _NEEDS.get(kind) if isinstance(kind, str) else None
    if needed is not None and action.get(needed) is None:
        view.error("lb-action", f"{path}.{needed}", f"is missing for {kind}", allowed=needed)
    if kind == "forward" and action.get("targetGroupArn") is None and action.get("forward") is None:
        view.error("lb-action", f"{path}.targetGroupArn", "is missing for forward", allowed="a target group")


def rule(view: View) -> None:
    """A rule's rank, which no other rule of its listener has, and what it does."""
    rank = view.number("priority")
    if rank is not None and not 1 <= rank <= 50000:
        view.error("lb-rule", "priority", f"got {rank:g}", allowed="1 to 50000")
    of = view.text("listenerArn")
    for other in view.stack.of_type(LISTENER_RULE) if rank is not None and of is not None else ():
        if other is view:
            break
        if other.text("listenerArn") == of and other.number("priority") == rank:
            view.error(
                "lb-rule",
                "priority",
                f"{rank:g} is rule {other.name}'s of the same listener",
                allowed="a rank of its own",
            )
    for path, action in view.items("actions"):
        _action(view, path, action)


def firewall(view: View) -> None:
    """Rules of a firewall: each rank and name once, and a group of rules is overridden, not acted by."""
    seen: dict[Any, str] = {}
    for path, entry in view.items("rules"):
        rank = as_number(entry.get("priority"))
        if rank is not None and rank in seen:
            view.error("waf-rules", f"{path}.priority", f"{rank:g} is {seen[rank]}'s", allowed="a rank of its own")
        seen.setdefault(rank, str(entry.get("name")))
        statement = entry.get("statement")
        grouped = isinstance(statement, dict) and any(
            statement.get(name) for name in ("managedRuleGroupStatement", "ruleGroupReferenceStatement")
        )
        if grouped and entry.get("action"):
            view.error("waf-rules", f"{path}.action", "is given for a group of rules", allowed="overrideAction")
        if isinstance(statement, dict) and not grouped and entry.get("overrideAction"):
            view.error("waf-rules", f"{path}.overrideAction", "is given for a single rule", allowed="action")
        if (
            isinstance(statement, dict)
            and view.type == _ACL
            and not entry.get("action")
            and not entry.get("overrideAction")
        ):
            view.error(
                "waf-rules", f"{path}.action", "is missing", allowed="action, or overrideAction of a group of rules"
            )
    if view.text("scope") == "CLOUDFRONT" and view.region not in ("", "us-east-1"):
        view.error("waf-scope", "scope", f"is CLOUDFRONT in {view.region}", allowed="us-east-1, or REGIONAL")


def bound(view: View) -> None:
    """A firewall of CloudFront's is bound to applications of Amplify, which it is made for too, and to nothing else."""
    acl, bound_to = view.referred("webAclArn", _ACL), view.text("resourceArn")
    if bound_to is not None and acl is not None and acl.text("scope") == "CLOUDFRONT" and ":amplify:" not in bound_to:
        view.error(
            "waf-scope",
            "webAclArn",
            f"{acl.name} has scope CLOUDFRONT, which only a distribution names itself",
            allowed="a web ACL with scope REGIONAL",
        )


def record(view: View) -> None:
    """A name has its zone's end, a zone's own name is no CNAME, and a plain record says how long it is kept."""
    zone, name, kind = view.referred("zoneId", DNS_ZONE), view.text("name"), view.text("type")
    if view.lacks("aliases") and view.lacks("ttl") and view.has("records"):
        view.error("route53-record", "ttl", "is missing beside records", allowed="seconds")
    _addresses(view, kind)
    if zone is None or name is None or (whole := zone.text("name")) is None:
        return
    plain, whole = name.rstrip(".").lower(), whole.rstrip(".").lower()
    if kind == "CNAME" and plain in ("", whole):
        view.error("route53-record", "type", f"is CNAME for the zone's own name {whole}", allowed="an alias of type A")
    for certificate in view.stack.of_type(CERTIFICATE):
        for option in listed(certificate.resource.outputs.get("domainValidationOptions")):
            if isinstance(option, dict) and option.get("resourceRecordName") == name and kind not in (None, "CNAME"):
                words = f"{kind}, and certificate {certificate.name} is proven by a CNAME: it stays pending"
                view.error("route53-record", "type", words, allowed="CNAME")
    above = whole.partition(".")[2]
    within = plain in ("", whole) or plain.endswith(f".{whole}")
    if not within and (name.endswith(".") or ("." in above and f".{plain}".endswith(f".{above}"))):
        view.error(
            "route53-record",
            "name",
            f"{name} is not of zone {whole}: the provider puts the zone's name behind it",
            allowed=f"a name that ends in .{whole}, or what stands before that",
        )


_ADDRESSES: Final = {"A": "IPv4", "AAAA": "IPv6"}
"""What the records of a type are addresses of."""
_HOST: Final = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}\.?")


def _addresses(view: View, kind: str | None) -> None:
    """A record of addresses holds addresses: a host goes into a CNAME, or an alias."""
    version = _ADDRESSES.get(kind or "")
    for index, value in enumerate(view.texts("records") if version is not None else ()):
        if _HOST.fullmatch(value):
            view.error(
                "route53-record", f"records[{index}]", f"got {show(value)} in a record of type {kind}",
                allowed=f"an address of {version}", hint="type CNAME",
            )  # fmt: skip


RULES: Final[Rules] = {
    balancer: (LOAD_BALANCER,),
    group: (TARGET_GROUP,),
    listener: (LISTENER,),
    rule: (LISTENER_RULE,),
    firewall: (_ACL, _GROUP_OF_RULES),
    bound: (_BOUND,),
    record: (DNS_RECORD,),
}
