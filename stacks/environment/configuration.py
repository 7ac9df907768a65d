"""The stack's configuration, as the program reads it."""

from __future__ import annotations

from pulumi.runtime.config import CONFIG, get_config_env

from trainyard.settings.read import namespace_values


def stack_configuration() -> dict[str, str]:
    """Every key of the project's namespace with its text, however it reached the program."""
    return namespace_values({**get_config_env(), **CONFIG.get()})
