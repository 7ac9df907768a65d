"""What the checks of values see: one resource at a time, and the whole recording beside it.

`View` reads inputs by path (`scalingConfig.minSize`, `taints[0].key`) and collects findings. It never gives out a
secret wrapper, and reads what is unknown as absent: a check that needs to know whether an input is set at all asks
`has`. `Stack` finds resources by type, by id and by reference.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from trainyard.recorded import read
from trainyard.recorded.model import UNKNOWN, Finding, Level, RecordedResource, Secret, bare, has_secret

_STEP = re.compile(r"[^.\[\]]+|\[\d+\]")


@dataclass(frozen=True, slots=True)
class ValueContext:
    """What the values are checked against."""

    kubernetes_version: str  # "1.35"
    region: str  # "us-east-1"; empty where the stack is on no AWS region
    assumed_service_accounts: frozenset[tuple[str, str]] = frozenset()  # (namespace, name) that a chart makes
    assumed_objects: frozenset[tuple[str, str, str]] = frozenset()  # (kind, namespace, name) that a chart makes


@lru_cache(maxsize=4096)
def steps(path: str) -> tuple[str | int, ...]:
    """`a.b[0]` as ("a", "b", 0)."""
    return tuple(int(part[1:-1]) if part.startswith("[") else part for part in _STEP.findall(path))


def follow(value: Any, path: str) -> Any:
    """What lies at `path`: None where it is absent, `UNKNOWN` at and below an unknown."""
    return read.follow(value, *steps(path))


def expand(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Everything known that a path with `[]` for "each entry" stands for, with its own path."""
    head, mark, tail = path.partition("[]")
    found = follow(value, head)
    if found is None or found is UNKNOWN:
        return
    if not mark:
        yield head, found
        return
    for index, item in enumerate(found if isinstance(found, list) else [found]):
        here = f"{head}[{index}]" if isinstance(found, list) else head
        rest = tail.removeprefix(".")
        if not rest:
            if item is not None and item is not UNKNOWN:
                yield here, item
        else:
            yield from ((f"{here}.{below}", known) for below, known in expand(item, rest))


