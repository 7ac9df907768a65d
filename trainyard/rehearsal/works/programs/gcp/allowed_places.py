"""A policy of an organization by which the stack's own things are in a wrong place.

Source: Organization Policy, "Resource locations", as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.recorded.types import GCP_ORGANISATION_POLICY
from trainyard.rehearsal.context import Stack, View

_AREAS: Final[Mapping[str, tuple[str, ...]]] = {
    "eu": ("europe-",), "europe": ("europe-",), "us": ("us-",), "asia": ("asia-",),
    "northamerica": ("northamerica-", "us-"), "southamerica": ("southamerica-",), "australia": ("australia-",),
    "canada": ("northamerica-northeast1", "northamerica-northeast2"), "india": ("asia-south1", "asia-south2"),
    "japan": ("asia-northeast1", "asia-northeast2"), "africa": ("africa-",),
}  # fmt: skip
"""Groups of locations, with how the regions in them begin: the wider where one has exceptions."""
_MULTI: Final = {"eu": "europe-", "us": "us-", "asia": "asia-"}
_PLACE: Final = re.compile(r"[a-z]+-[a-z]+\d+(-[a-z])?")
"""A region or a zone."""


def check(stack: Stack) -> None:
    """Every policy of locations."""
    for view in stack.of_type(GCP_ORGANISATION_POLICY):
        _locations(view)


def _locations(view: View) -> None:
    """A policy of locations in which the stack itself makes things elsewhere."""
    name = view.text("name") or ""
    if not name.endswith("/gcp.resourceLocations"):
        return
    allowed = [
        text
        for path, _ in view.items("spec.rules")
        for text in view.texts(f"{path}.values.allowedValues")
        if not view.blurred(f"{path}.values.allowedValues")
    ]
    starts = list(_starts(allowed))
    if not allowed or None in starts or any(rule.get("condition") for _, rule in view.items("spec.rules")):
        return
    known = tuple(one for one in starts if one)
    parent = view.text("parent") or ""
    for made in view.stack.views:
        place = (next((text for key in ("location", "region", "zone") if (text := made.text(key))), "")).lower()
        if not made.type.startswith("gcp:") or made.resource.read or not _is_below(made, parent):
            continue
        if place not in _MULTI and not _PLACE.fullmatch(place):
            continue  # a group of regions, or a pair, by a name of the service's own
        low = _MULTI.get(place, place)
        if not low.startswith(known):
            words = f"allows {', '.join(allowed)}, and {made.name} is made in {place}: it is refused"
            view.error("programs-locations", "spec.rules", words, allowed="the places of this stack among them")
            return


def _is_below(made: View, parent: str) -> bool:
    """Whether a policy's parent has a thing in it: all of them for a folder and an organization, and of a project what
    says so, or says nothing where the stack names no other project."""
    kind, _, name = parent.partition("/")
    if kind != "projects":
        return True
    given = [made.text("project"), *(inputs.get("project") for inputs in made.stack.provider_inputs(made.resource))]
    own = next((one for one in given if isinstance(one, str)), None)
    return own == name if own is not None else made.stack.once(_projects) == {name}


def _projects(stack: Stack) -> set[str]:
    """The projects that a stack's things say that they are in."""
    return {project for view in stack.views if view.type.startswith("gcp:") and (project := view.text("project"))}


def _starts(allowed: list[str]) -> Iterator[str | None]:
    """How the places that a policy allows begin; None for a group that is not known."""
    for text in allowed:
        group, _, kind = text.removeprefix("in:").rpartition("-")
        if not text.startswith("in:"):
            yield text.removeprefix("is:").lower()
        elif kind != "locations":
            yield None
        elif group in _AREAS:
            yield from _AREAS[group]
        else:
            yield group if re.fullmatch(r"[a-z]+-[a-z]+\d", group) else None
