"""Managed training: where people write, and what keeps track of their runs, as a picture shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
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
from trainyard.review.reports.picture.model import EDITORS, UNTOLD, Service
from trainyard.review.reports.picture.told import entries, number, told

DRAWN: Final = (
    *(SAGEMAKER_DOMAIN, SAGEMAKER_USER, MLFLOW_APP, MLFLOW_SERVER),
    *(GCP_EDITOR_TEMPLATE, GCP_WORKBENCH, GCP_TENSORBOARD, GCP_RUN_SERVICE),
)
"""Types that the picture shows, here and below; of services on Cloud Run, the MLflow server's."""

_IDLE: Final = ("defaultUserSettings", "jupyterLabAppSettings", "appLifecycleManagement", "idleSettings")
_TIMEOUT: Final = "idleTimeoutInMinutes"


def services(resources: Resources) -> Iterator[Service]:
    """Editors first, then what keeps track."""
    yield from _editors(resources)
    yield from _tracking(resources)


def _editors(resources: Resources) -> Iterator[Service]:
    for domain in resources.of(SAGEMAKER_DOMAIN):
        people = [
            one for one in resources.of(SAGEMAKER_USER) if domain in resources.referred(one, "domainId", domain.type)
        ]
        stops = _stops([_studio_minutes(domain)])
        facts = ("SageMaker Studio", f"{len(people)} {'person' if len(people) == 1 else 'people'}", stops)
        yield Service(domain.urn, EDITORS, tuple(filter(None, facts)))
    templates = resources.of(GCP_EDITOR_TEMPLATE)
    if templates:
        machines = ", ".join(dict.fromkeys(told(one.inputs, "machineSpec", "machineType") for one in templates))
        facts = ("Colab Enterprise", machines, _stops([_colab_minutes(one) for one in templates]))
        yield Service(templates[0].urn, EDITORS, tuple(filter(None, facts)))
    workbenches = resources.of(GCP_WORKBENCH)
    if workbenches:
        yield Service(workbenches[0].urn, EDITORS, (count(len(workbenches), "Workbench machine"),))


def _studio_minutes(domain: RecordedResource) -> float | None:
    """After how long an editor without work stops; 0: never, None: that is not known."""
    state, minutes = told(domain.inputs, *_IDLE, "lifecycleManagement"), told(domain.inputs, *_IDLE, _TIMEOUT)
    if state not in ("ENABLED", UNTOLD) or not minutes:
        return 0
    return number(domain.inputs, *_IDLE, _TIMEOUT) if state == "ENABLED" else None


def _colab_minutes(template: RecordedResource) -> float | None:
    """As `_studio_minutes`; `0s` is how Colab Enterprise says never."""
    text = told(template.inputs, "idleShutdownConfig", "idleTimeout")
    seconds = text.removesuffix("s") if text else "0"
    return int(seconds) / 60 if seconds.isdecimal() else None


def _stops(minutes: Sequence[float | None]) -> str:
    """When editors of such times stop; empty where that is not known."""
    if 0 in minutes:
        return f"nothing stops {'some of ' if any(minutes) else ''}them"
    known = [each for each in minutes if each is not None]
    return f"stop after {count(max(known), 'minute')} without work" if len(known) == len(minutes) else ""


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
