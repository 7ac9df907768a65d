"""What is encrypted with a key waits for the right on it: Pulumi makes at once whatever waits for nothing.

The right stands in the same program, so that a second `up` finds it and the first one fails: a service's account needs
it when a thing is made (Cloud KMS, "Customer-managed encryption keys", as generally known in 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.gcp.needs import keys
from trainyard.rehearsal.works.rights.gcp.needs.model import Need, answer
from trainyard.rehearsal.works.rights.gcp.project import Project

_BY_TEXT = ("kubernetes:", "gcp:colab/")
"""What uses its key later: disks of a class, machines of a template."""


def check(stack: Stack, project: Project) -> None:
    """Everything that is encrypted with a key of the recording, whose right is there."""
    by_urn = {item.urn: item for item in stack.resources.all}
    if not any(item.dependencies for item in stack.resources.all):
        return  # nobody wrote down what waits for what
    for need in keys.needs(stack):
        if need.view.type.startswith(_BY_TEXT):
            continue
        given = {verdict.urn for deed in need.deeds if (verdict := answer(project, need, deed)).allowed and verdict.urn}
        if not given or len(given) > 1:
            continue
        waits = stack.waits_for(need.view.resource)
        if given.isdisjoint(waits) and not _waits_for_another(stack, need, waits):
            (urn,) = given
            name = by_urn[urn].name
            need.view.error(
                "rights-key-order", need.path,
                f"does not wait for {name}, which lets {need.words} use the key: the first `up` cannot {need.purpose}",
                allowed=f"depends_on {name}",
            )  # fmt: skip


def _waits_for_another(stack: Stack, need: Need, waits: set[str]) -> bool:
    """Whether it waits for some other right on the key or its ring, which may be the one that is meant."""
    return any(
        item.urn in waits
        and item.type.startswith(("gcp:kms/cryptoKeyIAM", "gcp:kms/keyRingIAM"))
        and _is_on(item.inputs, need)
        for item in stack.resources.all
    )


def _is_on(inputs: Mapping[str, object], need: Need) -> bool:
    named = inputs.get("cryptoKeyId") or inputs.get("keyRingId")
    return not isinstance(named, str) or any(deed.resource.startswith(named) for deed in need.deeds)
