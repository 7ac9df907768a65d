"""DNS Firewall of Route 53 Resolver: rules, their order, the names that they list.

Source: Route 53 API reference, `CreateFirewallRule`, `AssociateFirewallRuleGroup` and `UpdateFirewallDomains`, as
generally known (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.types import (
    DNS_FIREWALL_ASSOCIATION,
    DNS_FIREWALL_NAMES,
    DNS_FIREWALL_RULE,
    DNS_FIREWALL_RULES,
    VPC,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_LOWEST, _HIGHEST = 100, 9900
_OVERRIDES: Final = ("blockOverrideDomain", "blockOverrideDnsType", "blockOverrideTtl")
_DOMAIN: Final = re.compile(r"\*|(\*\.)?([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)(\.[A-Za-z0-9_-]{1,63})*\.?")


def firewall_rule(view: View) -> None:
    """A rule that blocks says what it answers; no other does, and no two rules of a group have one place."""
    action, answer = view.text("action"), view.text("blockResponse")
    if action == "BLOCK" and view.lacks("blockResponse"):
        view.error(
            "dns-block-response", "blockResponse", "is missing with BLOCK", allowed="one of NODATA, NXDOMAIN, OVERRIDE"
        )
    if action in ("ALLOW", "ALERT") and view.has("blockResponse"):
        view.warning("dns-block-response", "blockResponse", f"given with {action}", allowed="none, or action BLOCK")
    for key in _OVERRIDES:
        if answer == "OVERRIDE" and view.lacks(key):
            view.error("dns-block-response", key, "is missing with OVERRIDE", allowed="needed with OVERRIDE")
        elif answer in ("NODATA", "NXDOMAIN") and view.has(key):
            view.error("dns-block-response", key, f"given with {answer}", allowed="blockResponse OVERRIDE")
    _one_place(view, "firewallRuleGroupId", DNS_FIREWALL_RULES)


def association(view: View) -> None:
    """A group's place among those of its VPC is one that is free to take."""
    priority = view.number("priority")
    if priority is not None and not _LOWEST < priority < _HIGHEST:
        view.error(
            "dns-priority",
            "priority",
            f"got {priority:g}",
            allowed=f"{_LOWEST + 1} to {_HIGHEST - 1}: AWS keeps the rest",
        )
    _one_place(view, "vpcId", VPC)


def _one_place(view: View, path: str, type_: str) -> None:
    own, priority = view.referred(path, type_), view.number("priority")
    for other in view.stack.of_type(view.type):
        if other is view:
            break
        same = own is not None and priority is not None and other.number("priority") == priority
        if same and other.referred(path, type_) is own:
            view.error(
                "dns-priority", "priority", f"{view.value('priority')} is {other.name}'s too", allowed="each once"
            )


def domains(view: View) -> None:
    """A list holds names of DNS, with a star for a whole first part at most."""
    for index, text in enumerate(view.entries("domains")):
        if isinstance(text, str) and not _DOMAIN.fullmatch(text):
            allowed = "a domain such as example.com or *.example.com: no scheme, no path, one star in front"
            view.error("dns-domain", f"domains[{index}]", f"got {show(text)}", allowed=allowed)


RULES: Final[Rules] = {
    firewall_rule: (DNS_FIREWALL_RULE,),
    association: (DNS_FIREWALL_ASSOCIATION,),
    domains: (DNS_FIREWALL_NAMES,),
}
