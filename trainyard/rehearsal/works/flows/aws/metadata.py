"""The instance metadata service: whether a pod gets the role of the node that it runs on.

With tokens required, the answer to the request for one travels as many hops as the launch template says; a pod is one
hop further than its node. Without, no hop limit keeps a pod away, because the first version asks for no token. Where
nothing is said, two hops (EC2 user guide, "Configure the Instance Metadata Service options"; EKS best practices,
"Restrict access to the instance profile", 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.read import number_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.flows.addresses import Addresses
from trainyard.rehearsal.works.flows.model import Flow, Judgement

METADATA: Final = "169.254.169.254"
"""Address of the service on every instance (EC2 user guide, 2026-11)."""

_HOPS_BY_DEFAULT: Final = 2


@dataclass(frozen=True, slots=True)
class InstanceMetadata:
    """The metadata service of all nodes: a wall between a pod and its node's role."""

    open_on: tuple[tuple[str, RecordedResource], ...]  # why, and the node group or launch template
    closed_on: tuple[RecordedResource, ...]

    @classmethod
    def recorded(cls, resources: Resources) -> InstanceMetadata:
        """Reads the options of the recorded node groups. Raises UnknownInput where their options are not known yet."""
        opened, closed = [], []
        for group in resources.of(EKS_NODE_GROUP):
            template = next(iter(resources.referred(group, "launchTemplate", LAUNCH_TEMPLATE)), None)
            options = value_at(template.inputs, "metadataOptions", default={}) if template else {}
            why = _way_in(options)
            if why:
                opened.append((why, template or group))
            elif template:
                closed.append(template)
        return cls(tuple(opened), tuple(closed))

    def judge(self, flow: Flow) -> Judgement | None:
        """Whether a flow of a pod to the metadata service is answered; None for every other flow."""
        if flow.source.pods is None or not flow.to_addresses & Addresses.of(METADATA):
            return None
        if self.open_on:
            why, resource = self.open_on[0]
            return Judgement(flow, f"nodes of {resource.name} answer pods: {why}", (resource,))
        nothing = flow.narrowed(to_addresses=flow.to_addresses - Addresses.of(METADATA))
        return Judgement(nothing, "the answer of the instance metadata ends at the node", self.closed_on)

    def ports(self) -> Iterable[int]:
        """None: it is the address that counts."""
        return ()


def _way_in(options: object) -> str:
    """Why a pod is answered; empty where it is not."""
    if value_at(options, "httpEndpoint") == "disabled":
        return ""
    if value_at(options, "httpTokens") != "required":
        return "no token is required"
    hops = number_at(options, "httpPutResponseHopLimit", default=_HOPS_BY_DEFAULT)
    return f"the hop limit is {hops:g}" if hops > 1 else ""
