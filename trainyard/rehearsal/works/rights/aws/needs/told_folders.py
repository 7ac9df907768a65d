"""Folders of buckets that a config map tells the pods of its namespace, none of which may do anything there.

Source: Amazon EKS User Guide, "EKS Pod Identity" (a pod has the role of its service account), 2026-11.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.controllers import metadata_is_closed, nodes
from trainyard.rehearsal.works.rights.aws.needs.model import refused
from trainyard.rehearsal.works.rights.aws.needs.objects import listing, reading, writing
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.needs.pods import OWN_CREDENTIALS
from trainyard.rehearsal.works.rights.recorded_pods import accounts_of
from trainyard.rehearsal.works.rights.told import HINT, told

_ALONE: Final = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]+)(?P<prefix>/\S*)?")


def check(places: Places, bindings: Bindings) -> None:
    """Notes what is told and is nobody's to use."""
    for one in told(places.stack, _ALONE, OWN_CREDENTIALS):
        bucket = places.place(one.found["bucket"])
        callers = _everybody(places, bindings, one.namespace) if not one.is_served and bucket is not None else ()
        if bucket is None or bucket.read or not callers:
            continue
        prefix = (one.found["prefix"] or "").strip("/")
        name = f"{prefix}/object" if prefix else "object"
        deeds = [
            deed
            for deed in (
                listing(bucket, f"{prefix}/" if prefix else ""),
                *reading(places, bucket, name),
                *writing(places, bucket, name),
            )
            if deed.action.startswith("s3:")
        ]
        found = [refused(places.account, who, deed, from_network=True) for who in callers for deed in deeds]
        if all(verdict is not None for verdict in found):
            words = next(verdict.words for verdict in found if verdict is not None)
            one.view.warning(
                "rights-pod-lacks", one.path,
                f"pods of {one.namespace} are told of {one.found[0]} and may do nothing there: {words}", hint=HINT,
            )  # fmt: skip


def _everybody(places: Places, bindings: Bindings, namespace: str) -> tuple[Caller, ...]:
    """All that pods of a namespace may be; nobody where that is not certain, or none of them has a role."""
    accounts = accounts_of(places.stack, namespace)
    bound = {binding.pod.service_account for binding in bindings.all if binding.pod.namespace == namespace}
    found = [bindings.identity(namespace, name) for name in sorted({*accounts, *bound, "default"})] if accounts else []
    callers = tuple(identity.caller for identity in found if identity.caller is not None)
    if not callers or any(identity.state == "unknown" for identity in found):
        return ()
    return callers if metadata_is_closed(places) else (*callers, *nodes(places))
