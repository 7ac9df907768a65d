"""Rules of a DNS firewall: each is asked in the order of its place, and the first whose list has a name decides.

Source: Route 53 Resolver DNS Firewall, "How DNS Firewall works" (rules of a group by their priority, the lowest first;
a list's `*` is every name, `*.example.com` every name below it), 2026-11.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.recorded.types import DNS_FIREWALL_RULE, DNS_NAMES
from trainyard.rehearsal.context import Stack, View


def check(stack: Stack) -> None:
    """Every rule that comes after one that leaves it nothing."""
    groups: dict[str, list[tuple[float, View, list[str]]]] = {}
    for rule in stack.of_type(DNS_FIREWALL_RULE):
        named, place = rule.referred("firewallDomainListId", DNS_NAMES), rule.number("priority")
        group = rule.text("firewallRuleGroupId")
        if named is None or place is None or group is None or named.blurred("domains") or rule.has("qType"):
            continue
        groups.setdefault(group, []).append((place, rule, named.texts("domains")))
    for rules in groups.values():
        ordered = sorted(rules, key=lambda one: one[0])
        for index, (_, rule, names) in enumerate(ordered):
            for _, earlier, wider in ordered[:index]:
                if names and earlier.text("action") != rule.text("action") and all(_in(one, wider) for one in names):
                    rule.error(
                        "programs-dns-order", "priority",
                        f"{earlier.name} ({earlier.text('action')}) comes first and has every name of its list: it "
                        "decides nothing", allowed=f"below {earlier.number('priority'):g}",
                    )  # fmt: skip
                    break


def _in(name: str, wider: Sequence[str]) -> bool:
    plain = name.rstrip(".").lower()
    return any(
        other == "*" or other.rstrip(".").lower() == plain
        or (other.startswith("*.") and plain.endswith(other[1:].rstrip(".").lower()))
        for other in wider
    )  # fmt: skip
