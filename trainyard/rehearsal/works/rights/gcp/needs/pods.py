"""What recorded pods use: buckets and secrets that their commands and environment name, and volumes that are buckets.

Sources, as generally known in 2026-11: MLflow, "Tracking server", proxied artifact access; GKE, "Cloud Storage FUSE CSI
driver" (a volume is mounted with the rights of the pod's service account); Secret Manager, "Access control with IAM".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.recorded.drivers import FUSE_DRIVER
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import CLOUD_SQL, VOLUME, VOLUME_CLAIM
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.model import OWN, Deed, Need
from trainyard.rehearsal.works.rights.gcp.needs.objects import folder, reading, writing
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.recorded_pods import RecordedPod, accounts_of, that_mount

_BUCKET: Final = re.compile(r"gs://(?P<bucket>[a-z0-9][a-z0-9._-]+)(?P<prefix>/[^\s\"',;?]*)?")
_CONNECTION: Final = re.compile(r"[a-z][a-z0-9.-]+:[a-z]+-[a-z]+[0-9]+:[a-z][a-z0-9-]*")
"""What an instance of Cloud SQL is called where a proxy or a connector is told of it."""
_SECRET: Final = re.compile(r"projects/[\w-]+/(locations/[\w-]+/)?secrets/[\w-]+")
OWN_CREDENTIALS: Final = re.compile(r"GOOGLE_(APPLICATION_)?CREDENTIALS|CLOUDSDK_AUTH_\w+|STORAGE_EMULATOR_HOST")
_ARTIFACTS: Final = "--artifacts-destination"
_READ_ONLY: Final = frozenset(("ro", "read-only"))


def needs(
    stack: Stack, project: Project, pods: Sequence[RecordedPod], runtimes: Sequence[RecordedPod]
) -> Iterator[Need]:
    """What the words of every pod ask for, then what volumes do. `runtimes`: pods of jobs that come later."""
    for pod in pods:
        if not pod.account or pod.has_more_variables or any(map(OWN_CREDENTIALS.fullmatch, pod.variables)):
            continue
        who = _who(stack, project, pod)
        for path, purpose, deeds in _asked(project, pod) if who else ():
            hint = f"a role on it for pods of {pod.namespace}/{pod.account}, or for the account that they take"
            yield Need(pod.view, path, "rights-pod-lacks", who, f"{pod}, {who[0]},", purpose, deeds, hint)
    yield from _volumes(stack, project, pods, runtimes)


def _who(stack: Stack, project: Project, pod: RecordedPod) -> tuple[Caller, ...]:
    """Whom a pod is; nobody where that is not certain, or told already."""
    if pod.on_host:
        emails = {view.text("nodeConfig.serviceAccount") for view in stack.of_type(GKE_NODE_POOL)}
        return tuple(Caller("with the account of its node", account=email) for email in emails if email)
    caller, _ = project.pod(Pod(pod.namespace, pod.account))
    return (caller,) if caller is not None else ()


def _asked(project: Project, pod: RecordedPod) -> Iterator[tuple[str, str, tuple[Deed, ...]]]:
    texts = [text for _, text in pod.words]
    databases = {
        str(one.outputs.get("connectionName")) for one in pod.view.stack.resources.of(CLOUD_SQL) if not one.read
    }
    for number, (path, text) in enumerate(pod.words):
        for found in _BUCKET.finditer(text):
            bucket = project.bucket(found["bucket"])
            if bucket is None or bucket.read:
                continue
            inside = folder(found["prefix"] or "")
            artifacts = text.startswith(_ARTIFACTS) or (number > 0 and texts[number - 1] == _ARTIFACTS)
            if artifacts:
                yield path, f"keep artifacts in {found[0]}", (*reading(bucket, inside), *writing(bucket, inside))
            elif not _does_any(project, pod, (*reading(bucket, inside), *writing(bucket, inside))):
                yield path, f"use {found[0]}", (*reading(bucket, inside), *writing(bucket, inside))
        for name in _CONNECTION.findall(text) if databases else ():
            if name in databases:
                yield path, "connect to the database", (Deed("cloudsql.instances.connect", OWN),)
        for secret in _SECRET.finditer(text):
            yield path, "read the secret", (Deed("secretmanager.versions.access", secret[0]),)


def _does_any(project: Project, pod: RecordedPod, deeds: Sequence[Deed]) -> bool:
    """Whether a pod may do one of them, or that is not known: what it is after is not said."""
    who = Pod(pod.namespace, pod.account)
    return any(not project.may(who, deed.permission, deed.resource, deed.said).refused for deed in deeds)


def _volumes(
    stack: Stack, project: Project, pods: Sequence[RecordedPod], runtimes: Sequence[RecordedPod]
) -> Iterator[Need]:
    claims = {
        volume: (view.text("metadata.namespace") or "default", view.text("metadata.name") or "")
        for view in stack.of_type(VOLUME_CLAIM)
        if (volume := view.text("spec.volumeName"))
    }
    for view in stack.of_type(VOLUME):
        claim = claims.get(view.text("metadata.name") or "")  # a claim may name its volume, or the volume its claim
        if view.text("spec.claimRef.name"):
            claim = (view.text("spec.claimRef.namespace") or "default", view.text("spec.claimRef.name") or "")
        if view.text("spec.csi.driver") == FUSE_DRIVER and claim is not None:
            yield from _volume(stack, project, view, claim, pods, runtimes)


def _volume(
    stack: Stack,
    project: Project,
    view: View,
    claim: tuple[str, str],
    pods: Sequence[RecordedPod],
    runtimes: Sequence[RecordedPod],
) -> Iterator[Need]:
    path = "spec.csi.volumeHandle"
    bucket = project.bucket(view.text(path) or "")
    if bucket is None or bucket.read:
        return
    options = {option.strip() for option in view.texts("spec.mountOptions")}
    inside = next((folder(option.partition("=")[2]) for option in options if option.startswith("only-dir")), "")
    writes = (
        view.flag("spec.csi.readOnly") is not True
        and not _READ_ONLY & options
        and view.texts("spec.accessModes") != ["ReadOnlyMany"]
    )
    deeds = (*reading(bucket, inside), *(writing(bucket, inside) if writes else ()))
    purpose = f"{'read and write' if writes else 'read'} the volume {view.name}"
    namespace, name = claim
    users = sorted({pod.account for pod in pods if pod.namespace == namespace and name in pod.claims} - {""})
    for runtime, who in that_mount(stack, runtimes, namespace, name):
        caller, _ = project.pod(Pod(namespace, runtime.account))
        if caller is not None and runtime.account not in users:
            hint = f"serviceAccountName: {' or '.join(users)}" if users else f"a role on it for {runtime.account}"
            at = runtime.workload.at("serviceAccountName")
            yield Need(runtime.view, at, "rights-volume", (caller,), who, purpose, deeds, hint)
    together = not users
    if together:
        users = accounts_of(stack, namespace)
    found = [(user, project.pod(Pod(namespace, user))[0]) for user in users]
    callers = [(user, caller) for user, caller in found if caller is not None]
    hint = f"a role on bucket {view.text(path)}{f', folder {inside}' if inside else ''} for them"
    if together and callers:
        # Nobody recorded mounts it: pods that come later run as one of the accounts that there are.
        everybody = tuple(caller for _, caller in callers)
        yield Need(view, path, "rights-volume", everybody, f"pods of {namespace}", purpose, deeds, hint)
        return
    for user, caller in callers:
        yield Need(view, path, "rights-volume", (caller,), f"pods of {namespace}/{user}", purpose, deeds, hint)
