"""Caches of images (remote repositories): pods name one by the name that it has.

A cache that no image of the stack comes from, beside an image of a repository that the stack does not make in the same
place, was renamed on one side. Source: Artifact Registry, "Remote repositories" (`LOCATION-docker.pkg.dev/PROJECT/
REPOSITORY/IMAGE`), as generally known in 2026-11.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest_word
from trainyard.recorded.types import GCP_IMAGE_REPOSITORY
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_IMAGE: Final = re.compile(
    r"(?P<location>[a-z0-9-]+)-docker\.pkg\.dev/(?P<project>[^/\s\"']+)/(?P<repository>[a-z0-9-]+)"
)


def check(cluster: Cluster) -> None:
    """Every remote repository that nothing is pulled through."""
    made = [view for view in cluster.stack.of_type(GCP_IMAGE_REPOSITORY) if not view.resource.read]
    caches = [view for view in made if view.text("mode") == "REMOTE_REPOSITORY"]
    if not caches or any(_name(view) is None for view in made):
        return
    asked: dict[tuple[str, str, str], View] = {}
    for view in cluster.stack.views:
        if view.type.startswith("kubernetes:"):
            for _, text in view.known_texts:
                if ".pkg.dev/" in text:
                    for found in _IMAGE.finditer(text):
                        asked.setdefault((found["location"], found["project"], found["repository"]), view)
    names = {_name(one) for one in made}
    idle = [view for view in caches if _name(view) not in asked]
    for key, view in asked.items():
        if key in names:
            continue
        there = {key_[2]: one for one in idle if (key_ := _name(one)) is not None and key_[:2] == key[:2]}
        if meant := nearest_word(key[2], there):
            words = f"{show(meant)}: nothing is pulled through it, and {view.name} pulls from {'/'.join(key[1:])}, "
            there[meant].error(
                "reference-image-cache", "repositoryId", f"{words}which the stack does not make", allowed=key[2]
            )


def _name(view: View) -> tuple[str, str, str] | None:
    """Location, project and name; None where one of them is not known."""
    outputs = view.resource.outputs
    project = view.text("project") or outputs.get("project")
    parts = (view.text("location"), project, view.text("repositoryId"))
    return (str(parts[0]), str(parts[1]), str(parts[2])) if all(isinstance(part, str) for part in parts) else None
