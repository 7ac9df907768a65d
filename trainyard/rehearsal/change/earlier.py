"""What a stack is compared with: the resources of another rehearsal, of its JSON, or of an engine's state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from trainyard.problems import Problem, SettingsError, kind_of
from trainyard.recorded.marks import SECRET_SIGNATURE, SIGNATURE, UNKNOWN_MARK
from trainyard.recorded.model import SECRET_TEXT, UNKNOWN, UNKNOWN_TEXT, RecordedResource, Secret
from trainyard.recorded.types import PULUMI_STACK

_AUTONAMED: Final = "pulumi.com/autonamed"


@dataclass(frozen=True, slots=True)
class Said:
    """What a rehearsal said of it, by the prices and policies of its own release."""

    expected_usd: float | None  # a month; None where nothing was priced
    violations: frozenset[tuple[str, str]]  # policy and resource

    def as_json(self) -> dict[str, Any]:
        """The contract in JSON documents."""
        return {
            "expected_usd": self.expected_usd,
            "violations": [{"policy": policy, "name": name} for policy, name in sorted(self.violations)],
        }


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is there, or what another program would make."""

    source: str  # in words: "main (1a2b3c4)", "the state in deployed.json"
    resources: tuple[RecordedResource, ...]
    deployed: bool = False  # the state of an engine
    notes: tuple[str, ...] = ()
    said: Said | None = None  # where a rehearsal is what is compared with


def from_json(document: Any, source: str) -> Earlier:
    """What a file holds that `trainyard rehearse --json` or `pulumi stack export` wrote.

    Raises `SettingsError` for any other.
    """
    if isinstance(document, Mapping):
        deployment = document.get("deployment")
        if isinstance(deployment, Mapping):
            return from_state(deployment, source)
        resources = document.get("resources")
        if isinstance(resources, list):
            return Earlier(source, tuple(_all(resources, source, _rehearsed)), said=_said(document))
        if "problems" in document or "verdict" in document:
            raise _wrong(source, "a rehearsal that recorded nothing: its settings are wrong")
    got = kind_of(document) if not isinstance(document, Mapping) else "a mapping without resources"
    raise _wrong(source, got)


def _said(document: Mapping[str, Any]) -> Said | None:
    """What a rehearsal says of price and policies; None where it judged neither, or its release did not say."""
    verdict, violations = document.get("verdict"), document.get("violations")
    money = verdict.get("money") if isinstance(verdict, Mapping) else None
    expected = money.get("expected") if isinstance(money, Mapping) else None
    if not isinstance(expected, int | float) and not isinstance(violations, list):
        return None
    found = [each for each in violations or () if isinstance(each, Mapping)]
    return Said(
        float(expected) if isinstance(expected, int | float) else None,
        frozenset((str(each.get("policy", "")), str(each.get("name", ""))) for each in found),
    )


def exported_resources(exported: Any) -> list[dict[str, Any]]:
    """The resources of what `pulumi stack export` wrote, each with a URN and a type; none of a stack that is empty.

    Raises `SettingsError` where it is no such state: what cannot be read must not look like nothing.
    """
    allowed = "must be what `pulumi stack export` writes"
    deployment = exported.get("deployment") if isinstance(exported, Mapping) else None
    if not isinstance(deployment, Mapping):
        raise SettingsError([Problem("the state", kind_of(exported), allowed)])
    listed = deployment.get("resources") or []
    if not isinstance(listed, list):
        raise SettingsError([Problem("the state", f"{kind_of(listed)} as its resources", allowed)])
    for index, each in enumerate(listed):
        if not _is_resource(each):
            raise SettingsError([Problem("the state", f"resources[{index}] without a urn and a type", allowed)])
    return listed


def _is_resource(each: Any) -> bool:
    return isinstance(each, Mapping) and all(isinstance(each.get(key), str) for key in ("urn", "type"))


def from_state(deployment: Mapping[str, Any], source: str) -> Earlier:
    """The resources of an engine's state, without those that it only has still to delete."""
    listed = deployment.get("resources") or []
    if not isinstance(listed, list):
        raise _wrong(source, f"{kind_of(listed)} as its resources")
    living = [each for each in listed if not (isinstance(each, Mapping) and each.get("delete") is True)]
    found = tuple(_with_components(_all(living, source, _deployed)))
    notes = []
    if len(living) < len(listed):
        notes.append(
            f"{len(listed) - len(living)} resources of the state wait for their deletion since an earlier `up`"
        )
    pending = deployment.get("pending_operations") or ()
    if pending:
        notes.append(f"{len(pending)} operations of the state were interrupted: `pulumi refresh` settles them first")
    return Earlier(source, found, deployed=True, notes=tuple(notes))


