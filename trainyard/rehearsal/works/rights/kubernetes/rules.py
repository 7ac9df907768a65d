"""What a rule of a role allows.

Rules and their source (Kubernetes documentation, "Using RBAC Authorization", read 2026-11): rules only allow, and add
up; `*` is every verb, group or resource, `*/scale` that subresource of every resource; a rule with resource names is
about requests that name one, so never about `create` and `deletecollection`, and about `list` and `watch` of that one
object alone; a URL may end in `*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from trainyard.recorded.read import list_at, mappings_at

_THING: Final = re.compile(r"(?P<plural>[^./]+)(\.(?P<group>[^/]+))?(?P<sub>/.+)?")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to the API server: a verb on a resource, or on a URL that is none."""

    verb: str
    resource: str = ""  # plural, with its subresource: "pods", "pods/exec"
    group: str = ""
    namespace: str = ""  # empty: of the cluster, or in all namespaces
    name: str = ""
    url: str = ""

    def __str__(self) -> str:
        """The request in words."""
        if self.url:
            return f"{self.verb} {self.url}"
        plural, _, sub = self.resource.partition("/")
        thing = f"{plural}{f'.{self.group}' if self.group else ''}{f'/{sub}' if sub else ''}"
        where = f" in {self.namespace}" if self.namespace else " in the cluster"
        return f"{self.verb} {thing}{f' {self.name}' if self.name else ''}{where}"


def ask(verb: str, thing: str, namespace: str = "", name: str = "") -> Ask:
    """A request by its words: `ask("create", "jobs.batch")`, `ask("get", "deployments.apps/scale")`, `ask("get",
    "/version")`. Raises ValueError for a thing that is none."""
    if thing.startswith("/"):
        return Ask(verb, url=thing)
    found = _THING.fullmatch(thing)
    if found is None:
        raise ValueError(f"{thing!r} is no resource: pods, jobs.batch, pods/exec")
    return Ask(verb, found["plural"] + (found["sub"] or ""), found["group"] or "", namespace, name)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a role."""

    verbs: frozenset[str]
    groups: frozenset[str] = frozenset()
    resources: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    urls: frozenset[str] = frozenset()

    def allows(self, asked: Ask) -> bool:
        """Whether it allows a request, wherever its role is bound."""
        if not self.verbs & {asked.verb, "*"}:
            return False
        if asked.url:
            return any(url == asked.url or (url.endswith("*") and asked.url.startswith(url[:-1])) for url in self.urls)
        return self.is_about(asked) and (not self.names or asked.name in self.names)

    def is_about(self, asked: Ask) -> bool:
        """Whether it allows a request on a resource, whatever the name of the object."""
        verb_and_group = self.verbs & {asked.verb, "*"} and self.groups & {asked.group, "*"}
        return bool(verb_and_group) and self._means(asked.resource)

    def _means(self, resource: str) -> bool:
        sub = resource.partition("/")[2]
        return bool(self.resources & {resource, "*", *((f"*/{sub}",) if sub else ())})


def rule(verbs: Iterable[str], resources: Iterable[str], groups: Iterable[str] = ("",)) -> Rule:
    """A rule on resources of some groups."""
    return Rule(frozenset(verbs), frozenset(groups), frozenset(resources))


def read_rules(inputs: Any) -> tuple[Rule, ...]:
    """The rules of a recorded role. Raises `UnknownInput`."""
    return tuple(
        Rule(
            *(
                frozenset(map(str, list_at(found, key)))
                for key in ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
            )
        )
        for found in mappings_at(inputs, "rules")
    )
