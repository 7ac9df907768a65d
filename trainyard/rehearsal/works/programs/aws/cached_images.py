"""Images that pods pull from the account's own registry through a cache: a rule fills the repository, or nothing does.

Source: Amazon ECR user guide, "Sync an upstream registry" (a pull through cache rule holds for repositories whose name
begins with its prefix and a slash; the prefix `ROOT` for all), 2026-11. A repository that no rule fills is one that
somebody pushes to: told only where the images beside it come from a cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.read import follow
from trainyard.recorded.types import ECR_CACHE_RULE, HELM_RELEASE
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.workloads.read import workloads

_OWN: Final = re.compile(r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?/(?P<name>[a-z0-9._/-]+)")


def check(stack: Stack) -> None:
    """Every image of an account's registry, where the stack makes rules."""
    rules = [rule.text("ecrRepositoryPrefix") for rule in stack.of_type(ECR_CACHE_RULE)]
    if not rules or None in rules or "ROOT" in rules:
        return
    prefixes = sorted(map(str, rules))
    heads = {prefix.partition("/")[0] for prefix in prefixes}
    told: set[str] = set()
    for view, path, name in _images(stack):
        head = name.partition("/")[0]
        cached = any(name.startswith(f"{prefix}/") for prefix in prefixes)
        if not cached and head in heads and "/" in name.removeprefix(f"{head}/") and head not in told:
            told.add(head)
            view.warning(
                "programs-cached-image", path,
                f"pulls {show(name)} of the account's registry, where the stack's rules fill {', '.join(prefixes)}: "
                "nothing is there unless somebody pushes it", allowed=f"below {' or '.join(prefixes)}",
            )  # fmt: skip


def _images(stack: Stack) -> Iterator[tuple[View, str, str]]:
    for workload in workloads(stack.resources):
        view = stack.view_of(workload.resource)
        for path, container in workload.containers() if workload.origin == "object" else ():
            found = _OWN.match(str(follow(container, "image")))
            if found is not None:
                yield view, f"{workload.at(path)}.image", found["name"]
    for release in stack.of_type(HELM_RELEASE):
        for path, text in _named(release.mapping("values"), "values"):
            found = _OWN.match(text)
            if found is not None:
                yield release, path, found["name"]


def _named(values: Any, path: str) -> Iterator[tuple[str, str]]:
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if key == "repository" and isinstance(value, str):
            registry = values.get("registry")
            yield f"{path}.{key}", f"{registry}/{value}" if isinstance(registry, str) and registry else value
        else:
            yield from _named(value, f"{path}.{key}")
