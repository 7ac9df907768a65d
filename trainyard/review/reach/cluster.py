"""What a team's people and its pods' service accounts may do in the cluster, and what pods mount and queue in."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.conventions import team_group
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.queues import CLUSTER_QUEUE, LOCAL_QUEUE, cohort_of, gpu_quotas
from trainyard.recorded.read import is_on, mapping_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import SERVICE_ACCOUNT, VOLUME, VOLUME_CLAIM
from trainyard.rehearsal.works.rights.kubernetes.rules import Rule
from trainyard.rehearsal.works.rights.principals import Person, Pod
from trainyard.rehearsal.works.rights.stack import Rights
from trainyard.review.reach.model import Row, Section

_READ = frozenset(("get", "list", "watch"))


def people(rights: Rights, team: str) -> Section:
    """What the team's members have been given. Raises UnknownInput."""
    members = Person((team_group(team),), f"a member of {team}")
    return Section("people", f"Members of {team} in the cluster", tuple(_grants(rights, members)))


def service_accounts(rights: Rights, resources: Resources, namespace: str) -> Section:
    """What the service accounts of the namespace have been given. Raises UnknownInput."""
    same: dict[Row, list[str]] = {}
    for name in service_account_names(resources, namespace):
        for row in _grants(rights, Pod(namespace, name)):
            same.setdefault(row, []).append(name)
    rows = (Row(row.what, row.may, f"{', '.join(accounts)}: {row.why}") for row, accounts in same.items())
    return Section("service_accounts", "Service accounts of its pods in the cluster", tuple(rows))


def service_account_names(resources: Resources, namespace: str) -> list[str]:
    """What pods of a namespace may run as. Raises UnknownInput."""
    recorded = (str(_metadata(found, "name")) for found in _in(resources, SERVICE_ACCOUNT, namespace))
    return sorted({"default", *recorded})


def _grants(rights: Rights, who: Person | Pod) -> Iterator[Row]:
    for grant in rights.cluster.grants_of(who):
        where = f"in {grant.namespace}" if grant.namespace else "in the whole cluster"
        if grant.rules is None:
            yield Row((f"what is not recorded {where}",), ("not known",), grant.words)
            continue
        by_verbs: dict[tuple[str, ...], list[str]] = {}
        for rule in grant.rules:
            by_verbs.setdefault(_verbs(rule), []).extend(_things(rule))
        for verbs, things in by_verbs.items():
            yield Row(tuple(dict.fromkeys(things)), verbs, f"{grant.words}, {where}")


def _verbs(rule: Rule) -> tuple[str, ...]:
    if "*" in rule.verbs:
        return ("everything",)
    return ("read", *sorted(rule.verbs - _READ)) if rule.verbs >= _READ else tuple(sorted(rule.verbs))


def _things(rule: Rule) -> Iterator[str]:
    named = f" {', '.join(sorted(rule.names))}" if rule.names else ""
    yield from (f"{resource}{named}" for resource in sorted(rule.resources))
    yield from sorted(rule.urls)


def volumes(resources: Resources, namespace: str) -> Section:
    """What pods mount by their claims, read only or not. Raises UnknownInput."""
    by_name = {str(_metadata(found, "name")): found for found in resources.of(VOLUME)}
    rows = []
    for claim in _in(resources, VOLUME_CLAIM, namespace):
        volume = by_name.get(str(value_at(claim.inputs, "spec", "volumeName", default="")))
        name = str(_metadata(claim, "name"))
        if volume is None:
            rows.append(Row((name,), ("read", "write"), "a volume that its storage class makes"))
        else:
            rows.append(Row((name,), ("read",) if _read_only(claim, volume) else ("read", "write"), _source(volume)))
    return Section("volumes", "Volumes of its pods", tuple(rows))


def _read_only(claim: RecordedResource, volume: RecordedResource) -> bool:
    modes = texts_at(claim.inputs, "spec", "accessModes") or texts_at(volume.inputs, "spec", "accessModes")
    options = texts_at(volume.inputs, "spec", "mountOptions")
    by_mode = bool(modes) and set(modes) == {"ReadOnlyMany"}
    return by_mode or is_on(volume.inputs, "spec", "csi", "readOnly") or bool({"ro", "read-only"} & set(options))


def _source(volume: RecordedResource) -> str:
    """What a volume is of, as its driver is told."""
    attributes = mapping_at(volume.inputs, "spec", "csi", "volumeAttributes")
    driver = value_at(volume.inputs, "spec", "csi", "driver", default="")
    path = [
        option
        for option in texts_at(volume.inputs, "spec", "mountOptions")
        if option.startswith(("prefix ", "only-dir"))
    ]
    told = [attributes[key] for key in ("bucketName", "dnsname", "mountname") if key in attributes]
    handle = [value_at(volume.inputs, "spec", "csi", "volumeHandle")] if not told else []
    return " ".join(map(str, (driver, *told, *handle, *path))).strip()


def queues(resources: Resources, namespace: str) -> Section:
    """The queues that jobs of the namespace may name, and what each owns.

    Raises:
        UnknownInput: a queue is not known yet.
        UnreadableInput: a quota is no quantity.
    """
    by_name = {str(_metadata(found, "name")): found for found in resources.of(CLUSTER_QUEUE)}
    rows = []
    for local in _in(resources, LOCAL_QUEUE, namespace):
        name = str(value_at(local.inputs, "spec", "clusterQueue", default=""))
        queue = by_name.get(name)
        owned = tuple(f"{flavor}: {count(gpus, 'GPU')}" for flavor, gpus in gpu_quotas(queue)) if queue else ()
        cohort = cohort_of(queue) if queue else None
        why = f"cluster queue {name}" + (f", borrows in cohort {cohort}" if cohort else "")
        rows.append(Row((str(_metadata(local, "name")),), owned, why))
    return Section("queues", "Queues of its jobs", tuple(rows))


def _in(resources: Resources, type_: str, namespace: str) -> Iterator[RecordedResource]:
    return (found for found in resources.of(type_) if _metadata(found, "namespace") == namespace)


def _metadata(resource: RecordedResource, key: str) -> object:
    return value_at(resource.inputs, "metadata", key)
