"""Who an identity of Google Cloud turns out to be: sets by an attribute that no provider makes, and machines whose
scopes take a role of their account away again.

Sources: Workload Identity Federation, "Attribute mappings"; Compute Engine, "Service accounts" (scopes); as generally
known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.types import GCP_IDENTITY_PROVIDER, GCP_MACHINES
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.gcp.expressions import GRANT

_ATTRIBUTE: Final = re.compile(
    r"principalSet://iam\.googleapis\.com/(?P<pool>projects/[^/]+/locations/global/workloadIdentityPools/[^/]+)"
    r"/attribute\.(?P<name>[^/]+)/.+"
)
_OF_AWS: Final = ("google.subject", "attribute.aws_role")
"""What a provider of AWS's identities maps that is not told what to."""
_SCOPES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "roles/logging.logWriter": ("send logs", ("logging-write", "logging.write", "logging.admin")),
    "roles/monitoring.metricWriter": (
        "send figures", ("monitoring", "monitoring-write", "monitoring.write"),
    ),
    "roles/storage.objectAdmin": ("write to buckets", ("storage-rw", "storage-full", "devstorage.read_write",
                                                       "devstorage.full_control")),
    "roles/storage.objectUser": ("write to buckets", ("storage-rw", "storage-full", "devstorage.read_write",
                                                      "devstorage.full_control")),
    "roles/storage.objectCreator": ("write to buckets", ("storage-rw", "storage-full", "devstorage.read_write",
                                                         "devstorage.full_control")),
    "roles/pubsub.publisher": ("publish", ("pubsub",)),
    "roles/pubsub.subscriber": ("take messages", ("pubsub",)),
    "roles/bigquery.dataEditor": ("write tables", ("bigquery", "bigquery.insertdata")),
    "roles/bigquery.jobUser": ("run queries", ("bigquery",)),
}  # fmt: skip
"""By role, what an account does with it, and any of the scopes beside which a machine may."""


def check(stack: Stack) -> None:
    """Every grant to a set of identities, and every machine."""
    _attributes(stack)
    for type_ in GCP_MACHINES:
        for view in stack.of_type(type_):
            _scopes(view)


def _attributes(stack: Stack) -> None:
    """A set of identities by an attribute that no provider of the pool makes: nobody is in it."""
    providers = stack.of_type(GCP_IDENTITY_PROVIDER)
    if not providers:
        return
    mapped: dict[str, set[str]] = {}
    for provider in providers:
        pool = (provider.text("workloadIdentityPoolId") or "").rpartition("/")[2]
        if provider.blurred("attributeMapping") or not pool:
            return
        by_default = _OF_AWS if provider.has("aws") and provider.lacks("attributeMapping") else ()
        mapped.setdefault(pool, set()).update(map(str, provider.mapping("attributeMapping")), by_default)
    for member, grants in stack.once(_by_member).items():
        found = _ATTRIBUTE.fullmatch(member)
        keys = mapped.get(found["pool"].rpartition("/")[2]) if found else None
        if found is not None and keys is not None and f"attribute.{found['name']}" not in keys:
            words = f"no provider of the pool maps attribute.{found['name']}: nobody is in that set"
            hint = nearest(f"attribute.{found['name']}", keys)
            for view in grants:
                view.error("rights-binding-no-account", "member", words, allowed=", ".join(sorted(keys)), hint=hint)


def _scopes(view: View) -> None:
    """A role that the machine's scopes take away again; it may be meant for others who run as the same account."""
    path = "serviceAccount.scopes"
    held = {scope.rpartition("/auth/")[2] for scope in view.texts(path)}
    email = view.text("serviceAccount.email")
    if not held or "cloud-platform" in held or view.blurred(path) or email is None:
        return
    for grant in view.stack.once(_by_member).get(f"serviceAccount:{email}", ()):
        what, scopes = _SCOPES.get(grant.text("role") or "", ("", ()))
        if scopes and not held & set(scopes):
            words = f"with these scopes it cannot {what}, which {grant.name} gives its account"
            view.warning("rights-node-scopes", path, words, allowed="cloud-platform")


def _by_member(stack: Stack) -> dict[str, list[View]]:
    """Grants to one, by who has it."""
    found: dict[str, list[View]] = {}
    for view in stack.views:
        member = view.text("member") if GRANT.fullmatch(view.type) else None
        if member is not None:
            found.setdefault(member, []).append(view)
    return found
