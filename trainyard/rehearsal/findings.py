"""What is wrong with a program, from the recordings of its two runs: what is refused, and what does not work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from trainyard.catalog import default_kubernetes_version
from trainyard.recorded.kinds import without_wrong_kinds
from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.types import AWS_PROVIDER, EKS_CLUSTER
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.engine.failures import failure_findings
from trainyard.rehearsal.engine.project import StackConfig, unseen_text
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.engine.rules import check_both_runs, check_recording
from trainyard.rehearsal.refusals import check_values
from trainyard.rehearsal.refusals.schema import check_schema
from trainyard.rehearsal.works.check import LAST, check_works


def refused(
    config: StackConfig, plan: Mapping[str, Any], preview: Recording, known: Recording, best: Recording
) -> list[Finding]:
    """Everything that the engine or a cloud would refuse, of both runs.

    Args:
        config: the stack's configuration, for paths in messages and for texts that stand for missing values.
        plan: what the program published of its plan; empty where it published none.
        preview: the run with nothing known.
        known: the run with synthesised outputs.
        best: the one of the two whose resources are checked against schemas and the clouds' models.
    """
    found: list[Finding] = []
    for run in (preview, known):
        found += failure_findings(run, config.root)
        found += check_recording(run, config.placeholders, config.values)
    found += check_both_runs(preview, known)
    if config.unseen:
        found.append(Finding("warning", "unseen-settings", unseen_text(config.unseen)))
    schema = list(check_schema(best.resources, best.classes))
    readable = without_wrong_kinds(_unique(best.resources), schema)
    values = check_values(readable, _value_context(config, plan, best.resources))
    found += schema
    found += [finding for finding in values if not any(_about_the_same(finding, other) for other in schema)]
    return found


def broken(
    config: StackConfig,
    plan: Mapping[str, Any],
    best: Recording,
    refused: Iterable[Finding],
    elsewhere: Elsewhere | None = None,
) -> list[Finding]:
    """Everything that would be accepted and not work, of the run whose resources are checked.

    Of what is refused as being of a wrong kind nothing is known. `elsewhere`: who may play `LAST` meanwhile, and knows
    nothing of what is refused.
    """
    unique = _unique(best.resources)
    readable = without_wrong_kinds(unique, refused)
    context = _value_context(config, plan, best.resources)
    if elsewhere is None or readable is not unique:
        return check_works(readable, context)
    found = check_works(readable, context, plays=lambda room: room != LAST or not elsewhere.took_it())
    if elsewhere.took_it():
        theirs = elsewhere.found()
        found += theirs if theirs is not None else last_broken(config, plan, best)
    return found


def last_broken(config: StackConfig, plan: Mapping[str, Any], best: Recording) -> list[Finding]:
    """The share of `broken` that another process may find, where nothing is of a wrong kind."""
    return check_works(
        _unique(best.resources), _value_context(config, plan, best.resources), plays=lambda room: room == LAST
    )


class Elsewhere(Protocol):
    """Another process that may play the room `LAST`."""

    def took_it(self) -> bool:
        """Whether it plays it. If not yet, it never will."""

    def found(self) -> list[Finding] | None:
        """What it found, once it has played; None where it did not come to an end."""


def _about_the_same(value: Finding, schema: Finding) -> bool:
    """Whether a finding on a value only repeats what the schema says of the same place, or of one around or in it."""
    if value.urn != schema.urn or schema.level != "error":
        return False
    inner, outer = sorted((value.path, schema.path), key=len, reverse=True)
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def _value_context(config: StackConfig, plan: Mapping[str, Any], resources: Sequence[RecordedResource]) -> ValueContext:
    """Version and region as the plan says; a program that publishes no plan is asked through its resources, and its
    configuration for the provider that the engine makes by default.

    Where no cluster of the stack names a version either, it is the one that a new environment gets.
    """
    version = next((cluster.get("kubernetes_version") for cluster in plan.get("clusters") or ()), None)
    ground = plan.get("ground") or {}
    region, network = ground.get("region"), ground.get("network") or {}
    by_default = any(resource.type.startswith("aws:") and not resource.provider for resource in resources)
    if (
        by_default
    ):  # what the engine makes by itself is where most things are; a provider beside it is for another place
        region = region or config.values.get("aws:region")
    for resource in resources:
        if resource.type == EKS_CLUSTER:
            version = version or resource.inputs.get("version")
        elif resource.type == AWS_PROVIDER:
            region = region or resource.inputs.get("region")
    region = region or config.values.get("aws:region")
    return ValueContext(
        kubernetes_version=version if isinstance(version, str) else default_kubernetes_version()[0],
        region=region if isinstance(region, str) else "",
        ours=bool(plan),
        chart_mirror=(plan.get("core") or {}).get("chart_mirror"),
        private_services=(network.get("private_services_cidr") or "") if network.get("shared") else "",
    )


def _unique(resources: Sequence[RecordedResource]) -> list[RecordedResource]:
    """One of each URN: a duplicate is reported once, as such."""
    return list({resource.urn: resource for resource in resources}.values())


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, errors first, then by place."""
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda f: (f.level != "error", f.component, f.type, f.name, f.path, f.rule, f.message, f.urn),
        )
    )
