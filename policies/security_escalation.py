"""Security: rights in the cluster that lead to more rights."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pulumi_policy import Severity

from trainyard.conventions import INGEST_GROUP, INGEST_NAMESPACE, KUEUE_NAMESPACE
from trainyard.conventions.monitoring import IDLE_KEEPER, SLEEP_KEEPER
from trainyard.policies import rbac
from trainyard.policies.escalation_steps import (
    IN_PLATFORM_NAMESPACES,
    IN_SYSTEM_NAMESPACES,
    IN_TEAM_NAMESPACES,
    STEPS,
    Step,
)
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import POD_IDENTITY_ASSOCIATION, RBAC_CLUSTER_ROLE
from trainyard.rehearsal.works.rights.kubernetes.built_in import ROLES
from trainyard.rehearsal.works.rights.kubernetes.cluster import AGGREGATE_TO, Grant, Subject
from trainyard.rehearsal.works.rights.kubernetes.rules import Ask, read_rules


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
            # Both keepers switch Workloads off and on; what they ask for, Kueue lets nobody change.
            "default": ["kube-system/*", f"{KUEUE_NAMESPACE}/{IDLE_KEEPER}", f"{KUEUE_NAMESPACE}/{SLEEP_KEEPER}"],
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
    yield from _widened(resources)
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
        yield from _of_strangers(binding, grant, config, in_team=grant.namespace in bindings.teams)
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


def _of_strangers(
    binding: RecordedResource, grant: Grant, config: Config, *, in_team: bool
) -> Iterator[StackViolation]:
    """What somebody may do with what is others' own in a namespace. Who is of a team there, other rules judge."""
    if in_team:
        steps: tuple[Step, ...] = IN_TEAM_NAMESPACES
        own = [subject for subject in grant.subjects if rbac.place_of(subject[1])]
    elif fnmatchcase(grant.namespace, "*-system"):
        steps, own = IN_SYSTEM_NAMESPACES, list(grant.subjects)
    else:
        return
    who = sorted(
        rbac.words(subject)
        for subject in own
        if rbac.namespace_of(subject[1]) != grant.namespace and not _trusted(subject, config)
    )
    for step in steps if who else ():
        asked = next((asked for asked in step.asked if _has(grant, asked, step)), None)
        if asked is not None:
            yield binding, f"{grant.words} lets {', '.join(who)} {_said(asked, grant)}, which {step.leads}"


def _widened(resources: Resources) -> Iterator[StackViolation]:
    """Cluster roles that are added to a role of every cluster's by their label: whoever has that has these rights."""
    for role in resources.of(RBAC_CLUSTER_ROLE):
        labels = mapping_at(role.inputs, "metadata", "labels")
        for name in ("view", "edit", "admin"):
            if str(labels.get(f"{AGGREGATE_TO}{name}")).lower() != "true":
                continue
            added = Grant(frozenset(), read_rules(role.inputs), "", "")
            usual = Grant(frozenset(), ROLES[name], "", "")
            for step in STEPS:
                asked = next((each for each in step.asked if _has(added, each, step)), None)
                if asked is not None and not any(_has(usual, each, step) for each in step.asked):
                    what = str(asked).removesuffix(" in the cluster")
                    yield role, f"lets whoever is bound to {name} {what}, which {step.leads}"


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
