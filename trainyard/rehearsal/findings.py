"""What is wrong with a program, from the recordings of its two runs, and what else of them there is to judge.

What the engine and the SDK's own types refuse is found here. What the clouds refuse and what does not work is found by
rules, which are not imported here: another process may have them ready (`Elsewhere`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from trainyard.catalog import default_kubernetes_version
from trainyard.recorded.model import Finding, RecordedResource
from trainyard.recorded.types import AWS_PROVIDER, EKS_CLUSTER, GKE_CLUSTER
from trainyard.rehearsal.context import Case, Refused, ValueContext
from trainyard.rehearsal.engine.failures import failure_findings
from trainyard.rehearsal.engine.project import StackConfig, unseen_text
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.engine.rules import check_both_runs, check_recording
from trainyard.rehearsal.refusals.schema import check_schema

if TYPE_CHECKING:
    from trainyard.rehearsal.rehearse import Rehearsal


def refused(config: StackConfig, preview: Recording, known: Recording) -> Refused:
    """Everything that the engine would refuse of both runs, and the SDK's types of one.

    Args:
        config: the stack's configuration, for paths in messages and for texts that stand for missing values.
        preview: the run with nothing known.
        known: the run with synthesised outputs.
    """
    best = checked_of(preview, known)
    found: list[Finding] = []
    for run in (preview, known):
        found += failure_findings(run, config.root)
        found += check_recording(run, config.placeholders, config.values)
    found += check_both_runs(preview, known)
    if config.unseen:
        found.append(Finding("warning", "unseen-settings", unseen_text(config.unseen)))
    return Refused(found, list(check_schema(best.resources, best.classes)))


class Elsewhere(Protocol):
    """Another process that may judge a case by the rules."""

    def configured(self, values: Mapping[str, str]) -> None:
        """Says of what configuration there will be something to judge."""

    def recorded(self, run: Rehearsal, case: Case) -> None:
        """Says what there is to judge, as soon as it is recorded."""

    def judged(self, refused: Refused) -> tuple[list[Finding], Mapping[str, float]] | None:
        """What the rules find beside this, and the seconds by phase; None where it did not come to an end."""


def checked_of(preview: Recording, known: Recording) -> Recording:
    """The one of both runs whose resources are checked: the one that knows all ids, where it came to any resource."""
    return known if known.resources else preview


def case_of(config: StackConfig, plan: Mapping[str, Any], best: Recording) -> Case:
    """What the rules judge of a run.

    Args:
        config: the stack's configuration.
        plan: what the program published of its plan; empty where it published none.
        best: the one of both runs whose resources are checked.
    """
    # One of each URN: a duplicate is reported once, as such.
    unique = list({resource.urn: resource for resource in best.resources}.values())
    return Case(unique, _value_context(config, plan, best.resources))


_VERSIONS: Final = {EKS_CLUSTER: "version", GKE_CLUSTER: "minMasterVersion"}
"""By type of cluster, the input that says its version of Kubernetes."""
_MINOR: Final = re.compile(r"\d+\.\d+")


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
        if resource.type in _VERSIONS:
            version = version or resource.inputs.get(_VERSIONS[resource.type])
        elif resource.type == AWS_PROVIDER:
            region = region or resource.inputs.get("region")
    region = region or config.values.get("aws:region")
    said = _MINOR.match(version) if isinstance(version, str) else None
    return ValueContext(
        kubernetes_version=said[0] if said is not None else default_kubernetes_version()[0],
        version_is_assumed=said is None,
        region=region if isinstance(region, str) else "",
        ours=bool(plan),
        chart_mirror=(plan.get("core") or {}).get("chart_mirror"),
        private_services=(network.get("private_services_cidr") or "") if network.get("shared") else "",
    )


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, errors first, then by place."""
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda f: (f.level != "error", f.component, f.type, f.name, f.path, f.rule, f.message, f.urn),
        )
    )
