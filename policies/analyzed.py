"""What Pulumi's policy analyser hands over, as recorded resources: so that one reader serves every policy.

The analyser's properties are proxies that raise `UnknownValueError` where a preview cannot know a value. Here they
become plain values with `UNKNOWN` in these places, and whole numbers become `int`, as in a recording.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from pulumi_policy import (
    PolicyProviderResource,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    StackValidationArgs,
)
from pulumi_policy.proxy import UnknownValueError

from trainyard.policies.outcomes import Excepted, Inapplicable, Outcome, Undecidable, Violated
from trainyard.recorded.model import UNKNOWN, RecordedResource, has_unknown
from trainyard.recorded.read import follow
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AWS_PROVIDER, EXISTING_NETWORK, SUBNET, VPC

_SCALARS = frozenset((str, bool, int, type(None)))
"""Asked for first: is it a `Mapping` takes long, and a check looks at tens of thousands of values."""

retained_urns: ContextVar[frozenset[str] | None] = ContextVar("retained_urns", default=None)
"""What a destroy leaves in the cloud (`retain_on_delete`), set by a caller that knows; an engine tells no policy."""


def recorded_resource(analyzed: PolicyResource | ResourceValidationArgs) -> RecordedResource:
    """One resource. A policy on one resource is not told what its properties are made of."""
    made_of = analyzed.property_dependencies if isinstance(analyzed, PolicyResource) else {}
    return RecordedResource(
        urn=analyzed.urn,
        type=analyzed.resource_type,
        name=analyzed.name,
        parent=analyzed.opts.parent or "",
        component="",
        custom=True,
        provider=f"{analyzed.provider.urn}::" if analyzed.provider else "",
        inputs=with_all_tags(_plain(analyzed.props), _provider_tags(analyzed.provider)),
        property_dependencies={key: tuple(found.urn for found in of) for key, of in made_of.items()},
        protect=analyzed.opts.protect,
        ignore_changes=tuple(analyzed.opts.ignore_changes or ()),
        read=is_looked_up(analyzed.urn, analyzed.resource_type),
    )


def is_looked_up(urn: str, type_: str) -> bool:
    """Whether a resource is somebody else's, which the program only looks up: no engine tells a policy so."""
    return EXISTING_NETWORK in urn and type_ in (VPC, SUBNET)


def recorded_resources(analyzed: Iterable[PolicyResource]) -> Resources:
    """Resources of a stack together, with their explicit providers."""
    analyzed = list(analyzed)
    providers = {found.provider.urn: found.provider for found in analyzed if found.provider}
    return Resources([*map(_recorded_provider, providers.values()), *map(recorded_resource, analyzed)])


def shows_nothing(analyzed: PolicyResource | ResourceValidationArgs) -> bool:
    """Whether an engine shows nothing of a resource, because its provider cannot be configured yet.

    A Kubernetes object has properties always, if only its kind: one without any is such a resource.
    """
    if analyzed.props:
        return False
    provider = analyzed.provider
    return analyzed.resource_type.startswith("kubernetes:") or (
        provider is not None and has_unknown(_plain(provider.props))
    )


def _recorded_provider(provider: PolicyProviderResource) -> RecordedResource:
    return RecordedResource(
        urn=provider.urn,
        type=provider.resource_type,
        name=provider.name,
        parent="",
        component="",
        custom=True,
        provider="",
        inputs=_plain(provider.props),
    )


def _provider_tags(provider: PolicyProviderResource | None) -> Any:
    """What AWS's provider is given as its default tags; None for another provider, or where it is not shown."""
    if provider is None or provider.resource_type != AWS_PROVIDER:
        return None
    return _plain(provider.props).get("defaultTags") or {}


def with_all_tags(inputs: dict[str, Any], default_tags: Any) -> dict[str, Any]:
    """The inputs with `tagsAll` as AWS's provider writes it in its Check; where nothing has called that, it is not
    there yet. `default_tags`: the provider's; None where it is not AWS's, or not shown."""
    if "tagsAll" in inputs or default_tags is None:
        return inputs
    defaults = _parsed(default_tags) if isinstance(default_tags, str) else default_tags
    common, own = follow(defaults, "tags"), inputs.get("tags")
    known = all(tags is None or isinstance(tags, Mapping) for tags in (common, own))
    return {**inputs, "tagsAll": {**(common or {}), **(own or {})} if known else UNKNOWN}


@lru_cache(maxsize=64)
def _parsed(default_tags: str) -> Any:
    """A provider's, which are read for each of its resources."""
    return json.loads(default_tags)


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is float:
        return int(value) if value.is_integer() else value
    if kind in _SCALARS:
        return value
    keys = value if isinstance(value, Mapping) else range(len(value)) if isinstance(value, Sequence) else None
    if keys is None:
        return value
    found = {}
    for key in keys:
        try:
            item = value[key]
        except UnknownValueError:
            item = UNKNOWN
        found[key] = _plain(item)
    return found if isinstance(value, Mapping) else list(found.values())


def answer(
    said: Iterable[Outcome], args: ResourceValidationArgs | StackValidationArgs, report_violation: ReportViolation
) -> None:
    """Tells the analyser what a policy says, in its own way: it makes an advisory of what is not decided yet."""
    for outcome in said:
        match outcome:
            case Violated():
                report_violation(outcome.message, outcome.urn or None)
            case Undecidable():
                raise outcome.as_error()
            case Inapplicable():
                args.not_applicable(outcome.reason)
            case Excepted():
                pass
