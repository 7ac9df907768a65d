"""Names of images."""

from __future__ import annotations

DOCKER_HUB = "docker.io"


def repository(image: str) -> str:
    """An image with its registry, without tag and digest: `python:3@sha256:…` -> `docker.io/python`."""
    name = image.partition("@")[0]
    head, slash, _ = name.partition("/")
    whole = name if slash and ("." in head or ":" in head or head == "localhost") else f"{DOCKER_HUB}/{name}"
    path, _, tag = whole.rpartition(":")
    return path if path and "/" not in tag else whole
