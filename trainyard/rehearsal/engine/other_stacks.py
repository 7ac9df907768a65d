"""References to other stacks whose outputs nobody told: unknown, also when everything else is known.

The SDK takes an unknown output for None unless the run is a preview, and hands that to `apply`.
"""

from __future__ import annotations

from typing import Any, Final

import pulumi
from pulumi.output import _OutputData

_make = pulumi.StackReference.__init__


def _refer(self: pulumi.StackReference, *arguments: Any, **named: Any) -> None:
    """`StackReference.__init__`, after which outputs that came as None, which none of the engine's do, are unknown."""
    _make(self, *arguments, **named)
    self.outputs = pulumi.Output._from_data(_or_unknown(self.outputs))


async def _or_unknown(outputs: pulumi.Output[Any]) -> _OutputData[Any]:
    told = await outputs._data
    return told if told.value is not None else _OutputData(told.resources, None, is_known=False, is_secret=False)


REPLACED: Final[tuple[tuple[Any, str, Any], ...]] = ((pulumi.StackReference, "__init__", _refer),)
