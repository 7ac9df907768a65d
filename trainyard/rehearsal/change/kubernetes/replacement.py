"""What Pulumi's Kubernetes provider makes of its own configuration, of names and of data (read 2026-07-01: diff.go,
`DiffConfig` and `Diff` in provider.go)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import follow, is_on, value_at
from trainyard.recorded.types import CONFIG_MAP, KUBERNETES_PROVIDER, SECRET
from trainyard.rehearsal.change.model import Difference

PROVIDER: Final = KUBERNETES_PROVIDER

_MUTABLE: Final = {CONFIG_MAP: "enableConfigMapMutable", SECRET: "enableSecretMutable"}
_DATA: Final = ("data", "binaryData", "stringData", "type")


def spared(now: RecordedResource, provider: RecordedResource | None) -> Iterator[str]:
    """The data of a ConfigMap or Secret, where the provider is told to change it in place and it is not immutable."""
    switch = _MUTABLE.get(now.type)
    if switch is None or provider is None or value_at(now.inputs, "immutable", unknown=None) is True:
        return
    if is_on(provider.inputs, switch):
        yield from _DATA


def keeps_its_name(was: RecordedResource, now: RecordedResource) -> bool:
    """Whether the old object has the name that the new one is given, in the same namespace."""
    if "metadata.name" in now.from_check or follow(now.inputs, "metadata", "generateName") is not None:
        return False
    return all(
        follow(was.inputs, "metadata", key) == follow(now.inputs, "metadata", key) for key in ("name", "namespace")
    )


def moves(was: RecordedResource, now: RecordedResource, differences: Sequence[Difference]) -> bool:
    """Whether a provider points to another cluster: by its identifier where it has one, else by its kubeconfig."""
    before, after = (value_at(each.inputs, "clusterIdentifier", unknown=None) for each in (was, now))
    if before and after:
        return bool(before != after)
    paths = {found.path for found in differences}
    if paths.isdisjoint({"kubeconfig", "context", "cluster"}):
        return False
    clusters = [_cluster(each) for each in (was, now)]
    return None not in clusters and clusters[0] != clusters[1]


def _cluster(provider: RecordedResource) -> Any:
    """The settings of the cluster that a provider's kubeconfig points to; None where that cannot be read."""
    text = value_at(provider.inputs, "kubeconfig", unknown=None)
    try:
        told = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if not isinstance(told, dict):
        return None
    current = value_at(provider.inputs, "context", unknown=None) or told.get("current-context")
    contexts = {each.get("name"): each.get("context", {}) for each in told.get("contexts", ())}
    name = value_at(provider.inputs, "cluster", unknown=None) or contexts.get(current, {}).get("cluster")
    return next((each.get("cluster") for each in told.get("clusters", ()) if each.get("name") == name), None)
