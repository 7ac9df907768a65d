"""What nodes need of the project and of its images, by the account that their pool is given.

Source: GKE, "Use least privilege IAM service accounts", as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import value_at
from trainyard.recorded.types import GCP_IMAGE_REPOSITORY
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.gcp.grants import home_of, short
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.model import OWN, Deed, Need
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.workloads.model import Workload

_PATH: Final = "nodeConfig.serviceAccount"
_OF_THE_PROJECT: Final = ("logging.logEntries.create", "monitoring.timeSeries.create")
_IMAGE: Final = re.compile(r"[a-z0-9-]+-docker\.pkg\.dev/(?P<project>[^/]+)/(?P<repository>[^/]+)/")


def needs(stack: Stack, project: Project, made: Sequence[Workload]) -> Iterator[Need]:
    """What every pool's account needs; an account of somebody else's has rights that nobody records."""
    images = _images(made)
    pulled = _repositories(stack, images)
    own_images = _of_the_project(stack, images)
    told = set()
    for view in stack.of_type(GKE_NODE_POOL):
        email = view.text(_PATH)
        if not email or email in told or project.account(email) is None:
            continue
        told.add(email)
        words = f"nodes of pool {view.name}, account {email},"
        who = (Caller(f"account {email}", account=email),)
        own = tuple(Deed(permission, OWN) for permission in _OF_THE_PROJECT)
        hint = "roles/container.defaultNodeServiceAccount on the project"
        yield Need(view, _PATH, "rights-nodes", who, words, "send logs and figures", own, hint)
        for name in pulled:
            deeds = (Deed("artifactregistry.repositories.downloadArtifacts", name),)
            hint = "roles/artifactregistry.reader on the repository or the project"
            yield Need(view, _PATH, "rights-nodes", who, words, "pull images", deeds, hint)
        if own_images:
            # Of a repository that somebody else makes, somebody else may give rights too.
            deeds = (Deed("artifactregistry.repositories.downloadArtifacts", OWN),)
            hint = "roles/artifactregistry.reader on the project, or on that repository where it is made"
            yield Need(view, _PATH, "rights-nodes", who, words, f"pull {own_images[0]}", deeds, hint, sure=False)


def _images(made: Sequence[Workload]) -> list[str]:
    return [str(value_at(one, "image", default="", unknown="")) for work in made for _, one in work.containers()]


def _of_the_project(stack: Stack, images: Sequence[str]) -> list[str]:
    """Images in repositories of the stack's own project that it does not make."""
    home = home_of(stack.providers)
    made = {short(one) for one in stack.resources.of(GCP_IMAGE_REPOSITORY)}
    return [
        image
        for image in images
        if home and (found := _IMAGE.match(image)) and found["project"] == home and found["repository"] not in made
    ]


def _repositories(stack: Stack, images: Sequence[str]) -> list[str]:
    """Ids of recorded repositories that some pod's image is in."""
    named = {found["repository"] for image in images if (found := _IMAGE.match(image))}
    return [str(one.id) for one in stack.resources.of(GCP_IMAGE_REPOSITORY) if not one.read and short(one) in named]
