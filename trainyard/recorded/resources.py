"""The resources of a recording together: by type, by URN, and by what refers to what."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from trainyard.recorded.model import RecordedResource, has_unknown
from trainyard.recorded.read import follow, known_texts, steps

_WILDCARD: Final = re.compile(r"[*?\[]")


@lru_cache(maxsize=32_768)
def matches(type_: str, patterns: tuple[str, ...]) -> bool:
    """Whether a type token is one of the patterns (`kubernetes:kueue.x-k8s.io/*:ClusterQueue`)."""
    tokens, wild = _sorted_out(patterns)
    return type_ in tokens or any(fnmatchcase(type_, pattern) for pattern in wild)


@lru_cache(maxsize=4_096)
def _sorted_out(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Those that are the token of one type, and those that have wildcards."""
    wild = tuple(pattern for pattern in patterns if _WILDCARD.search(pattern))
    return frozenset(patterns).difference(wild), wild


def refers(resource: RecordedResource, key: str, target: RecordedResource) -> bool:
    """Whether a top-level input of `resource` is set, and made of an output of `target`. Holds for unknown values."""
    return resource.inputs.get(key) is not None and target.urn in resource.property_dependencies.get(key, ())


Notes = dict[tuple[int, ...], Any]
"""What a reader has worked out of resources, by their identities: it holds them, so that each stays its own."""


class Resources:
    """Recorded resources, in their order; components and providers are among them.

    `notes` are shared by those that hold the same resources in other selections.
    """

    def __init__(self, resources: Iterable[RecordedResource], notes: Notes | None = None) -> None:
        self.all = tuple(resources)
        self.notes: Notes = {} if notes is None else notes
        self._by_urn = {resource.urn: resource for resource in self.all}
        self._places: dict[str, list[int]] = {}
        for place, resource in enumerate(self.all):
            self._places.setdefault(resource.type, []).append(place)

    def of(self, *types: str) -> list[RecordedResource]:
        """The resources of the given types (tokens or patterns), in their order."""
        if len(types) == 1 and (types[0] in self._places or not _WILDCARD.search(types[0])):
            return [self.all[place] for place in self._places.get(types[0], ())]
        if any(map(_WILDCARD.search, types)):
            wanted = [type_ for type_ in self._places if matches(type_, types)]
        else:
            wanted = [type_ for type_ in dict.fromkeys(types) if type_ in self._places]
        return [self.all[place] for place in sorted(place for type_ in wanted for place in self._places[type_])]

    def provider_of(self, resource: RecordedResource) -> RecordedResource | None:
        """The explicit provider that makes a resource, where it is recorded."""
        return self._by_urn.get(resource.provider_urn)

    def referring(self, target: RecordedResource, key: str, *types: str) -> list[RecordedResource]:
        """The resources of the given types whose input `key` is made of an output of `target`."""
        return [resource for resource in self.of(*types) if refers(resource, key, target)]

    def referred(self, resource: RecordedResource, path: str, type_: str) -> list[RecordedResource]:
        """The resources of a type that an input refers to.

        They are found by their id, else their name or ARN; where the input is not known, or names nothing of the
        recording, they are what its outermost part is made of, unless its text is known and can mean none of these.

        Args:
            resource: what refers.
            path: of the input, or of the part of it that counts: `vpcId`, `subnetIds[0]`, `launchTemplate.id`.
            type_: a token, no pattern.
        """
        way = steps(path)
        value = follow(resource.inputs, *way)
        texts = frozenset() if has_unknown(value) else frozenset(text for _, text in known_texts(value))
        candidates = [self.all[place] for place in self._places.get(type_, ())] if texts else []
        found = [other for other in candidates if other.id in texts]
        found = found or [other for other in candidates if not texts.isdisjoint(_names(other))]
        made_of = (self._by_urn.get(urn) for urn in resource.property_dependencies.get(str(way[0]), ()))
        return found or [
            other for other in made_of if other is not None and other.type == type_ and _may_mean(texts, other)
        ]


def _may_mean(texts: frozenset[str], resource: RecordedResource) -> bool:
    """Whether something in texts is a resource's: its id, its name or what it tells, whole or as a part of either.

    What is not known may be anything. Google Cloud's are referred to by id, name or address, which are outputs: a known
    text in which none of these is names something else, whatever it was made of.
    """
    says_what_it_is = bool(resource.id or resource.outputs)
    if not texts or not says_what_it_is or not resource.type.startswith("gcp:"):
        return True
    told = [resource.id, resource.name, *(text for key, text in resource.outputs.items() if key.endswith(_NAMING))]
    return any(
        len(own) >= _TELLING and (own in text or (len(text) >= _TELLING and text in own))
        for own in told
        if isinstance(own, str)
        for text in texts
    )


_NAMING: Final = (
    "name", "Name", "Link", "id", "Id", "email", "member", "uri", "url", "Uri", "Url", "address", "Address", "Range",
    "CidrBlock",
)  # fmt: skip
"""How outputs end that tell what a resource is called."""
_TELLING: Final = 3
"""Letters of a text at least that tells one thing from another."""


def _names(resource: RecordedResource) -> set[str]:
    places = ((resource.inputs, "name"), (resource.outputs, "name"), (resource.outputs, "arn"))
    return {text for place, key in places for _, text in known_texts(place.get(key))}
