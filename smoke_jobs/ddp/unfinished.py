"""Collectives that NCCL gave up: told before anybody looks at what they left.

A collective on a GPU is only asked for; where it does not end, NCCL's watchdog takes it off the device once its limit
has passed, the wait for the device returns as if all were well, and the buffer holds whatever had come until then. To
compare that with the answer would accuse the memory or the link of an innocent node. So whoever waits for the device
asks the backends afterwards, and measures how long it has waited, for backends before PyTorch 2.7 do not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.distributed import distributed_c10d

EARLY_S = 1.0
"""A wait that lasts so much less than the limit of a collective still counts: the collective was asked for before it,
and the watchdog looks every tenth of a second."""

_SAID = {
    "TIMEOUT": "a collective timed out: NCCL's watchdog gave it up after its limit of {limit:.0f} s",
    "COMM_ERROR": "a collective did not end: NCCL reports a network error or a remote process exited",
    "REMOTE_ERROR": "a collective did not end: another rank reported an error of its own first (remote process exited)",
}
"""What a backend's error means, in words that `ends.second_hand` knows: who only saw it has not caused it."""


class Unfinished(RuntimeError):  # noqa: N818 - says what is the matter
    """A collective did not end, so its buffer must not be looked at."""


def backends(device: torch.device) -> list[Any]:
    """What carries the collectives of each process group on a device."""
    groups = list(distributed_c10d._world.pg_map)
    return [group._get_backend(device) for group in groups if _carries(group, device)]


def _carries(group: Any, device: torch.device) -> bool:
    return device in group._device_types or torch.device(device.type) in group._device_types


def ended(asked: Sequence[Any], waited_s: float, limit_s: float) -> None:
    """Raises Unfinished where a backend says that a collective failed, or where the wait took as long as one may.

    Args:
        asked: the backends.
        waited_s: how long the device was waited for, in seconds.
        limit_s: of a collective, in seconds.
    """
    for backend in asked:
        error = getattr(getattr(backend, "get_error", lambda: None)(), "name", "SUCCESS")
        if error != "SUCCESS":
            raise Unfinished(_SAID.get(error, f"a collective did not end: NCCL reports {error}").format(limit=limit_s))
    if waited_s >= max(limit_s - EARLY_S, limit_s / 2):
        raise Unfinished(
            f"a collective timed out: the device was waited for for {waited_s:.0f} s, a collective may take "
            f"{limit_s:.0f} s"
        )
