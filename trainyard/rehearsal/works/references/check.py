"""The entry: every reference between recorded objects is followed."""

from __future__ import annotations

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.parts import play
from trainyard.rehearsal.works.references import node_ports, taken
from trainyard.rehearsal.works.references.aws import identities as aws
from trainyard.rehearsal.works.references.aws.check import check_aws
from trainyard.rehearsal.works.references.gcp import (
    admitted,
    caches,
    gpudirect,
    handles,
    identities,
    named,
    pod_networks,
    second_interfaces,
    volumes,
)
from trainyard.rehearsal.works.references.kubernetes.check import check_objects


def check(stack: Stack) -> None:
    """Notes what names something that is not there, or not what is meant."""
    cluster = check_objects(stack)
    parts = (
        pod_networks.check, second_interfaces.check, gpudirect.check, volumes.check, handles.check, admitted.check,
        caches.check,
    )  # fmt: skip
    twice = aws.IDENTITIES, identities.IDENTITIES
    clouds = (
        lambda _: named.check(stack),
        lambda _: taken.check(cluster, twice),
        lambda _: node_ports.check(stack, cluster),
        lambda _: check_aws(stack, cluster),
    )
    play((*parts, *clouds), cluster)
