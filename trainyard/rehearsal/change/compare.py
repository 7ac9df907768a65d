"""What an engine would make of what is there: each resource by its URN, or by an alias of it; what forces what.

As the engine does it (pulumi/pulumi, pkg/resource/deploy/step_generator.go, read 2026-11): resources in the order in
which the program makes them, each compared with what the state records; what is made anew has outputs that nobody
knows yet, and whatever is made of these differs; what must be deleted before it is replaced takes along what cannot be
without it. Deletions come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from trainyard import cards
from trainyard.recorded.model import UNKNOWN, RecordedResource
from trainyard.recorded.read import follow, steps
from trainyard.rehearsal.change.aliases import Aliases
from trainyard.rehearsal.change.aws.accounts import other_account
from trainyard.rehearsal.change.aws.replacement import other_outputs
from trainyard.rehearsal.change.differences import Comparison, mapped, texts
from trainyard.rehearsal.change.earlier import Earlier
from trainyard.rehearsal.change.model import Change, Difference, Operation, Step
from trainyard.rehearsal.change.replacement import forcing, goes_along, goes_first, is_known, moving

_SHORTEST: Final = 6
"""Characters of a text of an output that is looked for inside other texts: a shorter one stands in many words."""

_COMPARED_FROM_CHECK: Final = ("tagsAll",)
"""What a provider's Check adds and changes with the program; names that it made stay as they are."""


def compare(earlier: Earlier, known: Sequence[RecordedResource], preview: Sequence[RecordedResource]) -> Change:
    """What becomes of what is there.

    Args:
        earlier: what is there.
        known: the program's resources with everything known, in its order.
        preview: the same with nothing known of what is to be made: tells which inputs come out of others.
    """
    return _Engine(earlier, known, preview).run()


