"""Pinned versions (`versions.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from trainyard.catalog.tables import tree


@dataclass(frozen=True, slots=True)
class KubernetesVersion:
    """A Kubernetes version with pins. `standard_support_until` is a date, None: not established."""

    version: str
    standard_support_until: str | None
    source: str
    cluster_autoscaler: str  # tag of the Cluster Autoscaler's image


@dataclass(frozen=True, slots=True)
class AddOn:
    """A managed add-on of the cluster."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class ChartPin:
    """A Helm chart. `repository` is empty for an OCI chart, whose `chart` is the whole oci:// address."""

    chart: str
    version: str
    repository: str
    images: tuple[tuple[str, str], ...] = ()  # value of the chart -> what it names, without tag; what can be cached
    values: tuple[tuple[str, str], ...] = ()  # of those, what they are set to; none: as the chart has it

    def at(self, mirror: str | None) -> ChartPin:
        """The chart at a mirror of all charts, by its own name: an `oci://` address, or the URL of a repository."""
        if mirror is None:
            return self
        name = self.chart.rpartition("/")[2]
        if mirror.startswith("oci://"):
            return replace(self, chart=f"{mirror.rstrip('/')}/{name}", repository="")
        return replace(self, chart=name, repository=mirror)


@dataclass(frozen=True, slots=True)
class ImagePin:
    """An image by its digest, or a chart in a registry of images. `read` is the day on which its registry was asked for
    it, None: never."""

    name: str
    image: str
    source: str
    read: str | None
    section: Literal["images", "charts"] = "images"

    @property
    def label(self) -> str:
        """The name as people are told it: a chart and an image may have the same one."""
        return f"chart {self.name}" if self.section == "charts" else self.name


@dataclass(frozen=True, slots=True)
class Pins:
    """Versions of everything that is installed, from `versions.yaml`."""

    charts: tuple[tuple[str, ChartPin], ...]
    images: tuple[tuple[str, str], ...]  # name -> image:tag@sha256:…, or image:tag where the digest is unread
    only_on: tuple[tuple[str, str], ...] = ()  # name of an image -> the cloud whose stacks alone run it

    def chart(self, name: str) -> ChartPin:
        """The pinned chart of that name; KeyError where there is none."""
        return dict(self.charts)[name]

    def image(self, name: str) -> str:
        """The pinned image of that name, with its digest where that could be read; KeyError where there is none."""
        return dict(self.images)[name]

    def images_on(self, cloud: str) -> tuple[str, ...]:
        """The pinned images that a stack on a cloud may run."""
        elsewhere = {name for name, only in self.only_on if only != cloud}
        return tuple(image for name, image in self.images if name not in elsewhere)

    def with_images(self, own: Mapping[str, str]) -> Pins:
        """The pins with images that somebody has chosen himself, by the names of those that they stand for."""
        return replace(self, images=tuple((name, own.get(name, image)) for name, image in self.images))

    def without_digest(self) -> tuple[str, ...]:
        """The pinned images whose digest nobody has read from their registry yet."""
        return tuple(image for _, image in self.images if "@sha256:" not in image)


_OCI = "oci://"


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return tree(files("trainyard.catalog").joinpath("versions.yaml"))


def kubernetes_versions() -> dict[str, KubernetesVersion]:
    """The versions that may be chosen, oldest first."""
    return {version: _version(version, entry) for version, entry in _table()["kubernetes"]["supported"].items()}


def known_kubernetes_versions() -> dict[str, KubernetesVersion]:
    """The versions that an environment may have, oldest first: those that may be chosen, and earlier ones with pins."""
    return {version: _version(version, entry) for version, entry in _known().items()}


def _known() -> dict[str, Any]:
    entry = _table()["kubernetes"]
    return {**entry["ending"], **entry["supported"]}


def _version(version: str, entry: Mapping[str, Any]) -> KubernetesVersion:
    return KubernetesVersion(
        version,
        str(entry["standard_support_until"]) if entry["standard_support_until"] else None,
        f"{entry['source']}, {entry['date']}",
        str(entry["cluster_autoscaler"]),
    )


def default_kubernetes_version() -> tuple[str, str]:
    """The version that a new environment gets, and why."""
    entry = _table()["kubernetes"]
    return str(entry["default"]), f"catalog/versions.yaml: {entry['source']}, {entry['date']}"


def node_release(kubernetes_version: str) -> tuple[str, str]:
    """The release of the EKS node images for one of the known Kubernetes versions, and its source.

    Raises:
        KeyError: the version is not known.
    """
    entry, image = _known()[kubernetes_version], _table()["eks_ami"]
    return str(entry["node_release"]), f"catalog/versions.yaml: {image['source']}, {image['date']}"


def ami_driver() -> tuple[int, str]:
    """Major version of the NVIDIA driver on the EKS GPU image, and its source."""
    entry = _table()["eks_ami"]
    return int(entry["driver"]), f"{entry['source']}, {entry['date']}"


def postgresql_version() -> tuple[str, str]:
    """Version of the PostgreSQL engine, and its source."""
    entry = _table()["postgresql"]
    return str(entry["version"]), f"catalog/versions.yaml: {entry['source']}, {entry['date']}"


def add_on_pins(kubernetes_version: str) -> tuple[tuple[AddOn, ...], str]:
    """The managed add-ons for one of the known Kubernetes versions, and the source of their versions.

    Raises:
        KeyError: the version is not known.
    """
    entry = _known()[kubernetes_version]["add_ons"]
    source = f"catalog/versions.yaml: {entry['source']}, {entry['date']}"
    return tuple(AddOn(name, version) for name, version in entry["versions"].items()), source


@lru_cache(maxsize=1)
def pins() -> Pins:
    """All pinned charts and images."""
    charts = {
        name: ChartPin(
            chart=entry.get("chart", name),
            version=str(entry["version"]),
            repository=entry.get("repository", ""),
            images=tuple(entry.get("images", {}).items()),
        )
        for name, entry in _table()["charts"].items()
    }
    images = {name: str(entry["image"]) for name, entry in _table()["images"].items()}
    only_on = {name: entry["only_on"] for name, entry in _table()["images"].items() if "only_on" in entry}
    return Pins(charts=tuple(charts.items()), images=tuple(images.items()), only_on=tuple(only_on.items()))


def image_pins() -> tuple[ImagePin, ...]:
    """All pinned images with where their digests are from."""
    return tuple(
        ImagePin(name, str(entry["image"]), f"{entry['source']}, {entry['date']}", str(entry["read"] or "") or None)
        for name, entry in _table()["images"].items()
    )


def chart_pins() -> tuple[ImagePin, ...]:
    """The pinned charts that lie in a registry of images, as its registry names them; others have no digest."""
    return tuple(
        ImagePin(
            name,
            f"{entry['chart'].removeprefix(_OCI)}:{entry['version']}{'@' + entry['digest'] if entry['digest'] else ''}",
            f"{entry['source']}, {entry['date']}",
            str(entry["read"] or "") or None,
            "charts",
        )
        for name, entry in _table().get("charts", {}).items()
        if str(entry.get("chart", "")).startswith(_OCI)
    )
