"""Security: rights in the cluster that lead to more rights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from pulumi_policy import Severity

from trainyard.conventions import INGEST_GROUP, INGEST_NAMESPACE
from trainyard.policies import rbac
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import POD_IDENTITY_ASSOCIATION
from trainyard.rehearsal.works.rights.kubernetes.cluster import Grant, Subject
from trainyard.rehearsal.works.rights.kubernetes.rules import Ask, ask

WRITE: Final = ("create", "update", "patch")
_RBAC, _ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
_STARTS_PODS: Final = (
    "pods",
    "jobs.batch",
    "cronjobs.batch",
    "deployments.apps",
    "daemonsets.apps",
    "statefulsets.apps",
)


@dataclass(frozen=True, slots=True)
class Step:
    """Rights of one kind, and where they lead."""

    asked: tuple[Ask, ...]
    leads: str
    cluster_wide: bool = False  # only where it holds in all namespaces
    whatever_name: bool = True  # a rule on named objects alone counts too


def _asks(verbs: tuple[str, ...], *things: str) -> tuple[Ask, ...]:
    return tuple(ask(verb, thing) for verb in verbs for thing in things)


STEPS: Final = (
    Step(_asks(("escalate",), f"roles.{_RBAC}", f"clusterroles.{_RBAC}"), "gives a role rights that its writer lacks"),
    Step(_asks(("bind",), f"roles.{_RBAC}", f"clusterroles.{_RBAC}"), "binds any role to anybody"),
    Step(_asks(("impersonate",), "users", "groups", "serviceaccounts"), "acts as somebody else"),
    Step(
        _asks(
            WRITE, f"roles.{_RBAC}", f"rolebindings.{_RBAC}", f"clusterroles.{_RBAC}", f"clusterrolebindings.{_RBAC}"
        ),
        "changes who may do what",
    ),
    Step(_asks(("create",), "serviceaccounts/token"), "signs in as any service account there"),
    Step(_asks(("get", "create"), "nodes/proxy"), "reaches the kubelet, which runs commands in every pod"),
    Step(
        _asks(("update", "patch"), "namespaces", "nodes"),
        "changes the labels that pod security, queues, network policies and nodes go by",
        whatever_name=False,
    ),
    Step(
        (
            *_asks(("update", "patch"), "certificatesigningrequests.certificates.k8s.io/approval"),
            *_asks(("approve", "sign"), "signers.certificates.k8s.io"),
        ),
        "makes credentials of anybody",
    ),
    Step(
        _asks(
            WRITE,
            f"validatingwebhookconfigurations.{_ADMISSION}",
            f"mutatingwebhookconfigurations.{_ADMISSION}",
            f"validatingadmissionpolicies.{_ADMISSION}",
            f"validatingadmissionpolicybindings.{_ADMISSION}",
            f"mutatingadmissionpolicies.{_ADMISSION}",
            f"mutatingadmissionpolicybindings.{_ADMISSION}",
        ),
        "changes or lifts the guards on what is created",
        whatever_name=False,
    ),
    Step(
        _asks((*WRITE, "delete"), "networkpolicies.networking.k8s.io", "resourcequotas"),
        "lifts the walls of all namespaces",
        cluster_wide=True,
        whatever_name=False,
    ),
    Step(_asks(("create",), "persistentvolumes"), "mounts any disk and any directory of a node"),
    Step(
        _asks(("get", "list", "watch"), "secrets"),
        "reads the passwords and tokens of all namespaces",
        cluster_wide=True,
        whatever_name=False,
    ),
    Step(
        _asks(("create", "get"), "pods/exec", "pods/attach"),
        "runs commands in the pods of all namespaces",
        cluster_wide=True,
    ),
    Step(_asks(WRITE, "pods/ephemeralcontainers"), "runs containers in the pods of all namespaces", cluster_wide=True),
    Step(
        _asks(("create",), *_STARTS_PODS),
        "starts pods with the service accounts of all namespaces",
        cluster_wide=True,
    ),
)
"""What is known to lead to more (Kubernetes documentation, "Role Based Access Control Good Practices", "Privilege
escalation risks", read 2026-11)."""

IN_PLATFORM_NAMESPACES: Final = (
    *_asks(("create",), *_STARTS_PODS),
    *_asks(("create", "get"), "pods/exec", "pods/attach"),
    *_asks(("update", "patch"), "deployments.apps", "daemonsets.apps", "statefulsets.apps", "pods/ephemeralcontainers"),
)
"""What makes somebody the service accounts of a namespace."""


@stack_rule(
    "rights-that-lead-to-more",
    "Nobody has rights in the cluster that lead to more rights, but the controllers of the platform.",
    types=(*rbac.TYPES, POD_IDENTITY_ASSOCIATION),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 4.1.8", "NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.2"),
    fix="Take the right away, or name who has it for good in controllers or administrators.",
    config={
        "controllers": {
            "type": "array",
            "items": {"type": "string"},
            "default": ["kube-system/*"],
            "description": "Service accounts of controllers that need such rights, as namespace/name (globs).",
        },
        "administrators": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Groups and users who administer the cluster.",
        },
    },
)
def rights_that_lead_to_more(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """What charts bring is not recorded and not judged. The cluster's own roles count by their rules, and those of its
    own parts (`system:node`, `system:kubelet-api-admin`) as they are."""
    bindings = rbac.Bindings(resources)
    strong = {
        str(value_at(found.inputs, "namespace")): str(value_at(found.inputs, "serviceAccount"))
        for found in resources.of(POD_IDENTITY_ASSOCIATION)
    }
    for binding, grant in bindings.grants():
        who = sorted(rbac.words(subject) for subject in grant.subjects if not _trusted(subject, config))
        if not who:
            continue
        if grant.rules is None and grant.role.startswith("system:"):
            yield binding, f"{grant.words} makes {', '.join(who)} a part of the system"
        for step in STEPS:
            asked = next((asked for asked in step.asked if _has(grant, asked, step)), None)
            if asked is not None and not (step.cluster_wide and grant.namespace):
                yield binding, f"{grant.words} lets {', '.join(who)} {_said(asked, grant)}, which {step.leads}"
        people = sorted(
            rbac.words(subject)
            for subject in grant.subjects
            if not _trusted(subject, config)
            and rbac.namespace_of(subject[1]) != grant.namespace
            and (grant.namespace, subject[1]) != (INGEST_NAMESPACE, INGEST_GROUP)  # is there to write the data
        )
        account = strong.get(grant.namespace, "") if grant.namespace not in bindings.teams else ""
        taken = next((asked for asked in IN_PLATFORM_NAMESPACES if _has(grant, asked)), None)
        if account and people and taken is not None:
            became = f"and so be the service account {account}, which has a role in the cloud"
            yield binding, f"{grant.words} lets {', '.join(people)} {_said(taken, grant)} {became}"


def _has(grant: Grant, asked: Ask, step: Step | None = None) -> bool:
    return any(
        found.is_about(asked) if step is None or step.whatever_name else found.allows(asked)
        for found in grant.rules or ()
    )


def _said(asked: Ask, grant: Grant) -> str:
    return str(asked).removesuffix(" in the cluster") + f" in {grant.namespace or 'the whole cluster'}"


def _trusted(subject: Subject, config: Config) -> bool:
    _, name = subject
    account = rbac.place_of(name)
    if account:
        return any(fnmatchcase(account, glob) for glob in config["controllers"])
    return name in (*config["administrators"], "system:masters", "system:nodes") or name.startswith("system:kube-")
