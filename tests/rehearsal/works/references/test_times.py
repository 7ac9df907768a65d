"""Times and classes that are unusual, and come all the same."""

from __future__ import annotations

import pytest

from tests.conftest import WHOLE
from tests.rehearsal.refusals.builders import CONTEXT, obj, resource
from tests.rehearsal.works.mistakes import context_of, edit, put
from tests.rehearsal.works.mistakes_times import CRON_JOB, DEPLOYMENT, DRILL, STORAGE_CLASS
from tests.rehearsal.works.references.foreign import release
from tests.rehearsal.works.references.test_mistakes import findings

CONTAINER = "spec.template.spec.containers[0]"
UNUSUAL = {
    "a leap day": edit(CRON_JOB, DRILL, put("spec.schedule", "0 4 29 2 *")),
    "the 31st of some months": edit(CRON_JOB, DRILL, put("spec.schedule", "0 4 31 2,3 *")),
    "a day of the week besides": edit(CRON_JOB, DRILL, put("spec.schedule", "0 4 31 2 1")),
    "every hour": edit(CRON_JOB, DRILL, put("spec.schedule", "@hourly")),
    "steps and names": edit(CRON_JOB, DRILL, put("spec.schedule", "*/15 4 1-31/10 jan-mar *")),
    "a zone": edit(CRON_JOB, DRILL, put("spec.timeZone", "Asia/Dubai")),
    "ten seconds late": edit(CRON_JOB, DRILL, put("spec.startingDeadlineSeconds", 10)),
    "a hook within the grace": edit(
        DEPLOYMENT, "egress-deployment",
        put(f"{CONTAINER}.lifecycle", {"preStop": {"exec": {"command": ["sh", "-c", "sleep 5 && sleep 20"]}}}),
    ),
    "a hook that only speaks of sleep": edit(
        DEPLOYMENT, "egress-deployment",
        put(f"{CONTAINER}.lifecycle", {"preStop": {"exec": {"command": ["sh", "-c", "echo sleep 90 > /tmp/x"]}}}),
    ),
    "one of the zones": edit(STORAGE_CLASS, "blocks-class", put("allowedTopologies", [{"matchLabelExpressions": [
        {"key": "topology.kubernetes.io/zone", "values": ["us-east-1f", "us-east-1a"]}]}])),
    "zones of a driver of its own": edit(STORAGE_CLASS, "blocks-class", put("allowedTopologies", [
        {"matchLabelExpressions": [{"key": "rack", "values": ["7"]}]}])),
}  # fmt: skip


@pytest.mark.parametrize("what", UNUSUAL)
def test_what_is_only_unusual_is_not_accused(rehearsed, what):
    demo = rehearsed(WHOLE)
    assert findings(UNUSUAL[what](demo.known.resources), context_of(demo)) == []


WEB = {"app": "web"}
POD = {"runtimeClassName": "kata", "containers": [{"name": "web", "image": "web"}]}
DEPLOYED = obj(
    "apps/v1", "Deployment", "web", "web",
    spec={"selector": {"matchLabels": WEB}, "template": {"metadata": {"labels": WEB}, "spec": POD}},
)  # fmt: skip
CLUSTER = resource("aws:eks/cluster:Cluster", "cluster", {"name": "c", "version": "1.35"})


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ((CLUSTER,), True),
        ((), False),  # somebody else's cluster has classes of its own
        ((CLUSTER, release("kata", "kata-deploy", "kata")), False),
        ((CLUSTER, obj("node.k8s.io/v1", "RuntimeClass", "kata", handler="kata")), False),
    ],
)
def test_a_runtime_class_that_others_may_make(beside, told):
    rules = {finding.rule for finding in findings([obj("v1", "Namespace", "web"), DEPLOYED, *beside], CONTEXT)}
    assert ("reference-runtime-class" in rules) is told
