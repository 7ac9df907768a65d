"""The same request by somebody else: of a team, by a pod of the team's, and with what a guard asks for written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from trainyard.conventions import TEAM_LABEL, team_group
from trainyard.policies.teams import labels_of
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.selectors import NAME_LABEL
from trainyard.rehearsal.works.rights.kubernetes.admission import Request

A_POD: Final = "a pod"
"""Stands for the service account of a team's pods."""


def by_team(request: Request, team: RecordedResource) -> Request:
    """A request as somebody of a team makes it in its namespace; one of a controller stays a controller's."""
    labels = labels_of(team)
    namespace = str(labels[NAME_LABEL])
    item, old = (_placed(one, namespace) for one in (request.item, request.old))
    user, groups = request.user, tuple(request.groups)
    if user == A_POD:
        user = f"system:serviceaccount:{namespace}:default"
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    elif not groups:
        groups = (team_group(str(labels[TEAM_LABEL])), "system:authenticated")
    return replace(request, user=user, groups=groups, item=item, old=old, namespace=namespace, labels=labels)


def _placed(item: Mapping[str, Any] | None, namespace: str) -> Mapping[str, Any] | None:
    return item and {**item, "metadata": {**item["metadata"], "namespace": namespace}}


def dressed(item: Any, literals: Iterable[str], text: str) -> Any:
    """An object with a text for a name, a label and an annotation of every name that is asked for."""
    if item is None:
        return None
    said = dict.fromkeys(literals, text)
    metadata = {**item["metadata"], "name": text, "generateName": text, "labels": said, "annotations": said}
    if "spec" not in item:  # options of a connection
        return {**item, "metadata": metadata}
    spec = {**item["spec"], **({"serviceAccountName": text} if "containers" in item["spec"] else {})}
    return {**item, "metadata": metadata, "spec": spec}
