"""What pods need for the volumes that their drivers mount with rights of AWS.

Sources, read 2026-11: awslabs/mountpoint-s3 doc/CONFIGURATION.md, "IAM permissions", and mountpoint-s3-csi-driver
docs/CONFIGURATION.md, "Pod-level credentials"; Amazon EFS User Guide, "Using IAM to control file system data access".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.recorded.types import EFS, VOLUME, VOLUME_CLAIM
from trainyard.rehearsal.context import View
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.works.rights.aws.callers import ANONYMOUS, Caller
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.controllers import metadata_is_closed, nodes
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.aws.needs.objects import listing, reading, writing
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.recorded_pods import RecordedPod, that_mount

S3_DRIVER, EFS_DRIVER = "s3.csi.aws.com", "efs.csi.aws.com"
_S3_CHART, _EFS_CHART = "aws-mountpoint-s3-csi-driver", "aws-efs-csi-driver"
_S3_ACCOUNT: Final = "s3-csi-driver-sa"
"""The account of the driver's pods on the nodes where its chart's values give no other."""
_READ_ONLY: Final = {"read-only", "--read-only", "ro"}


def needs(
    places: Places, bindings: Bindings, pods: Sequence[RecordedPod], runtimes: Sequence[RecordedPod]
) -> Iterator[Need]:
    """What the users of every recorded volume need. `runtimes`: pods of jobs that come later."""
    mounts: dict[tuple[str, str], list[RecordedPod]] = {}
    for pod in pods:
        for name in pod.claims:
            mounts.setdefault((pod.namespace, name), []).append(pod)
    claims = {
        volume: (view.text("metadata.namespace") or "default", view.text("metadata.name") or "")
        for view in places.stack.of_type(VOLUME_CLAIM)
        if (volume := view.text("spec.volumeName"))
    }
    bound_in: dict[str, set[str]] = {}
    for binding in bindings.all:
        bound_in.setdefault(binding.pod.namespace, set()).add(binding.pod.service_account)
    for view in places.stack.of_type(VOLUME):
        driver = view.text("spec.csi.driver")
        claim = claims.get(view.text("metadata.name") or "")  # a claim may name its volume, or the volume its claim
        if view.text("spec.claimRef.name"):
            claim = (view.text("spec.claimRef.namespace") or "default", view.text("spec.claimRef.name") or "")
        if driver == EFS_DRIVER:
            yield from _of_efs(places, bindings, view)
        elif driver == S3_DRIVER and claim is not None and view.text("spec.csi.volumeAttributes.bucketName"):
            users = mounts.get(claim, [])
            yield from _of_s3(places, bindings, view, claim, users, bound_in.get(claim[0], set()), runtimes)


def _of_s3(
    places: Places,
    bindings: Bindings,
    view: View,
    claim: tuple[str, str],
    pods: Sequence[RecordedPod],
    bound: set[str],
    runtimes: Sequence[RecordedPod],
) -> Iterator[Need]:
    path = "spec.csi.volumeAttributes.bucketName"
    bucket = places.place(view.text(path) or "")
    if bucket is None or bucket.read:
        return
    namespace, name = claim
    options = [option.strip() for option in view.texts("spec.mountOptions")]
    prefix = next((option.split(maxsplit=1)[1] for option in options if option.startswith("prefix ")), "")
    writes = (
        view.flag("spec.csi.readOnly") is not True
        and not _READ_ONLY & set(options)
        and view.texts("spec.accessModes") != ["ReadOnlyMany"]
    )
    deeds: tuple[Deed, ...] = (listing(bucket, prefix), *reading(places, bucket, f"{prefix}object"))
    if writes:
        deeds += (
            *writing(places, bucket, f"{prefix}object"),
            Deed("s3:AbortMultipartUpload", f"{arn_of(bucket)}/{prefix}object"),
        )
        if "allow-delete" in options:
            deeds += (Deed("s3:DeleteObject", f"{arn_of(bucket)}/{prefix}object"),)
    purpose = f"{'read and write' if writes else 'read'} the volume {view.name}"
    if view.text("spec.csi.volumeAttributes.authenticationSource") != "pod":
        who, words = _of_driver(places, bindings, _S3_CHART, "node.serviceAccount", _S3_ACCOUNT)
        if who:
            yield Need(view, path, "rights-volume", who, words, purpose, deeds, from_network=True)
        else:
            _renamed(places, bindings, view, path)
        return
    for account in sorted({pod.account for pod in pods if pod.account}):
        identity = bindings.identity(namespace, account)
        if identity.state == "none":
            view.error(
                "rights-volume",
                path,
                f"pods of {namespace}/{account} mount claim {name} with their own rights and have no role",
                hint=f"a Pod Identity association for {namespace}/{account}",
            )
        elif identity.caller is not None:
            words = f"pods of {namespace}/{account}"
            yield Need(view, path, "rights-volume", (identity.caller,), words, purpose, deeds, from_network=True)
    for runtime, jobs in that_mount(places.stack, runtimes, namespace, name):
        identity, at = bindings.identity(namespace, runtime.account), runtime.workload.at("serviceAccountName")
        if any(pod.account == runtime.account for pod in pods):
            continue
        if identity.state == "none":
            runtime.view.error(
                "rights-volume",
                at,
                f"{jobs} mount claim {name} with their own rights and have no role",
                hint=f"serviceAccountName: {' or '.join(sorted(bound))}" if bound else "a Pod Identity association",
            )
        elif identity.caller is not None:
            yield Need(runtime.view, at, "rights-volume", (identity.caller,), jobs, purpose, deeds, from_network=True)
    if not pods:
        found = [bindings.identity(namespace, account) for account in sorted(bound)]
        callers = tuple(identity.caller for identity in found if identity.caller is not None)
        if callers and len(callers) == len(found):
            words = f"pods of {namespace}"
            yield Need(view, path, "rights-volume", callers, words, purpose, deeds, from_network=True)


def _renamed(places: Places, bindings: Bindings, view: View, path: str) -> None:
    """A driver whose account has no role, beside a role for its account of another name: one of the two was renamed.

    Its pods, which are in no host network, do not reach their node's role where the metadata service is closed.
    """
    found = next((place for place in bindings.drivers if place.name == _S3_CHART), None)
    if found is None or not found.is_certain or found.view.has("values.awsAccessSecret"):
        return
    account = found.value("node.serviceAccount.name") or _S3_ACCOUNT
    if bindings.identity(found.namespace, account).state != "none" or not metadata_is_closed(places):
        return
    others = {binding.pod.service_account for binding in bindings.all if binding.pod.namespace == found.namespace}
    near = _S3_ACCOUNT if _S3_ACCOUNT in others else nearest_of(account, others)
    if near:
        view.error(
            "rights-volume", path,
            f"{_S3_CHART} mounts it as {found.namespace}/{account}, to which no role is bound",
            hint=f"a role is bound to {found.namespace}/{near}",
        )  # fmt: skip


def _of_driver(
    places: Places, bindings: Bindings, chart: str, value: str, default: str
) -> tuple[tuple[Caller, ...], str]:
    """Whom a driver's pods on the nodes are, where that is certain."""
    found = next((place for place in bindings.drivers if place.name == chart), None)
    if found is None or not found.is_certain:
        return (), ""
    account = found.value(f"{value}.name") or default
    identity = bindings.identity(found.namespace, account)
    words = f"{chart}, as {found.namespace}/{account},"
    if identity.caller is not None:
        return (identity.caller,), words
    on_host = chart == _EFS_CHART
    if identity.state == "none" and (on_host or not metadata_is_closed(places)):
        return nodes(places), f"{words} with the role of its node,"
    return (), ""


