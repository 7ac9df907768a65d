"""A program without a mistake: no false alarm, the engine's rules of what is known, a stable and masked record."""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rehearsal.conftest import GOOD, Run
from trainyard.output import WIDTH, as_text
from trainyard.problems import SettingsError
from trainyard.recorded.model import UNKNOWN, Secret, leaves
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.reports.page import as_html
from trainyard.review.reports.terminal import report
from trainyard.review.review import Review


@pytest.fixture(scope="module")
def good() -> Rehearsal:
    return rehearse(GOOD, "demo")


def inputs(recording: Recording, type_: str, name: str) -> Any:
    (found,) = [resource for resource in recording.of_type(type_) if resource.name == name]
    return found.inputs


DOES_NOT_WORK = {
    "paths-api-unreachable",  # an endpoint inside, and nobody inside
    "paths-dns-of-vpc",  # a VPC as AWS makes it
    "paths-nodes-cut-off",  # no way out of it, and no endpoint
    "paths-image-out-of-reach",  # nor to where a chart has its images
    "rights-role-untrusted",  # one role for control plane and nodes, which only the nodes may take
    "rights-role-lacks",  # and which has no policy
    "placement-no-node",  # all nodes have the taint of GPUs
    "reference-kind-order",  # a flavor before Kueue
    "charts-repository",  # whose chart is named without where it is published
}
"""What is wrong with the small program that no cloud would refuse. The example stacks are those that work."""


def test_no_false_alarm(good: Rehearsal) -> None:
    assert {finding.rule for finding in good.errors} == DOES_NOT_WORK
    (unseen,) = (finding for finding in good.findings if finding.level == "warning")
    assert (unseen.level, unseen.rule) == ("warning", "unseen-settings")
    assert "only the engine can decrypt: token" in unseen.message


def test_what_a_first_preview_knows(good: Rehearsal) -> None:
    outputs = good.preview.stack_outputs
    assert outputs["role"].startswith("nodes-") and len(outputs["role"]) == len("nodes-") + 7, "set by Check"
    assert outputs["bucket"].startswith("storage-data-"), "in lower case"
    assert outputs["subnets"] is UNKNOWN, "ids of what is to be made"
    assert outputs["config"] is UNKNOWN, "a block with an unknown part, as a whole"
    assert outputs["object"] is UNKNOWN, "everything of a provider that is not configured yet"
    assert outputs["group"] is outputs["secret"] is UNKNOWN
    role = inputs(good.preview, "aws:iam/role:Role", "nodes")
    assert role["tagsAll"] == {"client": "acme", "account": "111122223333"}
    namespace = inputs(good.preview, "kubernetes:core/v1:Namespace", "team")
    assert "name" not in namespace["metadata"], "no Check, no automatic name"
    group = inputs(good.preview, "aws:eks/nodeGroup:NodeGroup", "system")
    assert group["launchTemplate"] == {"id": UNKNOWN, "version": UNKNOWN}


def test_what_is_made_has_the_clouds_shapes(good: Rehearsal) -> None:
    outputs = good.outputs
    assert outputs["group"].startswith("eks-system-")
    assert outputs["secret"].startswith("arn:aws:secretsmanager:us-west-2:111122223333:secret:rds!db-")
    assert all(subnet.startswith("subnet-") and len(subnet) == 24 for subnet in outputs["subnets"])
    assert outputs["config"]["clusterSecurityGroupId"].startswith("sg-")
    assert isinstance(outputs["password"], Secret)
    namespace = inputs(good.known, "kubernetes:core/v1:Namespace", "team")
    assert namespace["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}
    assert not [path for resource in good.resources for path, value, _ in leaves(resource.inputs) if value is UNKNOWN]


def test_components_protection_and_order(good: Rehearsal) -> None:
    bucket = next(resource for resource in good.resources if resource.name == "storage-Data")
    assert bucket.component == "storage"
    assert bucket.urn == "urn:pulumi:demo::mini::mini:index:Storage$aws:s3/bucket:Bucket::storage-Data"
    assert bucket.protect
    assert [resource.urn for resource in good.resources] == sorted(resource.urn for resource in good.resources)
    assert good.settings == {"region": "us-west-2", "nodes": 2} and good.plan == {"zones": ["a", "b"]}


def test_record_is_json_masked_and_the_same_each_time(good: Rehearsal) -> None:
    first, second = good.as_json(), rehearse(GOOD, "demo").as_json()
    assert set(first) == {
        *("stack", "settings", "plan", "resources", "outputs", "findings", "critical_path", "seconds"),
    }
    del first["seconds"], second["seconds"]
    text = json.dumps(first)
    assert text == json.dumps(second)
    assert "rehearsed-" not in text and "[secret]" in text
    credentials = next(resource for resource in first["resources"] if resource["name"] == "credentials")
    assert credentials["inputs"]["stringData"] == "[secret]"


def test_leaves_no_trace_in_the_process(good: Rehearsal) -> None:
    before = (Path.cwd(), list(sys.path), os.environ.get("PULUMI_ERROR_OUTPUT_STRING"))
    rehearse(GOOD, "demo")
    assert (Path.cwd(), list(sys.path), os.environ.get("PULUMI_ERROR_OUTPUT_STRING")) == before
    assert "parts" not in sys.modules


def test_critical_path_follows_the_dependencies(good: Rehearsal) -> None:
    by_urn = {resource.urn: resource for resource in good.resources}
    steps = good.critical_path
    assert steps and steps[-1].finish == pytest.approx(sum(step.seconds for step in steps))
    for earlier, later in itertools.pairwise(steps):
        provider = by_urn[later.urn].provider.rsplit("::", 1)[0]
        reached = {*by_urn[later.urn].dependencies, *by_urn.get(provider, by_urn[later.urn]).dependencies}
        assert earlier.urn in reached


def test_report_fits_and_hides_secrets(good: Rehearsal) -> None:
    review = Review("", good, None, None, good.seconds)
    text, page = as_text(lambda out: out.print(report(review, tree=True))), as_html(review)
    assert max(map(len, text.splitlines())) <= WIDTH and "\x1b" not in text
    assert "Storage" in text and "Critical path" in text and "only the engine can decrypt: token" in text
    assert "Critical path" in page and '<svg class="picture' in page and "<script" not in page and "http" not in page
    assert "rehearsed-secret" not in text + page


def test_configuration_that_the_engine_refuses(run: Run) -> None:
    declared = """
    config:
      nodes: { type: integer }
      zones: { type: array, items: { type: string } }
      token: { type: string, secret: true }
      region: { type: string }
    """
    with pytest.raises(SettingsError) as caught:
        run("", declared=declared, config="config: {mini:nodes: many, mini:zones: [[a]], mini:token: clear}")
    assert {(problem.key, problem.got) for problem in caught.value.problems} == {
        ("nodes", '"many"'),
        ("zones", "a list of 1"),
        ("token", "a value in the clear"),
        ("region", "nothing"),
    }


def test_settings_that_the_program_refuses(run: Run) -> None:
    program = """
    from trainyard.problems import Problem, SettingsError
    try:
        raise SettingsError([Problem("teamSize", "0", "must be at least 1")])
    except SettingsError as error:
        raise pulumi.RunError("wrong") from error
    """
    with pytest.raises(SettingsError, match="teamSize: got 0"):
        run(program)


def test_a_stack_that_is_not_there() -> None:
    with pytest.raises(SettingsError, match="must be one of demo"):
        rehearse(GOOD, "prod")


def test_overrides_reach_the_program() -> None:
    assert rehearse(GOOD, "demo", config_overrides={"nodes": 5}).settings["nodes"] == 5
