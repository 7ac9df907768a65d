"""Managed training: where people write, and what keeps track of their runs, as a picture shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    GCP_EDITOR_TEMPLATE,
    GCP_RUN_SERVICE,
    GCP_TENSORBOARD,
    GCP_WORKBENCH,
    MLFLOW_APP,
    MLFLOW_SERVER,
    SAGEMAKER_DOMAIN,
    SAGEMAKER_USER,
)
from trainyard.review.reports.picture.model import EDITORS, Service
from trainyard.review.reports.picture.told import count, entries, number, told

DRAWN: Final = (
    *(SAGEMAKER_DOMAIN, SAGEMAKER_USER, MLFLOW_APP, MLFLOW_SERVER),
    *(GCP_EDITOR_TEMPLATE, GCP_WORKBENCH, GCP_TENSORBOARD, GCP_RUN_SERVICE),
)
"""Types that the picture shows, here and below; of services on Cloud Run, the MLflow server's."""

_IDLE: Final = ("appLifecycleManagement", "idleSettings", "idleTimeoutInMinutes")


def services(resources: Resources) -> Iterator[Service]:
    """Editors first, then what keeps track."""
    yield from _editors(resources)
    yield from _tracking(resources)


def _editors(resources: Resources) -> Iterator[Service]:
    for domain in resources.of(SAGEMAKER_DOMAIN):
        people = [
            one for one in resources.of(SAGEMAKER_USER) if domain in resources.referred(one, "domainId", domain.type)
        ]
        minutes = number(domain.inputs, "defaultUserSettings", "jupyterLabAppSettings", *_IDLE)
        facts = ("SageMaker Studio", f"{len(people)} {'person' if len(people) == 1 else 'people'}", _stops(minutes))
        yield Service(domain.urn, EDITORS, tuple(filter(None, facts)))
    templates = resources.of(GCP_EDITOR_TEMPLATE)
    if templates:
        seconds = [told(one.inputs, "idleShutdownConfig", "idleTimeout").removesuffix("s") for one in templates]
        longest = max(int(text) / 60 for text in seconds) if all(text.isdigit() for text in seconds) else None
        machines = ", ".join(dict.fromkeys(told(one.inputs, "machineSpec", "machineType") for one in templates))
        yield Service(templates[0].urn, EDITORS, ("Colab Enterprise", machines, _stops(longest)))
    workbenches = resources.of(GCP_WORKBENCH)
    if workbenches:
        yield Service(workbenches[0].urn, EDITORS, (count(len(workbenches), "Workbench machine"),))


def _stops(minutes: float | None) -> str:
    return f"stop after {count(minutes, 'minute')} without work" if minutes else "nothing stops them"


def _tracking(resources: Resources) -> Iterator[Service]:
    for app in resources.of(MLFLOW_APP):
        yield Service(app.urn, "MLflow", ("SageMaker's app, without a server of its own",))
    for server in resources.of(MLFLOW_SERVER):
        size = told(server.inputs, "trackingServerSize")
        yield Service(server.urn, "MLflow", tuple(filter(None, ("managed by SageMaker", size and f"size {size}"))))
    for service in resources.of(GCP_RUN_SERVICE):
        images = [told(one, "image") for one in entries(service.inputs, "template", "containers")]
        if any("mlflow" in image for image in images):
            yield Service(service.urn, "MLflow", ("on Cloud Run",))
    for board in resources.of(GCP_TENSORBOARD):
        yield Service(board.urn, "Experiments and TensorBoard", ("Vertex AI",))
