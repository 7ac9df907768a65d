"""Every check of Kubernetes objects and Helm releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from trainyard.recorded.alike import Sound, SoundGiven, content
from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import follow
from trainyard.recorded.types import HELM_RELEASE
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.refusals.kubernetes import charts, kueue, kueue_sharing, objects
from trainyard.rehearsal.refusals.kubernetes.chart_parts import check_classes
from trainyard.rehearsal.refusals.kubernetes.index import Asked, Objects
from trainyard.rehearsal.refusals.kubernetes.schema import Checker, as_sent, newer_than

_BY_SCHEMA: Final = Sound(8192)
_EXTENSIONS: Final = "kubernetes:apiextensions.k8s.io/"
_OF_VERSIONS: Final = frozenset({"k8s-api-version", "k8s-unknown-field"})
"""What is told of an object that a later version of Kubernetes may take."""
_AMONG_OTHERS: Final = SoundGiven(8192)


def check(stack: Stack) -> None:
    """Checks what the recording has of Kubernetes; reads no schema where it has nothing.

    What a schema calls of a wrong kind is unknown to everything that looks at objects together.
    """
    found = [view for view in stack.views if view.type.startswith("kubernetes:")]
    if not found:
        return
    checker = Checker(stack.context.kubernetes_version)
    own = _defined(found)
    unread = tuple(f"kubernetes:{group}/" for group in charts.groups_of_other_versions(stack))
    if not kueue.is_known_version(stack):
        unread = (*unread, "kubernetes:kueue.x-k8s.io/")
    for view in found:
        if view.type == HELM_RELEASE:
            charts.check(view, checker)
        elif (schema := own.get((view.text("apiVersion"), view.text("kind")))) is not None:
            checker.check_own(view, view.inputs, schema)
        elif view.has("kind") and not view.type.startswith(unread):
            about = (checker.version, stack.context.version_is_assumed, view.is_patch)
            view.unless_sound(_BY_SCHEMA, partial(_by_schema, view, checker), *about)
    readable = stack.readable
    known = readable.once(Objects.of)
    are_read = all(map(charts.is_read, found))
    for view in readable.views:
        if view.type == HELM_RELEASE and are_read:
            check_classes(view, known)
        elif view.type.startswith("kubernetes:") and view.has("kind"):
            _among_others(view, known)
    kueue.check(readable, known)
    kueue_sharing.check(readable)
    stack.take(readable)


def _defined(views: Sequence[View]) -> dict[tuple[str | None, str | None], Mapping[str, Any]]:
    """The schemas of the kinds that the program defines itself, by version and kind."""
    found: dict[tuple[str | None, str | None], Mapping[str, Any]] = {}
    for view in views:
        if view.text("kind") != "CustomResourceDefinition" or not view.type.startswith(_EXTENSIONS):
            continue
        group, kind = view.text("spec.group"), view.text("spec.names.kind")
        for _, version in view.items("spec.versions"):
            schema = follow(version, "schema", "openAPIV3Schema")
            if isinstance(schema, Mapping) and not has_unknown(schema):
                found[f"{group}/{version.get('name')}", kind] = as_sent(schema)
    return found


def _among_others(view: View, known: Objects) -> None:
    """Checks an object, unless it once was well among objects that answered the same as these."""
    own = view.content
    key = content(own, view.name, view.stack.context.kubernetes_version) if own is not None else None
    if key is not None and _AMONG_OTHERS.holds(key, known.answer):
        return
    asked, noted = Asked(known), len(view.findings)
    objects.check(view, asked)
    if key is not None and len(view.findings) == noted:
        _AMONG_OTHERS.add(key, asked.answers)


def _by_schema(view: View, checker: Checker) -> None:
    """Where nothing says which version the cluster has, what a later one takes is right too."""
    noted = len(view.findings)
    is_known = checker.check(view, view.inputs)
    found = view.findings[noted:]
    if view.stack.context.version_is_assumed and _OF_VERSIONS & {one.rule for one in found}:
        for version in newer_than(checker.version):
            del view.findings[noted:]
            if Checker(version).check(view, view.inputs) and len(view.findings) == noted:
                return
        view.findings[noted:] = found
    if not is_known:
        kind = view.text("kind")
        view.warning("k8s-unchecked", "kind", f"no schema of {view.text('apiVersion')} {kind} is known here")
