"""What every part that knows Google Cloud must spell alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GKE_ACCELERATORS: Final[Mapping[str, str]] = {
    "nvidia-tesla-t4": "T4",
    "nvidia-l4": "L4",
    "nvidia-rtx-pro-6000": "RTX PRO 6000",
    "nvidia-tesla-a100": "A100-40GB",
    "nvidia-a100-80gb": "A100-80GB",
    "nvidia-h100-80gb": "H100",
    "nvidia-h100-mega-80gb": "H100",
    "nvidia-h200-141gb": "H200",
    "nvidia-b200": "B200",
}
"""Types of `guestAccelerators` of a GKE node pool with the catalogue's names of the GPU models."""