class _Engine:
    def __init__(
        self, earlier: Earlier, known: Sequence[RecordedResource], preview: Sequence[RecordedResource]
    ) -> None:
        self._earlier = earlier
        self._before = {each.urn: each for each in earlier.resources}
        self._after = {each.urn: each for each in known}
        self._first = {each.urn: each.inputs for each in preview}
        self._aliases = Aliases(self._before)
        self._steps: dict[str, Step] = {}
        self._taken: set[str] = set()
        self._other: dict[str, frozenset[str]] = {}  # by URN: texts of outputs that will be others
        self._translated: dict[str, tuple[tuple[str, str], ...]] = {}  # by URN: its texts here and where it was
        self._moving: dict[str, Any] = {}  # by the provider's URN
        self._unseen = 0
        self._account = other_account(earlier, known)

    def run(self) -> Change:
        for now in self._after.values():
            was = self._aliases.of(now)
            if was is not None:
                self._taken.add(was.urn)
            if now.custom and not now.read:
                self._steps[now.urn] = self._step(was if was is not None and was.custom else None, now)
        gone = [
            Step(Operation.DELETE, was, None, known=is_known(was.type))
            for was in reversed(self._earlier.resources)
            if was.urn not in self._taken and was.custom and not was.read
        ]
        return Change(
            source=self._earlier.source,
            deployed=self._earlier.deployed,
            steps=(*self._steps.values(), *gone),
            before=self._before,
            after=self._after,
            unseen=self._unseen,
            notes=self._earlier.notes,
        )

    def _step(self, was: RecordedResource | None, now: RecordedResource) -> Step:
        if was is None or was.read:
            return Step(Operation.CREATE, None, now, known=is_known(now.type))
        self._translate(was, now)
        differences = self._differences(was, now)
        provider = self._after.get(now.provider_urn)
        made_with, first = self._made_with(now)
        forced = forcing(was, now, differences, provider)
        if now.is_provider:
            self._moving[now.urn] = moving(was, now, differences)
            forced = ()
        if forced or made_with:
            step = Step(
                Operation.REPLACE,
                was,
                now,
                differences,
                forced_by=forced,
                made_with="" if forced and not first else made_with,
                deleted_first=first or goes_first(was, now),
                known=is_known(now.type),
            )
            self._other[now.urn] = frozenset(_computed(now))
            return step
        moved = other_outputs(now, differences)
        if moved:
            self._other[now.urn] = frozenset(str(now.outputs[key]) for key in moved if key in now.outputs)
        operation = Operation.UPDATE if differences else Operation.SAME
        return Step(operation, was, now, differences, known=is_known(now.type))

    def _differences(self, was: RecordedResource, now: RecordedResource) -> tuple[Difference, ...]:
        card = cards.of(now.type)
        comparison = Comparison(
            unordered=card.unordered,
            ignored=now.ignore_changes,
            settled=[path for path in now.from_check if path in was.from_check and path not in _COMPARED_FROM_CHECK],
            empty_is_absent=now.package != "kubernetes",
        )
        inputs, absent = self._as_it_was(now), _COMPARED_FROM_CHECK if self._earlier.deployed else ()
        recorded = {key: value for key, value in was.inputs.items() if key != "__defaults"}
        wanted = {key: value for key, value in inputs.items() if key not in absent or key in recorded}
        found = list(comparison.of(recorded, wanted))
        if self._earlier.deployed:
            # What comes out of other resources, and could not be told in the state's own words, is not known.
            kept = [each for each in found if not self._comes_from_others(now, each.path)]
            comparison.unseen += [each.path for each in found if each not in kept]
            found = kept
        self._unseen += len(comparison.unseen)
        told = {each.path for each in found}
        moved = (each for each in self._moved(was, now) if each.path not in told)
        return (*found, *sorted(moved, key=lambda each: each.path))

    def _comes_from_others(self, now: RecordedResource, path: str) -> bool:
        first = self._first.get(now.urn)
        return first is None or follow(first, *steps(path)) is UNKNOWN

    def _moved(self, was: RecordedResource, now: RecordedResource) -> Iterator[Difference]:
        """The inputs that are made of outputs which will be others."""
        first = self._first.get(now.urn, {})
        ignored = Comparison(ignored=now.ignore_changes)
        for key, urns in now.property_dependencies.items():
            sources = [(urn, self._other[urn]) for urn in urns if urn in self._other]
            if not sources:
                continue
            for path, text, _ in texts(now.inputs.get(key), key):
                if follow(first, *steps(path)) is not UNKNOWN:
                    continue
                source = next((urn for urn, others in sources if _made_of(text, others)), "")
                if source and not ignored.ignores(path):
                    yield Difference(path, follow(was.inputs, *steps(path)), UNKNOWN, of=source)

    def _made_with(self, now: RecordedResource) -> tuple[str, bool]:
        """What a resource is made anew with, and whether its old one has to go first."""
        provider = now.provider_urn
        moved = self._moving.get(provider)
        if moved is not None and moved(now.type):
            return provider, False
        for key, urns in now.property_dependencies.items():
            for urn in urns:
                step = self._steps.get(urn)
                if step is not None and step.operation is Operation.REPLACE and step.deleted_first:
                    names = frozenset(_names(step.resource))
                    if any(text in names for path, text, _ in texts(now.inputs.get(key), key) if goes_along(now, path)):
                        return urn, True
        return "", False

    def _translate(self, was: RecordedResource, now: RecordedResource) -> None:
        """Notes how the outputs of one resource are called where it was: by its id there, its ARN, its address."""
        if was.id is None or (not self._earlier.deployed and was.urn == now.urn):
            return
        pairs: dict[str, str] = {}
        if isinstance(now.id, str) and isinstance(was.id, str):
            pairs[now.id] = was.id
        given = {text for _, text, _ in texts(now.inputs)}
        for path, text, _ in texts(now.outputs):
            there = follow(was.outputs, *steps(path))
            if isinstance(there, str) and text != there and len(text) >= _SHORTEST:
                pairs.setdefault(text, there)
        self._translated[now.urn] = tuple(
            sorted(
                ((here, there) for here, there in pairs.items() if here not in given or here == now.id),
                key=lambda pair: -len(pair[0]),
            )
        )

    def _as_it_was(self, now: RecordedResource) -> Mapping[str, Any]:
        """The inputs in the words of what is there, where ids, names and addresses are others."""
        found = dict(now.inputs)
        if self._account is not None:
            here, there = self._account
            found = mapped(found, lambda text: text.replace(here, there))
        if not self._translated:
            return found
        for key, urns in now.property_dependencies.items():
            pairs = [pair for urn in urns for pair in self._translated.get(urn, ())]
            if not pairs or key not in found:
                continue

            def told(text: str, pairs: Sequence[tuple[str, str]] = pairs) -> str:
                for here, there in pairs:
                    if here in text:
                        text = there if text == here else text.replace(here, there)
                return text

            found[key] = mapped(found[key], told)
        return found


def _computed(now: RecordedResource) -> Iterator[str]:
    """The texts of a resource that come to be when it is made: its id, and outputs that are no inputs."""
    given = {text for _, text, _ in texts(now.inputs)} - {
        text
        for path in now.from_check
        if path not in _COMPARED_FROM_CHECK
        for _, text, _ in texts(follow(now.inputs, *steps(path)))
    }
    if isinstance(now.id, str):
        yield now.id
    yield from (text for _, text, _ in texts(now.outputs) if text not in given)


def _names(now: RecordedResource) -> Iterator[str]:
    """What others may know a resource by, new or not."""
    if isinstance(now.id, str):
        yield now.id
    for way in (("metadata", "name"), ("name",)):
        name = follow(now.inputs, *way)
        if isinstance(name, str):
            yield name


def _made_of(text: str, others: Iterable[str]) -> bool:
    return any(text == other or (len(other) >= _SHORTEST and other in text) for other in others)
