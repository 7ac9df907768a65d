"""What of an EC2 instance a node of EKS has for pods: sizes of types, and what the kubelet keeps for itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from trainyard.catalog.instances import cpu_instance, instance

MAX_PODS: Final = 110
"""Pods of a node with fewer than 30 vCPUs whose network plugin hands out prefixes (EKS User Guide, "Assign more IP
addresses to Amazon EKS nodes with prefixes", 2026-11)."""

MOST_PODS: Final = 250
"""Pods of a larger node with prefixes (same source)."""

VCPUS_OF_A_LARGE_NODE: Final = 30

PODS_OF_INTERFACES: Final = 234
"""Pods by the interfaces of types of 16 vCPUs, 8 of 30 addresses, without prefixes; smaller types have at most 58
(EC2 User Guide, "IP addresses per network interface", 2026-11)."""

VIRTUAL_MACHINE_SHARE: Final = Fraction(75, 1000)
"""Share of an instance's memory that the hypervisor and the kernel take before the kubelet counts (default of
Karpenter's `vm-memory-overhead-percent`, 2026-11): cautious, most types lose less."""

LEAST_VIRTUAL_MACHINE_SHARE: Final = Fraction(3, 200)
"""What they take at the very least. Own choice: below what was seen of any type."""

USUAL_VIRTUAL_MACHINE_SHARE: Final = Fraction(4, 100)
USUAL_VIRTUAL_MACHINE_MIB: Final = 150
"""What they usually take, a share and a part that every machine loses. Own choice: kubelets of m5.large to m5.2xlarge
are commonly seen to report 7.5, 15.2 and 30.6 GiB (general knowledge, 2026-11)."""

EVICTION_MIB: Final = 100
"""Free memory below which the kubelet evicts, which is no pod's (awslabs/amazon-eks-ami, nodeadm, 2026-11)."""

USABLE_DISK: Final = Fraction(9, 10)
"""Share of a node's file system that pods can have at most: the kubelet evicts at a tenth free (Kubernetes, "Node-
pressure Eviction", 2026-11)."""

HUGE_PAGES_OF_EFA: Final = 5128
"""Huge pages of 2 MiB that the driver of EFA reserves on a node at most (EKS User Guide, "Run machine learning training
on Amazon EKS with Elastic Fabric Adapter", 2026-11)."""

_SIZES: Final = {"medium": 1, "large": 2, "xlarge": 4}
_GIB_A_CORE: Final = {"c": 2, "m": 4, "r": 8}
_REGULAR: Final = re.compile(r"([cmr])([5-9])(a|i|g|ad|id|gd|d|b|flex|i-flex)?\.(medium|large|(\d*)xlarge)")
_BURSTABLE: Final = {
    "nano": (2, 0.5), "micro": (2, 1), "small": (2, 2), "medium": (2, 4), "large": (2, 8), "xlarge": (4, 16),
    "2xlarge": (8, 32),
}  # fmt: skip
_PODS_OF_INTERFACES: Final = {
    "medium": 8,
    "large": 29,
    "xlarge": 58,
    "2xlarge": 58,
    "4xlarge": 234,
    "8xlarge": 234,
    "12xlarge": 234,
}
_PODS_OF_BURSTABLE: Final = {
    "nano": 4, "micro": 4, "small": 11, "medium": 17, "large": 35, "xlarge": 58, "2xlarge": 58,
}  # fmt: skip
_ARM: Final = re.compile(r"(a1|t4g|[a-z]+\d+g[a-z]*|p6e-gb\d+|im4gn|is4gen|hpc7g)")


@dataclass(frozen=True, slots=True)
class Machine:
    """What an instance type has before the kubelet takes its part."""

    vcpus: int
    memory_gib: float
    gpus: int = 0
    nvme_gb: int = 0


@lru_cache(maxsize=256)
def machine(type_: str) -> Machine | None:
    """The size of an instance type; None for one that neither the catalogue nor the rule of names knows.

    C, M and R instances since the fifth generation have 2, 4 and 8 GiB a vCPU, and 4 vCPUs an "xlarge"; but for C5's
    largest sizes, which are left out (EC2 User Guide, "Specifications for Amazon EC2 instances", 2026-11).
    """
    try:
        found = instance(type_)
        return Machine(found.vcpus, found.memory_gib, max(found.gpus, 1), found.nvme_gb)
    except KeyError:
        pass
    try:
        plain = cpu_instance(type_)
        return Machine(plain.vcpus, plain.memory_gib)
    except KeyError:
        pass
    family, _, size = type_.partition(".")
    if family in ("t3", "t3a", "t4g") and size in _BURSTABLE:
        return Machine(*_BURSTABLE[size])
    matched = _REGULAR.fullmatch(type_)
    if matched is None or (family.startswith("c5") and size in ("9xlarge", "18xlarge")):
        return None
    vcpus = _SIZES.get(size) or 4 * int(matched[5])
    return Machine(vcpus, vcpus * _GIB_A_CORE[matched[1]])


def pods_of_interfaces(type_: str) -> int | None:
    """Pods by the addresses of a type's interfaces, without prefixes, two more than those (awslabs/amazon-eks-ami,
    eni-max-pods, 2026-11); None where the size does not say."""
    family, _, size = type_.partition(".")
    if family in ("t3", "t3a", "t4g"):
        return _PODS_OF_BURSTABLE.get(size)
    return _PODS_OF_INTERFACES.get(size) if _REGULAR.fullmatch(type_) else None


def pods_of_prefixes(vcpus: int) -> int:
    """Pods of a node whose network plugin hands out prefixes."""
    return MAX_PODS if vcpus < VCPUS_OF_A_LARGE_NODE else MOST_PODS


def is_arm(type_: str) -> bool:
    """Whether an instance type has processors of Arm: the letter g behind the generation, and a few by name (EC2 User
    Guide, "Amazon EC2 instance type naming conventions", 2026-11)."""
    return _ARM.fullmatch(type_.partition(".")[0]) is not None


def kubelet_mib(pods: int) -> int:
    """Memory that the kubelet keeps on a node of so many pods: what nodeadm of the EKS AMI reserves, 255 MiB and 11 MiB
    a pod, and the eviction threshold (awslabs/amazon-eks-ami, nodeadm, 2026-11)."""
    return 255 + 11 * pods + EVICTION_MIB


def kubelet_cores(vcpus: int) -> Fraction:
    """Cores that nodeadm of the EKS AMI reserves: 6 % of the first, 1 % of the second, 0.5 % of the next two, 0.25 % of
    the rest (awslabs/amazon-eks-ami, nodeadm, 2026-11)."""
    steps = ((1, Fraction("0.06")), (1, Fraction("0.01")), (2, Fraction("0.005")), (vcpus, Fraction("0.0025")))
    reserved, left = Fraction(0), vcpus
    for count, share in steps:
        reserved += min(count, left) * share
        left -= min(count, left)
    return reserved
