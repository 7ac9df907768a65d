"""Marks by which the engine says of a value what JSON cannot: on the wire, and in a stack's state."""

from __future__ import annotations

from typing import Final

UNKNOWN_MARK: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The text that stands for an unknown value on the wire (`pulumi.runtime.rpc.UNKNOWN`)."""

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
"""The key under which a special value says what it is (`pulumi.runtime.rpc._special_sig_key`)."""

SECRET_SIGNATURE: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 (a type mark)

RESOURCE_SIGNATURE: Final = "5cf8f73096256a8f31e491e813e4eb8e"
"""Marks a resource as a value (`pulumi.runtime.rpc._special_resource_sig`)."""
