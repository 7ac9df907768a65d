"""Queues: each is active, reachable by its namespaces, covers what pods ask for, and has quota that nodes can give."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.conventions import ACCELERATORS, GPU_RESOURCE, TPU_RESOURCE
from trainyard.problems import nearest
from trainyard.recorded.model import bare
from trainyard.recorded.read import UnreadableInput, mappings_at, value_at
from trainyard.recorded.types import TRAINING_RUNTIME
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.placement.kubernetes.requests import requested
from trainyard.rehearsal.works.queues.aws.fabric import of_fabric
from trainyard.rehearsal.works.queues.check_flavors import check_flavor
from trainyard.rehearsal.works.queues.check_manager import (
    check_admission_check,
    check_frameworks,
    check_manager,
)
from trainyard.rehearsal.works.queues.kubernetes.jobs import FRAMEWORKS
from trainyard.rehearsal.works.queues.kubernetes.model import ClusterQueue
from trainyard.rehearsal.works.queues.kubernetes.tree import in_circles
from trainyard.rehearsal.works.queues.nodes import have_no_gpus, have_no_tpus
from trainyard.rehearsal.works.queues.order import check_order
from trainyard.rehearsal.works.queues.room import ALWAYS_RESPECTED, Room


def check_queues(stack: Stack, room: Room) -> None:
    """Every rule about the queues themselves."""
    views = {view.resource.urn: view for view in stack.views}

    def view(kind: str, name: str) -> View:
        return views[room.resource(kind, name).urn]

    for local in room.configuration.locals.values():
        queue = room.queue_of(local)
        seen = view("LocalQueue", f"{local.namespace}/{local.name}")
        if queue is not None and queue.namespace_selector is not None and room.admits(queue, local.namespace) is False:
            seen.error(
                "queues-namespace",
                "spec.clusterQueue",
                f"ClusterQueue {queue.name} does not select namespace {local.namespace}: its jobs wait for ever "
                "(workload namespace doesn't match ClusterQueue selector)",
                allowed=f"a namespace with {_words(queue.namespace_selector)}",
            )
        manager = room.manager
        unmanaged = room.is_managed(local.namespace) is False
        if manager is not None and manager.version is not None and manager.version >= ALWAYS_RESPECTED and unmanaged:
            seen.error(
                "queues-unmanaged",
                "metadata.namespace",
                f"the manager's managedJobsNamespaceSelector does not mean namespace {local.namespace}: Kueue "
                "leaves its jobs alone, and they start beside every quota",
                allowed=f"a namespace with {_words(manager.namespaces)}",
            )
    used = {name for queue in room.configuration.queues.values() for name in queue.flavors}
    circular = in_circles(room.configuration)
    for queue in room.configuration.queues.values():
        _queue(view("ClusterQueue", queue.name), room, queue)
        check_order(view("ClusterQueue", queue.name), room, queue)
    for name in sorted(circular & set(room.configuration.cohorts)):
        view("Cohort", name).error(
            "queues-cohort-circle", "spec.parentName", "is its own ancestor: no queue below it admits anything"
        )
    _cohorts(room, view)
    for name, flavor in room.configuration.flavors.items():
        check_flavor(view("ResourceFlavor", name), room, flavor, is_used=name in used)
    for name in room.configuration.checks:
        check_admission_check(view("AdmissionCheck", name), room)
    release = views[room.recorded.release.urn] if room.recorded.release else None
    check_manager(release, room)
    check_frameworks(release, room, ours=stack.context.ours)


def _words(selector: object) -> str:
    labels = [f"{key}={value}" for key, value in (value_at(selector, "matchLabels", default={}) or {}).items()]
    for expression in mappings_at(selector, "matchExpressions"):
        labels.append(f"{expression.get('key')} {expression.get('operator')} {expression.get('values') or ''}".strip())
    return ", ".join(labels) or "any labels"


def _queue(view: View, room: Room, queue: ClusterQueue) -> None:
    recorded, manager = room.recorded, room.manager
    for name, only in queue.checks.items():
        if recorded.missing("AdmissionCheck", name):
            view.error(
                "queues-admission-check",
                "spec.admissionChecksStrategy",
                f"references missing AdmissionCheck(s): {name}; the whole queue stays inactive",
                hint=nearest(name, room.configuration.checks),
            )
        for flavor in only:
            if flavor not in queue.flavors:
                view.error(
                    "queues-admission-check",
                    "spec.admissionChecksStrategy",
                    f"check {name} is on flavor {flavor}, which the queue has no quota of",
                    allowed=", ".join(queue.flavors),
                )
    closed = room.cluster.inactive(queue)
    if "MultiKueue" in closed or "inactive AdmissionCheck" in closed:
        view.error("queues-admission-check", "spec.admissionChecksStrategy", closed)
    if not room.is_sure(queue) or not queue.groups:
        return
    node = room.cluster.tree[queue.name]
    if not any(node.most(key) > 0 for key in queue.quotas):
        view.warning(
            "queues-no-quota",
            "spec.resourceGroups",
            "owns nothing and can borrow from nobody: no job of it ever runs",
            allowed="a nominalQuota above 0, or a cohort that lends",
        )
    if manager is not None and not manager.ignores_undeclared:
        _coverage(view, room, queue)
    if manager is not None and not manager.strategies and view.has("spec.fairSharing.weight"):
        view.warning(
            "queues-weight",
            "spec.fairSharing.weight",
            "is ignored: the manager does not share fairly",
            allowed="fairSharing.preemptionStrategies in the manager's configuration",
        )
    for flavor in queue.flavors:
        quota = queue.quotas.get((flavor, GPU_RESOURCE))
        if quota is not None and quota.nominal > 0 and have_no_gpus(room.groups.get(flavor, [])):
            view.error(
                "queues-nodes",
                "spec.resourceGroups",
                f"has GPUs of flavor {flavor}, whose nodes have none: jobs would be admitted and stay Pending",
                allowed="a flavor of GPU nodes",
            )
        chips = queue.quotas.get((flavor, TPU_RESOURCE))
        if chips is not None and chips.nominal > 0 and have_no_tpus(room.groups.get(flavor, [])):
            view.error(
                "queues-nodes",
                "spec.resourceGroups",
                f"has TPU chips of flavor {flavor}, whose nodes have none: jobs would be admitted and stay Pending",
                allowed="a flavor of TPU slices",
            )


def _coverage(view: View, room: Room, queue: ClusterQueue) -> None:
    """What pods ask for and the queue does not count blocks them for ever."""
    covered = {name for group in queue.groups for name in group.covered}
    manager = room.configuration.manager
    if not any({*ACCELERATORS} & {*group.covered} for group in queue.groups):
        return

    def lacks(resource: str) -> bool:
        return resource not in covered and not resource.startswith(manager.excluded)

    for resource in sorted(covered):
        if resource.startswith(manager.excluded):
            view.warning(
                "queues-excluded",
                "spec.resourceGroups",
                f"counts {resource}, which the manager's excludeResourcePrefixes leave out: the quota holds nobody",
                allowed="one of both",
            )
    allowed = "{} in coveredResources, or in excludeResourcePrefixes of the manager's configuration"
    if manager.frameworks is None or FRAMEWORKS["TrainJob"] in manager.frameworks:
        for name, requests in _runtimes(room):
            for resource in (one for one, amount in requests.items() if amount > 0 and lacks(one)):
                view.error(
                    "queues-uncovered",
                    "spec.resourceGroups",
                    f"does not count {resource}, which TrainJobs of runtime {name} ask for: they are never admitted "
                    f"(resource {resource} unavailable in ClusterQueue)",
                    allowed=allowed.format(resource),
                )
    namespaces = [local.namespace for local in room.locals_of(queue.name)]
    given = {resource: where for one in namespaces for resource, where in room.limits.get(one, {}).items()}
    for resource in filter(lacks, given):
        view.error(
            "queues-uncovered",
            "spec.resourceGroups",
            f"does not count {resource}, which LimitRange {given[resource]} gives every container that states none: no "
            f"job is ever admitted (resource {resource} unavailable in ClusterQueue)",
            allowed=allowed.format(resource),
        )
    groups = {group.name: group for flavor in queue.flavors for group in room.groups.get(flavor, [])}
    for group in groups.values():
        for resource in filter(lacks, of_fabric(group)):
            view.warning(
                "queues-uncovered",
                "spec.resourceGroups",
                f"does not count {resource}, which nodes of group {group.name} have: no job that asks for it is ever "
                "admitted",
                allowed=allowed.format(resource),
            )


def _runtimes(room: Room) -> Iterator[tuple[str, dict[str, float]]]:
    for runtime in room.resources.of(TRAINING_RUNTIME):
        try:
            name = str(value_at(runtime.inputs, "metadata", "name"))
            for job in mappings_at(runtime.inputs, "spec", "template", "spec", "replicatedJobs"):
                yield name, requested(bare(value_at(job, "template", "spec", "template", "spec", default={})))
        except UnreadableInput:
            continue


def _cohorts(room: Room, view: Callable[[str, str], View]) -> None:
    """A cohort of one queue whose name is nearly that of another was meant to be that one."""
    members: dict[str, list[str]] = {}
    for queue in room.configuration.queues.values():
        if queue.cohort is not None:
            members.setdefault(queue.cohort, []).append(queue.name)
    known = {*members, *room.configuration.cohorts}
    if ("Cohort", "") in room.recorded.unsure or any(kind == "ClusterQueue" for kind, _ in room.recorded.unsure):
        return
    parents = {cohort.parent for cohort in room.configuration.cohorts.values()}
    for name, cohort in room.configuration.cohorts.items():
        hint = nearest(name, [other for other in known if other != name])
        if name not in members and name not in parents and cohort.parent is None and hint:
            view("Cohort", name).warning("queues-cohort", "metadata.name", "nobody is in it", hint=hint)
    for name, queues in members.items():
        if len(queues) > 1 or name in room.configuration.cohorts:
            continue
        others = [other for other in known if other != name]
        if hint := nearest(name, others):
            view("ClusterQueue", queues[0]).warning(
                "queues-cohort",
                "spec.cohortName",
                f"nobody else is in cohort {show(name)}: the queue neither borrows nor lends",
                hint=hint,
            )
