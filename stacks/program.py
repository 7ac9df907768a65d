"""The program of every stack, ours and a client's: settings -> plan -> environment -> outputs."""

from __future__ import annotations

from pathlib import Path

import pulumi

from trainyard.capture import publish, rehearsed_file
from trainyard.plan.lock import NOTHING, lock_path, read_lock
from trainyard.plan.resolve import resolve_all
from trainyard.problems import SettingsError
from trainyard.rehearsal.engine.project import shared_keys, stack_folder
from trainyard.stacks.environment.build import build_environment
from trainyard.stacks.environment.configuration import secret_keys, stack_configuration
from trainyard.stacks.environment.encrypted import EncryptedTexts


def _stack_file() -> Path:
    """Where the stack's file lies: in the folder that Pulumi.yaml names, or where a rehearsal found it."""
    return rehearsed_file() or stack_folder(Path(pulumi.get_root_directory())) / f"Pulumi.{pulumi.get_stack()}.yaml"


def main() -> None:
    """Registers the resources of the stack that the engine or a rehearsal runs, and exports its outputs.

    Raises:
        pulumi.RunError: the settings are wrong; it names every mistake. A program that only calls this ends with it.
    """
    values = stack_configuration()
    secret = secret_keys(values)
    try:
        lock = read_lock(lock_path(_stack_file())) or NOTHING
        shared = shared_keys(Path(pulumi.get_root_directory()), _stack_file(), values)
        resolved = resolve_all(values, pulumi.get_stack(), secret, pulumi.get_project(), lock, shared)
    except SettingsError as error:
        raise pulumi.RunError(f"The settings of stack {pulumi.get_stack()} are wrong:\n{error}") from error
    for warning in resolved.warnings:
        pulumi.warn(warning)
    publish(resolved.settings.model_dump(mode="json", by_alias=True), resolved.plan.as_dict())
    encrypted = EncryptedTexts.of(values, secret)
    encrypted.stay_secret()
    for name, value in build_environment(resolved.plan).items():
        pulumi.export(name, encrypted.marked(value))
