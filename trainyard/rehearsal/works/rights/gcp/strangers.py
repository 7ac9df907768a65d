"""Rights on buckets of services' own accounts that never ask for an object: a neighbour's account was meant.

Source: IAM, "Service agents", and the services' own pages (Filestore, Secret Manager and IAP keep nothing in buckets of
the project; Managed Lustre and others read and write there, Artifact Registry imports packages and images of Container
Registry from there, Memorystore imports and exports), as generally known in 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import GCP_BUCKET
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.gcp.members import names
from trainyard.rehearsal.works.rights.gcp.needs.keys import agents
from trainyard.rehearsal.works.rights.gcp.project import Project

_NEVER: Final = {
    "file": "Filestore", "secretmanager": "Secret Manager", "iap": "IAP", "monitoring": "Cloud Monitoring",
}  # fmt: skip
"""Services that ask for no object of a bucket."""


def check(stack: Stack, project: Project) -> None:
    """Every grant on a bucket."""
    buckets = {bucket.urn for bucket in stack.resources.of(GCP_BUCKET)}
    on_buckets = [grant for grant in project.grants if grant.on in buckets]
    for service, called in _NEVER.items() if on_buckets else ():
        _, callers = agents(stack, service, called)
        for grant in on_buckets:
            named = (member for member in grant.members if member != "allUsers")  # who is meant is everybody
            if any(names(member, who) == "yes" for member in named for who in callers):
                words = f"{called} itself asks for no object of a bucket: the right is of no use to it"
                view = stack.view_of(grant.by)
                view.warning("rights-of-no-use", grant.path, words, allowed="the account of the service that does")
