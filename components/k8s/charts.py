"""Helm charts: one way to install them all.

A `helm.v3.Release` is one resource with Helm's own hooks and history, which the admission webhooks of Kueue, JobSet and
the Kubeflow Trainer need: they write their certificates into what the chart made, and a chart that is rendered on the
client would see that as a change at every preview.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes.helm.v3 as helm


class ChartArgs(TypedDict):
    """A pinned Helm chart."""

    chart: str
    """Name of the chart, or the whole `oci://` address."""
    version: str
    """Exact version, as the repository spells it."""
    repository: str
    """URL of the chart repository; empty for an OCI chart."""
    image_values: NotRequired[Mapping[str, str]]
    """By the path of a value (`image.repository`), where its images are pulled from. Default: as the chart has it."""


def over_nodes(labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """Values of a chart's `topologySpreadConstraints` that put the replicas with these labels on several nodes."""
    return [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(labels)},
        }
    ]


def release(
    name: str,
    chart: ChartArgs,
    *,
    release_name: str,
    namespace: pulumi.Input[str],
    values: Mapping[str, Any],
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource] = (),
    timeout_seconds: int = 600,
) -> helm.Release:
    """Installs a chart into a namespace that exists and waits until its workloads are ready.

    `release_name` is fixed: charts derive the names of their services, webhooks and accounts from it. `values` must be
    known to the chart: Helm ignores a misspelt one in silence, so the tests check every path.

    Not atomic: that would uninstall a release whose first installation fails. For charts that carry their resource
    definitions as templates this deletes every queue and job with them, and it takes away what there is to look at.
    The next `pulumi up` upgrades a failed release in place.

    Raises ValueError for a chart address and a repository that exclude each other.
    """
    oci = chart["chart"].startswith("oci://")
    if oci and chart["repository"]:
        raise ValueError(f"{chart['chart']}: an OCI chart has no repository, got {chart['repository']}")
    if not oci and not chart["repository"]:
        raise ValueError(f"{chart['chart']}: a chart that is no oci:// address needs a repository")
    return helm.Release(
        name,
        name=release_name,
        chart=chart["chart"],
        version=chart["version"],
        # None and not {} for OCI: Helm would look for the chart in a repository without an address.
        repository_opts=helm.RepositoryOptsArgs(repo=chart["repository"]) if chart["repository"] else None,
        namespace=namespace,
        create_namespace=False,
        values=_with_images(values, chart.get("image_values", {})),
        timeout=timeout_seconds,
        atomic=False,
        skip_await=False,
        max_history=5,
        opts=pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on)),
    )


def _with_images(values: Mapping[str, Any], images: Mapping[str, str]) -> dict[str, Any]:
    """The values with those of the images at their paths; what else stands there stays."""
    merged = dict(values)
    for path, image in images.items():
        level, (*above, last) = merged, path.split(".")
        for key in above:
            level[key] = dict(level.get(key, {}))
            level = level[key]
        level[last] = image
    return merged
