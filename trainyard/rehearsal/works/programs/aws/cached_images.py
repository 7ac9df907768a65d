"""Images that pods pull from the account's own registry through a cache: a rule fills the repository, or nothing does.

Source: Amazon ECR user guide, "Sync an upstream registry" (a pull through cache rule holds for repositories whose name
begins with its prefix and a slash; the prefix `ROOT` for all), 2026-11. A repository that no rule fills is one that
somebody pushes to: told only where the images beside it come from a cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.recorded.read import follow, known_texts
from trainyard.recorded.types import (
    ECR_CACHE_RULE,
    ECR_CREATION_TEMPLATE,
    ECR_REGISTRY_POLICY,
    HELM_RELEASE,
    IAM_POLICY,
    REPOSITORY,
    ROLE,
    ROLE_POLICY,
    ROLE_POLICY_ATTACHMENT,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.workloads.read import workloads

_MAKES: Final = re.compile(
    r'"ecr:(\*|Create[\w*]*)"|"(Not)?Action":\s*(\[[^]]*)?"\*"|"NotAction"|PowerUser|FullAccess|AdministratorAccess'
)
"""What a policy or its name says where it may let somebody make a repository."""
_OWN: Final = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?/(?P<name>[a-z0-9._/-]+)")


_ACCOUNT: Final = re.compile(r"arn:[^:]*:ecr:[^:]*:(\d{12}):")


def check(stack: Stack) -> None:
    """Every image of an account's registry, where the stack makes rules."""
    for rule in stack.of_type(ECR_CACHE_RULE):
        _is_of(rule)
    rules = [rule.text("ecrRepositoryPrefix") for rule in stack.of_type(ECR_CACHE_RULE)]
    if not rules or None in rules or "ROOT" in rules:
        return
    prefixes = sorted(map(str, rules))
    heads = {prefix.partition("/")[0] for prefix in prefixes}
    told: set[str] = set()
    kept = _kept(stack)
    accounts = {found[1] for view in stack.of_type(REPOSITORY) if (found := _ACCOUNT.match(arn_of(view.resource)))}
    nodes = _nodes(stack)
    for view, path, name, account in _images(stack):
        if accounts and account not in accounts:
            continue  # of somebody else's registry, which this stack fills nothing of
        if kept and name not in kept and any(_is_kept_for(prefix, name, kept) for prefix in prefixes):
            # Who pulls may make one by rights that nothing here says, unless it is a role of this stack.
            (view.error if nodes else view.warning)(
                "programs-cached-image", path,
                f"pulls {show(name)}, for which the stack makes no repository, as it does for others: "
                + ("nobody who pulls may make one" if nodes else "unless who pulls may make one, nothing is pulled"),
                allowed="a repository of that name, or a template that they are made by",
                hint=nearest(name, kept),
            )  # fmt: skip
        head = name.partition("/")[0]
        cached = any(name.startswith(f"{prefix}/") for prefix in prefixes)
        if not cached and head in heads and "/" in name.removeprefix(f"{head}/") and head not in told:
            told.add(head)
            view.warning(
                "programs-cached-image", path,
                f"pulls {show(name)} of the account's registry, where the stack's rules fill {', '.join(prefixes)}: "
                "nothing is there unless somebody pushes it", allowed=f"below {' or '.join(prefixes)}",
            )  # fmt: skip


def _is_of(rule: View) -> None:
    """A prefix that says of which registry it is the cache, and is filled from another one."""
    word, upstream = (rule.text("ecrRepositoryPrefix") or "").rpartition("/")[2], rule.text("upstreamRegistryUrl")
    meant = _REGISTRIES.get(word)
    if meant is not None and upstream in _REGISTRIES.values() and upstream != meant:
        rule.warning(
            "programs-cached-image", "upstreamRegistryUrl",
            f"images below {show(rule.text('ecrRepositoryPrefix'))} come from {upstream}, not from {meant}",
            allowed=meant,
        )  # fmt: skip


_REGISTRIES: Final = {
    "docker-hub": "registry-1.docker.io", "dockerhub": "registry-1.docker.io", "docker.io": "registry-1.docker.io",
    "ecr-public": "public.ecr.aws", "public.ecr.aws": "public.ecr.aws", "ghcr": "ghcr.io", "ghcr.io": "ghcr.io",
    "quay": "quay.io", "quay.io": "quay.io", "registry.k8s.io": "registry.k8s.io",
}  # fmt: skip
"""Words that name a registry and nothing else, with what ECR calls it (its user guide, "Creating a pull through cache
rule", 2026-11)."""


def _kept(stack: Stack) -> set[str]:
    """Names of the repositories that the stack makes; empty where one that is missing may be made by a pull.

    That takes `ecr:CreateRepository` of who pulls, or of the registry's policy (Amazon ECR User Guide, "IAM permissions
    required to sync an upstream registry", 2026-11), or a template for repositories.
    """
    names = [view.text("name") for view in stack.of_type(REPOSITORY)]
    if None in names or stack.of_type(ECR_CREATION_TEMPLATE) or stack.of_type(ECR_REGISTRY_POLICY):
        return set()
    for view in stack.of_type(ROLE):
        for path in ("managedPolicyArns", "inlinePolicies"):
            if view.blurred(path) or any(_MAKES.search(text) for _, text in known_texts(view.entries(path))):
                return set()
    for type_, path in ((ROLE_POLICY, "policy"), (IAM_POLICY, "policy"), (ROLE_POLICY_ATTACHMENT, "policyArn")):
        for view in stack.of_type(type_):
            text = view.text(path)
            if text is None or _MAKES.search(text):
                return set()
    return {str(name) for name in names}


def _nodes(stack: Stack) -> bool:
    """Whether the nodes, who pull, have roles that this stack makes."""
    made = {arn_of(view.resource) for view in stack.of_type(ROLE) if not view.resource.read} - {""}
    asked = {view.text("nodeRoleArn") for view in stack.of_type(EKS_NODE_GROUP)}
    return bool(asked) and asked <= made


def _is_kept_for(prefix: str, name: str, kept: set[str]) -> bool:
    """Whether a name is below a rule's prefix, and repositories are made for others that are."""
    return name.startswith(f"{prefix}/") and any(one.startswith(f"{prefix}/") for one in kept)


def _images(stack: Stack) -> Iterator[tuple[View, str, str, str]]:
    """Where an image is named, and its name and the account of its registry."""
    for workload in workloads(stack.resources):
        view = stack.view_of(workload.resource)
        for path, container in workload.containers() if workload.origin == "object" else ():
            found = _OWN.match(str(follow(container, "image")))
            if found is not None:
                yield view, f"{workload.at(path)}.image", found["name"], found["account"]
    for release in stack.of_type(HELM_RELEASE):
        for path, text in _named(release.mapping("values"), "values"):
            found = _OWN.match(text)
            if found is not None:
                yield release, path, found["name"], found["account"]


def _named(values: Any, path: str) -> Iterator[tuple[str, str]]:
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if key == "repository" and isinstance(value, str):
            registry = values.get("registry")
            yield f"{path}.{key}", f"{registry}/{value}" if isinstance(registry, str) and registry else value
        else:
            yield from _named(value, f"{path}.{key}")
