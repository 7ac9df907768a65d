"""Access scopes of nodes, which narrow what their account may do, and the API that image streaming asks.

Sources: Compute Engine documentation, "Access scopes"; GKE, "About node service accounts" (the default scopes) and "Use
Image streaming to pull container images" (needs the Container File System API), read 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import GCP_CUSTOM_ROLES, GCP_SERVICE, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.gcp.services import api_of, project_of

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
_SIGNING: Final = "iamcredentials.googleapis.com"
_SIGNS: Final = frozenset(
    f"iam.serviceAccounts.{what}" for what in ("getAccessToken", "getOpenIdToken", "signBlob", "signJwt")
)
"""What is asked of the API of credentials (IAM, "Create short-lived credentials")."""
_MANAGED: Final = frozenset(f"{name}.googleapis.com" for name in ("aiplatform", "compute", "container"))
"""A stack that switches one of these on switches on what it needs."""
_OF_CLUSTERS: Final = ("compute", "iam")
"""What the API of clusters needs, and is switched on with it (Service Usage, "Enable and disable services")."""


def check(stack: Stack) -> None:
    """Every pool, and the nodes that a cluster itself has."""
    services = {view.text("service") for view in stack.of_type(GCP_SERVICE)}
    if None not in services and services & _MANAGED:
        _apis(stack, services)
        _signing(stack, services)
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
    """APIs that make something here, and are not among those that the stack switches on. What names a project in which
    the stack switches nothing on is made in somebody else's."""
    told = set(_OF_CLUSTERS if "container.googleapis.com" in services else ())
    projects = {project_of(view) for view in stack.of_type(GCP_SERVICE)}
    for view in stack.views:
        api = api_of(view.type)
        if not api or api in told or view.resource.read or f"{api}.googleapis.com" in services:
            continue
        if view.lacks("project") or project_of(view) in projects:
            told.add(api)
            view.warning(
                "rights-api-off", "",
                f"is made through {api}.googleapis.com, which the stack, that switches APIs on, does not switch on: in "
                "a new project the first up fails", hint=f"a gcp.projects.Service of {api}.googleapis.com",
            )  # fmt: skip


def _signing(stack: Stack, services: set[str | None]) -> None:
    """Roles of the stack's own by which tokens are made in the name of an account."""
    for view in [found for type_ in GCP_CUSTOM_ROLES for found in stack.of_type(type_)]:
        made = sorted(_SIGNS.intersection(view.texts("permissions")))
        if made and _SIGNING not in services:
            words = f"{made[0]} is asked of {_SIGNING}, which the stack, that switches APIs on, does not switch on"
            view.warning("rights-api-off", "permissions", words, hint=f"a gcp.projects.Service of {_SIGNING}")


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
