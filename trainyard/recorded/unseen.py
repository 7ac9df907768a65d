"""Components whose objects no run of a program registers: what Helm and Kustomize render, what a provider reads."""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.model import UNKNOWN, RecordedResource

MADE: Final = "resources"
"""The output of such a component that holds what it makes; unknown, where that was not registered."""

_NEVER_SEEN: Final = re.compile(r"kubernetes:(helm\.sh/v\d+:Chart|kustomize(/v2)?:Directory|yaml/v2:ConfigFile)")


def is_never_seen(type_: str) -> bool:
    """Whether a component of this type makes its objects where no recording sees them, whatever its inputs are."""
    return _NEVER_SEEN.fullmatch(type_) is not None


def has_unseen_objects(component: RecordedResource) -> bool:
    """Whether a component may have made objects that are not recorded."""
    return component.outputs.get(MADE) is UNKNOWN or is_never_seen(component.type)
