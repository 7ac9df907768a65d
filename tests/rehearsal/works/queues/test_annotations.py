"""Annotations that Kueue's webhooks refuse or that nobody reads, and those that are right beside each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.rehearsal.works.mistakes_queues import JOB, QUEUE_LABEL, also, each, job_set, on, told, train_job
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.queues.check import check

Change = Callable[[Any], list[Any]]
PREFIX = "kueue.x-k8s.io/"
ELASTIC, LEAST = f"{PREFIX}elastic-job", f"{PREFIX}job-min-parallelism"
SLICE, SIZE = f"{PREFIX}podset-slice-required-topology", f"{PREFIX}podset-slice-size"
REQUIRED, PREFERRED, FREE = (f"{PREFIX}podset-{how}-topology" for how in ("required", "preferred", "unconstrained"))
RACK, HOST = "cloud.provider.com/topology-rack", "kubernetes.io/hostname"
RUNTIME = "runtimes-torch-train"


def noted(**notes: Any) -> Change:
    """The smoke job with annotations of its own."""
    return on(JOB, lambda i: i["metadata"].setdefault("annotations", {}).update(_keys(notes)))


def asking(**notes: Any) -> Change:
    """Its pods with them."""
    return on(JOB, lambda i: i["spec"]["template"]["metadata"].setdefault("annotations", {}).update(_keys(notes)))


def running(**notes: Any) -> Change:
    """The pods of a runtime with them."""

    def into(inputs: dict[str, Any]) -> None:
        for job in inputs["spec"]["template"]["spec"]["replicatedJobs"]:
            pods = job["template"]["spec"]["template"]
            pods.setdefault("metadata", {}).setdefault("annotations", {}).update(_keys(notes))

    return on(RUNTIME, into)


def sweeping(**notes: Any) -> Change:
    """A JobSet of four pods with them."""
    made = job_set(2, {"labels": {QUEUE_LABEL: "default"}})
    made.inputs["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["metadata"] = {"annotations": _keys(notes)}
    return also(made)


def gates(**given: bool) -> Change:
    return told(lambda c: c.setdefault("featureGates", {}).update(given))


NAMES = {"elastic": ELASTIC, "least": LEAST, "slice_of": SLICE, "size": SIZE, "required": REQUIRED,
         "preferred": PREFERRED, "free": FREE}  # fmt: skip


def _keys(notes: dict[str, Any]) -> dict[str, Any]:
    return {NAMES[name]: value for name, value in notes.items()}


def labelled(inputs: dict[str, Any]) -> None:
    inputs["metadata"]["labels"][ELASTIC] = "true"


ELASTIC_SET = job_set(1, {"labels": {QUEUE_LABEL: "default"}, "annotations": {ELASTIC: "true"}})
TRAINED = train_job(2)
TRAINED.inputs["metadata"]["annotations"] = {ELASTIC: "true"}
SLICED_ABOVE = job_set(1, {"labels": {QUEUE_LABEL: "default"}, "annotations": {SLICE: RACK, SIZE: "2"}})
GATE = "ElasticJobsViaWorkloadSlices"

MORE: dict[str, tuple[str, Change, str]] = {
    "an elastic job that may start smaller": ("queues-elastic", noted(elastic="true", least="1"), "both"),
    "an elastic job whose pods must be near each other": (
        "queues-elastic", each(noted(elastic="true"), asking(required=RACK)), "asks for a topology"),
    "an elastic job whose pods had rather be near each other": (
        "queues-elastic", each(noted(elastic="true"), asking(preferred=RACK)), "asks for a topology"),
    "an elastic JobSet": ("queues-elastic", also(ELASTIC_SET), "a JobSet is never elastic"),
    "an elastic TrainJob": ("queues-elastic", also(TRAINED), "a TrainJob is never elastic"),
    "an elastic job in Python's spelling": ("queues-elastic", noted(elastic="True"), "not `true`"),
    "an elastic job, and the gate is off": (
        "queues-elastic", each(noted(elastic="true"), gates(**{GATE: False})), "gate"),
    "elastic by a label": ("queues-label-place", on(JOB, labelled), "nobody reads"),
    "slices of no size": ("queues-topology-request", asking(slice_of=RACK), SIZE),
    "slices of a runtime's pods of no size": (
        "queues-topology-request", running(required=RACK, slice_of=HOST), "every TrainJob"),
    "slices of a JobSet's pods of no size": ("queues-topology-request", sweeping(slice_of=RACK), SIZE),
    "a slice's size, and no topology": ("queues-topology-request", asking(required=RACK, size="2"), SLICE),
    "slices of half a pod": ("queues-topology-request", asking(slice_of=RACK, size="0.5"), "0.5"),
    "slices of no pod": ("queues-topology-request", asking(slice_of=RACK, size="0"), "0"),
    "slices larger than the job": ("queues-topology-request", asking(slice_of=RACK, size="3"), "3"),
    "slices larger than a JobSet": ("queues-topology-request", sweeping(slice_of=RACK, size="8"), "8"),
    "near each other, and wherever there is room": (
        "queues-topology-request", asking(required=RACK, free="true"), "refuses"),
    "unconstrained by a word of YAML's": ("queues-topology-request", asking(free="yes"), "yes"),
    "a topology on the job": ("queues-label-place", noted(required=RACK), "nobody reads"),
    "slices on a JobSet": ("queues-label-place", also(SLICED_ABOVE), "nobody reads"),
    "slices where no flavor knows of topology": (
        "queues-never-admitted", asking(slice_of=RACK, size="1"), "never admits"),
}  # fmt: skip

RIGHT: dict[str, Change] = {
    "an elastic job": noted(elastic="true"),
    "a job that is not elastic, and says so": noted(elastic="false", least="1"),
    "a job that may start smaller": noted(least="1"),
    "elastic pods anywhere": each(noted(elastic="true"), asking(free="true")),
    "slices that fit": asking(required=RACK, slice_of=HOST, size="2"),
    "slices of a runtime's pods": running(required=RACK, slice_of=HOST, size="2"),
    "slices of a JobSet's pods": sweeping(required=RACK, slice_of=HOST, size="4"),
    "a size that is not known": asking(slice_of=RACK, size=UNKNOWN),
    "slices of no size, and a manager that does not look": each(
        asking(slice_of=RACK), gates(TopologyAwareScheduling=False)),
    "an elastic JobSet, and the manager does not look after such": each(
        also(ELASTIC_SET),
        told(lambda c: c["integrations"]["frameworks"].remove("jobset.x-k8s.io/jobset"))),
    "gates that the chart is given, of which nothing is known": each(
        noted(elastic="true", least="1"),
        on("kueue-release", lambda i: i["values"]["controllerManager"].update(
            featureGates=[{"name": GATE, "enabled": False}]))),
}  # fmt: skip


def found(rehearsed: Any, change: Change) -> list[Any]:
    stack = Stack(
        change(list(rehearsed("demo").resources)), ValueContext(kubernetes_version="1.35", region="us-east-1")
    )
    check(stack)
    return list(stack.findings)


@pytest.mark.parametrize("what", MORE)
def test_what_is_refused_or_read_by_nobody_is_told(rehearsed: Any, what: str) -> None:
    rule, change, words = MORE[what]
    told_so = [str(finding) for finding in found(rehearsed, change) if finding.rule == rule]
    assert any(words in text for text in told_so), told_so


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_right_beside_it_is_not(rehearsed: Any, what: str) -> None:
    own = {"queues-elastic", "queues-topology-request", "queues-label-place"}
    assert [str(finding) for finding in found(rehearsed, RIGHT[what]) if finding.rule in own] == []


@pytest.mark.parametrize(("version", "told_of"), [("0.17.1", {"gate"}), ("0.19.2", {"both"}), (UNKNOWN, set())])
def test_the_manager_s_version_decides(rehearsed: Any, version: Any, told_of: set[str]) -> None:
    change = each(noted(elastic="true", least="1"), on("kueue-release", lambda i: i.update(version=version)))
    said = [str(one) for one in found(rehearsed, change) if one.rule == "queues-elastic"]
    assert {word for word in ("gate", "both") if any(word in text for text in said)} == told_of
