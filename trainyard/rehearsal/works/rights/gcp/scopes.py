"""Access scopes of nodes, which narrow what their account may do, and the API that image streaming asks.

Sources: Compute Engine documentation, "Access scopes"; GKE, "About node service accounts" (the default scopes) and "Use
Image streaming to pull container images" (needs the Container File System API), read 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import GCP_SERVICE, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View

_PREFIX: Final = "https://www.googleapis.com/auth/"
_ALL: Final = frozenset({"cloud-platform"})
_NEEDED: Final = (
    ("send logs", frozenset({"logging.write", "logging.admin", "logging-write"})),
    ("send figures", frozenset({"monitoring", "monitoring.write", "monitoring-write"})),
    ("pull images", frozenset({"devstorage.read_only", "devstorage.read_write", "devstorage.full_control",
                               "storage-ro", "storage-rw", "storage-full"})),
)  # fmt: skip
"""What a node does, and any of the scopes, by URL or by the name of the command line, that let it."""
_STREAMING: Final = "containerfilesystem.googleapis.com"
_APIS: Final = {
    "gcp:artifactregistry/": "artifactregistry", "gcp:billing/budget": "billingbudgets",
    "gcp:cloudrunv2/": "run", "gcp:cloudscheduler/": "cloudscheduler", "gcp:container/": "container",
    "gcp:backupdisasterrecovery/": "backupdr",
    "gcp:dns/": "dns", "gcp:filestore/": "file", "gcp:iap/": "iap", "gcp:kms/": "cloudkms", "gcp:lustre/": "lustre",
    "gcp:pubsub/": "pubsub", "gcp:secretmanager/": "secretmanager", "gcp:servicenetworking/": "servicenetworking",
    "gcp:sql/": "sqladmin", "gcp:vertex/": "aiplatform", "gcp:workbench/": "notebooks",
}  # fmt: skip
"""The API that makes a resource, by the beginning of its type; those that each new project has on are left out (Service
Usage, "Services enabled by default", as generally known, 2026-11)."""
_MANAGED: Final = frozenset({"container.googleapis.com", "compute.googleapis.com"})


def check(stack: Stack) -> None:
    """Every pool, and the nodes that a cluster itself has."""
    services = {view.text("service") for view in stack.of_type(GCP_SERVICE)}
    if None not in services and services & _MANAGED:
        _apis(stack, services)
    for view in [*stack.of_type(GKE_NODE_POOL), *stack.of_type(GKE_CLUSTER)]:
        _scopes(view)
        if not view.flag("nodeConfig.gcfsConfig.enabled") or None in services or not services & _MANAGED:
            continue
        if _STREAMING not in services:
            view.error(
                "rights-api-off",
                "nodeConfig.gcfsConfig.enabled",
                f"images are streamed by {_STREAMING}, which the stack, that switches APIs on, does not switch on",
                hint=f"a gcp.projects.Service of {_STREAMING}",
            )


def _apis(stack: Stack, services: set[str | None]) -> None:
    """APIs that make something here, and are not among those that the stack switches on."""
    told = set()
    for view in stack.views:
        api = next((name for prefix, name in _APIS.items() if view.type.startswith(prefix)), "")
        if api and f"{api}.googleapis.com" not in services and api not in told and not view.resource.read:
            told.add(api)
            view.warning(
                "rights-api-off", "",
                f"is made through {api}.googleapis.com, which the stack, that switches APIs on, does not switch on: in "
                "a new project the first up fails", hint=f"a gcp.projects.Service of {api}.googleapis.com",
            )  # fmt: skip


def _scopes(view: View) -> None:
    scopes = view.texts("nodeConfig.oauthScopes")
    if not scopes or view.blurred("nodeConfig.oauthScopes"):
        return
    held = {scope.removeprefix(_PREFIX) for scope in scopes}
    if held & _ALL:
        return
    missing = [what for what, any_of in _NEEDED if not held & any_of]
    if missing:
        view.error(
            "rights-node-scopes",
            "nodeConfig.oauthScopes",
            f"with these scopes the nodes cannot {' nor '.join(missing)}, whatever roles their account has",
            allowed=f"{_PREFIX}cloud-platform",
        )
