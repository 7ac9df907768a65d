"""What a component waits for. It knows no cloud and no Kubernetes: every component may ask, and waits for no SDK."""

from collections.abc import Iterable
from typing import Any

import pulumi


def prerequisites(opts: pulumi.ResourceOptions | None) -> list[pulumi.Resource]:
    """What the caller of a component gave as `depends_on`, for the children to wait for.

    The engine does not hand a component's `depends_on` on to its children. Raises TypeError where it is not a resource
    or a sequence of resources that are known when the program runs.
    """
    given: Any = opts.depends_on if opts is not None else None
    if given is None:
        return []
    resources = [given] if isinstance(given, pulumi.Resource) else given
    if not isinstance(resources, Iterable) or isinstance(resources, pulumi.Output):
        raise TypeError(f"depends_on has to be a resource or a sequence of resources, got {type(given).__name__}")
    found = list(resources)
    for resource in found:
        if not isinstance(resource, pulumi.Resource):
            raise TypeError(f"depends_on has to hold resources, got {type(resource).__name__}")
    return found
