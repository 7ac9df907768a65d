"""What the checks of values see: one resource at a time, and the whole recording beside it.

`View` reads inputs by path (`scalingConfig.minSize`, `taints[0].key`) and collects findings. It never gives out a
secret wrapper, and reads what is unknown as absent: a check that needs to know whether an input is set at all asks
`has`. `Stack` finds resources by type and by reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from trainyard.recorded.alike import Sound, content
from trainyard.recorded.exclusive import written_out
from trainyard.recorded.kinds import without_wrong_kinds
from trainyard.recorded.model import UNKNOWN, Finding, Level, RecordedResource, Secret
from trainyard.recorded.read import as_number, follow, known_texts, steps, value_at
from trainyard.recorded.resources import Resources

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class ValueContext:
    """What the values are checked against."""

    kubernetes_version: str  # "1.35"
    region: str  # "us-east-1"; empty where the stack is on no AWS region
    version_is_assumed: bool = False  # nothing of the stack says which the cluster has
    ours: bool = False  # the program publishes a plan: it is Trainyard's, whose charts and add-ons are all pinned
    chart_mirror: str | None = None  # where its charts are pulled from, if not where each is published
    private_services: str = ""  # range that the plan has of private services access in a host's network; empty: none
    assumed_service_accounts: frozenset[tuple[str, str]] = frozenset()  # (namespace, name) that a chart makes
    assumed_objects: frozenset[tuple[str, str, str]] = frozenset()  # (kind, namespace, name) that a chart makes


@dataclass(frozen=True, slots=True)
class Case:
    """What the rules judge: plain data, which another process can be sent."""

    resources: Sequence[RecordedResource]  # of one run, each URN once
    context: ValueContext


@dataclass(frozen=True, slots=True)
class Refused:
    """What is refused of a case before the rules look at it."""

    engine: Sequence[Finding]
    schema: Sequence[Finding]  # by the SDK's types


def expand(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Everything known that a path with `[]` for "each entry" stands for, with its own path."""
    head, mark, tail = path.partition("[]")
    found = follow(value, *steps(head))
    if found is None or found is UNKNOWN:
        return
    if not mark:
        yield head, found
        return
    for index, item in enumerate(found if isinstance(found, list) else [found]):
        here = f"{head}[{index}]" if isinstance(found, list) else head
        rest = tail.removeprefix(".")
        if not rest:
            if item is not None and item is not UNKNOWN:
                yield here, item
        else:
            yield from ((f"{here}.{below}", known) for below, known in expand(item, rest))


