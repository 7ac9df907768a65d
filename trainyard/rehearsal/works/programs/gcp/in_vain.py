"""What Google Cloud takes of a stack, and what is then of no use to the rest of it.

Sources: Cloud Storage, "Requester Pays" and "Object holds" (a held object is neither overwritten nor deleted, and no
rule of a lifecycle deletes it); GKE, "Using Cloud DNS for GKE" (`clusterDnsDomain` takes the place of `cluster.local`)
and "Optimize IP address allocation" (agents of the system are pods too); Artifact Registry, "Virtual repositories"
(nothing is pushed to one); Managed Lustre, "Connect from GKE" (`gkeSupportEnabled` is port 6988, of clusters with
`enableLegacyLustrePort`); IAM, "Deleted principals" and "Disable a custom role"; as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.drivers import FUSE_DRIVER
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    GCP_BUCKET,
    GCP_BUDGET,
    GCP_CUSTOM_ROLES,
    GCP_IMAGE_REPOSITORY,
    GCP_LUSTRE,
    GCP_MANAGED_FOLDER_MEMBER,
    GKE_CLUSTER,
    GKE_NODE_POOL,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.refusals.gcp.expressions import GRANT

_ON_BUCKET: Final = (
    "gcp:storage/bucketIAMMember:BucketIAMMember",
    "gcp:storage/bucketIAMBinding:BucketIAMBinding",
    GCP_MANAGED_FOLDER_MEMBER,
)
_IMAGES_ACCESS: Final = re.compile(r"gcp:artifactregistry/repositoryIam(Member|Binding):\w+")
_WRITES: Final = re.compile(r"artifactregistry\.(writer|repoAdmin|admin|createOnPush\w*)$")
_LOCAL: Final = re.compile(r"\.svc\.cluster\.local\b")
_SYSTEM_TAINTS: Final = ("CriticalAddonsOnly", "components.gke.io/gke-managed-components")
_COLD: Final = {"NEARLINE": 30, "COLDLINE": 90, "ARCHIVE": 365}
"""Classes whose reads cost, with the days that are paid at least ("Storage classes")."""
_DAY: Final = 86_400
_USUAL_SECONDS: Final = 7 * _DAY
"""Soft deletion where nothing is said (Cloud Storage, "Soft delete")."""
_AGENTS: Final = 5
"""Pods that GKE has on each node whatever a cluster is: logs, metrics, disks, network, metadata server."""
_ADD_ONS: Final = (
    "addonsConfig.dnsCacheConfig.enabled", "addonsConfig.gcsFuseCsiDriverConfig.enabled",
    "addonsConfig.gcpFilestoreCsiDriverConfig.enabled", "addonsConfig.lustreCsiDriverConfig.enabled",
    "addonsConfig.parallelstoreCsiDriverConfig.enabled", "monitoringConfig.managedPrometheus.enabled",
)  # fmt: skip
"""What puts one more pod on each node."""


def check(stack: Stack) -> None:
    """Every one of them."""
    _buckets(stack)
    _grants(stack)
    _repositories(stack)
    _lustre(stack)
    _pools(stack)
    _domain(stack)
    if stack.context.ours:
        _ours(stack)


def _ours(stack: Stack) -> None:
    """What no setting asks for, in a stack whose every program is known."""
    for budget in stack.of_type(GCP_BUDGET):
        if budget.flag("amount.lastPeriodAmount"):
            words = "its amount is what the last month cost: who spends more each month is never told"
            budget.warning("programs-budget", "amount.lastPeriodAmount", words, allowed="specifiedAmount")
    for view in stack.of_type(GKE_CLUSTER):
        path = "costManagementConfig.enabled"
        if view.flag(path) is False:
            words = "is false: the bill says of no cost which namespace or team it is of"
            view.warning("programs-cost-allocation", path, words, allowed="true")
    for bucket in stack.of_type(GCP_BUCKET):
        for path, rule in bucket.items("lifecycleRules"):
            condition = rule.get("condition")
            for key in ("daysSinceCustomTime", "customTimeBefore"):
                if isinstance(condition, Mapping) and condition.get(key) is not None:
                    words = "no program here gives an object a custom time: it is never met"
                    bucket.warning("programs-bucket", f"{path}.condition.{key}", words, allowed="age")


def _buckets(stack: Stack) -> None:
    granted = {
        id(found)
        for type_ in _ON_BUCKET
        for view in stack.of_type(type_)
        if (found := view.referred("bucket", GCP_BUCKET)) is not None
    }
    mounted = [
        (str(view.value("spec.csi.volumeHandle")), view.name)
        for view in stack.views
        if view.type.endswith(":PersistentVolume") and view.text("spec.csi.driver") == FUSE_DRIVER
    ]
    for bucket in stack.of_type(GCP_BUCKET):
        if bucket.flag("requesterPays") and id(bucket) in granted:
            bucket.warning(
                "programs-bucket", "requesterPays",
                "is true: a request that names no project to pay is refused, and programs and volumes name none",
                allowed="false",
            )  # fmt: skip
        _kept_after(bucket)
        kind = bucket.text("storageClass")
        reader = next((name for volume, name in mounted if _named(bucket, volume)), None)
        if kind in _COLD and reader is not None:
            words = f"{kind}: each read of {reader} is paid for, and nothing goes before {_COLD[kind]} days are paid"
            bucket.warning("programs-bucket", "storageClass", words, allowed="STANDARD")
        if not bucket.flag("defaultEventBasedHold"):
            continue
        deletes = [path for path, rule in bucket.items("lifecycleRules") if _deletes(rule)]
        words = f"is true: no object is overwritten or deleted, and {deletes[0]} deletes none" if deletes else ""
        if words:
            bucket.warning("programs-bucket", "defaultEventBasedHold", words, allowed="false, or no such rule")


def _named(bucket: View, handle: str) -> bool:
    return handle == str(bucket.text("name") or bucket.resource.outputs.get("name"))


def _kept_after(bucket: View) -> None:
    """What a rule deletes after some days, and soft deletion keeps for longer than these."""
    path = "softDeletePolicy.retentionDurationSeconds"
    seconds = bucket.number(path)
    days = [
        as_number(condition.get(key))
        for _, rule in bucket.items("lifecycleRules")
        if _deletes(rule) and isinstance(condition := rule.get("condition"), Mapping)
        for key in ("age", "daysSinceNoncurrentTime")
    ]
    known = [each for each in days if each is not None]
    if seconds is not None and seconds > _USUAL_SECONDS and known and seconds > max(known) * _DAY:
        words = f"{seconds / _DAY:g} days more of what rules delete after {max(known):g}: all that while it is paid for"
        bucket.warning("programs-bucket", path, words, allowed=f"0, or {_USUAL_SECONDS} (seven days)")


def _deletes(rule: Mapping[str, Any]) -> bool:
    action = rule.get("action")
    return isinstance(action, Mapping) and action.get("type") == "Delete"


def _grants(stack: Stack) -> None:
    """Rights of accounts that are gone, and by roles that are switched off."""
    off = {
        f"/roles/{view.text('roleId')}": view
        for type_ in GCP_CUSTOM_ROLES
        for view in stack.of_type(type_)
        if view.text("stage") == "DISABLED"
    }
    for view in stack.views:
        if not GRANT.match(view.type):
            continue
        members = [("member", view.text("member"))]
        members += [(f"members[{index}]", text) for index, text in enumerate(view.texts("members"))]
        for path, text in members:
            if text is not None and text.startswith("deleted:"):
                words = f"{show(text)} is deleted: an account of that name made anew has not this right"
                view.error("programs-deleted-member", path, words, allowed=text.partition(":")[2].partition("?")[0])
        role = view.text("role") or ""
        for name, held in off.items() if not view.type.endswith("Remove") else ():
            if role.endswith(name):
                words = f"is 'DISABLED': {view.name} gives nothing of it"
                held.warning("programs-switched-off", "stage", words, allowed="GA")
                break


def _repositories(stack: Stack) -> None:
    for view in stack.of_type(GCP_IMAGE_REPOSITORY):
        mode = view.text("mode")
        if mode not in ("VIRTUAL_REPOSITORY", "REMOTE_REPOSITORY"):
            if mode in (None, "STANDARD_REPOSITORY") and not view.is_unknown("mode"):
                for path in ("virtualRepositoryConfig", "remoteRepositoryConfig"):
                    if view.mapping(path):
                        kind = f"{path.removesuffix('RepositoryConfig').upper()}_REPOSITORY"
                        view.error("gcp-repository", path, "of a repository of mode STANDARD", allowed=f"mode {kind}")
            continue
        upstream = "virtualRepositoryConfig.upstreamPolicies"
        if mode == "VIRTUAL_REPOSITORY" and not view.entries(upstream) and not view.is_unknown(upstream):
            words = "is empty: a virtual repository holds nothing itself, and no image is found in it"
            view.warning("gcp-repository", upstream, words, allowed="the repositories that it passes on")
        if mode == "REMOTE_REPOSITORY" and view.lacks("remoteRepositoryConfig"):
            allowed = "where images come from"
            view.error("gcp-repository", "remoteRepositoryConfig", f"is missing for {mode}", allowed=allowed)
        for grant in stack.views:
            pushes = _IMAGES_ACCESS.match(grant.type) and _WRITES.search(grant.text("role") or "")
            if pushes and grant.referred("repository", GCP_IMAGE_REPOSITORY) is view:
                words = f"is {mode}: nothing is pushed to it, and {grant.name} is the right to"
                view.warning("gcp-repository", "mode", words, allowed="STANDARD_REPOSITORY")
                break


def _lustre(stack: Stack) -> None:
    """A file system and the clusters beside it speak by one port: 988, or 6988 of both."""
    clusters = [view for view in stack.of_type(GKE_CLUSTER) if view.flag("addonsConfig.lustreCsiDriverConfig.enabled")]
    path = "addonsConfig.lustreCsiDriverConfig.enableLegacyLustrePort"
    old = {bool(view.flag(path)) for view in clusters}
    if len(old) != 1 or any(view.is_unknown(path) for view in clusters):
        return
    for view in stack.of_type(GCP_LUSTRE):
        own = bool(view.flag("gkeSupportEnabled"))
        if not view.is_unknown("gkeSupportEnabled") and own is not (legacy := old == {True}):
            ports = ("6988", "988") if own else ("988", "6988")
            words = f"is {show(own)}: it listens on {ports[0]}, and {clusters[0].name} asks on {ports[1]}"
            view.error("programs-lustre-port", "gkeSupportEnabled", words, allowed=show(legacy))


def _pools(stack: Stack) -> None:
    for view in stack.of_type(GKE_NODE_POOL):
        of = view.referred("cluster", GKE_CLUSTER)
        pods = view.number("maxPodsPerNode")
        if pods is None and of is not None:
            pods = of.number("defaultMaxPodsPerNode")
        if of is not None and pods is not None:
            own = (
                _AGENTS
                + sum(1 for path in _ADD_ONS if of.flag(path))
                + bool(view.entries("nodeConfig.guestAccelerators"))
            )
            if pods <= own:
                words = f"{pods:g}; GKE's own agents are about {own} on a node of {of.name}"
                view.warning("gke-pods", "maxPodsPerNode", words, allowed=f"{2 * own} or more")
        taints = [taint.get("key") for _, taint in view.items("nodeConfig.taints")]
        for key in ("spot", "preemptible"):
            if view.flag(f"nodeConfig.{key}") and any(taint in _SYSTEM_TAINTS for taint in taints):
                words = "is true on the nodes of the system: its controllers and webhooks go with them at any time"
                view.warning("machine-system-spot", f"nodeConfig.{key}", words, allowed="false")


def _domain(stack: Stack) -> None:
    """Names of services by a domain that the cluster has not."""
    for view in stack.of_type(GKE_CLUSTER):
        domain = view.text("dnsConfig.clusterDnsDomain")
        if domain in (None, "", "cluster.local") or view.text("dnsConfig.clusterDns") != "CLOUD_DNS":
            continue
        found = next(_named_so(stack), None)
        if found is not None:
            words = f"{show(domain)}: {found} asks for a service by .svc.cluster.local, which is no name then"
            view.warning("programs-cluster-domain", "dnsConfig.clusterDnsDomain", words, allowed="cluster.local")


def _named_so(stack: Stack) -> Iterator[str]:
    for view in stack.views:
        if view.type.startswith("kubernetes:"):
            for _, text in view.known_texts:
                if _LOCAL.search(text):
                    yield view.name
                    break
