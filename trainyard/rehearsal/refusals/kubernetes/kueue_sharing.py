"""What queues and namespaces accept, and what keeps a team from what is its own; what a manifest must leave to people.

Source: seen on a live Kueue 0.19.2 with Kubernetes 1.35.4 (2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.recorded.queue_manager import managers
from trainyard.recorded.queues import CLUSTER_QUEUE, LOCAL_QUEUE
from trainyard.recorded.read import UnknownInput, UnreadableInput
from trainyard.recorded.sharing import (
    Flaw,
    manager_flaws,
    narrow_quota_flaws,
    queue_flaws,
    quota_flaws,
    sharing_of,
)
from trainyard.recorded.types import RESOURCE_QUOTA
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.kubernetes.index import object_namespace


def check(stack: Stack) -> None:
    """Every rule about sharing; what is not known yet is left to the run in which it is."""
    _reclaim(stack)
    for type_ in (CLUSTER_QUEUE, LOCAL_QUEUE):
        for queue in stack.of_type(type_):
            if queue.has("spec.stopPolicy"):
                queue.warning(
                    "kueue-stop-policy",
                    "spec.stopPolicy",
                    "a manifest that says so makes the next apply fail (409) or lifts the hold, once a person has held "
                    "the queue",
                    allowed="leave it out; people hold LocalQueues, because a held ClusterQueue locks what it borrowed",
                )
    queued: dict[str, set[str]] = {}  # names of cluster queues by namespace
    for local in stack.of_type(LOCAL_QUEUE):
        if namespace := object_namespace(local):
            queued.setdefault(namespace, set()).add(local.text("spec.clusterQueue") or "")
    for quota in stack.of_type(RESOURCE_QUOTA):
        names = queued.get(object_namespace(quota) or "")
        if names:
            queues = [queue.resource for queue in stack.of_type(CLUSTER_QUEUE) if queue.text("metadata.name") in names]
            flaws = quota_flaws(quota.resource) if stack.context.ours else narrow_quota_flaws(quota.resource, queues)
            try:
                _note(quota, "kueue-namespace-quota", flaws)
            except UnknownInput:
                continue


def _reclaim(stack: Stack) -> None:
    try:
        sharing = sharing_of(stack.resources)
        released = list(managers(stack.resources))
    except (UnknownInput, UnreadableInput):
        return
    queues = stack.of_type(CLUSTER_QUEUE)
    for queue in queues:
        try:
            _note(queue, "kueue-reclaim", queue_flaws(queue.resource, sharing))
        except UnknownInput:
            continue
    views = {view.resource.urn: view for view in stack.views}
    for release, configuration in released if len(queues) > 1 else ():
        _note(views[release.urn], "kueue-reclaim", manager_flaws(configuration))


def _note(view: View, rule: str, flaws: Iterable[Flaw]) -> None:
    for flaw in flaws:
        view.error(rule, flaw.path, flaw.message, allowed=flaw.allowed)
