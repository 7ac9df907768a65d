"""Imports every module of the package without an extra: what one needs and nobody installs shows here.

What runs in pods, on nodes and in containers imports what their images hold, and is left out.
"""

import importlib
import pkgutil

import trainyard

IN_CONTAINERS = (
    "trainyard.smoke_jobs.ddp.",
    "trainyard.smoke_jobs.drill.",
    "trainyard.components.k8s.mlflow_runtime.",
    "trainyard.components.gcp.managed.tracking_programs.",
)
for found in pkgutil.walk_packages(trainyard.__path__, "trainyard."):
    if not found.name.startswith(IN_CONTAINERS) and not found.name.endswith(".__main__"):
        importlib.import_module(found.name)
