"""Mistakes that a cluster's API takes and that do not work: data of each room, and how one is put to the rooms."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.read import UnreadableInput, steps
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.aws import model_check
from trainyard.rehearsal.refusals.aws.elsewhere import model_of
from trainyard.rehearsal.refusals.check import RULES, check_values
from trainyard.rehearsal.refusals.rules import EVERY_TYPE
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.works.check import ROOMS, check_works
from trainyard.rehearsal.works.clusters import by_cluster

Recorded = Sequence[RecordedResource]
Change = Callable[[Recorded], list[RecordedResource]]

DROP = object()
"""As a new value: take the input away."""


@dataclass(frozen=True)
class Mistake:
    """A change of a recorded stack, and the rule that has to tell it."""

    name: str  # short, unique within a room
    what: str  # as somebody would tell it afterwards
    change: Change
    rule: str | None  # None: it cannot be known, `why` says so
    why: str = ""
    stack: str = "demo"


def edit(type_: str, name: str, *into: Callable[[dict[str, Any]], Any]) -> Change:
    """Changes the inputs of the one resource of that type and name."""

    def change(resources: Recorded) -> list[RecordedResource]:
        found, changed = [], 0
        for resource in resources:
            if (resource.type, resource.name) == (type_, name):
                inputs = copy.deepcopy(dict(resource.inputs))
                for one in into:
                    one(inputs)
                resource, changed = replace(resource, inputs=inputs), changed + (inputs != resource.inputs)
            found.append(resource)
        assert changed == 1, f"{type_} {name}: {changed} changed"
        return found

    return change


def put(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Puts a value at a path such as `spec.template.spec.nodeSelector`, or takes away what is there (`DROP`).

    In a key, `~` stands for a dot: `spec.nodeSelector.ml~platform/pool`.
    """

    def into(inputs: dict[str, Any]) -> None:
        way = [part.replace("~", ".") if isinstance(part, str) else part for part in steps(path)]
        target: Any = inputs
        for part in way[:-1]:
            if isinstance(target, dict) and part not in target:
                target[part] = {}
            target = target[part]
        if value is DROP:
            del target[way[-1]]
        elif isinstance(target, list) and way[-1] == len(target):
            target.append(value)
        else:
            target[way[-1]] = value

    return into


def in_json(key: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    """Changes what a JSON text of the inputs holds: an add-on's configuration, a policy's document."""

    def into(inputs: dict[str, Any]) -> None:
        held = json.loads(inputs[key])
        change(held)
        inputs[key] = json.dumps(held)

    return into


def drop(type_: str, name: str) -> Change:
    """Takes a resource out."""

    def change(resources: Recorded) -> list[RecordedResource]:
        found = [resource for resource in resources if (resource.type, resource.name) != (type_, name)]
        assert len(found) + 1 == len(resources), f"no {type_} {name}"
        return found

    return change


def both(*changes: Change) -> Change:
    """One change after the other."""

    def change(resources: Recorded) -> list[RecordedResource]:
        found = list(resources)
        for one in changes:
            found = one(found)
        return found

    return change


def added(kind: str, name: str, inputs: Mapping[str, Any], namespace: str = "", *, beside: str = "cluster") -> Change:
    """Adds a Kubernetes object (`kind` is its type token without `kubernetes:`) that a program would make."""

    def change(resources: Recorded) -> list[RecordedResource]:
        api, _, last = kind.rpartition(":")
        version = api.removeprefix("core/")
        metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **dict(inputs.get("metadata", {}))}
        body = {"apiVersion": version, "kind": last, **inputs, "metadata": metadata}
        urn = f"urn:pulumi:demo::trainyard::kubernetes:{kind}::added-{name}"
        # That of the stack's cluster, as a program has it, which has one alone.
        provider = next((one.provider for one in resources if one.type.startswith("kubernetes:")), "p::p")
        made = RecordedResource(
            urn, f"kubernetes:{kind}", f"added-{name}", "", beside, True, provider, body, id=f"{namespace}/{name}"
        )
        return [*resources, made]

    return change


def context_of(rehearsal: Rehearsal) -> ValueContext:
    """What the rooms are told of an example stack: its version and its region."""
    cluster = next(iter(rehearsal.plan.get("clusters") or ()), {})
    return ValueContext(
        kubernetes_version=cluster.get("kubernetes_version", "1.35"), region=rehearsal.plan["ground"]["region"]
    )


def told(
    rehearsal: Rehearsal, change: Change | None = None, room: str | None = None, *, ours: bool = False
) -> list[Finding]:
    """What the rooms, or one of them, say of a stack, or of the stack with a change; each finding that the sound stack
    has left out. `ours`: as of a program that publishes a plan.
    """
    sound = list(rehearsal.known.resources)
    if change is None:
        return _found(sound, rehearsal, room, ours)
    before = _before(rehearsal, room, ours)
    return [finding for finding in _found(change(sound), rehearsal, room, ours) if finding not in before]


OF_RULE: dict[str, str] = {
    **{"reference": "references", "reference-monitor-path": "programs", "reference-monitor-port": "programs"},
    **{"watching": "programs", "machine": "machines", "path": "paths", "run": "managed"},
}
"""Rooms by a rule of theirs, or by how it begins, where that is not the room's name."""
_TAKES_BACK = ("rights",)
"""Rooms that take back some of what they noted: they are heard to their end."""