def show(value: Any) -> str:
    """A value as a message quotes it: short, and unknown parts named so."""
    if value is UNKNOWN:
        return "[unknown]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class View:
    """One resource's inputs, the findings about them, and the recording that it is part of."""

    def __init__(self, resource: RecordedResource, stack: Stack) -> None:
        self.resource = resource
        self.stack = stack
        self.type = resource.type
        self.name = resource.name
        self.inputs = resource.bare_inputs
        self.findings: list[Finding] = []
        self._secret = frozenset(_secret_paths(resource.inputs) if resource.has_secrets else ())
        self._values = resource.about_inputs.read

    def _at(self, path: str) -> Any:
        return follow(self.inputs, *steps(path))

    def value(self, path: str) -> Any:
        """What is at `path`; None where it is absent or unknown."""
        found = self._values.get(path, self)
        if found is self:  # nobody asked yet
            found = self._values[path] = value_at(self.inputs, *steps(path), unknown=None)
        return found

    def has(self, path: str) -> bool:
        """Whether an input is set for sure, be it to something unknown; False below something unknown."""
        return self._at(path) is not None and follow(self.inputs, *steps(path)[:-1]) is not UNKNOWN

    def lacks(self, path: str) -> bool:
        """Whether an input is absent for sure; False below something unknown."""
        return self._at(path) is None

    def blurred(self, path: str) -> bool:
        """Whether a list or mapping is unknown, or has an entry that is."""
        found = self._at(path)
        if isinstance(found, Mapping):
            return UNKNOWN in found.values()
        return found is UNKNOWN or (isinstance(found, list) and UNKNOWN in found)

    def is_unknown(self, path: str) -> bool:
        """Whether an input is set to something that is not known yet."""
        return self._at(path) is UNKNOWN

    def text(self, path: str) -> str | None:
        """The text at `path` where it is known, else None."""
        found = self.value(path)
        return found if isinstance(found, str) else None

    def number(self, path: str) -> float | None:
        """A known number, or None. The provider reads a number that is written as text, so this does too."""
        return as_number(self.value(path))

    def flag(self, path: str) -> bool | None:
        """A known truth value, or None; the provider takes "true" and "false" as well."""
        found = self.value(path)
        if isinstance(found, bool):
            return found
        return {"true": True, "false": False}.get(found) if isinstance(found, str) else None

    def entries(self, path: str) -> list[Any]:
        """The items of a known list, unknown ones included; empty where there is none."""
        return listed(self.value(path))

    def texts(self, path: str) -> list[str]:
        """The texts of the list at `path`, as far as they are known."""
        return [item for item in self.entries(path) if isinstance(item, str)]

    def items(self, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The mappings of a list, each with its own path."""
        for index, item in enumerate(self.entries(path)):
            if type(item) is dict or isinstance(item, Mapping):
                yield f"{path}[{index}]", item

    def mapping(self, path: str) -> Mapping[str, Any]:
        """A known mapping; empty where there is none."""
        found = self.value(path)
        return found if type(found) is dict or isinstance(found, Mapping) else {}

    @property
    def known_texts(self) -> Sequence[tuple[str, str]]:
        """Every known text of the inputs, with its path: several rules look at all of them."""
        about = self.resource.about_inputs
        if about.texts is None:
            about.texts = tuple(known_texts(self.inputs))
        return about.texts

    @cached_property
    def region(self) -> str:
        """The region of AWS that it is made in: its own, its provider's, else the stack's; empty where unknown."""
        for given in (self.inputs, *self.stack.provider_inputs(self.resource)):
            if given.get("region") is not None:
                return region if isinstance(region := given["region"], str) else ""
        return self.stack.context.region

    def referred(self, path: str, type_: str) -> View | None:
        """The one resource of `type_` that an input refers to; None where that is not certain."""
        return self.stack.referred(self.resource, path, type_)

    @cached_property
    def content(self) -> bytes | None:
        """A digest of the inputs; None where something in them is unknown or secret."""
        return None if self._secret else self.resource.about_inputs.content

    @property
    def is_patch(self) -> bool:
        """Whether it is a part of an object of Kubernetes that is there."""
        return self.type.startswith("kubernetes:") and self.type.endswith("Patch")

    def content_of(self, name: str) -> bytes | None:
        """A digest of one input; None where something in it is unknown, or anything in the resource is secret."""
        return None if self._secret else content(self.inputs.get(name))

    def unless_sound(self, sound: Sound, check: Callable[[], None], *also: Any) -> None:
        """Does a check that only notes, unless it once found nothing wrong with equal inputs.

        `also`: plain values beside the inputs that it goes by. What is found wrong is looked at each time.
        """
        key = content(self.content, *also) if self.content is not None else None
        if key is not None and key in sound:
            return
        noted = len(self.findings)
        check()
        if key is not None and len(self.findings) == noted:
            sound.add(key)

    def error(self, rule: str, path: str, message: str, *, allowed: str = "", hint: str = "") -> None:
        """Notes that the service refuses this."""
        self._note("error", rule, path, message, allowed, hint)

    def warning(self, rule: str, path: str, message: str, *, allowed: str = "", hint: str = "") -> None:
        """Notes something that is accepted and probably not meant, or that is not known for sure."""
        self._note("warning", rule, path, message, allowed, hint)

    def is_secret(self, path: str) -> bool:
        """Whether the value at `path`, something above it or something below it is secret."""
        return any(
            path == secret
            or path.startswith((secret + ".", secret + "["))
            or secret.startswith((path + ".", path + "["))
            for secret in self._secret
        )

    def _note(self, level: Level, rule: str, path: str, message: str, allowed: str, hint: str) -> None:
        if self.is_secret(path):
            # What is allowed may be the right value itself, as another secret has it.
            message, allowed, hint = "the secret value is refused (not shown)", "", ""
        self.findings.append(
            Finding.of(self.resource, rule, message, path=path, allowed=allowed, hint=hint, level=level)
        )


def listed(value: Any) -> list[Any]:
    """A known list as it is; empty for anything else."""
    return value if isinstance(value, list) else []


def by_name(entries: Any, key: str = "name") -> dict[str, Mapping[str, Any]]:
    """The mappings of a list by a text of theirs; what has none there, or another kind of value, is left out."""
    named = ((one.get(key), one) for one in listed(entries) if isinstance(one, Mapping))
    return {name: one for name, one in named if isinstance(name, str)}


def _secret_paths(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, Secret):
        yield path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secret_paths(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _secret_paths(item, f"{path}[{index}]")


class Stack:
    """The custom resources of a recording; components and providers have no values of their own to check.

    `components` are there for what they may make where no recording sees it, as a chart that is rendered elsewhere;
    `providers` for the cluster or account that objects go to.
    """

    def __init__(self, resources: Iterable[RecordedResource], context: ValueContext) -> None:
        self.context = context
        self._everything = tuple(resources)
        everything = tuple(written_out(self._everything))
        self.resources = Resources(item for item in everything if item.is_made)
        self.components = [item for item in everything if not item.custom]
        self.providers = Resources(item for item in everything if item.is_provider)
        self.views = [View(item, self) for item in self.resources.all]
        self._by_urn = {view.resource.urn: view for view in self.views}
        self._read: dict[Callable[[Stack], Any], Any] = {}

    def once(self, read: Callable[[Stack], Read]) -> Read:
        """What a reader makes of the whole recording: the same for every check that asks, who leaves it as it is."""
        if read not in self._read:
            self._read[read] = read(self)
        found: Read = self._read[read]
        return found

    def provider_inputs(self, resource: RecordedResource) -> tuple[Mapping[str, Any], ...]:
        """What the explicit provider of a resource was given; empty where there is none."""
        provider = self.providers.provider_of(resource)
        return () if provider is None else (provider.bare_inputs,)

    def of_type(self, type_: str) -> list[View]:
        """Every resource of a type, in the order of registration."""
        return [self._by_urn[resource.urn] for resource in self.resources.of(type_)]

    def view_of(self, resource: RecordedResource) -> View:
        """The view of one of its resources."""
        return self._by_urn[resource.urn]

    def referred(self, resource: RecordedResource, path: str, type_: str) -> View | None:
        """The one resource of `type_` that this one's input refers to, as `View.referred` gives it."""
        found = self.resources.referred(resource, path, type_)
        return self._by_urn[found[0].urn] if len(found) == 1 else None

    @cached_property
    def _waits(self) -> Mapping[str, tuple[str, ...]]:
        """What each is made after, by URN: few stacks have something that asks."""
        return {item.urn: item.waits_on for item in self._everything}

    def waits_for(self, resource: RecordedResource) -> set[str]:
        """URNs of everything that is there before a resource is made, through any number of others."""
        found: set[str] = set()
        left = list(resource.waits_on)
        while left:
            urn = left.pop()
            if urn not in found:
                found.add(urn)
                left += self._waits.get(urn, ())
        return found

    @property
    def readable(self) -> Stack:
        """The stack with what is of a wrong kind, as far as that is noted, unknown; itself where there is none."""
        found = without_wrong_kinds(self._everything, self.findings)
        return self if found is self._everything else Stack(found, self.context)

    def take(self, other: Stack) -> None:
        """Notes what was noted of the same resources in another stack."""
        for urn, view in self._by_urn.items():
            theirs = other._by_urn.get(urn)
            if theirs is not None and theirs is not view:
                view.findings += theirs.findings

    def let_go(self) -> None:
        """Ends its use: it and its views hold each other, and the recording, until somebody looks for garbage."""
        for view in self.views:
            vars(view).clear()
        vars(self).clear()

    @property
    def findings(self) -> list[Finding]:
        """What all checks noted, in the order of the resources."""
        return [finding for view in self.views for finding in view.findings]
