"""Which names pods and nodes may look up: what the DNS Firewall in front of the VPC's name server lets by.

A lookup carries data to whoever answers for the name, past every wall of addresses. Rules are asked in the order of
their priority, and the first that holds the name decides; a name that no rule holds is looked up (Route 53 developer
guide, "How Route 53 Resolver DNS Firewall works", 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import number_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DNS_FIREWALL_ASSOCIATION, DNS_FIREWALL_NAMES, DNS_FIREWALL_RULE

_EVERY_NAME = "*"


@dataclass(frozen=True, slots=True)
class Names:
    """What may be looked up."""

    allowed: tuple[str, ...]  # where not every name is
    every: bool
    words: str


def names_looked_up(resources: Resources) -> Names:
    """What the recorded firewall lets by; every name where there is none that blocks the rest.

    Raises:
        UnknownInput: a part of it is not known yet.
    """
    for association in resources.of(DNS_FIREWALL_ASSOCIATION):
        group = value_at(association.inputs, "firewallRuleGroupId")
        allowed: list[str] = []
        for rule, names in _rules(resources, group):
            action = value_at(rule.inputs, "action")
            if action == "ALLOW":
                allowed += names
            elif action == "BLOCK" and _EVERY_NAME in names:
                if _EVERY_NAME in allowed:
                    break
                words = f"rule {rule.name} of the DNS firewall answers to other names that they do not exist"
                return Names(tuple(sorted(set(allowed))), every=False, words=words)
        return Names((), every=True, words=f"no rule of the DNS firewall {association.name} blocks the rest")
    return Names((), every=True, words="there is no DNS firewall")


def _rules(resources: Resources, group: str) -> Iterator[tuple[RecordedResource, list[str]]]:
    lists = {found.id: found for found in resources.of(DNS_FIREWALL_NAMES)}
    rules = [rule for rule in resources.of(DNS_FIREWALL_RULE) if value_at(rule.inputs, "firewallRuleGroupId") == group]
    for rule in sorted(rules, key=lambda rule: number_at(rule.inputs, "priority")):
        named = lists.get(value_at(rule.inputs, "firewallDomainListId"))
        yield rule, texts_at(named.inputs, "domains") if named is not None else []
