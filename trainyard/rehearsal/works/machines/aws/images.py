"""The image of a node group: its architecture, its driver, its version, its disks.

What an image is stands in the name of its type (`AL2023_ARM_64_NVIDIA`), which Amazon's own model lists. Sources: EKS
user guide, "Amazon EKS optimized AMIs" and "Kubernetes version skew". Images of Amazon Linux 2 are made no more since
2025-11-26 (EKS user guide, "AMI deprecation FAQs"; amazon-eks-ami issue 2545, read 2026-11); Kubernetes 1.32 is the
last that has one (as generally known).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.catalog import offered_regions
from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.read import as_number
from trainyard.recorded.types import EKS_CLUSTER, HELM_RELEASE
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.aws.launch_templates import catalogue

LAST_OF_AL2: Final = (1, 32)
OLDEST_BEHIND: Final = 3
"""Minor versions that a node may be behind its control plane."""

AL2023_GIB: Final = 20
"""Size of the snapshot that Amazon Linux images of EKS are made of; a smaller root volume is refused at launch."""

_CPU_ONLY = re.compile(r"(c|hpc|i|im|is|m|r|t|x|z)\d+[a-z]*(-[a-z0-9]+)?\.")
_GRAVITON = re.compile(r"([a-z]{1,3}\d+g[a-z]*|a1|p6e-gb\d+)\.")


@dataclass(frozen=True, slots=True)
class Image:
    """What the name of an image type says."""

    type: str

    @property
    def architecture(self) -> str:
        """`arm64` or `x86_64`; empty for what has a name of another form."""
        return "arm64" if "ARM_64" in self.type else "x86_64" if "x86_64" in self.type else ""

    @property
    def has_driver(self) -> bool:
        """Whether it brings NVIDIA's driver."""
        return self.type.endswith(("_NVIDIA", "_NVIDIA_FIPS", "_GPU"))

    @property
    def system(self) -> str:
        """`AL2`, `AL2023`, `BOTTLEROCKET`, `WINDOWS` or `CUSTOM`."""
        return self.type.partition("_")[0]


def architecture(instance_type: str) -> str:
    """The architecture of an instance type: `arm64` for Graviton and Grace, else `x86_64`."""
    return "arm64" if _GRAVITON.match(instance_type) else "x86_64"


def check(stack: Stack) -> None:
    """Looks at every node group of EKS."""
    for group in stack.of_type(EKS_NODE_GROUP):
        template = group.referred("launchTemplate", LAUNCH_TEMPLATE)
        types = group.texts("instanceTypes") or ([template.text("instanceType") or ""] if template else [])
        types = [found for found in types if found]
        _sold(group, types, stack.context.region)
        _versions(group)
        image = Image(group.text("amiType") or "")
        if not image.type or image.system == "CUSTOM":
            continue
        _fits(group, image, types, stack)
        if template is not None:
            _disks(template, image)


def _fits(group: View, image: Image, types: list[str], stack: Stack) -> None:
    for name in types:
        if image.architecture and image.architecture != architecture(name):
            group.error(
                "machines-image-architecture",
                "amiType",
                f"{image.type} is an image for {image.architecture}, and {name} is {architecture(name)}",
                allowed=f"an image for {architecture(name)}",
            )
        elif catalogue(name) is not None and not image.has_driver and not _driver_installed(stack):
            group.error(
                "machines-image-driver",
                "amiType",
                f"{name} has GPUs, and {image.type} has no NVIDIA driver: its GPUs are never offered to pods",
                allowed="an image type that ends in _NVIDIA, or the GPU operator with its driver",
            )
        elif image.has_driver and catalogue(name) is None and _CPU_ONLY.match(name):
            group.error(
                "machines-image-driver",
                "amiType",
                f"{name} has no GPU, and {image.type} is for those that have",
                allowed="an image type that ends in _STANDARD",
            )
    version = _version(_of_cluster(group) or stack.context.kubernetes_version)
    if image.system == "AL2" and version > LAST_OF_AL2:
        group.error(
            "machines-image-version",
            "amiType",
            f"there is no Amazon Linux 2 image for Kubernetes {version[0]}.{version[1]}: the last is for 1.32",
            allowed="AL2023_… or BOTTLEROCKET_…",
        )


