"""Access scopes of nodes, which narrow what their account may do, and the API that image streaming asks.

Sources: Compute Engine documentation, "Access scopes"; GKE, "About node service accounts" (the default scopes) and "Use
Image streaming to pull container images" (needs the Container File System API), read 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import GKE_CLUSTER
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
_SERVICE: Final = "gcp:projects/service:Service"
_STREAMING: Final = "containerfilesystem.googleapis.com"
_MANAGED: Final = frozenset({"container.googleapis.com", "compute.googleapis.com"})


def check(stack: Stack) -> None:
    """Every pool, and the nodes that a cluster itself has."""
    services = {view.text("service") for view in stack.of_type(_SERVICE)}
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
