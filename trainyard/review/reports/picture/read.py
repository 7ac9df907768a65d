"""`picture_of`: what the recorded resources of any program show, whoever wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.resources import Resources, matches
from trainyard.review.reports.picture import compute, network, services
from trainyard.review.reports.picture.model import Picture
from trainyard.review.reports.picture.told import told, without_secrets

_DRAWN = (*network.DRAWN, *compute.DRAWN, *services.DRAWN)
_CLOUDS = {"aws": "AWS", "gcp": "Google Cloud"}


def picture_of(
    stack: str,
    resources: Iterable[RecordedResource],
    *,
    expected_usd: float | None = None,
    wrong: Mapping[str, int] | None = None,
) -> Picture:
    """The picture of a stack.

    `expected_usd`: what it is expected to cost a month, where that is known; `wrong`: how many errors and mandatory
    violations a resource has, by URN.
    """
    scene = without_secrets(resources)
    clusters = tuple(compute.clusters(scene))
    return Picture(
        stack=stack,
        places=tuple(dict.fromkeys(_places(scene))),
        networks=tuple(network.networks(scene)),
        clusters=clusters,
        stores=tuple(services.stores(scene)),
        databases=tuple(services.databases(scene)),
        teams=tuple(compute.teams(scene, clusters)),
        services=tuple(services.services(scene)),
        budgets=tuple(services.budgets(scene)),
        others=_others(scene),
        expected_usd=expected_usd,
        wrong=wrong or {},
    )


def _places(resources: Resources) -> Iterator[str]:
    """`AWS us-east-1` of every provider of a cloud."""
    for provider in resources.of("pulumi:providers:*"):
        cloud = _CLOUDS.get(provider.type.rpartition(":")[2])
        if cloud:
            yield " ".join(filter(None, (cloud, told(provider.inputs, "region"), told(provider.inputs, "project"))))


def _others(resources: Resources) -> tuple[tuple[str, int], ...]:
    """What is made and not drawn, by service, the most first."""
    counts = Counter(
        _service(resource) for resource in resources.all if resource.is_made and not matches(resource.type, _DRAWN)
    )
    return tuple(counts.most_common())


def _service(resource: RecordedResource) -> str:
    """`iam` of `aws:iam/role:Role`; the package for what no cloud makes."""
    package, _, rest = resource.type.partition(":")
    return rest.split("/")[0].split(":")[0] if package in _CLOUDS else package
