"""The platform's images in the project's own registry: which registries are cached, and how an image is then called."""

from __future__ import annotations

from trainyard import catalog
from trainyard.conventions.gcp import CACHED_REGISTRIES
from trainyard.plan.context import Context
from trainyard.plan.gcp.parts import CachedRegistryPlan, ImageCachePlan
from trainyard.plan.mirrors import mirrored
from trainyard.plan.registries import repository


def plan_image_cache(name: str, context: Context) -> ImageCachePlan | None:
    """The cache where the settings want one: a remote repository for each registry that something of ours is of."""
    settings, ledger = context.settings, context.ledger
    if not settings.images.cache:
        ledger.decide("images.cache", (), "off unless images.cache")
        return None
    pins, chosen = catalog.pins(), (settings.smoke.image, settings.mlflow.image)
    images = [*pins.images_on("gcp"), *(image for image in chosen if image)]
    images += [image for _, chart in pins.charts for _, image in chart.images]
    used = {repository(image).partition("/")[0] for image in images}
    registry = f"{context.region}-docker.pkg.dev/{settings.gcp.project or 'unknown-project'}"
    upstreams = tuple(
        CachedRegistryPlan(upstream, uri, f"{name}-{suffix}")
        for upstream, (uri, suffix) in CACHED_REGISTRIES.items()
        if upstream in used
    )
    for index, allowed in enumerate(settings.images.allowed_registries):
        if f"{registry}/".startswith(f"{allowed.rstrip('/')}/"):
            what = "must name repositories of the project's registry: through images.cache comes what anybody publishes"
            hint = f"{registry}/YOUR-REPOSITORY"
            ledger.problem(f"images.allowedRegistries[{index}]", allowed, what, hint)
    ledger.decide(
        "images.cache",
        tuple(upstream.name for upstream in upstreams),
        "setting images.cache; teams' own repositories of the project are then named in images.allowedRegistries",
    )
    return ImageCachePlan(registry, upstreams)


def cached(image: str, cache: ImageCachePlan | None) -> str:
    """An image as nodes pull it: through the cache, with its tag and digest, where its registry is in the cache."""
    if cache is None:
        return image
    return mirrored(image, {each.name: f"{cache.registry}/{each.repository}" for each in cache.upstreams})
