"""The proof on Google Cloud: all that Cloud Asset Inventory knows of the project, and what of it is the environment's.

The inventory is one list of every kind (`gcloud asset search-all-resources`), a few minutes behind. What is the
environment's is known by its labels; by those of the cluster, which GKE gives what controllers make (disks of claims,
balancers); by what it is a part of, as a key's version; and by its name, where the kind has no labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from trainyard.account.gcp import CannotAskError, NobodyError, ask
from trainyard.account.marks import marks_of
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.parts import Plan
from trainyard.teardown.gcp.prices import usd
from trainyard.teardown.model import FoundBy, Kept, Left, Proof, Unseen, less
from trainyard.teardown.state import vault_of

INVENTORY: Final = "everything that Cloud Asset Inventory knows"

WHOLE: Final = "--read-mask=*"
"""What a resource is in full, with its size, is not among what is answered unasked (`versionedResources`)."""

CLUSTER_LABELS: Final = ("goog-k8s-cluster-name", "goog-gke-cluster-name")
"""Labels whose value is a cluster's name, on what GKE's controllers make (GKE documentation, "Creating and managing
labels", 2026-11)."""

FREE_KINDS: Final = frozenset(
    (
        "aiplatform.googleapis.com/CustomJob", "aiplatform.googleapis.com/HyperparameterTuningJob",
        "aiplatform.googleapis.com/NotebookRuntimeTemplate",
        "cloudkms.googleapis.com/CryptoKey", "cloudkms.googleapis.com/KeyRing",
        "compute.googleapis.com/Firewall", "compute.googleapis.com/HealthCheck",
        "compute.googleapis.com/InstanceGroup", "compute.googleapis.com/InstanceGroupManager",
        "compute.googleapis.com/InstanceTemplate", "compute.googleapis.com/Network",
        "compute.googleapis.com/NetworkEndpointGroup", "compute.googleapis.com/ResourcePolicy",
        "compute.googleapis.com/Route", "compute.googleapis.com/Subnetwork",
        "iam.googleapis.com/Role", "iam.googleapis.com/ServiceAccount",
        "logging.googleapis.com/LogMetric", "logging.googleapis.com/LogSink",
        "monitoring.googleapis.com/NotificationChannel",
        "run.googleapis.com/Execution", "run.googleapis.com/Job", "run.googleapis.com/Revision",
        "run.googleapis.com/Service",
    )
)  # fmt: skip
"""Kinds that cost nothing by themselves, as the cards say of the types that make them and the services' pricing pages
(2026-11). A key's versions are paid for, the key is not."""

COMMANDS: Final[Mapping[str, str]] = {
    "aiplatform.googleapis.com/NotebookRuntime": "colab runtimes delete {path}",
    "backupdr.googleapis.com/BackupVault": "backup-dr backup-vaults delete {path}",
    "cloudkms.googleapis.com/CryptoKeyVersion": "kms keys versions destroy {path}",
    "compute.googleapis.com/Address": "compute addresses delete {path}",
    "compute.googleapis.com/Disk": "compute disks delete {path}",
    "compute.googleapis.com/ForwardingRule": "compute forwarding-rules delete {path}",
    "compute.googleapis.com/GlobalAddress": "compute addresses delete {path}",
    "compute.googleapis.com/GlobalForwardingRule": "compute forwarding-rules delete {path}",
    "compute.googleapis.com/Instance": "compute instances delete {path}",
    "compute.googleapis.com/Reservation": "compute reservations delete {path}",
    "compute.googleapis.com/Router": "compute routers delete {path}",
    "compute.googleapis.com/Snapshot": "compute snapshots delete {path}",
    "container.googleapis.com/Cluster": "container clusters delete {path}",
    "sqladmin.googleapis.com/Instance": "sql instances delete {name} --project={project}",
    "storage.googleapis.com/Bucket": "storage rm --recursive gs://{name}",
}
"""The command that takes one of a kind away; `{path}` is its name from `projects/` on, which gcloud takes for an id."""

_GONE: Final = ("DESTROYED", "DELETED")
"""The states of what is still listed and no longer there, as a key's version."""

_OF_KUBERNETES: Final = "k8s.io/"
"""In the kind of an object of Kubernetes, which the inventory lists too: it ends with its cluster."""


def prove(plan: Plan[Any], kept: Iterable[Kept] = ()) -> Proof:
    """Everything of an environment, whose ground is on Google Cloud, that the project has still.

    Raises:
        NobodyError: there is nobody to ask as, so that nothing is proven of anything.
    """
    ground: GcpPlan = plan.ground
    try:
        listed = ask("asset", "search-all-resources", f"--scope=projects/{ground.project}", WHOLE) or ()
    except NobodyError:
        raise
    except CannotAskError as error:
        command = f"gcloud services enable cloudasset.googleapis.com --project={ground.project}"
        return Proof((), (Unseen(INVENTORY, str(error), f"{error.remedy}; where the API is off, {command}"),))
    clusters = tuple(each.cluster for each in ground.control_planes)
    left = _left(listed, marks_of(ground.labels), plan.core.name, clusters, ground.project)
    return Proof(less(left, kept), ())


def _left(
    listed: Sequence[Mapping[str, Any]], marks: Mapping[str, str], name: str, clusters: Sequence[str], project: str
) -> Iterator[Left]:
    own = {str(each["name"]): found for each in listed if (found := _whose(each, marks, name, clusters)) is not None}
    others = {str(each["name"]) for each in listed if each.get("labels")} - set(own)
    for each in listed:
        whole, kind = str(each["name"]), str(each["assetType"])
        if str(each.get("state", "")) in _GONE or kind.startswith("cloudresourcemanager.") or _OF_KUBERNETES in kind:
            continue
        parents = [whole[:at] for at in range(len(whole)) if whole[at] == "/"]
        if any(parent in others for parent in parents):
            continue
        found = own.get(whole) or next((own[parent] for parent in reversed(parents) if parent in own), None)
        if found is not None:
            yield _one(each, kind, found, project)


def _whose(each: Mapping[str, Any], marks: Mapping[str, str], name: str, clusters: Sequence[str]) -> FoundBy | None:
    """By what it is the environment's, by itself; None where it is not. Labels go before names."""
    labels = each.get("labels") or {}
    if marks.items() <= labels.items():
        return "tag"
    if any(labels.get(key) in clusters for key in CLUSTER_LABELS):
        return "name"
    if labels:
        return None  # somebody else's, or nobody's: the program labels all that can be labelled
    begins = (name, *(f"gke-{cluster}" for cluster in clusters))
    # What it is a part of may be gone, and not be listed: a backup of a database.
    words = (str(each.get("displayName", "")), *str(each["name"]).partition("/projects/")[2].split("/")[1:])
    return "name" if any(_begins(word, begins) for word in words) else None


def _whole_of(path: str) -> str:
    """What it is known by in a state, of which this is a copy or a version; nothing where it is none."""
    key, of_key, _ = path.partition("/cryptoKeyVersions/")
    database, of_database, _ = path.partition("/backupRuns/")
    return key if of_key else database.rpartition("/")[2] if of_database else vault_of(path)


def _begins(word: str, begins: Sequence[str]) -> bool:
    return any(word == each or word.startswith(f"{each}-") for each in begins)


def _one(each: Mapping[str, Any], kind: str, found: FoundBy, project: str) -> Left:
    whole = str(each["name"])
    name, path = whole.rpartition("/")[2], f"projects/{whole.partition('/projects/')[2]}"
    free = kind in FREE_KINDS
    told = ", ".join(filter(None, (str(each.get("location", "")), str(each.get("state", "")).lower())))
    command = COMMANDS.get(kind)
    return Left(
        kind=kind.partition(".googleapis.com/")[2] or kind,
        id=name,
        found_by=found,
        usd=0.0 if free else usd(each, kind),
        told=told,
        arn=whole,
        made_of=_whole_of(path),
        command=f"gcloud {command.format(path=path, name=name, project=project)}" if command else "",
    )
