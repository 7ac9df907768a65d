"""Whom a rule of a network policy is about, and on which ports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.policies.access import internet
from trainyard.recorded.read import as_number, is_set, list_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import NETWORK_POLICY


def fenced_namespaces(resources: Resources, *, allowing: bool) -> set[str]:
    """The namespaces whose pods all have policies in both directions, one for both or one each, that allow nothing
    themselves; `allowing`: that do not allow everything."""
    closed: dict[str, set[str]] = {}
    for policy in resources.of(NETWORK_POLICY):
        namespace = str(value_at(policy.inputs, "metadata", "namespace", default="default"))
        if not is_set(policy.inputs, "spec", "podSelector"):
            closed.setdefault(namespace, set()).update(_closes(policy.inputs, allowing=allowing))
    return {namespace for namespace, directions in closed.items() if {"Ingress", "Egress"} <= directions}


def _closes(inputs: Any, *, allowing: bool) -> Iterator[str]:
    """The directions that a policy closes. Without `policyTypes`: ingress, and egress where it has rules of it."""
    told = texts_at(inputs, "spec", "policyTypes") or [
        "Ingress",
        *(["Egress"] if is_set(inputs, "spec", "egress") else []),
    ]
    into, out = list_at(inputs, "spec", "ingress"), list_at(inputs, "spec", "egress")
    if "Ingress" in told and not any(not allowing or from_anywhere(rule, "from") for rule in into):
        yield "Ingress"
    if "Egress" in told and not any(not allowing or (from_anywhere(rule, "to") and every_port(rule)) for rule in out):
        yield "Egress"


def from_anywhere(rule: Any, key: str) -> bool:
    """Whether a rule names nobody, every namespace, or the internet. A selector of pods alone stays at home."""
    peers = list_at(rule, key)
    return not peers or any(
        internet(value_at(peer, "ipBlock", "cidr"))
        if value_at(peer, "ipBlock") is not None
        else value_at(peer, "namespaceSelector") is not None and _selects_all(value_at(peer, "namespaceSelector"))
        for peer in peers
    )


_MOST_PORTS = 1000
"""A range of more is no service's: it lets out whatever looks for a way."""


def every_port(rule: Any) -> bool:
    """Whether a rule names no port, or next to all of them: a protocol alone, or a wide range."""
    return not is_set(rule, "ports") or any(
        value_at(port, "port") is None
        or (as_number(value_at(port, "endPort")) or 0) - (as_number(value_at(port, "port")) or 0) >= _MOST_PORTS
        for port in list_at(rule, "ports")
    )


def _selects_all(selector: Any) -> bool:
    """Whether a selector asks for nothing, or for a label that every namespace has."""
    asked = [expression for expression in list_at(selector, "matchExpressions") if not _always(expression)]
    return not is_set(selector, "matchLabels") and not asked


def _always(expression: Any) -> bool:
    own_name = value_at(expression, "key") == "kubernetes.io/metadata.name"
    return value_at(expression, "operator") in ("NotIn", "DoesNotExist") or (
        own_name and value_at(expression, "operator") == "Exists"
    )


NAMES_PORT = 53


def names_only(rule: Any) -> bool:
    """Whether a rule is about looking up names alone."""
    ports = list_at(rule, "ports")
    return bool(ports) and all(value_at(port, "port") == NAMES_PORT and not is_set(port, "endPort") for port in ports)
