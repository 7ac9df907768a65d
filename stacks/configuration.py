"""The stack's configuration, as the program and the rehearsal read it."""

from __future__ import annotations

from pulumi.runtime.config import CONFIG, get_config_env

from stacks.resolve import NAMESPACE


def stack_configuration() -> dict[str, str]:
    """Every key of the project's namespace with its text, the misspelt ones too, so that none is ignored in silence."""
    values = {**get_config_env(), **CONFIG.get()}
    prefix = f"{NAMESPACE}:"
    return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}
