"""Where the images of teams' pods may come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainyard import catalog
from trainyard.plan.context import Context
from trainyard.plan.parts import ClusterPlan
from trainyard.plan.registries import repository

OPEN_REGISTRIES = ("docker.io", "ghcr.io", "public.ecr.aws", "quay.io", "registry.gitlab.com")
"""Registries where whoever makes an account publishes images (Docker Hub, GitHub, Amazon ECR Public, Quay.io and GitLab
in their documentation, 2026-11): a list that holds one as a whole keeps nobody's image out."""


def plan_allowed_images(
    pulled_as: Callable[[str], str], clusters: Sequence[ClusterPlan], context: Context, also: Sequence[str] = ()
) -> tuple[str, ...]:
    """Registries and repositories that teams may run images of, besides the account's own registry.

    `pulled_as` says where the ground's nodes pull an image from; the clusters' runtimes and looks at checkpoints, and
    the ground's own in `also`, have theirs that way already. Those looks run the smoke job's image in teams' namespaces
    whether or not there is a smoke job.
    """
    own = context.settings.images.allowed_registries
    smoke, pins = context.settings.smoke, catalog.pins()
    ours = [pins.image("pytorch"), *([smoke.image or pins.image("smoke")] if smoke.enabled else [])]
    looks = [look for cluster in clusters for look in (cluster.drill, cluster.check) if look is not None]
    runtimes = [runtime for cluster in clusters for runtime in cluster.runtimes]
    pulled = [*map(pulled_as, ours), *(each.image for each in (*runtimes, *looks)), *also]
    allowed = tuple(dict.fromkeys([*map(repository, pulled), *own]))
    source = (
        "the account's own registry, those of the runtimes, the smoke job and the looks at checkpoints, setting "
        "images.allowedRegistries"
    )
    for registry in sorted(set(allowed) & set(OPEN_REGISTRIES)):
        source += f"; at {registry} anybody publishes images, an organisation of it (`{registry}/NAME`) is fewer"
    return context.ledger.decide("images.allowed_registries", allowed, source)