def _of_efs(places: Places, bindings: Bindings, view: View) -> Iterator[Need]:
    handle = (view.text("spec.csi.volumeHandle") or "").split(":")
    found = next((system for system in places.stack.resources.of(EFS) if system.id == handle[0]), None)
    if found is None or not arn_of(found):
        return
    arn, options = arn_of(found), view.texts("spec.mountOptions")
    context: dict[str, str | bool] = {"elasticfilesystem:AccessedViaMountTarget": True}
    if len(handle) == 3 and handle[2]:
        context["elasticfilesystem:AccessPointArn"] = f"{arn.rpartition(':')[0]}:access-point/{handle[2]}"
    reads_only = view.flag("spec.csi.readOnly") is True or "ro" in options
    actions = ("ClientMount",) if reads_only else ("ClientMount", "ClientWrite")
    deeds = tuple(Deed(f"elasticfilesystem:{action}", arn, context) for action in actions)
    who: tuple[Caller, ...] = (ANONYMOUS,)
    words = "whoever mounts without IAM"
    if "iam" in options:
        who, words = _of_driver(places, bindings, _EFS_CHART, "node.serviceAccount", "efs-csi-node-sa")
    if who:
        path = "spec.csi.volumeHandle"
        yield Need(view, path, "rights-volume", who, words, f"mount the volume {view.name}", deeds)
