"""What Check and Create answer: at a first preview (`preview=True`), and when everything exists (`preview=False`).

The preview follows the real engine: what the program gave is known, an automatic name and `tagsAll` are known because
Check sets them, everything that the cloud decides is unknown, and nothing at all is known of a resource whose provider
is not configured yet (a Kubernetes provider with the kubeconfig of a cluster to be made).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from trainyard.recorded.model import UNKNOWN, Secret, Unknown, bare, has_secret, has_unknown
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.engine import synthesised
from trainyard.rehearsal.engine.sdk_types import FieldType, OutputField, input_class, input_fields, output_fields
from trainyard.rehearsal.engine.two_views import PLAIN
from trainyard.rehearsal.engine.wire import LOOKED_UP

AUTONAMED = "pulumi.com/autonamed"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one registration: `inputs` are those after Check, `from_check` the paths that Check added."""

    id: str | Unknown
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    from_check: tuple[str, ...] = ()
    checked: Checked | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What Check makes of one resource, and what is synthesised of it whatever the view."""

    given: Mapping[str, Any]
    provider: ProviderState | None
    subject: synthesised.Subject
    identity: str
    special: Mapping[str, Any]
    from_check: tuple[str, ...]

    def serves(self, given: Mapping[str, Any], provider: ProviderState | None) -> bool:
        """Whether Check makes the same of it for these inputs and this provider."""
        mine = self.provider
        if given is not self.given or (mine is None) is not (provider is None):
            return False
        if mine is None or provider is None or mine is provider:
            return True
        return mine.place == provider.place and mine.default_tags == provider.default_tags


@dataclass(slots=True)
class ProviderState:
    """What the engine remembers of one registered provider."""

    package: str
    configured: bool  # False while one of its inputs is unknown
    place: synthesised.Place = field(default_factory=synthesised.Place)
    default_tags: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, package: str, inputs: Mapping[str, Any]) -> ProviderState:
        """Makes the state from a provider's inputs; lists and maps among them arrive as JSON text."""
        plain = {key: _parsed(bare(value)) for key, value in inputs.items()}
        accounts = plain.get("allowedAccountIds")
        account = accounts[0] if isinstance(accounts, list) and accounts and isinstance(accounts[0], str) else None
        tags = plain.get("defaultTags")
        region, project = plain.get("region"), plain.get("project")
        return cls(
            package=package,
            configured=not has_unknown(inputs),
            place=synthesised.Place(
                account=account or synthesised.ACCOUNT,
                region=region if isinstance(region, str) else "us-east-1",
                project=project if isinstance(project, str) and project else synthesised.PROJECT,
            ),
            default_tags=tags.get("tags", {}) if isinstance(tags, Mapping) else {},
        )


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def answer(
    type_: str,
    name: str,
    urn: str,
    inputs: Mapping[str, Any],
    cls: type | None,
    provider: ProviderState | None,
    *,
    preview: bool,
    beside: Checked | None = None,
) -> Answer:
    """What Check and Create answer for one custom resource.

    `beside` is what Check made of it in the other view of the same run.
    """
    if type_.startswith("pulumi:providers:"):
        subject = synthesised.Subject(type_, name, inputs, synthesised.Place())
        return Answer(UNKNOWN if preview else synthesised.identity(subject), inputs, inputs)
    if preview and provider is not None and not provider.configured:
        return Answer(UNKNOWN, inputs, {})
    checked = beside if beside is not None and beside.serves(inputs, provider) else None
    if checked is None:
        place = provider.place if provider is not None else synthesised.Place()
        region = inputs.get("region")
        if isinstance(region, str) and type_.startswith("aws:"):
            place = synthesised.Place(place.account, region)  # of AWS, which has no projects
        after, from_check = check(type_, name, urn, inputs, cls, provider)
        subject = synthesised.Subject(type_, name, after, place)
        identity = synthesised.identity(subject)
        special = synthesised.special(subject, identity)
        checked = Checked(inputs, provider, subject, identity, special, from_check)
    subject = checked.subject
    if preview:
        return Answer(UNKNOWN, subject.inputs, _preview_outputs(checked, cls), checked.from_check, checked)
    return Answer(checked.identity, subject.inputs, _known_outputs(checked, cls), checked.from_check, checked)


