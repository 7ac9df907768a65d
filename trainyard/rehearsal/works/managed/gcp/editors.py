"""Templates of editors: what shuts one down, what it reaches, what it is made of."""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import GCP_EDITOR_TEMPLATE, GCP_NAT, GCP_SUBNETWORK
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.managed.gcp.machines import mistake

TEMPLATE: Final = GCP_EDITOR_TEMPLATE
RUNTIME: Final = "gcp:colab/runtime:Runtime"

SECONDS: Final = (600, 86_400)
"""What an idle timeout takes (pulumi_gcp 10.2.0: 10 minutes to 24 hours); 0 switches it off."""


def check(stack: Stack) -> None:
    """Looks at every template, and at machines that the program makes itself."""
    for template in stack.of_type(TEMPLATE):
        _idle(template)
        _machine(template)
        _reach(template, stack)
    for made in stack.of_type(RUNTIME):
        message = "is a machine of one person: it is paid for from this `up` on, and the next `up` makes it again"
        made.warning("managed-runtime-made", "runtimeUser", message, hint="leave it out: people open theirs")


def _idle(template: View) -> None:
    path = "idleShutdownConfig.idleTimeout"
    text = template.text(path)
    if text is None:
        return  # three hours, by Google's own default
    digits = text.removesuffix("s")
    if not text.endswith("s") or not digits.replace(".", "", 1).isdigit():
        template.error("managed-idle-timeout", path, f"{text!r} is no duration", hint="seconds, such as 3600s")
        return
    seconds = float(digits)
    if seconds == 0:
        message = "nothing shuts the editor down: it is paid for until somebody remembers it"
        template.warning("managed-never-idle", path, message, hint="3600s")
    elif not SECONDS[0] <= seconds <= SECONDS[1]:
        template.error("managed-idle-timeout", path, f"{text} is not within 600s and 86400s")


def _machine(template: View) -> None:
    machine = template.text("machineSpec.machineType")
    if machine is None or (
        not template.lacks("machineSpec.acceleratorType") and template.text("machineSpec.acceleratorType") is None
    ):
        return
    told = mistake(
        machine, template.text("machineSpec.acceleratorType"), template.number("machineSpec.acceleratorCount")
    )
    if told:
        template.error("managed-machine", "machineSpec", told)


def _reach(template: View, stack: Stack) -> None:
    """Without Google's own way to the internet an editor has the subnet's: to Google by private access, out by NAT."""
    path = "networkSpec.enableInternetAccess"
    if template.value(path) is not False:
        return
    named = template.text("networkSpec.subnetwork")
    subnets = [view for view in stack.of_type(GCP_SUBNETWORK) if named and view.resource.id == named]
    for subnet in subnets:
        if subnet.value("privateIpGoogleAccess") is not True:
            message = (
                "an editor without internet reaches Google's APIs by private access alone, and its subnet has none"
            )
            template.error("managed-editor-cut-off", path, message, hint="privateIpGoogleAccess on the subnet")
        elif not any(
            str(named) in str(nat.inputs.get("subnetworks"))
            or nat.text("sourceSubnetworkIpRangesToNat") != "LIST_OF_SUBNETWORKS"
            for nat in stack.of_type(GCP_NAT)
        ):
            message = "an editor without internet and a subnet without NAT: nobody installs a package"
            template.warning("managed-editor-without-way-out", path, message, hint="a NAT for the subnet, or true")
