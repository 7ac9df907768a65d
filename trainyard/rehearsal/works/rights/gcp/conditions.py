"""Conditions of IAM grants: expressions in CEL about the resource and the request.

Known of a request are the resource's name, type and service, and what it says of itself by `api.getAttribute`. The time
of a request is not: a grant that ends some day is neither given nor refused (IAM, "Attribute reference for IAM
Conditions", as generally known in 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.rehearsal.works.rights.kubernetes.cel import CannotSay, Fails, evaluate, scope


def holds(expression: str, name: str, type_: str, said: Mapping[str, object]) -> bool | None:
    """Whether a condition lets a request by; None where that cannot be known.

    Args:
        expression: in CEL.
        name: of the resource, in full: `projects/_/buckets/data/objects/a`.
        type_: of the resource: `storage.googleapis.com/Object`.
        said: attributes of the request, by key of `api.getAttribute`.
    """

    def attribute(_api: object, key: str, default: object) -> object:
        return said.get(key, default)

    context = scope(
        {
            "resource": {"name": name, "type": type_, "service": type_.partition("/")[0]},
            "api": {"asked": True},
        }
    )
    context.add_function("getAttribute", attribute)
    context.add_function("extract", _extracted)
    try:
        found = evaluate(expression, context)
    except (CannotSay, Fails):
        return None
    return found if isinstance(found, bool) else None


def _extracted(text: str, template: str) -> str:
    """IAM's own function on texts: what stands where a template has a word in braces."""
    before, _, rest = template.partition("{")
    after = rest.partition("}")[2]
    start = text.find(before)
    if start < 0:
        return ""
    found = text[start + len(before) :]
    if not after:
        return found
    end = found.find(after)
    return found[:end] if end >= 0 else ""
