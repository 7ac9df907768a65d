"""What the Kubernetes components agree on: labels, taints, the user that training runs as, how quantities are written.

Kept in one place because a label that a node group sets and a queue selects must be the same text.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes.core.v1 as core


def whole(count: int) -> str:
    """A whole number as a quantity: 24 -> "24", 2000 -> "2k". As text, and as an API server keeps it, see `gibibytes`.

    Raises ValueError for less than 0.
    """
    if count < 0:
        raise ValueError(f"a quantity is at least 0, got {count}")
    return _with_unit(count, 1000, ("", "k", "M", "G"))


def gibibytes(count: int) -> str:
    """A quantity of gibibytes as an API server keeps it: 1200 -> "1200Gi", 2048 -> "2Ti".

    The server writes a quantity with the largest unit that leaves a whole number; any other spelling would show as a
    change at every preview. Raises ValueError for less than 1.
    """
    if count < 1:
        raise ValueError(f"a capacity is at least 1 GiB, got {count}")
    return _with_unit(count, 1024, ("Gi", "Ti", "Pi"))


def _with_unit(count: int, base: int, units: Sequence[str]) -> str:
    unit = 0
    while count and count % base == 0 and unit < len(units) - 1:
        count //= base
        unit += 1
    return f"{count}{units[unit]}"


def named(resource: pulumi.Resource, name: str) -> pulumi.Output[str]:
    """A fixed name that carries the dependency on the resource that has it.

    Known at the first preview too, where the provider of a cluster that does not exist yet leaves the resource's own
    `metadata` unknown.
    """
    return resource.urn.apply(lambda _: name)


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


def add_on_namespace(
    name: str,
    namespace: str,
    parent: pulumi.Resource,
    *,
    pod_security: str = "restricted",
    depends_on: Sequence[pulumi.Resource] = (),
) -> core.Namespace:
    """The namespace of an add-on, ours so that it outlives the release and is not left behind by it.

    `pod_security` is the level that is enforced (`restricted`, `baseline`, `privileged`).
    """
    return core.Namespace(
        name,
        metadata={"name": namespace, "labels": {"pod-security.kubernetes.io/enforce": pod_security}},
        opts=pulumi.ResourceOptions(parent=parent, depends_on=list(depends_on)),
    )
