"""The stack's configuration, as the program reads it."""

from __future__ import annotations

from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret


def stack_configuration() -> dict[str, str]:
    """Every key of every namespace with its text, however it reached the program."""
    return {**get_config_env(), **CONFIG.get()}


def secret_keys(values: dict[str, str]) -> frozenset[str]:
    """Those of the keys that hold something encrypted."""
    return frozenset(key for key in values if is_config_secret(key))
