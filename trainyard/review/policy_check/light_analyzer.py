"""Properties read once for all policies: the analyser decodes a resource and its provider anew for each of them.

Three steps of `pulumi_policy.policy` are replaced while a pack runs: from a message to a dictionary, from that to
values, and from these to proxies that refuse to be read where a value is unknown. The result is the same object for
the same bytes, which is sound because no policy of ours writes to what it reads. They are of pulumi_policy 1.21, which
pyproject.toml pins: a new version means to read `_PolicyAnalyzerServicer` again; `test_light_analyzer.py` holds both
ways equal.

Measured on the demo stack (393 resources, 48 policies, two cores, 2026-11): a third of the time of the policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pulumi_policy import policy as sdk

_STEPS = ("json_format", "deserialize_properties", "unknown_checking_proxy")


class _Read(dict[str, Any]):
    """The properties of one message, which know what the analyser's next steps make of them."""

    values_of: Any = None


class _Memory:
    """What has been read since the block began, by the bytes that it was read from."""

    def __init__(self) -> None:
        self._json, self._deserialize, self._proxy = (getattr(sdk, name) for name in _STEPS)
        self._read: dict[bytes, _Read] = {}

    def MessageToDict(self, message: Any) -> Any:  # noqa: N802 (stands for the module `json_format`)
        content = message.SerializeToString(deterministic=True)
        found = self._read.get(content)
        if found is None:
            found = self._read[content] = _Read(self._json.MessageToDict(message))
        return found

    def deserialize_properties(self, properties: Any, proxy_secrets: bool = False) -> Any:
        if proxy_secrets or not isinstance(properties, _Read):
            return self._deserialize(properties, proxy_secrets)
        return properties

    def unknown_checking_proxy(self, properties: Any) -> Any:
        if not isinstance(properties, _Read):
            return self._proxy(properties)
        if properties.values_of is None:
            properties.values_of = self._proxy(self._deserialize(properties))
        return properties.values_of


@contextmanager
def properties_read_once() -> Iterator[None]:
    """Spares the analyser within the block what it has done before."""
    memory = _Memory()
    before = {name: getattr(sdk, name) for name in _STEPS}
    lighter = (memory, memory.deserialize_properties, memory.unknown_checking_proxy)
    for name, value in zip(_STEPS, lighter, strict=True):
        setattr(sdk, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(sdk, name, value)
