"""What a rehearsal records and what it has to say: plain frozen data, no Pulumi.

Inputs and outputs are Python values under their wire names (camelCase): dict, list, str, bool, int, float, None, and
two marks: the singleton `UNKNOWN` for what a first preview cannot know, and `Secret(value)` around what is secret.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from trainyard.recorded.alike import digest, written

SECRET_TEXT: Final = "[secret]"  # noqa: S105 (the mask, not a password)
UNKNOWN_TEXT: Final = "[unknown]"

Level = Literal["error", "warning"]


class Unknown(enum.Enum):
    """The type of `UNKNOWN`; an enum, so that there is one and `is` works for a type checker too."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        """One word that stands for it in messages."""
        return "UNKNOWN"


UNKNOWN: Final = Unknown.UNKNOWN
"""A value that the first preview of a stack does not know: an id, an ARN, an endpoint of what is yet to be made."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret value, known to the run and masked in everything that is written."""

    value: Any

    def __repr__(self) -> str:
        """A word that stands for it; never the value."""
        return f"Secret({SECRET_TEXT})"


@dataclass(frozen=True, slots=True)
class Alias:
    """One alias of a resource: a whole URN, or the parts that differ from the resource's own."""

    urn: str = ""
    name: str = ""
    type: str = ""
    stack: str = ""
    project: str = ""
    parent_urn: str = ""
    no_parent: bool = False


class AboutInputs:
    """What is known of some inputs as a whole, each thing worked out when somebody asks first.

    Half a dozen readers of a stack would write the same inputs down, for a digest or to see that there is no mark.
    """

    __slots__ = ("_bare", "_has_secret", "content", "inputs", "read", "texts")

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self.inputs = inputs
        self.read: dict[str, Any] = {}
        """What views of the resource found in `bare`, by path: each of them is asked for the same few."""
        self.texts: Sequence[tuple[str, str]] | None = None
        """Every known text with its path, as views ask for it."""
        text = written(inputs)  # as long as all that is recorded: kept by nobody
        self.content = digest(text) if text is not None else None
        """A digest of the inputs; None where they hold a mark, or something else that is no plain data."""
        # A byte that stands for a tuple may be of a text as well, and then they are walked through.
        as_they_are = text is not None and b"(" not in text
        self._bare: Mapping[str, Any] | None = inputs if as_they_are else None
        self._has_secret: bool | None = None if text is None else False

    def __getstate__(self) -> tuple[Any, ...]:
        """Without what was read: another process reads as fast as it is told."""
        return self.inputs, self.content, self._bare, self._has_secret

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """As another process had it."""
        self.inputs, self.content, self._bare, self._has_secret = state
        self.read, self.texts = {}, None

    @property
    def written(self) -> bytes | None:
        """The inputs as `alike.written` writes them."""
        return written(self.inputs) if self.content is not None else None

    @property
    def bare(self) -> dict[str, Any]:
        """The inputs as `bare` has them: nobody's to change."""
        if self._bare is None:
            self._bare = bare(self.inputs)
        found: dict[str, Any] = self._bare  # type: ignore[assignment]
        return found

    @property
    def has_secret(self) -> bool:
        """Whether anything in the inputs is a `Secret`."""
        if self._has_secret is None:
            self._has_secret = _holds(self.inputs, _is_secret)
        return self._has_secret

    @property
    def secret_paths(self) -> tuple[str, ...]:
        """The paths of all scalars that lie in secrets, sorted."""
        return tuple(sorted({path for path, _, secret in leaves(self.inputs) if secret})) if self.has_secret else ()


