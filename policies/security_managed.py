"""Security: editors of managed training, which people reach through the cloud's page and never by an address, and its
tracking server, which has one and asks nobody who they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, resource_rule
from trainyard.policies.stack_settings import setting
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import is_on, value_at
from trainyard.recorded.types import GCP_RUN_SERVICE, GCP_WORKBENCH, SAGEMAKER_NOTEBOOK
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN
from trainyard.rehearsal.works.managed.gcp.editors import TEMPLATE


@resource_rule(
    "public-editor",
    "No editor has a way to the internet that the network does not see, where data is held to a region or it has an "
    "address of its own.",
    types=(DOMAIN, SAGEMAKER_NOTEBOOK, TEMPLATE, GCP_WORKBENCH),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.20"),
    fix="Set managed.privateDomain, or leave it out where residency is set.",
)
def public_editor(resource: RecordedResource, _: Config) -> Iterator[str]:
    """A public domain has no address that anybody could reach: what leaves it is what the network does not see. So it
    is refused under residency alone, and a machine with an address everywhere."""
    inputs = resource.inputs
    if resource.type == GCP_WORKBENCH:
        if not is_on(inputs, "gceSetup", "disablePublicIp"):
            yield "has a public address (gceSetup.disablePublicIp is not on)"
        return
    if resource.type == SAGEMAKER_NOTEBOOK:
        if value_at(inputs, "directInternetAccess", default="Enabled") != "Disabled":  # AWS's default
            yield "goes out by SageMaker's own way (directInternetAccess is not Disabled)"
        return
    residency = setting("residency")
    if residency in ("", "none"):
        return
    if resource.type == DOMAIN:
        # AWS's default is the public one.
        if value_at(inputs, "appNetworkAccessType", default="PublicInternetOnly") != "VpcOnly":
            yield f"residency is {residency}, and editors go out by SageMaker's own way (appNetworkAccessType)"
    elif is_on(inputs, "networkSpec", "enableInternetAccess"):
        yield f"residency is {residency}, and editors go out by a way of Google's (networkSpec.enableInternetAccess)"


_FROM_INSIDE: Final = "INGRESS_TRAFFIC_INTERNAL_ONLY"


@resource_rule(
    "service-without-sign-in",
    "A service of Cloud Run that the internet reaches asks who comes: by IAP, or by IAM's right to call it.",
    types=(GCP_RUN_SERVICE,),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 AC-3", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.5.15"),
    fix="Set iapEnabled, and leave invokerIamDisabled off.",
)
def service_without_sign_in(resource: RecordedResource, _: Config) -> Iterator[str]:
    """IAM's check is on unless it is switched off, and IAP asks before it. Who has the right to call is another
    policy's (`resource-open-to-everybody`). A service that is reached from inside alone has the network for a wall; the
    ingress of a balancer is none, since an external one may stand before the service (Cloud Run, "Restrict network
    ingress")."""
    inputs = resource.inputs
    if value_at(inputs, "ingress", default="INGRESS_TRAFFIC_ALL") == _FROM_INSIDE:
        return
    if is_on(inputs, "invokerIamDisabled") and not is_on(inputs, "iapEnabled"):
        yield "anybody on the internet calls it: invokerIamDisabled is on, and iapEnabled is not"


POLICIES: Final = (public_editor, service_without_sign_in)
"""Those of this module."""
