"""Services of AWS: the roles that resources hand to them, and the places that they deliver to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.catalog.tables import tree
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import follow, value_at
from trainyard.recorded.types import BUCKET, BUCKET_ACL, SNS_TOPIC
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.aws.callers import Caller, service
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need, refused
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import GUARDED, arn_of

_KINDS: Final = {"sns": "arn:aws:sns:", "sqs": "arn:aws:sqs:"}
_FIREHOSE: Final = service("firehose.amazonaws.com").arn
"""It alone says the account as an external id too (Amazon Data Firehose Developer Guide, "Controlling access")."""


@cache
def table(name: str) -> Mapping[str, Any]:
    """A table of needs, by resource type."""
    return tree(files(__package__).joinpath(f"{name}.yaml"))


def needs(places: Places) -> Iterator[Need]:
    """What services need; who is let take a role is noted on the way, since without it nothing else counts."""
    for type_, entries in table("service_roles").items():
        for view in places.stack.of_type(type_):
            for entry in entries:
                yield from _of_role(places, view, entry)
    for type_, entries in table("deliveries").items():
        for view in places.stack.of_type(type_):
            for entry in entries:
                for path, name in places.named(view, entry["at"]):
                    yield from _of_delivery(places, view, entry, path, name)


def words(view: View) -> str:
    """A resource as messages call it: "node group train"."""
    kind = view.type.rpartition(":")[2]
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind).strip()
    return f"{spaced} {view.name}"


def _of_role(places: Places, view: View, entry: Mapping[str, Any]) -> Iterator[Need]:
    for path, name in places.named(view, entry["at"]):
        found = places.role(name)
        if found is None:
            continue
        role, caller = found
        source = places.filled(entry.get("source_arn", ""), view)
        own = places.account.id
        said = {"aws:SourceAccount": own, **({"aws:SourceArn": source} if source else {})}
        asking = [service(text) for text in (places.filled(entry["service"], view) or "").split()]
        if any(one.arn == _FIREHOSE for one in asking):
            said["sts:ExternalId"] = own
        take = Deed("sts:AssumeRole", arn_of(role), said)
        refusals = [refused(places.account, one, take) for one in asking]
        if asking and all(refusals):
            view.error(
                "rights-role-untrusted",
                path,
                f"{' and '.join(one.arn for one in asking)} cannot take role {role.name} for {words(view)}: "
                f"its trust policy does not let it",
                allowed=f"a trust policy that lets {asking[0].arn} do sts:AssumeRole",
            )
            continue
        deeds = tuple(
            Deed(action, resources[0], spellings=tuple(resources[1:]))
            for need in entry.get("needs", ())
            if (resources := _filled_all(places, view, need.get("to", "*")))
            for action in need["actions"]
        )
        if deeds:
            by = f"{words(view)}, with role {role.name},"
            yield Need(view, path, "rights-role-lacks", (caller,), by, entry["purpose"], deeds)


def _filled_all(places: Places, view: View, templates: str | list[str]) -> list[str]:
    found = [places.filled(template, view) for template in ([templates] if isinstance(templates, str) else templates)]
    return [text for text in found if text is not None]


def _of_delivery(places: Places, view: View, entry: Mapping[str, Any], path: str, name: str) -> Iterator[Need]:
    if ("where" in entry and not view.flag(entry["where"])) or ("unless" in entry and view.flag(entry["unless"])):
        return
    place = places.place(name)
    if place is None or place.read:
        yield from _with_a_foreign_key(places, view, entry, name)
        return
    target = arn_of(place)
    if not target or (entry.get("unless_acl") and _has_acl(places, place)):
        return
    if place.type == BUCKET and entry.get("unless_acl") and places.is_kms_encrypted(place):
        view.error(
            "rights-delivery-key",
            path,
            f"S3 delivers access logs only to a bucket with SSE-S3 as its default; {place.name} has a key of KMS",
            allowed="a bucket with AES256",
        )
    who = service(entry["service"])
    context = places.context(entry["with"], view, target=target)
    deeds = tuple(
        Deed(deed["action"], resource, {**context, **places.context(deed.get("with", {}), view, target=target)})
        for deed in entry["does"]
        if target.split(":")[2] == deed.get("kind", target.split(":")[2])
        if (resource := places.filled(deed.get("to", "{target}"), view, target=target)) is not None
    )
    if not deeds:
        return
    if not (entry.get("unless_default") and _by_default(places, place)):
        yield Need(view, path, "rights-delivery", (who,), f"{who.arn} for {words(view)}", entry["purpose"], deeds)
    yield from _with_the_key(places, view, entry, path, place, who, context)


def _with_the_key(
    places: Places,
    view: View,
    entry: Mapping[str, Any],
    path: str,
    place: RecordedResource,
    who: Caller,
    context: Mapping[str, str],
) -> Iterator[Need]:
    own = next((found for _, found in places.named(view, entry["key_at"])), "") if "key_at" in entry else ""
    key = places.key(own) if own else places.key_of(place)
    managed = follow(place.inputs, "kmsMasterKeyId") == "alias/aws/sns"
    if place.type == SNS_TOPIC and managed and entry.get("key"):
        view.error(
            "rights-delivery-key",
            path,
            f"{who.arn} cannot use the key alias/aws/sns that topic {place.name} has: AWS keeps its policy",
            allowed="a key of one's own whose policy lets the service use it",
        )
    if not key:
        return
    at = entry["key_at"] if own else path
    deeds = tuple(
        Deed(deed["action"], key, {**context, **places.context(deed.get("with", {}), view)})
        for deed in entry.get("key", ())
    )
    if deeds:
        by = f"{who.arn} for {words(view)}"
        purpose = f"{entry['purpose']} with the key of {place.name if not own else words(view)}"
        yield Need(view, at, "rights-delivery-key", (who,), by, purpose, deeds)


def _with_a_foreign_key(places: Places, view: View, entry: Mapping[str, Any], name: str) -> Iterator[Need]:
    """The place is somebody else's; the key may be ours."""
    if "key_at" not in entry:
        return
    for at, own in places.named(view, entry["key_at"]):
        key = places.key(own)
        if key:
            who = service(entry["service"])
            context = places.context(entry["with"], view, target=name)
            deeds = tuple(
                Deed(deed["action"], key, {**context, **places.context(deed.get("with", {}), view)})
                for deed in entry.get("key", ())
            )
            yield Need(view, at, "rights-delivery-key", (who,), f"{who.arn} for {words(view)}", entry["purpose"], deeds)


def _has_acl(places: Places, bucket: RecordedResource) -> bool:
    return follow(bucket.inputs, "acl") is not None or any(
        bucket in places.stack.resources.referred(acl, "bucket", BUCKET)
        for acl in places.stack.resources.of(BUCKET_ACL)
    )


def _by_default(places: Places, place: RecordedResource) -> bool:
    """Whether a place has the policy that it is made with, or one that says the same: the owner may use it."""
    type_, key = GUARDED[place.type]
    holders = [place] if follow(place.inputs, "policy") is not None else []
    holders += [
        policy
        for policy in places.stack.resources.of(type_)
        if place in places.stack.resources.referred(policy, key, place.type)
    ]
    texts = [str(value_at(holder.inputs, "policy", unknown="")) for holder in holders]
    return not holders or any("SourceOwner" in text for text in texts)
