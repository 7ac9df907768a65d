"""Who calls whom through the Kubernetes API: pods that it asks, and service accounts that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.read import as_number, mappings_at, value_at
from trainyard.recorded.types import (
    MUTATING_WEBHOOKS,
    RBAC_CLUSTER_ROLE_BINDING,
    RBAC_ROLE_BINDING,
    VALIDATING_WEBHOOKS,
)
from trainyard.rehearsal.works.flows.needs.kubernetes.pods import behind
from trainyard.rehearsal.works.flows.needs.scene import Actor, Scene, services_of

_WEBHOOKS: Final = (
    VALIDATING_WEBHOOKS,
    MUTATING_WEBHOOKS,
)
_API_SERVICE: Final = "kubernetes:apiregistration.k8s.io/v1:APIService"


def called(scene: Scene) -> Iterator[tuple[int, Actor]]:
    """Pods behind the services of recorded webhooks and aggregated APIs, with the port that is called."""
    services = services_of(scene.resources)
    asked = [
        value_at(hook, "clientConfig", "service", default={})
        for found in scene.resources.of(*_WEBHOOKS)
        for hook in mappings_at(found.inputs, "webhooks")
    ]
    asked += [value_at(found.inputs, "spec", "service", default={}) for found in scene.resources.of(_API_SERVICE)]
    for given in asked:
        key = (str(value_at(given, "namespace", default="")), str(value_at(given, "name", default="")))
        number = int(as_number(value_at(given, "port", default=443)) or 443)
        for actor in scene.actors if key in services else ():
            port = behind(services[key], actor, number) if actor.namespace == key[0] else None
            if port is not None:
                yield port, actor


def bound_accounts(scene: Scene) -> set[tuple[str, str]]:
    """Service accounts that a recorded binding gives a right to, by namespace and name."""
    return {
        (str(value_at(subject, "namespace", default="")), str(value_at(subject, "name", default="")))
        for binding in scene.resources.of(RBAC_ROLE_BINDING, RBAC_CLUSTER_ROLE_BINDING)
        for subject in mappings_at(binding.inputs, "subjects")
        if value_at(subject, "kind") == "ServiceAccount"
    }
