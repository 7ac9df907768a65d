"""What `pulumi up` runs: settings -> plan -> environment -> outputs."""

import pulumi

from trainyard.capture import publish
from trainyard.plan.resolve import resolve
from trainyard.problems import SettingsError
from trainyard.stacks.environment.build import build_environment
from trainyard.stacks.environment.configuration import stack_configuration

try:
    settings, plan = resolve(stack_configuration(), pulumi.get_stack())
except SettingsError as error:
    raise pulumi.RunError(f"The settings of stack {pulumi.get_stack()} are wrong:\n{error}") from error

publish(settings.model_dump(mode="json", by_alias=True), plan.as_dict())
for name, value in build_environment(plan).items():
    pulumi.export(name, value)
