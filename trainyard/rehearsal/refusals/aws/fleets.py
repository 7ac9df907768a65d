"""Groups of machines: what counts on their protection, and how long a machine is held.

Sources: Amazon ECS API reference, `AutoScalingGroupProvider` (managed termination protection needs managed scaling, and
instances that are protected from scaling in); Amazon EC2 Auto Scaling API reference, `PutLifecycleHook` (30 to 7200 s
between heartbeats), 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import AUTOSCALING_GROUP, CAPACITY_PROVIDER, LIFECYCLE_HOOK
from trainyard.rehearsal.context import View
from trainyard.rehearsal.refusals.rules import Rules

_PROVIDER: Final = "autoScalingGroupProvider"
_BEATS: Final = (30, 7200)
"""Seconds that a hook may hold a machine without a heartbeat."""


def protected(view: View) -> None:
    """Who protects machines that run tasks from termination needs machines that may be protected."""
    if view.text(f"{_PROVIDER}.managedTerminationProtection") != "ENABLED":
        return
    scaling = f"{_PROVIDER}.managedScaling"
    if view.lacks(scaling) or view.text(f"{scaling}.status") == "DISABLED":
        view.error(
            "ecs-capacity", f"{_PROVIDER}.managedTerminationProtection", "is ENABLED without managed scaling",
            allowed="managedScaling with status ENABLED",
        )  # fmt: skip
    group = view.referred(f"{_PROVIDER}.autoScalingGroupArn", AUTOSCALING_GROUP)
    if group is None or group.resource.read or group.is_unknown("protectFromScaleIn"):
        return
    if not group.flag("protectFromScaleIn"):
        group.error(
            "ecs-capacity", "protectFromScaleIn",
            f"is not set, and capacity provider {view.name} protects machines with tasks: it is refused",
            allowed="true, or managedTerminationProtection DISABLED",
        )  # fmt: skip


def held(view: View) -> None:
    """How long a hook holds a machine."""
    least, most = _BEATS
    paths = ["heartbeatTimeout"] if view.type == LIFECYCLE_HOOK else []
    paths += [f"{path}.heartbeatTimeout" for path, _ in view.items("initialLifecycleHooks")]
    for path in paths:
        seconds = view.number(path)
        if seconds is not None and not least <= seconds <= most:
            view.error("autoscaling-hook", path, f"got {seconds:g} s", allowed=f"{least} to {most} s, and heartbeats")


RULES: Final[Rules] = {protected: (CAPACITY_PROVIDER,), held: (LIFECYCLE_HOOK, AUTOSCALING_GROUP)}