@dataclass(frozen=True, slots=True)
class RecordedResource:
    """One registered resource: what the program asked for, with what the engine makes of it (URN, component)."""

    urn: str  # as the engine builds it: chain of parent types, then the name
    type: str  # aws:eks/nodeGroup:NodeGroup
    name: str  # logical name
    parent: str  # URN of the parent; empty for what hangs at the stack itself
    component: str  # names of the components around it, outermost first: "environment/gpu-nodes"; "" at the stack
    custom: bool  # False: a component
    provider: str  # "urn::id" of the explicit provider; empty for a default one
    inputs: Mapping[str, Any]
    secret_paths: tuple[str, ...] = ()  # "values.auth.password"; of inputs
    dependencies: tuple[str, ...] = ()  # URNs, sorted
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    protect: bool = False
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    aliases: tuple[Alias, ...] = ()
    delete_before_replace: bool = False
    retain_on_delete: bool = False
    custom_timeouts: Mapping[str, str] = field(default_factory=dict)
    additional_secret_outputs: tuple[str, ...] = ()
    from_check: tuple[str, ...] = ()  # paths of `inputs` that the provider's Check adds: "name", "tagsAll"
    read: bool = False  # an existing resource that the program only looks up (`Resource.get`)
    id: str | Unknown | None = None  # None for a component
    outputs: Mapping[str, Any] = field(default_factory=dict)
    _about: AboutInputs | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def about_inputs(self) -> AboutInputs:
        """What is known of the inputs as a whole: worked out once."""
        found = self._about
        if found is None:
            found = AboutInputs(self.inputs)
            object.__setattr__(self, "_about", found)
        return found

    def knows_inputs_by(self, about: AboutInputs) -> None:
        """Takes over what is known of the very inputs that this resource has, such as from its other view."""
        if about.inputs is self.inputs:
            object.__setattr__(self, "_about", about)

    @property
    def provider_urn(self) -> str:
        """URN of its provider, which a registration names with its id behind; empty where it names none."""
        return self.provider.rpartition("::")[0]

    @property
    def waits_on(self) -> tuple[str, ...]:
        """URNs of what is there before this is made: what it depends on, the component around it and its provider.

        Those two are registered, after all that they depend on, before the SDK sends what names them.
        """
        return (*self.dependencies, *(urn for urn in (self.parent, self.provider_urn) if urn))

    @property
    def bare_inputs(self) -> dict[str, Any]:
        """The inputs without the `Secret` marks, as `bare` has them: worked out once, and nobody's to change."""
        return self.about_inputs.bare

    @property
    def has_secrets(self) -> bool:
        """Whether anything in the inputs is a `Secret`: looked for once."""
        return self.about_inputs.has_secret

    @property
    def package(self) -> str:
        """`aws` of `aws:eks/cluster:Cluster`; a provider belongs to `pulumi`."""
        return self.type.split(":", 1)[0]

    @property
    def is_provider(self) -> bool:
        """Whether this is a provider rather than something that a provider makes."""
        return self.type.startswith("pulumi:providers:")

    @property
    def is_made(self) -> bool:
        """Whether a provider makes this: it is neither a component nor a provider."""
        return self.custom and not self.is_provider


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a program, told so that its author can mend it without reading a traceback."""

    level: Level
    rule: str  # "unknown-key", "duplicate-urn", …: stable, for filters and tests
    message: str
    urn: str = ""
    type: str = ""
    name: str = ""
    component: str = ""
    path: str = ""  # "scalingConfig.desiredSize", "spec.containers[0].image"
    allowed: str = ""  # what the value may be
    hint: str = ""  # "did you mean desiredSize?"

    @classmethod
    def of(
        cls,
        resource: RecordedResource,
        rule: str,
        message: str,
        *,
        path: str = "",
        allowed: str = "",
        hint: str = "",
        level: Level = "error",
    ) -> Finding:
        """A finding about one resource."""
        return cls(
            level=level,
            rule=rule,
            message=message,
            urn=resource.urn,
            type=resource.type,
            name=resource.name,
            component=resource.component,
            path=path,
            allowed=allowed,
            hint=hint,
        )

    def as_json(self) -> dict[str, str]:
        """All fields as text, in a fixed order."""
        order = ("level", "rule", "component", "type", "name", "path", "message", "allowed", "hint", "urn")
        return {key: getattr(self, key) for key in order}

    def __str__(self) -> str:
        """Component, resource, path, message and what would be right, on one line."""
        where = " ".join(part for part in (self.component and f"{self.component}:", self.type, self.name) if part)
        what = f"{self.path}: {self.message}" if self.path else self.message
        tail = "; ".join(part for part in (self.allowed, self.hint) if part)
        text = f"{where}: {what}" if where else what
        return f"{text} ({tail})" if tail else text


_SCALARS = frozenset((str, int, float, bool, type(None)))
"""Types of the values that hold no other, asked for first in what walks all inputs: is it a `Mapping` takes long."""


def masked(value: Any) -> Any:
    """`value` as JSON can hold it: secrets as `[secret]`, unknowns as `[unknown]`, mappings sorted by key."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Secret):
        return SECRET_TEXT
    if value is UNKNOWN:
        return UNKNOWN_TEXT
    if isinstance(value, Mapping):
        return {str(key): masked(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, (list, tuple)):
        return [masked(item) for item in value]
    return value


def bare(value: Any) -> Any:
    """`value` without the `Secret` marks (for checks of values; never for anything that is written or changed).

    A list or mapping without marks is handed on as it is: most have none, and copies of them are most of what a
    stack's checks would make.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict or (kind is not list and isinstance(value, Mapping)):
        found = {}
        same = kind is dict
        for key, item in value.items():
            if type(item) not in _SCALARS:
                plain = bare(item)
                if plain is not item:
                    same, item = False, plain
            found[key] = item
        return value if same else found
    if isinstance(value, Secret):
        return bare(value.value)
    if isinstance(value, (list, tuple)):
        items = [item if type(item) in _SCALARS else bare(item) for item in value]
        return value if kind is list and all(map(operator.is_, items, value)) else items
    return value


def has_unknown(value: Any) -> bool:
    """Whether anything in `value`, at any depth, is `UNKNOWN`."""
    return written(value) is None and _holds(value, lambda item: item is UNKNOWN)


def has_secret(value: Any) -> bool:
    """Whether anything in `value`, at any depth, is a `Secret`."""
    return written(value) is None and _holds(value, _is_secret)


def _is_secret(item: Any) -> bool:
    return isinstance(item, Secret)


def _holds(value: Any, wanted: Callable[[Any], bool]) -> bool:
    """Whether something at any depth, no scalar, is what is wanted."""
    left = [value]
    while left:
        item = left.pop()
        kind = type(item)
        if kind in _SCALARS:
            continue
        if kind is dict:
            left += [each for each in item.values() if type(each) not in _SCALARS]
        elif kind is list:
            left += [each for each in item if type(each) not in _SCALARS]
        elif wanted(item):
            return True
        elif isinstance(item, Secret):
            left.append(item.value)
        elif isinstance(item, Mapping):
            left += item.values()
        elif isinstance(item, (list, tuple)):
            left += item
    return False


def leaves(value: Any, path: str = "", *, secret: bool = False) -> Iterator[tuple[str, Any, bool]]:
    """Every scalar of `value` as (path, scalar, whether it lies in a secret)."""
    if type(value) in _SCALARS:
        yield path, value, secret
    elif isinstance(value, Secret):
        yield from leaves(value.value, path, secret=True)
    elif isinstance(value, (dict, Mapping)):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key), secret=secret)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]", secret=secret)
    else:
        yield path, value, secret
