"""A network without a way out: what it needs of AWS besides, and where its images and charts have to be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard import catalog
from trainyard.plan.context import Context
from trainyard.plan.registries import repository

PRIVATE_SERVICES: Final = ("ecr.api", "ecr.dkr", "eks", "sns", "ssm", "ssmmessages")
"""Services that are asked through the way out elsewhere: images, the autoscaler's node groups, alerts, and sessions
onto nodes and the bastion (EKS user guide, "Deploy private clusters with limited internet access"; Systems Manager user
guide, "VPC endpoints"; 2026-11). Those that are asked all the time have an endpoint in every network."""

FIGURES: Final = "aps-workspaces"
"""The service that keeps figures and answers for them, where `monitoring.service` is `managed` (Amazon Managed Service
for Prometheus user guide, "Using with interface VPC endpoints", 2026-11)."""

_OWN: Final = re.compile(r"[0-9]{12}\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?")
"""A registry of an account, which ECR's endpoint leads to where it is of the network's region."""

_OUTSIDE: Final = ("docker.io", "gcr.io", "ghcr.io", "nvcr.io", "public.ecr.aws", "quay.io", "registry.k8s.io")
"""Registries that only a way out leads to; another name may be a registry of the network's own."""


def check_no_way_out(context: Context) -> None:
    """Every registry that something is pulled from has a mirror that is reached, and charts have one too."""
    settings, ledger = context.settings, context.ledger
    lacking = sorted({registry for registry in _registries(context) if not _is_reached(registry, context)})
    without = [registry for registry in lacking if registry not in settings.images.mirrors]
    if without:
        allowed = f"must name a mirror of {', '.join(without)}: the network has no way out to them"
        given = ", ".join(settings.images.mirrors) or "nothing"
        ledger.problem("images.mirrors", given, allowed, "a registry of the account in ECR, which has an endpoint")
    for registry, place in settings.images.mirrors.items():
        if not _is_reached(place.partition("/")[0], context):
            allowed = "must be a registry that is reached without a way out: of an account in ECR, in this region"
            ledger.problem(f"images.mirrors.{registry}", place, allowed)
    if settings.charts.mirror is None and settings.api_access.chosen == "private":
        names = ", ".join(sorted(name for name, _ in catalog.pins().charts))
        allowed = f"must be where charts are pulled from inside the network: {names}"
        ledger.problem("charts.mirror", "nothing", allowed, "the API is reached from inside alone, and so are charts")


def _is_reached(registry: str, context: Context) -> bool:
    own = _OWN.fullmatch(registry)
    return own["region"] == context.region if own else registry not in _OUTSIDE


def _registries(context: Context) -> Iterator[str]:
    """Registries of the pinned images, of the charts' and of those that the stack file names."""
    pins = catalog.pins()
    chosen = (context.settings.smoke.image, context.settings.mlflow.image)
    for image in (
        *pins.images_on("aws"),
        *(image for _, chart in pins.charts for _, image in chart.images),
        *(image for image in chosen if image),
    ):
        yield repository(image).partition("/")[0]
