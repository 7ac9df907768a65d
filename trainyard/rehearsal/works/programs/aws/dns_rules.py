"""Rules of a DNS firewall: each is asked in the order of its place, and the first whose list has a name decides.

Source: Route 53 Resolver DNS Firewall, "How DNS Firewall works" (rules of a group by their priority, the lowest first;
a list's `*` is every name, `*.example.com` every name below it), 2026-11.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.recorded.types import DNS_FIREWALL_NAMES, DNS_FIREWALL_RULE
from trainyard.rehearsal.context import Stack, View


def check(stack: Stack) -> None:
    """Every rule that comes after one that leaves it nothing, and names without which no job runs."""
    groups: dict[str, list[tuple[float, View, list[str]]]] = {}
    unread: set[str | None] = set()  # with a rule of a list that is somebody else's, or not known
    for rule in stack.of_type(DNS_FIREWALL_RULE):
        named, place = rule.referred("firewallDomainListId", DNS_FIREWALL_NAMES), rule.number("priority")
        group = rule.text("firewallRuleGroupId")
        if named is None or place is None or group is None or named.blurred("domains") or rule.has("qType"):
            unread.add(group)
            continue
        groups.setdefault(group, []).append((place, rule, named.texts("domains")))
    for group, rules in groups.items():
        ordered = sorted(rules, key=lambda one: one[0])
        allows = any(rule.text("action") == "ALLOW" for _, rule, _ in ordered)  # else it is closed on purpose
        if allows and unread.isdisjoint({group, None}):
            _answered(ordered, stack)
        for index, (_, rule, names) in enumerate(ordered):
            for _, earlier, wider in ordered[:index]:
                if names and earlier.text("action") != rule.text("action") and all(_in(one, wider) for one in names):
                    rule.error(
                        "programs-dns-order", "priority",
                        f"{earlier.name} ({earlier.text('action')}) comes first and has every name of its list: it "
                        "decides nothing", allowed=f"below {earlier.number('priority'):g}",
                    )  # fmt: skip
                    break


def _answered(ordered: Sequence[tuple[float, View, list[str]]], stack: Stack) -> None:
    """S3 and the registry, which every node and every job asks by name, are not blocked."""
    region = stack.context.region
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    if not region:
        return
    s3 = f"s3.{region}.{suffix}"
    for needed, *ways in ((s3, f"a-bucket.{s3}"), (f"api.ecr.{region}.{suffix}",)):  # a bucket by its host, or its path
        by_way = [next((rule for _, rule, names in ordered if _in(name, names)), None) for name in (needed, *ways)]
        decides = by_way[0]
        if decides is not None and all(rule is not None and rule.text("action") == "BLOCK" for rule in by_way):
            message = f"blocks {needed}, which no list before it allows: nothing is fetched from there"
            decides.error(
                "programs-dns-order", "action", message, allowed=f"*.{suffix} in a list that is allowed before"
            )
            return


def _in(name: str, wider: Sequence[str]) -> bool:
    plain = name.rstrip(".").lower()
    return any(
        other == "*" or other.rstrip(".").lower() == plain
        or (other.startswith("*.") and plain.endswith(other[1:].rstrip(".").lower()))
        for other in wider
    )  # fmt: skip
