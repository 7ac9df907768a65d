"""What `pulumi up` runs: settings -> plan -> environment -> outputs."""

import pulumi

from trainyard.capture import publish
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.stacks.environment.build import build_environment
from trainyard.stacks.environment.configuration import stack_configuration

try:
    resolved = resolve(stack_configuration(), pulumi.get_stack())
except SettingsError as error:
    raise pulumi.RunError(f"The settings of stack {pulumi.get_stack()} are wrong:\n{error}") from error

for warning in resolved.warnings:
    pulumi.warn(warning)
publish(resolved.settings.model_dump(mode="json", by_alias=True), resolved.plan.as_dict())
for name, value in build_environment(resolved.plan).items():
    pulumi.export(name, value)