def _driver_installed(stack: Stack) -> bool:
    """Whether something else may bring the driver: the GPU operator does, unless it is told not to."""
    return any(
        "gpu-operator" in (release.text("chart") or "gpu-operator")
        and release.flag("values.driver.enabled") is not False
        for release in stack.of_type(HELM_RELEASE)
    )


def _of_cluster(group: View) -> str | None:
    cluster = group.referred("clusterName", EKS_CLUSTER)
    return cluster.text("version") if cluster is not None else None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])


def _of_release(group: View) -> str | None:
    """The release of an image, where its number is Kubernetes' own: Bottlerocket counts by itself."""
    return group.text("releaseVersion") if Image(group.text("amiType") or "").system in ("AL2", "AL2023") else None


def _versions(group: View) -> None:
    """A node's kubelet is never newer than the control plane, and not much older."""
    of_cluster, own = _of_cluster(group), group.text("version") or _of_release(group)
    if of_cluster is None or own is None:
        return
    plane, node = _version(of_cluster), _version(own)
    if len(plane) < 2 or len(node) < 2 or plane[0] != node[0]:
        return
    key = "version" if group.has("version") else "releaseVersion"
    if node > plane:
        group.error(
            "machines-version",
            key,
            f"nodes of Kubernetes {own} in a cluster of {of_cluster}: nodes are never newer than their control plane",
            allowed=f"{of_cluster}, or left out",
        )
    elif plane[1] - node[1] > OLDEST_BEHIND:
        group.error(
            "machines-version",
            key,
            f"nodes of Kubernetes {own} are {plane[1] - node[1]} minor versions behind their cluster of {of_cluster}",
            allowed=f"at most {OLDEST_BEHIND} behind",
        )


def _sold(group: View, types: list[str], region: str) -> None:
    """Instance types that no zone of the region sells, as far as the catalogue knows them."""
    for name in types:
        regions = offered_regions(name) if catalogue(name) is not None else ()
        if regions and region and region not in regions:
            group.warning(
                "machines-region",
                "instanceTypes" if group.has("instanceTypes") else "launchTemplate",
                f"{name} is not sold in {region}, as far as the catalogue knows",
                allowed=f"a type that is; it is sold in {', '.join(regions[:6])}{', …' if len(regions) > 6 else ''}",
            )


def _disks(template: View, image: Image) -> None:
    """The volumes of a template are those that the image mounts, and large enough for it."""
    mapped = {
        item["deviceName"]: (path, item)
        for path, item in template.items("blockDeviceMappings")
        if isinstance(item.get("deviceName"), str)
    }
    if not mapped or template.blurred("blockDeviceMappings"):
        return
    for wrong in _wrong_disks(set(mapped), image):
        template.error("machines-root-device", "blockDeviceMappings", wrong, allowed="deviceName /dev/xvda")
    path, item = mapped.get("/dev/xvda", ("", {}))
    disk = item.get("ebs")
    size = as_number(disk.get("volumeSize")) if isinstance(disk, dict) else None
    if size is not None and image.system in ("AL2", "AL2023") and size < AL2023_GIB:
        template.error(
            "machines-root-device",
            f"{path}.ebs.volumeSize",
            f"got {size:g}: the image's own snapshot has {AL2023_GIB} GiB",
            allowed=f"{AL2023_GIB} and more",
        )


def _wrong_disks(found: set[str], image: Image) -> Iterator[str]:
    if (
        image.system in ("AL2", "AL2023")
        and "/dev/xvda" not in found
        and found & {"/dev/sda1", "/dev/nvme0n1", "/dev/sda"}
    ):
        yield (
            f"{', '.join(sorted(found))} is not the root device of {image.type}: its root volume keeps its 20 GiB, and "
            "this one is attached besides, empty"
        )
    if image.system == "BOTTLEROCKET" and found == {"/dev/xvda"}:
        yield ("/dev/xvda holds Bottlerocket itself: images and containers lie on /dev/xvdb, which keeps its 20 GiB")
