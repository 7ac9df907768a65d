"""Where images and charts are pulled from, where it is not where they are published: mirrors of the settings' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from trainyard.catalog.versions import ChartPin, Pins
from trainyard.plan.context import Context
from trainyard.plan.registries import DOCKER_HUB, repository


def mirrored(image: str, mirrors: Mapping[str, str]) -> str:
    """An image as it is called at the mirror of its registry, with its tag and digest; itself where there is none."""
    registry, _, path = repository(image).partition("/")
    if registry not in mirrors:
        return image
    if registry == DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    name, at, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return f"{mirrors[registry]}/{path}{f':{tag}' if tag else ''}{at}{digest}"


def pulled_pins(pins: Pins, pulled: Callable[[str], str], chart_mirror: str | None) -> Pins:
    """The pins with their images as nodes pull them, and their charts where they are pulled from."""
    return Pins(
        charts=tuple(
            (name, replace(chart.at(chart_mirror), values=tuple(_values(chart, pulled)))) for name, chart in pins.charts
        ),
        images=tuple((name, pulled(image)) for name, image in pins.images),
        only_on=pins.only_on,
    )


def _values(chart: ChartPin, pulled: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """What a chart's values are set to. One that is a registry alone ends where the chart's own path begins."""
    for path, image in chart.images:
        through = pulled(image)
        if through == image:
            continue
        if path.endswith(".registry"):
            through = through.removesuffix(image[image.index("/") :])
        yield path, through


def plan_mirrors(context: Context) -> str | None:
    """Where charts are pulled from, if not where each is published; both kinds of mirror are decisions."""
    settings, ledger = context.settings, context.ledger
    mirrors = [f"{registry}: {place}" for registry, place in sorted(settings.images.mirrors.items())]
    source = "setting images.mirrors" if mirrors else "each registry is its own, unless images.mirrors names another"
    ledger.decide("images.mirrors", mirrors, source)
    for registry, place in settings.images.mirrors.items():
        if place.partition("/")[0] == registry:
            allowed = "must be another registry than the one that it stands for"
            ledger.problem(f"images.mirrors.{registry}", place, allowed)
    source = "setting charts.mirror" if settings.charts.mirror else "where each is published, unless charts.mirror"
    return ledger.decide("charts.mirror", settings.charts.mirror, source)
