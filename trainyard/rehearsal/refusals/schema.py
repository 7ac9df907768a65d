"""Checks the inputs of every resource, at any depth, against the provider SDK's own input types.

Mocks and the SDK itself let a misspelt key in a nested dict pass: it reaches the provider in the spelling of the
program and is refused, or ignored, in the cloud. Maps whose keys are the user's own (tags, labels, annotations, Helm
values, the spec of a custom resource) are free.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.alike import Sound, content
from trainyard.recorded.model import UNKNOWN, Finding, RecordedResource, Secret
from trainyard.rehearsal.engine.sdk_types import Fields, FieldType, input_class, input_fields, output_fields

_SOUND: Final = Sound(16_384)
"""Inputs in which nothing was wrong."""
_SOUND_RESOURCES: Final = Sound(16_384)
"""Resources with no such input: half of a stack, which have nothing of its name in them."""
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
_QUANTITY: Final = re.compile(
    r"(^|\.)(requests|limits|hard|capacity|overhead|default|defaultRequest|max|min|maxLimitRequestRatio)\.[^\[\]]+$"
    r"|\.(sizeLimit|divisor|averageValue|target\.value)$"
)
"""Paths of quantities in objects of Kubernetes. An API server reads one that is written as a number too
(`UnmarshalJSON` of `Quantity` in apimachinery, as generally known, 2026-11), and no other number in place of text."""


def check_schema(resources: Iterable[RecordedResource], classes: Mapping[str, type]) -> Iterator[Finding]:
    """Unknown keys, wrong kinds of value, missing nested keys, and option paths that lead nowhere."""
    for resource in resources:
        if not resource.custom or resource.read:
            continue
        cls = classes.get(resource.type)
        args_class = input_class(cls) if cls is not None else None
        if args_class is None or cls is None:
            continue
        check = _Check(resource)
        fields = input_fields(args_class)
        whole = _whole(resource, args_class)
        if whole is not None and whole in _SOUND_RESOURCES:
            yield from _check_paths(resource, fields, cls)
            continue
        sound = True
        for key, value in resource.inputs.items():
            if key in resource.from_check:
                continue
            type_ = fields.types.get(key)
            if type_ is None:
                if check.passes_over(key):
                    continue
                sound = False
                yield check.unknown_key(key, key, fields)
                continue
            digest = _digest(resource, args_class, key, value)
            if digest is not None and digest in _SOUND:
                continue
            found = list(check.value(key, _unpacked(value, type_) if resource.is_provider else value, type_))
            yield from found
            sound = sound and not found
            if digest is not None and not found:
                _SOUND.add(digest)
        if whole is not None and sound:
            _SOUND_RESOURCES.add(whole)
        yield from _check_paths(resource, fields, cls)


def _whole(resource: RecordedResource, args_class: type) -> bytes | None:
    """A digest of all inputs and of all that says what they may be; None where something in them has none."""
    inputs = resource.about_inputs.content
    if inputs is None or not _is_of_an_sdk(args_class):
        return None
    return content(
        resource.type, resource.from_check, resource.is_provider, args_class.__module__, args_class.__qualname__, inputs
    )


def _is_of_an_sdk(args_class: type) -> bool:
    return args_class.__module__.startswith("pulumi_")


def _digest(resource: RecordedResource, args_class: type, key: str, value: Any) -> bytes | None:
    """A digest of an input and of all that says what it may be; None for a scalar, which is checked as quickly, and for
    a class that is no SDK's: two programs may call theirs alike."""
    if type(value) not in (dict, list) or not _is_of_an_sdk(args_class):
        return None
    return content(resource.package, args_class.__module__, args_class.__qualname__, key, value)


