"""Security: who may take a role. A service for this account, a pod of one namespace, one subject of a provider."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from pulumi_policy import Severity

from trainyard.conventions import team_namespace
from trainyard.policies.access import whole_account
from trainyard.policies.grants import GRANTS, grants
from trainyard.policies.rules import Config, resource_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import called, statements
from trainyard.recorded.read import list_at, mapping_at, value_at
from trainyard.recorded.types import GCP_IDENTITY_PROVIDER, ROLE

PODS: Final = "pods.eks.amazonaws.com"
_NAMES: Final = re.compile(r"(ForAnyValue:)?(StringEquals(IgnoreCase)?|StringLike|ArnEquals|ArnLike)")
"""Operators that hold for what is named, and only where the request says it."""
_WHO: Final = re.compile(
    r"aws:(SourceAccount|SourceArn|SourceOrgID|SourceOrgPaths|PrincipalArn|PrincipalOrgID|PrincipalTag/.+|userid)"
    r"|sts:(ExternalId|SourceIdentity)",
    re.IGNORECASE,
)
_WHOLE_POOL: Final = re.compile(
    r"principalSet://iam\.googleapis\.com/.*/workloadIdentityPools/[^/]+/(\*|kubernetes\.cluster/.+)"
)
_ACCOUNT: Final = re.compile(r"[0-9]{12}")


@resource_rule(
    "trust-without-conditions",
    "A trust policy says for whom a role is taken: account, cluster and namespace of pods, subject of a provider.",
    types=(ROLE, GCP_IDENTITY_PROVIDER, *GRANTS),
    severity=Severity.HIGH,
    controls=("CIS AWS 3.0.0 1.16", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.5.15"),
    fix="Add the conditions that it names: aws:SourceAccount and aws:SourceArn, the session tags of EKS, sub and aud.",
    config={
        "services": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["ec2.amazonaws.com", "lambda.amazonaws.com"],
            "description": "Services that take roles of the account that their instance or function is in, and say no "
            "source (globs).",
        }
    },
)
def trust_without_conditions(resource: RecordedResource, config: Config) -> Iterator[str]:
    """A role is handed to EC2 and Lambda by somebody of the account who may (iam:PassRole)."""
    if resource.type == GCP_IDENTITY_PROVIDER:
        if str(value_at(resource.inputs, "attributeCondition", default="")).strip().lower() in ("", "true"):
            yield "attributeCondition asks for nothing: whoever the provider knows comes in, of any organisation"
        return
    if resource.type.startswith("gcp:"):
        for grant in grants(resource):
            for member in grant.members:
                if _WHOLE_POOL.fullmatch(member):
                    yield f"gives {grant.role} to everybody of an identity pool: {_pool(member)}"
        return
    for statement in statements(resource.inputs, "assumeRolePolicy"):
        if value_at(statement, "Effect") != "Allow":
            continue
        said = _conditions(statement)
        where = called(statement)
        for kind in mapping_at(statement, "Principal"):
            for principal in map(str, list_at(statement, "Principal", kind)):
                missing = _missing(kind, principal, said, config)
                if missing:
                    yield f"{where} lets {principal} take the role, and names no {missing}"


def _pool(member: str) -> str:
    return member.partition("/workloadIdentityPools/")[2].partition("/")[0]


def _missing(kind: str, principal: str, said: Mapping[str, list[str]], config: Config) -> str:
    if kind == "Service" and principal == PODS:
        return _missing_of_pods(said)
    if kind == "Service":
        excepted = any(fnmatchcase(principal, glob) for glob in config["services"])
        return "" if excepted or _names_account(said) else "account (aws:SourceAccount, aws:SourceArn)"
    if kind == "Federated":
        return _missing_of_a_provider(principal, said)
    if kind == "AWS" and whole_account(principal):
        return "" if any(_WHO.fullmatch(key) for key in said) else "one of its principals"
    return ""


def _missing_of_pods(said: Mapping[str, list[str]]) -> str:
    cluster = [*said.get("aws:requesttag/eks-cluster-arn", ()), *said.get("aws:sourcearn", ())]
    named = cluster or said.get("aws:requesttag/eks-cluster-name", [])
    parts = {
        "account": _names_account(said) or _accounts(cluster),
        "cluster": bool(named) and not any("*" in name.rpartition(":")[2] for name in named),
        "namespace": _named(said.get("aws:requesttag/kubernetes-namespace", [])),
        "service account": _named(said.get("aws:requesttag/kubernetes-service-account", [])),
    }
    return ", ".join(part for part, is_named in parts.items() if not is_named)


def _named(patterns: list[str]) -> bool:
    """Whether something is named: not by wildcards alone, nor by what every team's namespace begins with."""
    return bool(patterns) and not any(
        not pattern.strip("*?") or ("*" in pattern and fnmatchcase(team_namespace("whichever"), pattern))
        for pattern in patterns
    )


def _missing_of_a_provider(principal: str, said: Mapping[str, list[str]]) -> str:
    if ":saml-provider/" in principal:
        return "" if any(key.startswith("saml:") for key in said) else "audience (SAML:aud)"
    issuer = principal.partition(":oidc-provider/")[2].lower() or principal.lower()
    subjects = said.get(f"{issuer}:sub", [])
    missing = [] if subjects and not any(map(_any_subject, subjects)) else ["subject (sub)"]
    if not said.get(f"{issuer}:aud"):
        missing.append("audience (aud)")
    return " and no ".join(missing)


def _any_subject(subject: str) -> bool:
    """Whether a subject leaves open whose it is: a namespace of Kubernetes, a repository of a forge."""
    owner = ":".join(subject.split(":")[:3]) if subject.startswith("system:") else subject.split("/")[0]
    repository = subject.split(":")[1] if subject.startswith("repo:") else ""
    return "*" in owner or "*" in repository or not subject.strip("*?")


def _names_account(said: Mapping[str, list[str]]) -> bool:
    accounts = said.get("aws:sourceaccount", [])
    organisations = [*said.get("aws:sourceorgid", ()), *said.get("aws:sourceorgpaths", ())]
    known = bool(accounts) and all(_ACCOUNT.fullmatch(account) for account in accounts)
    return known or _accounts(said.get("aws:sourcearn", ())) or any(text.strip("*?") for text in organisations)


def _accounts(arns: list[str] | tuple[()]) -> bool:
    """Whether there are ARNs, and each names its account."""
    return bool(arns) and all(arn.count(":") >= 5 and bool(_ACCOUNT.fullmatch(arn.split(":")[4])) for arn in arns)


def _conditions(statement: Any) -> dict[str, list[str]]:
    """What the conditions name, by key in lower case."""
    found: dict[str, list[str]] = {}
    for operator, test in mapping_at(statement, "Condition").items():
        if _NAMES.fullmatch(operator):
            for key in mapping_at(test):
                found.setdefault(key.lower(), []).extend(str(value) for value in list_at(test, key))
    return found