def check(
    type_: str, name: str, urn: str, inputs: Mapping[str, Any], cls: type | None, provider: ProviderState | None
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The inputs after the provider's Check, and the paths that it added: automatic names and `tagsAll`."""
    package = type_.split(":", 1)[0]
    if package == "kubernetes":
        return _check_kubernetes(type_, name, urn, inputs)
    if package != "aws" or cls is None:
        return inputs, ()
    added: dict[str, Any] = {}
    args_class = input_class(cls)
    fields = input_fields(args_class).types if args_class is not None else {}
    kind = type_.split("/")[-1].split(":")[0]
    for key in ("name", "nodeGroupName", "bucket"):
        own = key in ("name", f"{kind}Name") or (key == "bucket" and kind == "bucket")
        prefixed = f"{key}Prefix" in inputs
        if own and key in fields and fields[key].kind == "text" and inputs.get(key) is None and not prefixed:
            automatic = f"{name}-{synthesised.digest(urn)[:7]}"
            added[key] = automatic.lower() if key == "bucket" else automatic
    if "tags" in fields and "tagsAll" in output_fields(cls):
        own_tags = inputs.get("tags")
        tags = _tags_all(provider.default_tags if provider else {}, own_tags)
        if tags is not None:
            added["tagsAll"] = tags
    return ({**inputs, **added}, tuple(added)) if added else (inputs, ())


def _tags_all(default: Mapping[str, Any], own: Any) -> Any:
    if isinstance(own, Secret):
        inner = _tags_all(default, own.value)
        return None if inner is None else Secret(inner)
    if own is UNKNOWN:
        return UNKNOWN
    merged = {**default, **(own if isinstance(own, Mapping) else {})}
    return merged or None


_LISTS_AND_PATCHES = re.compile(r"(List|Patch)$")


def _check_kubernetes(
    type_: str, name: str, urn: str, inputs: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    if type_ == HELM_RELEASE:
        if inputs.get("name") is not None:
            return inputs, ()
        return {**inputs, "name": _automatic(name, urn)}, ("name",)
    if _LISTS_AND_PATCHES.search(type_):
        return inputs, ()
    metadata = inputs.get("metadata", {})
    secret = isinstance(metadata, Secret)
    plain = metadata.value if isinstance(metadata, Secret) else metadata
    if not isinstance(plain, Mapping) or plain.get("name") is not None or plain.get("generateName") is not None:
        return inputs, ()
    annotations = plain.get("annotations")
    named: Any = {
        **plain,
        "name": _automatic(name, urn),
        "annotations": {**(annotations if isinstance(annotations, Mapping) else {}), AUTONAMED: "true"},
    }
    return {**inputs, "metadata": Secret(named) if secret else named}, ("metadata.name", "metadata.annotations")


def _automatic(name: str, urn: str) -> str:
    """The name of an object of Kubernetes that its program gives none."""
    return f"{name}-{synthesised.digest(urn)[:8]}"


_MAPPINGS = (dict, Mapping)  # mostly a dict, which is told without asking the abstract class
_BLOCKS = (dict, list, Mapping)


def merged(given: Any, made: Any) -> Any:
    """`made` under `given`: what the program gave stays, at every depth; lists are merged item by item."""
    if given is None:
        return made
    if made is None:
        return given
    if isinstance(given, Secret):
        return Secret(merged(given.value, bare(made)))
    if isinstance(given, _MAPPINGS) and isinstance(made, _MAPPINGS):
        return {**made, **{key: merged(item, made.get(key)) for key, item in given.items()}}
    if isinstance(given, list) and isinstance(made, list) and made:
        return [merged(item, made[min(index, len(made) - 1)]) for index, item in enumerate(given)]
    return given


def _preview_outputs(checked: Checked, cls: type | None) -> Mapping[str, Any]:
    """The inputs, and unknowns for the computed parts of the blocks that were given."""
    subject = checked.subject
    outputs = dict(subject.inputs)
    for key, made in checked.special.items():
        if isinstance(outputs.get(key), _BLOCKS):
            outputs[key] = merged(outputs[key], synthesised.unknown_like(made))
    return _with_unknown_parts(outputs, subject, output_fields(cls) if cls is not None else {})


def shown_at_preview(type_: str, name: str, inputs: Mapping[str, Any], cls: type) -> Mapping[str, Any]:
    """What a preview knows of a resource with these inputs, and `UNKNOWN` for all that its provider will fill in."""
    fields = output_fields(cls)
    computed = dict.fromkeys((key for key, output in fields.items() if output.certain), UNKNOWN)
    subject = synthesised.Subject(type_, name, inputs, synthesised.Place())
    return {**computed, **_with_unknown_parts(dict(inputs), subject, fields)}


def _with_unknown_parts(
    outputs: dict[str, Any], subject: synthesised.Subject, fields: Mapping[str, OutputField]
) -> dict[str, Any]:
    """With unknowns for the computed parts of the blocks that were given."""
    for key, value in outputs.items():
        if type(value) not in PLAIN and key in fields and isinstance(value, _BLOCKS):
            outputs[key] = _completed(value, fields[key].type, subject, key, preview=True)
    return outputs


def _known_outputs(checked: Checked, cls: type | None) -> Mapping[str, Any]:
    """The inputs, the special outputs of the type, and a plausible value for every output that is always there."""
    subject, identity = checked.subject, checked.identity
    outputs = dict(merged(subject.inputs, checked.special))
    if subject.type.startswith("kubernetes:") and isinstance(outputs.get("metadata"), Mapping):
        outputs["metadata"] = {"uid": subject.uuid, **outputs["metadata"]}
    if cls is None:
        return outputs
    for key, output in output_fields(cls).items():
        value = outputs.get(key)
        if value is None:
            if key == "arn" and subject.type.startswith("aws:"):
                outputs[key] = synthesised.arn(subject, identity)
            elif key == "status" and subject.type.startswith("kubernetes:") and not output.certain:
                outputs[key] = UNKNOWN  # filled in by controllers: a balancer's address, how many pods are ready
            elif output.certain:
                # What a map holds that somebody else fills, such as a stack of CloudFormation, no type says.
                theirs = output.type.kind == "map" and not _takes(cls, key)
                made = UNKNOWN if theirs else plausible(key, output.type, subject)
                if made is not None:
                    outputs[key] = made
        elif type(value) not in PLAIN and isinstance(value, _BLOCKS):
            outputs[key] = _completed(value, output.type, subject, key, preview=False)
    return outputs


def _takes(cls: type, key: str) -> bool:
    """Whether a program can give what an output holds: `tagsAll` is made of what it gives."""
    args_class = input_class(cls)
    return key == "tagsAll" or args_class is None or key in input_fields(args_class).types


def _completed(value: Any, type_: FieldType, subject: synthesised.Subject, key: str, *, preview: bool) -> Any:
    """A given block with the fields that the provider always returns; unknown ones at a preview."""
    if type_.kind == "list" and isinstance(value, list) and type_.item is not None:
        return [_completed(item, type_.item, subject, key, preview=preview) for item in value]
    if type_.kind == "text" and isinstance(value, _MAPPINGS):
        return _as_text(value)
    if type_.kind != "object" or type_.cls is None or not isinstance(value, _MAPPINGS):
        return value
    completed = dict(value)
    if not _fills(type_.cls):  # as most objects of Kubernetes, whose blocks say all
        return completed
    for name, nested in output_fields(type_.cls).items():
        present = completed.get(name)
        if present is None:
            if nested.certain:
                completed[name] = UNKNOWN if preview else plausible(name, nested.type, subject)
        elif type(present) not in PLAIN and isinstance(present, _BLOCKS):
            completed[name] = _completed(present, nested.type, subject, name, preview=preview)
    return completed


def _as_text(document: Mapping[str, Any]) -> Any:
    """A document that is given as a map, such as a role's policy, as providers return it."""
    if has_unknown(document):
        return UNKNOWN
    text = json.dumps(bare(document))
    return Secret(text) if has_secret(document) else text


@cache
def _fills(cls: type) -> bool:
    """Whether a block of this class, or one within it, has a field that the provider always returns."""
    seen, left = {cls}, [cls]
    for each in left:  # grows meanwhile
        for nested in output_fields(each).values():
            if nested.certain:
                return True
            inside: FieldType | None = nested.type
            while inside is not None and inside.kind == "list":
                inside = inside.item
            if inside is not None and inside.kind == "object" and inside.cls is not None and inside.cls not in seen:
                seen.add(inside.cls)
                left.append(inside.cls)
    return False


_MAXIMUM_DEPTH = 4
"""Blocks within blocks that are filled in; a list of blocks is no level of its own."""


def plausible(key: str, type_: FieldType, subject: synthesised.Subject, depth: int = 0) -> Any:
    """A value of the right type that looks like what the field's name says. None where the type says nothing."""
    if type_.kind == "text":
        return type_.choices[0] if type_.choices else plausible_text(key, subject)
    if type_.kind == "integer":
        return 443 if key.lower().endswith("port") else 1
    if type_.kind == "number":
        return 1.0
    if type_.kind == "boolean":
        return False
    if type_.kind == "map":
        return {}
    if depth >= _MAXIMUM_DEPTH:
        return None
    if type_.kind == "list":
        one = key.removesuffix("es" if key.endswith("sses") else "s")
        item = plausible(one, type_.item, subject, depth) if type_.item is not None else None
        return [] if item is None else [item]
    if type_.kind == "object" and type_.cls is not None:
        fields = output_fields(type_.cls)
        # Of a block that nobody gave, Google's provider fills in all; elsewhere, where the SDK says so of none.
        some = not subject.type.startswith("gcp:") and any(nested.certain for nested in fields.values())
        made = {
            name: plausible(name, nested.type, subject, depth + 1)
            for name, nested in fields.items()
            if nested.certain or not some
        }
        return {name: value for name, value in made.items() if value is not None}
    return None


_MOMENTS = ("date", "time", "timestamp", "createdat", "modifiedat")
_BY_ENDING: tuple[tuple[str | tuple[str, ...], str], ...] = (
    ("vpcid", "vpc-{h}"),
    ("subnetid", "subnet-{h}"),
    ("securitygroupid", "sg-{h}"),
    ("routetableid", "rtb-{h}"),
    ("networkinterfaceid", "eni-{h}"),
    (("imageid", "amiid"), "ami-{h}"),
    ("availabilityzoneid", "use1-az1"),
    ("availabilityzone", "{region}a"),
    ("region", "{region}"),
    (("accountid", "ownerid", "registryid"), "{account}"),
    ("ipv6cidrblock", ""),  # as of what has no addresses of IPv6; cards have those that have
    (("cidrblock", "cidr"), "10.0.0.0/16"),
    ("vpcendpointid", "vpce-{h}"),
    (("dnsname", "domainname"), "{name}.{h8}.{region}.{dns}"),
    (("hostname", "address"), "{name}.{h8}.internal"),
    (("endpoint", "url"), "https://{name}.{h8}.{region}.{dns}"),
    (("publicip", "natip"), "203.0.113.10"),
    ("ip", "10.0.0.10"),
    ("status", "ACTIVE"),
    ("state", "available"),
    (_MOMENTS, "2026-01-01T00:00:00Z"),
    ("json", "{{}}"),
    ("policy", '{{"Version":"2012-10-17","Statement":[]}}'),
    ("version", "1"),
)


def plausible_text(key: str, subject: synthesised.Subject) -> str:
    """A text for a field of this name: an ARN for `…Arn` and `arnPrefix`, an address for `…Endpoint`."""
    lower = key.lower()
    h = synthesised.digest(subject.type, subject.name, key)
    if lower == "secretarn" and subject.type.startswith("aws:") and subject.module != "secretsmanager":
        return subject.arn("secretsmanager", f"secret:{subject.module}!{subject.name}-{h[:6]}")  # that a service made
    if lower.endswith(("arn", "arnprefix")):
        # What stands for something looked up says so in its ARN too, where nobody knows what that looks like.
        unknown = subject.name.startswith(LOOKED_UP) and not synthesised.is_described(subject.type)
        return synthesised.arn(subject, f"{subject.name}-{h[:8]}" if unknown else h[:17])
    if subject.type.startswith("gcp:"):
        found = synthesised.of_google(key, subject)
        if found is not None:
            return found
    place = subject.place
    dns = place.dns_suffix if subject.type.startswith("aws:") else "internal"
    for ending, form in _BY_ENDING:
        if lower.endswith(ending):
            return form.format(
                h=h[:17], h8=h[:8], name=subject.name, region=place.region, account=place.account, dns=dns
            )
    return f"{subject.name}-{h[:8]}"