def _unpacked(value: Any, type_: FieldType) -> Any:
    """An input of a provider: everything but text travels as JSON text, a secret as a secret text."""
    if isinstance(value, Secret):
        return _unpacked(value.value, type_)
    if isinstance(value, str) and type_.kind not in ("text", "any"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


class _Check:
    """Checks of one resource's values."""

    def __init__(self, resource: RecordedResource) -> None:
        self._resource = resource
        # An API server refuses text for a number; the bridge of the other providers converts it.
        self._strict = resource.package == "kubernetes"

    def _as_declared(self, key: str) -> str:
        """The name that the SDK has for a key: extensions of a schema reach the API server in both spellings, as
        manifests have them (`x-kubernetes-int-or-string`) and as programs do."""
        return key.replace("-", "_") if self._strict and key.startswith("x-kubernetes-") else key

    def passes_over(self, key: str) -> bool:
        """Whether an API server drops a key that the SDK does not have: generators of definitions write their status
        too, which is the server's."""
        return self._strict and key == "status"

    def unknown_key(self, path: str, key: str, fields: Fields) -> Finding:
        """A key that the type does not have, with the nearest one that it has, in the same spelling."""
        hint = near_key(key, fields)
        return Finding.of(
            self._resource,
            "unknown-key",
            "no such key",
            path=path,
            allowed=f"known: {', '.join(sorted(fields.types))}" if len(fields.types) <= 12 else "",
            hint=f"did you mean {hint}?" if hint else "",
        )

    def value(self, path: str, value: Any, type_: FieldType) -> Iterator[Finding]:
        """What is wrong with one value and everything in it."""
        if isinstance(value, Secret):
            yield from self.value(path, value.value, type_)
        elif value is None or value is UNKNOWN or type_.kind == "any":
            return
        elif type_.kind == "list":
            yield from self._list(path, value, type_)
        elif type_.kind in ("map", "object"):
            yield from self._mapping(path, value, type_)
        else:
            yield from self._scalar(path, value, type_)

    def _list(self, path: str, value: Any, type_: FieldType) -> Iterator[Finding]:
        if not isinstance(value, (list, tuple)):
            yield self._wrong(path, value, type_)
        elif type_.item is not None:
            for index, item in enumerate(value):
                yield from self.value(f"{path}[{index}]", item, type_.item)

    def _mapping(self, path: str, value: Any, type_: FieldType) -> Iterator[Finding]:
        if not isinstance(value, Mapping):
            yield self._wrong(path, value, type_)
        elif type_.kind == "map":
            for key, item in value.items():
                yield from self.value(f"{path}.{key}", item, type_.item or FieldType("any"))
        elif type_.cls is not None:
            fields = input_fields(type_.cls)
            misspelt: set[str] = set()
            for key, item in value.items():
                inner = fields.types.get(self._as_declared(key))
                if inner is None:
                    misspelt.add(near_key(key, fields))
                    yield self.unknown_key(f"{path}.{key}", key, fields)
                else:
                    yield from self.value(f"{path}.{key}", item, inner)
            for key in sorted(fields.required):
                if value.get(key) is None and not misspelt & {key, fields.python_names.get(key)}:
                    yield Finding.of(self._resource, "missing-key", f"{key} is required here", path=f"{path}.{key}")

    def _scalar(self, path: str, value: Any, type_: FieldType) -> Iterator[Finding]:
        converted = _fits(value, type_)
        if converted == "converted" and self._strict and type_.kind == "text" and _is_quantity(path, value):
            return
        if converted == "no" or (converted == "converted" and self._strict):
            yield self._wrong(path, value, type_)
        elif converted == "converted":
            yield Finding.of(
                self._resource,
                "converted-type",
                f"{_shown(value)} is converted by the provider",
                path=path,
                allowed=f"should be {type_.describe()}",
                level="warning",
            )

    def _wrong(self, path: str, value: Any, type_: FieldType) -> Finding:
        return Finding.of(
            self._resource,
            "wrong-type",
            f"{_shown(value)} is no {type_.describe().removeprefix('a ').removeprefix('an ')}",
            path=path,
            allowed=f"must be {type_.describe()}",
        )


def _is_quantity(path: str, value: Any) -> bool:
    """Whether a number stands where Kubernetes takes a quantity."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(_QUANTITY.search(path))


def _fits(value: Any, type_: FieldType) -> str:
    """`yes`, `converted` (the providers' bridge would convert it) or `no`."""
    if isinstance(value, (Mapping, list, tuple)):
        return "no"
    if type_.kind == "text":
        return "yes" if isinstance(value, str) else "converted"
    if type_.kind == "boolean":
        if isinstance(value, bool):
            return "yes"
        return "converted" if value in ("true", "false") else "no"
    if isinstance(value, bool):
        return "no"
    if isinstance(value, (int, float)):
        whole = isinstance(value, int) or value.is_integer()
        return "yes" if whole or type_.kind == "number" else "no"
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None or (type_.kind == "integer" and "." in value):
        return "no"
    return "converted"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def near_key(key: str, fields: Fields) -> str:
    """The known key that `key` most likely means, spelt as the program spells (`desired_size` or `desiredSize`).

    Python's spelling of a known key, where it is no such key, is in a dictionary that the SDK hands on as it is: of a
    provider's inputs.
    """
    if (as_sent := next((wire for wire, python in fields.python_names.items() if python == key), key)) != key:
        return as_sent
    names = {name: name for name in fields.types} | {python: python for python in fields.python_names.values()}
    found = difflib.get_close_matches(key, list(names), n=1, cutoff=0.6)
    if not found:
        return ""
    wire = next((wire for wire, python in fields.python_names.items() if found[0] in (wire, python)), found[0])
    return fields.python_names.get(wire, wire) if "_" in key else wire


_STEP = re.compile(r"""\.?(?P<name>[^.\[\]"]+)|\[(?P<index>\d+|\*)\]|\[["'](?P<quoted>[^"']+)["']\]""")


def path_steps(path: str) -> list[str] | None:
    """`a.b[0]["c.d"]` as `["a", "b", "0", "c.d"]`; None for one that is no property path."""
    steps: list[str] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None or (position == 0 and path.startswith(".")):
            return None
        steps.append(match["name"] or match["index"] or match["quoted"])
        position = match.end()
    return steps or None


def _check_paths(resource: RecordedResource, fields: Fields, cls: type) -> Iterator[Finding]:
    outputs = output_fields(cls)
    for option, paths in (
        ("ignore_changes", resource.ignore_changes),
        ("replace_on_changes", resource.replace_on_changes),
    ):
        for path in paths:
            steps = path_steps(path)
            if steps is None:
                yield Finding.of(
                    resource, "option-path", f'{option} holds a malformed path "{path}"', allowed='like "a.b[0]"'
                )
                continue
            if steps[0] in outputs and steps[0] not in fields.types:
                continue  # tagsAll: set by Check, so it can be ignored
            wrong = _first_unknown(steps, fields)
            if wrong is not None:
                yield Finding.of(
                    resource,
                    "option-path",
                    f'{option} names "{path}", but there is no "{wrong[0]}": the option does nothing',
                    path=path,
                    allowed="wire names, like scalingConfig.desiredSize",
                    hint=f"did you mean {wrong[1]}?" if wrong[1] else "",
                )
    for name in resource.additional_secret_outputs:
        if name not in outputs and name not in fields.types:
            yield Finding.of(
                resource,
                "option-path",
                f'additional_secret_outputs names "{name}", which is no output',
                path=name,
                hint=nearest(name, outputs),
            )


def _first_unknown(steps: list[str], fields: Fields) -> tuple[str, str] | None:
    """The first step that leads nowhere, and the nearest that would lead on; None for a good path."""
    current: Fields | None = fields
    type_ = FieldType("any")
    for step in steps:
        if current is not None:
            if step == "*":
                return None
            if step not in current.types:
                wire = {python: name for name, python in current.python_names.items()}
                near = wire.get(step) or near_key(step.replace("_", ""), current)
                return step, near
            type_ = current.types[step]
        elif type_.kind == "list":
            if not (step.isdigit() or step == "*"):
                return step, ""
            type_ = type_.item or FieldType("any")
        elif type_.kind == "map":
            type_ = type_.item or FieldType("any")
        elif type_.kind == "any":
            return None
        else:
            return step, ""
        current = input_fields(type_.cls) if type_.kind == "object" and type_.cls is not None else None
    return None