def tells(rehearsal: Rehearsal, change: Change, rule: str, *, ours: bool = False) -> set[str]:
    """The rules of what the rooms say of a stack with a change that they do not say of the sound one, up to `rule`.

    The room that a rule is named after is asked first and the others only if it does not tell it: whether `rule` is
    among them is what the whole verdict says, for a fifth of the time.
    """
    context, sound = replace(context_of(rehearsal), ours=ours), list(rehearsal.known.resources)
    key = id(rehearsal), "one by one", ours
    if key not in _SOUND:
        _SOUND[key] = rehearsal, {finding for said in one_by_one(sound, context) for finding in said}
    found: set[str] = set()
    for said in one_by_one(change(sound), context, rule):
        found |= {finding.rule for finding in said - _SOUND[key][1]}
        if rule in found:
            break
    return found


def one_by_one(
    resources: Recorded, context: ValueContext, rule: str = "", *, values: bool = False, sound: Recorded = ()
) -> Iterator[set[Finding]]:
    """What each room says that those before it did not, and what is refused of values where that is asked too.

    Together they say what `check_works` and `check_values` say, with secrets as they are: whoever looks for one finding
    stops at it. The room that `rule` is named after comes first, and what it has said is given when it notes that;
    for a rule of no room, what is refused of resources that the `sound` stack has otherwise.
    """
    head = rule.partition("-")[0]
    room = OF_RULE.get(rule, OF_RULE.get(head, head))
    if values and room not in ROOMS:
        if sound:
            yield set(refused_of_changed(resources, context, sound))
        yield set(check_values(resources, context))
    if len(by_cluster(resources)) > 1:
        yield set(check_works(resources, context))
    else:
        yield from _rooms_one_by_one(resources, context, room, rule)
    if values and room in ROOMS:
        yield set(check_values(resources, context))


def rules_of(stack: Rehearsal, mistake: Mistake) -> set[str]:
    """The rules that tell something of a stack with a mistake, until its own is among them."""
    sound = list(stack.known.resources)
    context = replace(context_of(stack), ours=True)
    rules: set[str] = set()
    for found in one_by_one(mistake.change(sound), context, mistake.rule or "", values=True, sound=sound):
        rules |= {finding.rule for finding in found}
        if mistake.rule in rules:
            break
    return rules


def refused_of_changed(resources: Recorded, context: ValueContext, sound: Recorded) -> list[Finding]:
    """What `check_values` says of resources that the sound stack has otherwise, by the rules of their types."""
    as_before = {id(one) for one in sound}
    stack = Stack(resources, context)
    kept: dict[tuple[str, str, str], Finding] = {}
    for view in stack.views:
        if id(view.resource) in as_before:
            continue
        if (model := model_of(view.type)) is not None:
            model_check.check(view, model)
        for rule in (*RULES.get(view.type, ()), *RULES.get(EVERY_TYPE, ())):
            rule(view)
        for finding in view.findings:
            kept.setdefault((finding.urn, finding.path, finding.level), finding)
    stack.let_go()
    return list(kept.values())


class _Noted(BaseException):
    """Somebody noted what is listened for; no `Exception`, for what a room catches is its own."""


class _Listening(list[Finding]):
    """Findings of one resource, which end the room's work when they are given one of a rule."""

    def __init__(self, noted: Iterable[Finding], rule: str) -> None:
        super().__init__(noted)
        self._rule = rule

    def append(self, finding: Finding, /) -> None:
        super().append(finding)
        if finding.rule == self._rule:
            raise _Noted


def _rooms_one_by_one(resources: Recorded, context: ValueContext, first: str, rule: str) -> Iterator[set[Finding]]:
    stack = Stack(resources, context)
    before: set[Finding] = set()
    try:
        for name in sorted(ROOMS, key=lambda name: name != first):
            for view in stack.views:
                view.findings = _Listening(view.findings, "" if name in _TAKES_BACK else rule)
            try:
                ROOMS[name](stack)
            except _Noted:
                yield set(stack.findings) - before
                # Whoever is not content with it, as the sound stack has that finding too, hears the rooms to their end.
                yield from _rooms_one_by_one(resources, context, first, "")
                return
            except UnreadableInput as unreadable:
                yield {Finding("warning", "works-unread", f"{name} could not be judged: {unreadable}")}
            now = set(stack.findings)
            yield now - before
            before = now
    finally:
        stack.let_go()


def _before(rehearsal: Rehearsal, room: str | None, ours: bool) -> set[Finding]:
    key = id(rehearsal), room, ours
    if key not in _SOUND:
        _SOUND[key] = rehearsal, set(_found(list(rehearsal.known.resources), rehearsal, room, ours))
    return _SOUND[key][1]


_SOUND: dict[tuple[int, str | None, bool], tuple[Rehearsal, set[Finding]]] = {}
"""What was found in stacks as they are; the stack is kept beside it, so that its id stays its own."""


def _found(resources: Recorded, rehearsal: Rehearsal, room: str | None, ours: bool) -> list[Finding]:
    context = replace(context_of(rehearsal), ours=ours)
    if room is None:
        return check_works(resources, context)
    stack = Stack(resources, context)
    ROOMS[room](stack)
    return stack.findings
