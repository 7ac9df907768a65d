"""A control plane of EKS: its versions, its zones, its account; and what goes when it goes.

EKS goes up one minor version at a time and never down; its subnets may change within the zones that it was made in
(EKS user guide, update-cluster and network-reqs; aws/containers-roadmap 170 and 2258; read 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import follow, list_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AWS_PROVIDER, EKS_CLUSTER, SUBNET
from trainyard.rehearsal.change.aws.accounts import named_accounts
from trainyard.rehearsal.change.model import Change, Operation, Step
from trainyard.rehearsal.change.words import verb


def check(change: Change) -> Iterator[Finding]:
    """What a change of control planes and providers would be refused for."""
    for step in change.of_type(EKS_CLUSTER):
        if step.operation is Operation.UPDATE:
            yield from _versions(step)
            yield from _zones(step, change)
        elif step.goes and step.was is not None and not step.was.protect:
            yield Finding.of(
                step.resource,
                "change-replaces-cluster",
                f"would be {verb(step)}: everything that runs on it ends, and what only lives in its API is gone",
                path=step.forced_by[0] if step.forced_by else "",
                hint="take the change back, or make a second cluster beside it and move",
            )
    for step in change.of_type(AWS_PROVIDER):
        yield from _moved(step)


def _versions(step: Step) -> Iterator[Finding]:
    before, after = (_minor(each) for each in (step.was, step.now))
    if before is None or after is None or after in (before, before + 1):
        return
    if after < before:
        message = f"Kubernetes 1.{before} -> 1.{after}: EKS never goes back to an earlier version"
        hint = "a new cluster of the earlier version is the only way back"
    else:
        message = f"Kubernetes 1.{before} -> 1.{after}: EKS goes up one minor version at a time"
        hint = f"first 1.{before + 1}, with its nodes and add-ons; then the next"
    yield Finding.of(step.resource, "change-kubernetes-version", message, path="version", hint=hint)


def _minor(cluster: RecordedResource | None) -> int | None:
    text = value_at(cluster.inputs, "version", unknown=None) if cluster is not None else None
    major, _, minor = str(text).partition(".")
    return int(minor) if major == "1" and minor.isdigit() else None


def _zones(step: Step, change: Change) -> Iterator[Finding]:
    if step.was is None or step.now is None or step.changed("vpcConfig.subnetIds") is None:
        return
    before = _zones_of(step.was, change.before)
    after = _zones_of(step.now, change.after)
    if before and after and before != after:
        yield Finding.of(
            step.resource,
            "change-control-plane-zones",
            f"the control plane would move from {', '.join(sorted(before))} to {', '.join(sorted(after))}:"
            " EKS keeps to the zones that it was made in",
            path="vpcConfig.subnetIds",
            hint="keep a subnet for it in each of the first, whatever zones the nodes have",
        )


def _zones_of(cluster: RecordedResource, resources: Mapping[str, RecordedResource]) -> frozenset[str]:
    """The zones of a control plane's subnets; none where one of them is not known."""
    ids = list_at(cluster.inputs, "vpcConfig", "subnetIds") if _is_known(cluster) else []
    subnets = {each.id: each for each in resources.values() if each.type == SUBNET and isinstance(each.id, str)}
    if ids and all(each in subnets for each in ids):
        found = [value_at(subnets[each].inputs, "availabilityZone", unknown=None) for each in ids]
    else:  # a rehearsal's JSON has no ids: what the input is made of
        together = Resources(resources.values())
        found = [
            value_at(each.inputs, "availabilityZone", unknown=None)
            for each in together.of(SUBNET)
            if each.urn in cluster.property_dependencies.get("vpcConfig", ())
        ]
    return frozenset(found) if all(isinstance(zone, str) for zone in found) else frozenset()


def _is_known(cluster: RecordedResource) -> bool:
    ids = follow(cluster.inputs, "vpcConfig", "subnetIds")
    return isinstance(ids, list) and all(isinstance(each, str) for each in ids)


def _moved(step: Step) -> Iterator[Finding]:
    before, after = (named_accounts(each) if each is not None else frozenset[str]() for each in (step.was, step.now))
    if before and after and before.isdisjoint(after):
        yield Finding.of(
            step.resource,
            "change-other-account",
            f"the stack would go from account {', '.join(sorted(before))} to {', '.join(sorted(after))}:"
            " nothing that its state records is there",
            path="allowedAccountIds",
            hint="another account is another stack: make a stack file of its own",
        )
