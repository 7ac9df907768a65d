"""Where the images of teams' pods may come from."""

from __future__ import annotations

from trainyard import catalog
from trainyard.plan.context import Context

DOCKER_HUB = "docker.io"


def plan_allowed_images(context: Context) -> tuple[str, ...]:
    """Registries and repositories that teams may run images of, besides the account's own registry."""
    own = context.settings.images.allowed_registries
    smoke, pins = context.settings.smoke, catalog.pins()
    ours = [pins.image("pytorch"), *([smoke.image or pins.image("smoke")] if smoke.enabled else [])]
    allowed = tuple(dict.fromkeys([*map(repository, ours), *own]))
    source = "the account's own registry, those of the runtimes and the smoke job, setting images.allowedRegistries"
    return context.ledger.decide("images.allowed_registries", allowed, source)


def repository(image: str) -> str:
    """An image with its registry, without tag and digest: `python:3@sha256:…` -> `docker.io/python`."""
    name = image.partition("@")[0]
    head, slash, _ = name.partition("/")
    whole = name if slash and ("." in head or ":" in head or head == "localhost") else f"{DOCKER_HUB}/{name}"
    path, _, tag = whole.rpartition(":")
    return path if path and "/" not in tag else whole
