"""Whom EKS lets onto a cluster: access entries, which give a principal groups, and access policies.

Source: EKS User Guide, "Grant IAM users access to Kubernetes with EKS access entries" and "Review access policy
permissions" (read 2026-11): the policies are like the cluster roles of the same purpose, on the cluster or in
namespaces, whose names may hold wildcards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import ACCESS_ENTRY, ACCESS_POLICY_ASSOCIATION
from trainyard.rehearsal.works.rights.kubernetes.built_in import READ, ROLES
from trainyard.rehearsal.works.rights.kubernetes.cluster import Grant
from trainyard.rehearsal.works.rights.kubernetes.rules import Rule, rule
from trainyard.rehearsal.works.rights.principals import Person

ACCESS_POLICIES: Final[dict[str, tuple[Rule, ...]]] = {
    "AmazonEKSClusterAdminPolicy": ROLES["cluster-admin"],
    "AmazonEKSAdminPolicy": ROLES["admin"],
    "AmazonEKSAdminViewPolicy": (rule(READ, ("*",), ("*",)),),
    "AmazonEKSEditPolicy": ROLES["edit"],
    "AmazonEKSViewPolicy": ROLES["view"],
}
"""Rules by the name of the access policy."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One principal of IAM that may sign in to the cluster."""

    arn: str
    person: Person
    resource: RecordedResource


def entries(resources: Resources) -> Iterator[Entry]:
    """The recorded access entries. Raises `UnknownInput`."""
    for entry in resources.of(ACCESS_ENTRY):
        arn = str(value_at(entry.inputs, "principalArn"))
        groups = tuple(texts_at(entry.inputs, "kubernetesGroups"))
        yield Entry(arn, Person(groups, str(value_at(entry.inputs, "userName", default=arn))), entry)


def access_grants(resources: Resources) -> Iterator[Grant]:
    """What access policies give, to the name that the principal's entry gives it. Raises `UnknownInput`."""
    names = {entry.arn: entry.person.name for entry in entries(resources)}
    for association in resources.of(ACCESS_POLICY_ASSOCIATION):
        arn = str(value_at(association.inputs, "principalArn"))
        policy = str(value_at(association.inputs, "policyArn")).rsplit("/", 1)[-1]
        subjects = frozenset({("User", names.get(arn, arn))})
        wide = value_at(association.inputs, "accessScope", "type") == "cluster"
        for namespace in ("",) if wide else texts_at(association.inputs, "accessScope", "namespaces"):
            where = f" in {namespace}" if namespace else ""
            words = f"access policy {policy}{where} of {arn}"
            yield Grant(subjects, ACCESS_POLICIES.get(policy), namespace, words, association.urn)