def _all(listed: Iterable[Any], source: str, read: Any) -> Iterable[RecordedResource]:
    for index, each in enumerate(listed):
        if not _is_resource(each):
            raise _wrong(source, f"resources[{index}] without a urn and a type")
        if each["type"] != PULUMI_STACK:
            yield read(each)


def _rehearsed(each: Mapping[str, Any]) -> RecordedResource:
    return RecordedResource(
        urn=each["urn"],
        type=each["type"],
        name=str(each.get("name", each["urn"].rsplit("::", 1)[-1])),
        parent=str(each.get("parent", "")),
        component=str(each.get("component", "")),
        custom=bool(each.get("custom")),
        provider=str(each.get("provider", "")),
        inputs=_unmasked(each.get("inputs") or {}),
        dependencies=tuple(each.get("dependencies") or ()),
        property_dependencies=_lists(each.get("propertyDependencies")),
        protect=bool(each.get("protect")),
        ignore_changes=tuple(each.get("ignoreChanges") or ()),
        replace_on_changes=tuple(each.get("replaceOnChanges") or ()),
        delete_before_replace=bool(each.get("deleteBeforeReplace")),
        retain_on_delete=bool(each.get("retainOnDelete")),
        from_check=tuple(each.get("fromCheck") or ()),
        read=bool(each.get("read")),
    )


def _deployed(each: Mapping[str, Any]) -> RecordedResource:
    inputs, automatic = _of_state(each.get("inputs") or {}), []
    defaults = each.get("inputs", {}).get("__defaults", []) if isinstance(each.get("inputs"), Mapping) else []
    automatic += [key for key in defaults if isinstance(key, str)]
    metadata = inputs.get("metadata") if isinstance(inputs, Mapping) else None
    if isinstance(metadata, Mapping) and _AUTONAMED in (metadata.get("annotations") or {}):
        automatic += ["metadata.name", "metadata.annotations"]
    parent = str(each.get("parent", ""))
    return RecordedResource(
        urn=each["urn"],
        type=each["type"],
        name=each["urn"].rsplit("::", 1)[-1],
        parent="" if PULUMI_STACK in parent.split("::")[2:3] else parent,
        component="",
        custom=bool(each.get("custom")),
        provider=str(each.get("provider", "")),
        inputs=inputs,
        dependencies=tuple(each.get("dependencies") or ()),
        property_dependencies=_lists(each.get("propertyDependencies")),
        protect=bool(each.get("protect")),
        retain_on_delete=bool(each.get("retainOnDelete")),
        from_check=tuple(automatic),
        read=bool(each.get("external")),
        id=each.get("id") if isinstance(each.get("id"), str) else None,
        outputs=_of_state(each.get("outputs") or {}),
    )


def _with_components(resources: Iterable[RecordedResource]) -> Iterable[RecordedResource]:
    """The resources of a state, each with the names of the components around it, as a rehearsal tells them."""
    found = list(resources)
    by_urn = {each.urn: each for each in found}
    for each in found:
        around, parent, seen = [], by_urn.get(each.parent), {each.urn}
        while parent is not None and parent.urn not in seen:
            seen.add(parent.urn)
            if not parent.custom:
                around.append(parent.name)
            parent = by_urn.get(parent.parent)
        yield replace(each, component="/".join(reversed(around)))


def _lists(value: Any) -> dict[str, tuple[str, ...]]:
    return {key: tuple(urns or ()) for key, urns in value.items()} if isinstance(value, Mapping) else {}


def _unmasked(value: Any) -> Any:
    """A value of a rehearsal's JSON, with what is masked in it unknown."""
    if value == SECRET_TEXT:
        return Secret(UNKNOWN)
    if value == UNKNOWN_TEXT:
        return UNKNOWN
    if isinstance(value, Mapping):
        return {key: _unmasked(item) for key, item in value.items()}
    return [_unmasked(item) for item in value] if isinstance(value, list) else value


def _of_state(value: Any) -> Any:
    """A value of a state: what is encrypted is unknown, and what the bridge notes for itself is left out."""
    if value == UNKNOWN_MARK:
        return UNKNOWN
    if isinstance(value, Mapping):
        if SIGNATURE in value:
            return Secret(UNKNOWN) if value[SIGNATURE] == SECRET_SIGNATURE else UNKNOWN
        return {key: _of_state(item) for key, item in value.items() if key not in ("__defaults", "__meta")}
    return [_of_state(item) for item in value] if isinstance(value, list) else value


def _wrong(source: str, got: str) -> SettingsError:
    allowed = "must be a git reference, or what `trainyard rehearse --json` or `pulumi stack export` wrote"
    return SettingsError([Problem(f"--from {source}", got, allowed)])
