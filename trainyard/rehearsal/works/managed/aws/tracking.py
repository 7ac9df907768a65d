"""SageMaker's MLflow: versions that are never what they are asked to be."""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.types import MLFLOW_APP, MLFLOW_SERVER
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN

APP: Final = MLFLOW_APP
_TWO_PARTS: Final = re.compile(r"\d+\.\d+")
_THREE_PARTS: Final = re.compile(r"\d+\.\d+\.\d+")
_WINDOW: Final = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun):([01]\d|2[0-3]):[0-5]\d")


def check(stack: Stack) -> None:
    """Looks at every tracking server, and at the domains whose page opens an app."""
    domains = {str(view.resource.id) for view in stack.of_type(DOMAIN)}
    for app in stack.of_type(APP):
        named = app.texts("defaultDomainIdLists")
        if named and domains and not app.blurred("defaultDomainIdLists") and domains.isdisjoint(named):
            message = f"is opened from {', '.join(named)}, and the stack's domain is {', '.join(sorted(domains))}"
            app.error("managed-tracking-domain", "defaultDomainIdLists[0]", message, allowed=", ".join(sorted(domains)))
    for server in stack.of_type(MLFLOW_SERVER):
        version = server.text("mlflowVersion")
        if version is not None and _THREE_PARTS.fullmatch(version):
            short = ".".join(version.split(".")[:2])
            # The provider reads back major and minor alone.
            message = f"{version} is read back as {short}, so every `up` replaces the server, with all its runs"
            server.error("managed-tracking-version", "mlflowVersion", message, allowed=short)
        window = server.text("weeklyMaintenanceWindowStart")
        if window is not None and not _WINDOW.fullmatch(window):
            message = f"{window} is no time of a week"
            server.error("managed-tracking-window", "weeklyMaintenanceWindowStart", message, allowed="like Sun:03:00")
