"""Everything that a judgement of a recording goes by, written as bytes: equal bytes are equal recordings.

Python's own pickle does it in a hundredth of a second, where a walk takes ten times as long. Nothing reads it again:
what is kept of it is a digest, with a key that a process makes for itself and forgets, since secrets are in it.
"""

from __future__ import annotations

import datetime
import enum
import io
import pickle
from array import array
from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN, RecordedResource, Secret
from trainyard.rehearsal.engine.project import StackConfig
from trainyard.rehearsal.engine.recorder import Recording

_PROTOCOL: Final = 5
_OF_A_RESOURCE: Final = attrgetter(
    *(field.name for field in fields(RecordedResource) if field.compare and field.name != "aliases")
)


class NotPlainError(Exception):
    """Something that is neither plain data nor a mark: what a judgement would make of it cannot be told."""


def _mark(kind: str, *_: Any) -> None:
    """Stands for a mark in what is written."""
    raise NotPlainError(f"{kind}: nothing reads this again")


class _Writer(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO) -> None:
        super().__init__(buffer, _PROTOCOL)
        self.secrets: list[Any] = []

    def reducer_override(self, value: Any) -> Any:
        """Asked of whatever is no plain data."""
        if value is UNKNOWN:
            return _mark, ("unknown",)
        if type(value) is Secret:
            self.secrets.append(value.value)
            return _mark, ("secret", value.value)
        if isinstance(value, enum.Enum):
            return _mark, (type(value).__qualname__, value.value)
        if type(value) in (datetime.date, datetime.datetime):
            return _mark, (type(value).__name__, value.isoformat())
        if value is _mark:
            return NotImplemented
        raise NotPlainError(type(value).__name__)


def written(
    config: StackConfig, settings: Mapping[str, Any], plan: Mapping[str, Any], preview: Recording, known: Recording
) -> tuple[bytes, bytes]:
    """Both recordings of a stack with its configuration and plan; and what is secret of that, once more by itself.

    Raises NotPlainError where something is no plain data.
    """
    of_config = (
        *(config.project, config.stack, sorted(config.values.items()), sorted(config.secret_keys)),
        *(sorted(config.placeholders), list(config.unseen), sorted(config.state.items()), sorted(config.shared)),
    )
    buffer, beside = io.BytesIO(), io.BytesIO()
    try:
        writer = _Writer(buffer)
        writer.dump((of_config, settings, plan, _recording(preview), _recording(known)))
        _Writer(beside).dump([*(config.values.get(key) for key in sorted(config.secret_keys)), *writer.secrets])
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise NotPlainError(str(error)) from None
    return buffer.getvalue(), beside.getvalue()


def _recording(told: Recording) -> tuple[Any, ...]:
    urns = [resource.urn for resource in told.resources]
    in_order = array("I", sorted(range(len(urns)), key=urns.__getitem__))  # what goes by URN goes in the same order
    return (
        told.preview,
        [_OF_A_RESOURCE(resource) for resource in told.resources],
        [
            [
                (alias.urn, alias.name, alias.type, alias.stack, alias.project, alias.parent_urn, alias.no_parent)
                for alias in resource.aliases
            ]
            for resource in told.resources
        ],
        in_order.tobytes(),
        told.stack_outputs,
        told.component_outputs,
        told.outputs_registered_twice,
        [(wrong.type, wrong.name, wrong.package, wrong.key) for wrong in told.wrong_providers],
        told.missing_stacks,
        told.transformed,
        [(made.type, made.name, made.component, made.file, made.line) for made in told.constructed],
        told.messages,
    )
