"""Runs a small Pulumi program with the rehearsal's recorder, for the tests of components."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from trainyard.recorded.model import RecordedResource, Secret, bare
from trainyard.rehearsal.engine import outputs, recorder
from trainyard.rehearsal.engine.synthesised import ACCOUNT

Recorded = RecordedResource


class Recording(recorder.Recording):
    """A recording that finds the one resource which a test is about."""

    def one(self, type_: str, name: str | None = None) -> Recorded:
        found = [r for r in self.of_type(type_) if name is None or r.name == name]
        assert len(found) == 1, (
            f"{len(found)} resources of type {type_} named {name}: {[r.name for r in self.resources]}"
        )
        return found[0]


def plain(value: Any) -> Any:
    """Inputs with the marks of what is secret taken off, so that a test can compare them."""
    return bare(value)


def record(program: Callable[[], Any], *, preview: bool = False) -> Recording:
    """Runs `program` as a stack and returns every resource that it registered, in registration order.

    What the program raises is raised again.
    """
    made = recorder.record(program, preview=preview)
    if made.error is not None:
        raise made.error
    assert made.hang is None, made.hang
    found = Recording(preview=preview)
    found.resources = [_as_given(resource) for resource in made.resources]
    return found


def _as_given(resource: Recorded) -> Recorded:
    """With the inputs as the program gave them: without what Check adds, and without those that are null."""
    given = {key: value for key, value in resource.inputs.items() if key not in resource.from_check}
    if "metadata.name" in resource.from_check:
        metadata = bare(given["metadata"])
        annotations = {key: text for key, text in metadata["annotations"].items() if key != outputs.AUTONAMED}
        metadata = {key: value for key, value in metadata.items() if key not in ("name", "annotations")}
        given["metadata"] = metadata | ({"annotations": annotations} if annotations else {})
    return dataclasses.replace(resource, inputs=_without_nulls(given))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Secret):
        return Secret(_without_nulls(value.value))
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


__all__ = ["ACCOUNT", "Recorded", "Recording", "plain", "record"]
