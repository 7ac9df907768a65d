"""Images that exist for one architecture only, as far as their names say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_OF_AMD64: Final = re.compile(
    r"(public\.ecr\.aws/deep-learning-containers|763104351884\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com)/"
    r"[a-z]+-(training|inference)(?!-arm64)[:@].*"
)
"""AWS's deep learning containers: those for Graviton and Grace are repositories or tags of their own, with `arm64` in
the name (aws/deep-learning-containers, available_images, 2026-11)."""

_ENDING: Final = re.compile(r"[:_-](amd64|arm64|x86_64|aarch64)(@sha256:[0-9a-f]+)?$")
"""A tag that ends with an architecture is of that one, by custom of all registries."""

_NAMES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def architectures(spec: Mapping[str, Any]) -> dict[str, str]:
    """The architecture of each image of a pod that is there for one only."""
    found = {}
    for kind in ("initContainers", "containers"):
        listed = spec.get(kind)
        for container in listed if isinstance(listed, list) else ():
            image = container.get("image") if isinstance(container, Mapping) else None
            if not isinstance(image, str):
                continue
            ending = _ENDING.search(image)
            if ending is not None:
                found[image] = _NAMES.get(ending[1], ending[1])
            elif _OF_AMD64.fullmatch(image) and "arm64" not in image:
                found[image] = "amd64"
    return found
