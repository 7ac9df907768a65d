"""Roles that every cluster brings, and to whom they are bound.

Source: Kubernetes, plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata/cluster-roles.yaml and
cluster-role-bindings.yaml, and the documentation's "Default roles and role bindings" (read 2026-11-22). Left out are
the API group `extensions`, which no cluster serves any more, and the roles of the control plane's own controllers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trainyard.rehearsal.works.rights.kubernetes.rules import Rule, rule

READ: Final = ("get", "list", "watch")
WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
_APPS: Final = ("daemonsets", "deployments", "replicasets", "statefulsets")
_SCALED: Final = ("deployments/scale", "replicasets/scale", "statefulsets/scale")

_VIEW: Final = (
    rule(
        READ,
        (
            "bindings", "configmaps", "endpoints", "events", "limitranges", "namespaces", "namespaces/status",
            "persistentvolumeclaims", "persistentvolumeclaims/status", "pods", "pods/log", "pods/status",
            "replicationcontrollers", "replicationcontrollers/scale", "replicationcontrollers/status",
            "resourcequotas", "resourcequotas/status", "serviceaccounts", "services", "services/status",
        ),
    ),
    rule(READ, ("endpointslices",), ("discovery.k8s.io",)),
    rule(READ, ("controllerrevisions", *_APPS, *(f"{kind}/status" for kind in _APPS), *_SCALED), ("apps",)),
    rule(READ, ("horizontalpodautoscalers", "horizontalpodautoscalers/status"), ("autoscaling",)),
    rule(READ, ("cronjobs", "cronjobs/status", "jobs", "jobs/status"), ("batch",)),
    rule(READ, ("poddisruptionbudgets", "poddisruptionbudgets/status"), ("policy",)),
    rule(READ, ("ingresses", "ingresses/status", "networkpolicies"), ("networking.k8s.io",)),
)  # fmt: skip

_EDIT: Final = (
    rule(READ, ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy")),
    rule(("impersonate",), ("serviceaccounts",)),
    rule(WRITE, ("pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy")),
    rule(("create",), ("pods/eviction",)),
    rule(
        WRITE,
        (
            "configmaps", "events", "persistentvolumeclaims", "replicationcontrollers", "replicationcontrollers/scale",
            "secrets", "serviceaccounts", "services", "services/proxy",
        ),
    ),
    rule(("create",), ("serviceaccounts/token",)),
    rule(WRITE, (*_APPS, "deployments/rollback", *_SCALED), ("apps",)),
    rule(WRITE, ("horizontalpodautoscalers",), ("autoscaling",)),
    rule(WRITE, ("cronjobs", "jobs"), ("batch",)),
    rule(WRITE, ("poddisruptionbudgets",), ("policy",)),
    rule(WRITE, ("ingresses", "networkpolicies"), ("networking.k8s.io",)),
    rule((*READ, *WRITE), ("leases",), ("coordination.k8s.io",)),
)  # fmt: skip

_ADMIN: Final = (
    rule(("create",), ("localsubjectaccessreviews",), ("authorization.k8s.io",)),
    rule((*READ, *WRITE), ("rolebindings", "roles"), ("rbac.authorization.k8s.io",)),
)

EVERYTHING: Final = (rule(("*",), ("*",), ("*",)), Rule(frozenset({"*"}), urls=frozenset({"*"})))

_PUBLIC_URLS: Final = frozenset({"/healthz", "/livez", "/readyz", "/version", "/version/"})
_DISCOVERY_URLS: Final = _PUBLIC_URLS | {"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"}

ROLES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "view": _VIEW,
    "edit": (*_VIEW, *_EDIT),
    "admin": (*_VIEW, *_EDIT, *_ADMIN),
    "cluster-admin": EVERYTHING,
    "system:basic-user": (
        rule(("create",), ("selfsubjectaccessreviews", "selfsubjectrulesreviews"), ("authorization.k8s.io",)),
        rule(("create",), ("selfsubjectreviews",), ("authentication.k8s.io",)),
    ),
    "system:discovery": (Rule(frozenset({"get"}), urls=_DISCOVERY_URLS),),
    "system:public-info-viewer": (Rule(frozenset({"get"}), urls=_PUBLIC_URLS),),
    "system:auth-delegator": (
        rule(("create",), ("tokenreviews",), ("authentication.k8s.io",)),
        rule(("create",), ("subjectaccessreviews",), ("authorization.k8s.io",)),
    ),
}
"""Rules by the name of the cluster role. `view`, `edit` and `admin` take up what is labelled for them besides."""

AGGREGATED: Final[Mapping[str, tuple[str, ...]]] = {
    "view": ("view",),
    "edit": ("view", "edit"),
    "admin": ("view", "edit", "admin"),
}
"""By cluster role the `rbac.authorization.k8s.io/aggregate-to-…` labels that it takes up, those of its parts too."""

AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
SERVICE_ACCOUNTS: Final = "system:serviceaccounts"

BOUND: Final[Mapping[str, tuple[str, ...]]] = {
    "cluster-admin": ("system:masters",),
    "system:basic-user": (AUTHENTICATED,),
    "system:discovery": (AUTHENTICATED,),
    "system:public-info-viewer": (AUTHENTICATED, UNAUTHENTICATED),
}
"""Groups by the cluster role that every cluster binds to them."""
