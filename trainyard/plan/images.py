"""Where the images of teams' pods may come from."""

from __future__ import annotations

from collections.abc import Callable

from trainyard import catalog
from trainyard.plan.context import Context
from trainyard.plan.registries import repository


def plan_allowed_images(pulled_as: Callable[[str], str], context: Context) -> tuple[str, ...]:
    """Registries and repositories that teams may run images of, besides the account's own registry.

    `pulled_as` says where the ground's nodes pull an image from.
    """
    own = context.settings.images.allowed_registries
    smoke, pins = context.settings.smoke, catalog.pins()
    ours = [pins.image("pytorch"), *([smoke.image or pins.image("smoke")] if smoke.enabled else [])]
    allowed = tuple(dict.fromkeys([*(repository(pulled_as(image)) for image in ours), *own]))
    source = "the account's own registry, those of the runtimes and the smoke job, setting images.allowedRegistries"
    return context.ledger.decide("images.allowed_registries", allowed, source)
