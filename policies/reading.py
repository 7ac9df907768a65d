"""Reading what the policy analyser hands over.

Properties come as proxies: mappings and sequences that raise `UnknownValueError` when a value is touched that a preview
cannot know, which turns the whole policy into one advisory. So a policy reads the one field that it needs, through
these helpers. All numbers are floats.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_policy.proxy import UnknownValueError


def at(value: Any, *path: str | int, default: Any = None) -> Any:
    """What lies at `path`, `default` where a part is missing or null. Raises `UnknownValueError` for an unknown."""
    for part in path:
        value = _step(value, part)
        if value is None:
            return default
    return value


def given(value: Any, *path: str | int) -> bool:
    """Whether something is set at `path`, be it known or not. An empty text, list or mapping is nothing."""
    try:
        found = at(value, *path)
    except UnknownValueError:
        return True
    return found is not None and found is not False and not (isinstance(found, (str, Sequence, Mapping)) and not found)


def present(value: Any, key: str) -> bool:
    """Whether there is anything under `key`, known or not, were it empty."""
    try:
        return at(value, key) is not None
    except UnknownValueError:
        return True


def items(value: Any, *path: str | int) -> list[Any]:
    """The elements of the list at `path`; none where there is no list. A single value counts as a list of one."""
    found = at(value, *path)
    if found is None:
        return []
    if isinstance(found, Sequence) and not isinstance(found, str):
        return [found[index] for index in range(len(found))]
    return [found]


def mapping(value: Any, *path: str | int) -> dict[str, Any]:
    """The mapping at `path` as a dict; empty where there is none. Raises `UnknownValueError` for an unknown entry."""
    found = at(value, *path)
    return {key: found[key] for key in found} if isinstance(found, Mapping) else {}


def texts(value: Any, path: str = "", *, skip: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Every known text below `value` with its path; unknowns and the keys of `skip` are passed over."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key in value:
            if key not in skip:
                yield from texts(known(value, key), f"{path}.{key}" if path else str(key), skip=skip)
    elif isinstance(value, Sequence):
        for index in range(len(value)):
            yield from texts(known(value, index), f"{path}[{index}]", skip=skip)


def true(value: Any, *path: str | int) -> bool:
    """Whether the flag at `path` is on; AWS writes some of them as text."""
    return at(value, *path) in (True, "true", "True")


def internet(network: Any) -> bool:
    """Whether a CIDR is the internet or a large part of it: wider than a /8 (IPv4) or a /16 (IPv6).

    Two halves of everything are everything; 10.0.0.0/8 is the widest network that anybody has at home.
    """
    try:
        found = ipaddress.ip_network(str(network), strict=False)
    except ValueError:
        return False
    return found.prefixlen < (8 if found.version == 4 else 16)


def statements(value: Any, *path: str | int) -> list[Mapping[str, Any]]:
    """The statements of an IAM policy document, as JSON text or as a mapping; none where there is no document."""
    document = at(value, *path)
    if isinstance(document, str):
        try:
            document = json.loads(document)
        except json.JSONDecodeError:
            return []
    return [entry for entry in items(document, "Statement") if isinstance(entry, Mapping)]


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value[part] if part in value else None  # noqa: SIM401 (`get` of the proxy is no faster and reads worse)
    if isinstance(value, Sequence) and not isinstance(value, str) and isinstance(part, int):
        return value[part] if part < len(value) else None
    return None


def known(container: Any, key: Any) -> Any:
    """What lies under `key`, None for an unknown."""
    try:
        return container[key]
    except UnknownValueError:
        return None
