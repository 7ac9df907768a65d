"""The program of every stack, ours and a client's: settings -> plan -> environment -> outputs."""

from __future__ import annotations

import pulumi

from trainyard.capture import publish
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.stacks.environment.build import build_environment
from trainyard.stacks.environment.configuration import stack_configuration


def main() -> None:
    """Registers the resources of the stack that the engine or a rehearsal runs, and exports its outputs.

    Raises:
        pulumi.RunError: the settings are wrong; it names every mistake. A program that only calls this ends with it.
    """
    try:
        resolved = resolve(stack_configuration(), pulumi.get_stack())
    except SettingsError as error:
        raise pulumi.RunError(f"The settings of stack {pulumi.get_stack()} are wrong:\n{error}") from error
    for warning in resolved.warnings:
        pulumi.warn(warning)
    publish(resolved.settings.model_dump(mode="json", by_alias=True), resolved.plan.as_dict())
    for name, value in build_environment(resolved.plan).items():
        pulumi.export(name, value)
