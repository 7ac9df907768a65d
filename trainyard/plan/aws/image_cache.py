"""The platform's images in the account's own registry: which registries are cached, and how an image is then called."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Final

from trainyard import catalog
from trainyard.catalog import service_price
from trainyard.conventions.aws import CACHED_REGISTRIES, LONGEST_CACHE_PREFIX, OPEN_REGISTRIES
from trainyard.plan.aws.parts import CachedRegistryPlan, ImageCachePlan
from trainyard.plan.context import Context
from trainyard.plan.registries import DOCKER_HUB, repository

_LONGEST_NAME: Final = LONGEST_CACHE_PREFIX - 1 - max(len(suffix) for _, suffix in CACHED_REGISTRIES.values())


def plan_image_cache(name: str, context: Context) -> ImageCachePlan | None:
    """The cache where the settings want one: of registries that need no login, and of those with a login."""
    own, account, ledger = context.settings.images, context.settings.aws.account_id, context.ledger
    price = service_price("ecr.storage")
    costs = f"{price.usd:g} USD a {price.unit} of compressed layers ({price.source}, {price.date})"
    logins = _logins(context)
    if not own.cache:
        ledger.decide("images.cache", (), f"off unless images.cache; it would cost {costs}")
        return None
    if account is None:
        ledger.problem("aws.accountId", None, "must be the account: images.cache names images by its registry")
    upstreams = tuple(
        CachedRegistryPlan(registry, upstream, f"{_root(name)}/{suffix}", logins.get(registry))
        for registry, (upstream, suffix) in CACHED_REGISTRIES.items()
        if registry in OPEN_REGISTRIES or registry in logins
    )
    # A stand-in for an account that is not named: the plan has a problem then.
    empty = ImageCachePlan(f"{account or '0' * 12}.dkr.ecr.{context.region}.amazonaws.com", upstreams, ())
    pins, chosen = catalog.pins(), (context.settings.smoke.image, context.settings.mlflow.image)
    images = [*pins.images_on("aws"), *(image for image in chosen if image)]
    images += [image for _, chart in pins.charts for _, image in chart.images]
    places = {below for image in images if (below := _place(image, empty)) is not None}
    ledger.decide(
        "images.cache",
        tuple(upstream.name for upstream in upstreams),
        f"setting images.cache; others need images.cacheLogins or cannot be cached; {costs}",
    )
    return replace(empty, repositories=tuple(sorted(places)))


def cached(image: str, cache: ImageCachePlan | None) -> str:
    """An image as nodes pull it: through the cache, with its tag and digest, where its repository is in the cache."""
    place = _place(image, cache) if cache else None
    if cache is None or place not in cache.repositories:
        return image
    name, at, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return f"{cache.registry}/{place}{f':{tag}' if tag else ''}{at}{digest}"


def _place(image: str, cache: ImageCachePlan) -> str | None:
    """The repository that an image has in the cache; None for one of a registry that is not cached."""
    registry, _, path = repository(image).partition("/")
    if registry == DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    prefix = next((upstream.prefix for upstream in cache.upstreams if upstream.name == registry), None)
    return f"{prefix}/{path}" if prefix else None


def _root(name: str) -> str:
    """The environment's name, cut to what ECR takes and told apart then: two of an account have caches of their own."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 7].rstrip('-')}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _logins(context: Context) -> dict[str, str]:
    """The secrets by registry. ECR reads a login from a secret of its own region and account."""
    own, account = context.settings.images.cache_logins, context.settings.aws.account_id
    given = {"docker.io": ("dockerHub", own.docker_hub), "ghcr.io": ("github", own.github)}
    for key, arn in given.values():
        if arn is None:
            continue
        _, _, _, region, owner, *_ = arn.split(":")
        if not context.settings.images.cache:
            context.ledger.problem(f"images.cacheLogins.{key}", arn, "means nothing without images.cache")
        elif region != context.region or account not in (None, owner):
            allowed = f"must be a secret of {context.region} and the account: ECR reads no other"
            context.ledger.problem(f"images.cacheLogins.{key}", arn, allowed)
    return {registry: arn for registry, (_, arn) in given.items() if arn is not None}
