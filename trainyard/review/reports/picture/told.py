"""Reading for a picture: nothing here raises, what cannot be told is `?`, and what is secret is never read.

`Scene` holds the resources with every secret made unknown, so that no reader behind it can show one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from trainyard.problems import count
from trainyard.recorded.model import UNKNOWN, RecordedResource, Secret, has_secret
from trainyard.recorded.read import UnreadableInput, as_number, list_at, mappings_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.review.reports.picture.model import UNTOLD

P = ParamSpec("P")
T = TypeVar("T")


def without_secrets(resources: Iterable[RecordedResource]) -> Resources:
    """The resources with `UNKNOWN` in place of every secret, in inputs and outputs."""
    return Resources(
        replace(resource, inputs=_hidden(resource.inputs), outputs=_hidden(resource.outputs))
        if has_secret(resource.inputs) or has_secret(resource.outputs)
        else resource
        for resource in resources
    )


def _hidden(value: Any) -> Any:
    if isinstance(value, Secret):
        return UNKNOWN
    if isinstance(value, Mapping):
        return {key: _hidden(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hidden(item) for item in value]
    return value


def told(value: Any, *path: str | int) -> str:
    """What lies at `path` as text: `?` where it is not known or no plain value, empty where there is nothing."""
    found = value_at(value, *path, unknown=UNTOLD)
    if found is None:
        return ""
    if isinstance(found, bool):
        return "yes" if found else "no"
    return f"{found}" if isinstance(found, (str, int, float)) else UNTOLD


def on(value: Any, *path: str | int, default: bool = False) -> bool:
    """Whether the flag at `path` is known to be on; AWS writes some of them as text."""
    return value_at(value, *path, default=default, unknown=default) in (True, "true", "True")


def number(value: Any, *path: str | int) -> float | None:
    """The number at `path`; None where there is none that can be read."""
    return as_number(value_at(value, *path, unknown=None))


def known(otherwise: T, read: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """What `read` gives, or `otherwise` where an input is not known or not of the form that it takes."""
    try:
        return read(*args, **options)
    except UnreadableInput:
        return otherwise


def entries(value: Any, *path: str | int) -> list[Mapping[str, Any]]:
    """The mappings of the list at `path`; none where it cannot be read."""
    return known([], mappings_at, value, *path)


def texts(value: Any, *path: str | int) -> list[str]:
    """The elements of the list at `path` as text; `?` for a list that cannot be read."""
    return [str(item) for item in known([UNTOLD], list_at, value, *path)]


def purpose(resource: RecordedResource) -> str:
    """`checkpoints` of a bucket that component `acme-demo` calls `acme-demo-checkpoints`: the name without the outer
    component's."""
    outer = resource.component.split("/")[0]
    return resource.name.removeprefix(f"{outer}-") if outer else resource.name


def not_drawn(others: Sequence[tuple[str, int]], most: int) -> str:
    """`Not drawn: 188 resources of kubernetes, 30 of iam and 12 of others.`; empty where all is drawn."""
    if not others:
        return ""
    rest = sum(number for _, number in others[most:])
    named = [f"{number} of {name}" for name, number in others[1:most]] + ([f"{rest} of others"] if rest else [])
    first = ", ".join([f"{count(others[0][1], 'resource')} of {others[0][0]}", *named[:-1]])
    return f"Not drawn: {first}{f' and {named[-1]}' if named else ''}."
