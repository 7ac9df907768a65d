"""What a stack tells of its smoke jobs: enough to find out how each ended, and nothing that waits for one."""

import shlex

import pytest

from tests.conftest import WITH_CLUSTERS
from tests.shared import ROOT
from trainyard.plan.resolve import resolve_stack
from trainyard.recorded.model import UNKNOWN


@pytest.mark.parametrize("stack", WITH_CLUSTERS)
def test_every_proof_is_an_output_that_is_known_before_it_has_run(stack, rehearsed):
    found = rehearsed(stack)
    (cluster,) = resolve_stack(ROOT, stack).plan.clusters
    told = found.preview.stack_outputs["smokeProofs"]
    slices = {
        each.name.removesuffix("-job").removeprefix("smoke-")
        for each in found.resources
        if each.component.startswith("smoke-") and each.inputs.get("metadata", {}).get("name", "").startswith("slice-")
        and each.name.endswith("-job")
    }  # fmt: skip
    assert bool(slices) == (stack == "large-gcp")
    jobs = {job.name: job for job in cluster.smoke.jobs}
    assert told.keys() == jobs.keys() | slices == found.preview.stack_outputs["smokeJobs"].keys()
    for name, proof in told.items():
        assert UNKNOWN not in proof.values(), "an output that waits for a proof takes all others along where it fails"
        if name in jobs:
            assert proof["waitedFor"] is (jobs[name].capacity not in cluster.smoke.advisory)
        command = shlex.split(proof["verdict"])
        assert command[:3] == ["kubectl", "get", "job"]
        (made,) = (each for each in found.resources if each.component == f"smoke-{name}" and each.name.endswith("-job"))
        metadata = made.inputs["metadata"]
        assert (command[4], command[5]) == (proof["namespace"], proof["job"])
        assert (metadata["namespace"], metadata["name"]) == (proof["namespace"], proof["job"])
