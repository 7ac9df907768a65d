"""What forces the engine to make a resource anew: by its type's card, the program's options, a cloud's rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from trainyard import cards
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.change.aws import replacement as aws
from trainyard.rehearsal.change.gcp import replacement as gcp
from trainyard.rehearsal.change.kubernetes import replacement as kubernetes
from trainyard.rehearsal.change.model import Difference, within, without_indices

Conditional = Callable[[RecordedResource, RecordedResource, Sequence[Difference]], Iterator[str]]
"""Paths that force a replacement by what they change from and to, given the resource as it was and as it will be."""

_CONDITIONAL: Final[Mapping[str, Conditional]] = {"aws": aws.forcing, "gcp": gcp.forcing}
_SPARED: Final = {"kubernetes": kubernetes.spared}
"""Inputs of a card that force nothing as their provider is configured: asked with the resource and its provider."""


def forcing(
    was: RecordedResource,
    now: RecordedResource,
    differences: Sequence[Difference],
    provider: RecordedResource | None,
) -> tuple[str, ...]:
    """The paths of differences that do not change in place, in their order."""
    card = cards.of(now.type)
    spare = _SPARED.get(now.package)
    spared = frozenset(spare(now, provider)) if spare is not None else frozenset()
    wanted = [*(path for path in card.replaced_by or () if path not in spared), *now.replace_on_changes]
    found = [each.path for each in differences if any(_reaches(each.path, path) for path in wanted)]
    also = _CONDITIONAL.get(now.package)
    return tuple(dict.fromkeys((*found, *(also(was, now, differences) if also is not None else ()))))


def is_known(type_: str) -> bool:
    """Whether somebody has said which inputs of a type force a replacement."""
    return cards.of(type_).replaced_by is not None


def goes_along(now: RecordedResource, path: str) -> bool:
    """Whether a resource has to go before what an input of it names goes: where the input forces a replacement.

    The engine asks with the whole outermost part of the input unknown. The Kubernetes provider then finds a field that
    forces a replacement only where it is outermost itself.
    """
    wanted = cards.of(now.type).replaced_by or ()
    if now.package == "kubernetes":
        return path.split(".")[0].split("[")[0] in wanted
    return any(within(without_indices(path), each) for each in wanted)


def goes_first(was: RecordedResource, now: RecordedResource) -> bool:
    """Whether the old one is deleted before the new one is made: on purpose, or since both would have one name."""
    if now.delete_before_replace:
        return True
    if now.package == "kubernetes":
        return kubernetes.keeps_its_name(was, now)
    automatic = cards.of(now.type).automatic_name
    if automatic is None or automatic.input in now.from_check:
        return False
    name = now.inputs.get(automatic.input)
    return isinstance(name, str) and name == was.inputs.get(automatic.input)


def _reaches(path: str, wanted: str) -> bool:
    """Whether a difference at a path changes the input at another: what lies in it, or what it is a part of."""
    plain, of = without_indices(path), without_indices(wanted)
    return within(plain, of) or within(of, plain)


def moving(was: RecordedResource, now: RecordedResource, differences: Sequence[Difference]) -> Callable[[str], bool]:
    """What tells whether resources of a type are made anew with a provider that changes."""
    if now.type == aws.PROVIDER:
        return aws.moving(differences)
    if now.type == gcp.PROVIDER:
        return gcp.moving(differences)
    if now.type == kubernetes.PROVIDER and kubernetes.moves(was, now, differences):
        return lambda _: True
    return lambda _: False
