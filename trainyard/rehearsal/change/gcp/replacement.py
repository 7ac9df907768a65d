"""What forces a replacement on Google Cloud by its value, and what goes with its provider.

Read in the source of Terraform's Google provider (2026-08-21): the functions that customise a resource's differences.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.types import GCP_PROVIDER
from trainyard.rehearsal.change.model import Difference

PROVIDER: Final = GCP_PROVIDER

_SUBNETWORK: Final = "gcp:compute/subnetwork:Subnetwork"


def forcing(was: RecordedResource, now: RecordedResource, differences: Sequence[Difference]) -> Iterator[str]:
    """The inputs that force a replacement by what they change from and to: a subnetwork's addresses grow in place."""
    for found in differences:
        if now.type == _SUBNETWORK and found.path == "ipCidrRange" and not _grows(found.before, found.after):
            yield found.path
    if was.type != now.type:
        yield "type"


def moving(differences: Sequence[Difference]) -> Callable[[str], bool]:
    """Whether resources are made anew with the provider: each belongs to the project that it was made in."""
    project = any(found.path == "project" for found in differences)
    return lambda _: project


def _grows(before: Any, after: Any) -> bool:
    try:
        return ipaddress.ip_network(before).subnet_of(ipaddress.ip_network(after))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
