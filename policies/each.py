"""What a rule tells of one resource after another, where something of one of them may not be known yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from trainyard.policies.rules import StackViolation
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import UnknownInput


def of_each(
    resources: Iterable[RecordedResource], judge: Callable[[RecordedResource], Iterable[str]]
) -> Iterator[StackViolation]:
    """What `judge` tells of each resource; one of which something is not known yet hides nothing of the others.

    Raises:
        UnknownInput: the first that `judge` raised, once all is told.
    """
    unknown: UnknownInput | None = None
    for resource in resources:
        try:
            told = list(judge(resource))
        except UnknownInput as found:
            unknown = unknown or found
            continue
        yield from ((resource, one) for one in told)
    if unknown is not None:
        try:
            raise unknown
        finally:
            del unknown  # it holds this frame, which would hold it, and all resources
