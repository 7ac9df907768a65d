"""Inputs that are taken only where another input of the same block has a certain value.

Sources: Artifact Registry, `CleanupPolicy` ("may only be specified with a Keep action") and `Repository` (one
configuration a format and a mode); Cloud Billing Budget API, `creditTypes` ("must be empty" unless credits are
specified); GKE, `ReservationAffinity` (a key and values target a specific reservation); VPC, `ipv6AccessType` (of a
subnet with a dual stack or of IPv6 alone): discovery documents of google-api-python-client 2.202.0 and what is
generally known in 2026-11. Compute Engine: `specific_reservation` "must be set when reservation_affinity is
SPECIFIC_RESERVATION, and not set otherwise" (terraform-provider-google, `expandReservationAffinity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import follow
from trainyard.recorded.types import (
    GCP_BUDGET,
    GCP_IMAGE_REPOSITORY,
    GCP_MACHINES,
    GCP_SUBNETWORK,
    GCP_WORKBENCH,
    GKE_CLUSTER,
    GKE_NODE_POOL,
)
from trainyard.rehearsal.context import View, expand
from trainyard.rehearsal.refusals.rules import Rules

_SPECIFIC: Final = ("SPECIFIC_RESERVATION",)


@dataclass(frozen=True, slots=True)
class Only:
    """Inputs of a block that are taken beside some values of another input of it."""

    block: str  # as in `expand`; empty for the resource itself
    keys: tuple[str, ...]
    by: str
    values: tuple[str, ...]
    otherwise: str = ""  # what `by` is where nothing is said; empty where that is told elsewhere, or allows anything
    refused: bool = True  # whether that is known to be refused; else it is known to be of no use


_OF_FORMATS: Final = tuple(
    Only("", keys, "format", (name,), refused=False)
    for name, keys in {
        "DOCKER": ("dockerConfig", "remoteRepositoryConfig.dockerRepository"),
        "MAVEN": ("mavenConfig", "remoteRepositoryConfig.mavenRepository"),
        "NPM": ("remoteRepositoryConfig.npmRepository",),
        "PYTHON": ("remoteRepositoryConfig.pythonRepository",),
        "APT": ("remoteRepositoryConfig.aptRepository",),
        "YUM": ("remoteRepositoryConfig.yumRepository",),
    }.items()
)
_ONLY: Final[Mapping[str, tuple[Only, ...]]] = {
    GCP_IMAGE_REPOSITORY: (
        Only("cleanupPolicies[]", ("mostRecentVersions",), "action", ("KEEP",)),
        *_OF_FORMATS,
    ),
    GCP_BUDGET: (
        Only("budgetFilter", ("creditTypes",), "creditTypesTreatment", ("INCLUDE_SPECIFIED_CREDITS",),
             "INCLUDE_ALL_CREDITS"),
    ),
    **dict.fromkeys(
        (GKE_NODE_POOL, GKE_CLUSTER),
        (Only("nodeConfig.reservationAffinity", ("key", "values"), "consumeReservationType", _SPECIFIC,
              refused=False),),
    ),
    **dict.fromkeys(
        GCP_MACHINES,
        (Only("reservationAffinity", ("specificReservation",), "type", _SPECIFIC),),
    ),
    GCP_WORKBENCH: (
        Only("gceSetup.reservationAffinity", ("key", "values"), "consumeReservationType",
             ("RESERVATION_SPECIFIC",), refused=False),
    ),
    GCP_SUBNETWORK: (
        Only("", ("ipv6AccessType",), "stackType", ("IPV4_IPV6", "IPV6_ONLY"), "IPV4_ONLY", refused=False),
    ),
}  # fmt: skip
"""By type: what goes only with what."""


def only_where(view: View) -> None:
    """What is given beside a value that it does not go with."""
    for only in _ONLY[view.type]:
        blocks = expand(view.inputs, only.block) if only.block else (("", view.inputs),)
        for at, block in blocks:
            if isinstance(block, Mapping):
                _given(view, only, at, block)


def _given(view: View, only: Only, at: str, block: Mapping[str, object]) -> None:
    by = block.get(only.by)
    told = only.otherwise if by in (None, "") else by
    if not isinstance(told, str) or not told or told.upper() in only.values:
        return
    for key in only.keys:
        value = follow(block, *key.split("."))
        if value in (None, "", [], {}) or value is UNKNOWN:
            continue
        wanted = " or ".join(only.values)
        note = view.error if only.refused else view.warning
        note("gcp-only-where", f"{at}.{key}".lstrip("."), f"beside {only.by} {told}", allowed=f"nothing, or {wanted}")


RULES: Rules = {only_where: tuple(_ONLY)}