def show(value: Any) -> str:
    """A value as a message quotes it: short, and unknown parts named so."""
    if value is UNKNOWN:
        return "[unknown]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class View:
    """One resource's inputs, and the findings about them."""

    def __init__(self, resource: RecordedResource) -> None:
        self.resource = resource
        self.type = resource.type
        self.name = resource.name
        self.inputs: dict[str, Any] = bare(dict(resource.inputs))
        self.findings: list[Finding] = []
        self._secret = frozenset(_secret_paths(resource.inputs) if has_secret(resource.inputs) else ())

    def value(self, path: str) -> Any:
        """What is at `path`; None where it is absent or unknown."""
        found = follow(self.inputs, path)
        return None if found is UNKNOWN else found

    def has(self, path: str) -> bool:
        """Whether an input is set for sure, be it to something unknown; False below something unknown."""
        above = read.follow(self.inputs, *steps(path)[:-1])
        return above is not UNKNOWN and follow(self.inputs, path) is not None

    def lacks(self, path: str) -> bool:
        """Whether an input is absent for sure; False below something unknown."""
        return follow(self.inputs, path) is None

    def blurred(self, path: str) -> bool:
        """Whether a list or mapping is unknown, or has an entry that is."""
        found = follow(self.inputs, path)
        if isinstance(found, Mapping):
            return UNKNOWN in found.values()
        return found is UNKNOWN or (isinstance(found, list) and UNKNOWN in found)

    def is_unknown(self, path: str) -> bool:
        """Whether an input is set to something that is not known yet."""
        return follow(self.inputs, path) is UNKNOWN

    def text(self, path: str) -> str | None:
        """A known text, or None."""
        found = self.value(path)
        return found if isinstance(found, str) else None

    def number(self, path: str) -> float | None:
        """A known number, or None. The provider reads a number that is written as text, so this does too."""
        return as_number(self.value(path))

    def flag(self, path: str) -> bool | None:
        """A known truth value, or None; the provider takes "true" and "false" as well."""
        found = self.value(path)
        if isinstance(found, bool):
            return found
        return {"true": True, "false": False}.get(found) if isinstance(found, str) else None

    def entries(self, path: str) -> list[Any]:
        """The items of a known list, unknown ones included; empty where there is none."""
        found = self.value(path)
        return found if isinstance(found, list) else []

    def texts(self, path: str) -> list[str]:
        """The known texts of a list."""
        return [item for item in self.entries(path) if isinstance(item, str)]

    def items(self, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The mappings of a list, each with its own path."""
        for index, item in enumerate(self.entries(path)):
            if isinstance(item, Mapping):
                yield f"{path}[{index}]", item

    def mapping(self, path: str) -> Mapping[str, Any]:
        """A known mapping; empty where there is none."""
        found = self.value(path)
        return found if isinstance(found, Mapping) else {}

    def error(self, rule: str, path: str, message: str, *, allowed: str = "", hint: str = "") -> None:
        """Notes that the service refuses this."""
        self._note("error", rule, path, message, allowed, hint)

    def warning(self, rule: str, path: str, message: str, *, allowed: str = "", hint: str = "") -> None:
        """Notes something that is accepted and probably not meant, or that is not known for sure."""
        self._note("warning", rule, path, message, allowed, hint)

    def is_secret(self, path: str) -> bool:
        """Whether the value at `path`, something above it or something below it is secret."""
        return any(
            path == secret
            or path.startswith((secret + ".", secret + "["))
            or secret.startswith((path + ".", path + "["))
            for secret in self._secret
        )

    def _note(self, level: Level, rule: str, path: str, message: str, allowed: str, hint: str) -> None:
        if self.is_secret(path):
            message, hint = "the secret value is refused (not shown)", ""
        self.findings.append(
            Finding.of(self.resource, rule, message, path=path, allowed=allowed, hint=hint, level=level)
        )


def listed(value: Any) -> list[Any]:
    """A known list as it is; empty for anything else."""
    return value if isinstance(value, list) else []


def as_number(value: Any) -> float | None:
    """A number, also one written as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def _secret_paths(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, Secret):
        yield path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secret_paths(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _secret_paths(item, f"{path}[{index}]")


@dataclass(slots=True)
class Stack:
    """All resources of a recording, with look-ups."""

    views: Sequence[View]
    context: ValueContext
    _by_type: dict[str, list[View]] = field(default_factory=lambda: defaultdict(list))
    _by_urn: dict[str, View] = field(default_factory=dict)
    _by_id: dict[tuple[str, str], View] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for view in self.views:
            self._by_type[view.type].append(view)
            self._by_urn[view.resource.urn] = view
            if isinstance(view.resource.id, str):
                self._by_id[view.type, view.resource.id] = view

    @classmethod
    def of(cls, resources: Sequence[RecordedResource], context: ValueContext) -> Stack:
        """The custom resources of a recording; components and providers have no values of their own to check."""
        return cls([View(item) for item in resources if item.custom and not item.is_provider], context)

    def of_type(self, type_: str) -> Sequence[View]:
        """Every resource of a type, in the order of registration."""
        return self._by_type.get(type_, ())

    def referred(self, view: View, path: str, type_: str) -> View | None:
        """The resource of `type_` that an input names.

        Found by the synthesised id or output, or, where that is unknown yet, by the only dependency of that type which
        Pulumi recorded for the input.
        """
        found = view.value(path)
        if isinstance(found, str):
            by_id = self._by_id.get((type_, found))
            if by_id is not None:
                return by_id
            for other in self.of_type(type_):
                if found in (
                    follow(other.inputs, "name"),
                    other.resource.outputs.get("name"),
                    other.resource.outputs.get("arn"),
                ):
                    return other
        first = str(steps(path)[0])
        urns = view.resource.property_dependencies.get(first, ())
        candidates = [self._by_urn[urn] for urn in urns if urn in self._by_urn and self._by_urn[urn].type == type_]
        return candidates[0] if len(candidates) == 1 else None

    @property
    def findings(self) -> list[Finding]:
        """What all checks noted, in the order of the resources."""
        return [finding for view in self.views for finding in view.findings]
