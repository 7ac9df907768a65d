"""A small team on Google Cloud gets a cluster: nothing that holds data is replaced, and its runs stay."""

import pytest

from tests.rehearsal.change.changing import between, told
from tests.shared import ROOT
from tests.stacks.test_growth import grown, steps_that_take_nothing_away
from trainyard.plan.resolve import resolve_stack
from trainyard.recorded.types import GCP_BUCKET, GCP_CRYPTO_KEY, GKE_CLUSTER
from trainyard.rehearsal.change.model import Operation
from trainyard.rehearsal.rehearse import rehearse

STACK = "small-gcp"
TEAMS = [{"name": "research", "members": 6, "principals": ["group:research@hooli.example"]}]
HOLDS = {GCP_BUCKET, GCP_CRYPTO_KEY, "gcp:vertex/aiTensorboard:AiTensorboard",
         "gcp:vertex/aiMetadataStore:AiMetadataStore", "gcp:artifactregistry/repository:Repository"}  # fmt: skip


@pytest.fixture(scope="module")
def small():
    return rehearse(ROOT, STACK)


def test_growing_makes_and_changes_but_takes_nothing_away(small, tmp_path):
    beside = grown(tmp_path, STACK, teams=TEAMS, managed={"beside": True})
    steps, kept = steps_that_take_nothing_away(small, beside)
    assert kept >= {*HOLDS, "gcp:billing/budget:Budget", "gcp:compute/network:Network"}
    assert [step for step in steps[Operation.CREATE] if step.type == GKE_CLUSTER]
    assert not [step.type for step in steps[Operation.CREATE] if step.type in HOLDS]
    assert beside.outputs["tensorboard"] == small.outputs["tensorboard"]


@pytest.mark.parametrize("enabled", [True, False])
def test_googles_agent_for_custom_code_gets_a_right_where_a_job_has_made_it(tmp_path, enabled):
    beside = grown(tmp_path, STACK, teams=TEAMS, managed={"beside": True}, smoke={"enabled": enabled})
    pullers = {one.name for one in beside.known.resources if one.name.startswith("custom-code-agent-")}
    assert ("custom-code-agent-jobs-images" in pullers) is enabled
    assert "custom-code-agent-service-images" in pullers


def test_without_that_what_holds_data_is_named(small, tmp_path):
    change = between(small.known.resources, grown(tmp_path, STACK, teams=TEAMS).known.resources)
    gone = {step.resource.name for step in change.steps if step.operation is Operation.DELETE and step.resource.protect}
    assert gone == {"tracking-store", "tracking-curves", "hooli-research-images"}
    assert told(change)["change-protected"] == "error"


def test_the_idle_floor_of_the_smallest_team():
    floor = resolve_stack(ROOT, STACK).plan.core.idle_floor
    assert not floor.unpriced
    assert 5 < floor.monthly_usd < 12, "about 10 USD a month"
    (growth,) = (found for found in resolve_stack(ROOT, STACK).plan.core.decisions if found.key == "growth.idle_floor")
    assert str(growth.value).endswith(f"in place of {floor.monthly_usd:,.0f}")


@pytest.mark.parametrize("enabled", [True, False])
def test_what_is_lost_without_mlflow_is_said(tmp_path, enabled):
    """Vertex AI Experiments take its place; who tracks nothing loses nothing."""
    file = tmp_path / f"Pulumi.{STACK}.yaml"
    text = (ROOT / "stacks" / file.name).read_text() + f"  trainyard:mlflow: {{ enabled: {str(enabled).lower()} }}\n"
    file.write_text(text)
    said = [each for each in resolve_stack(ROOT, file).plan.core.decisions if each.key == "managed.not_tracked"]
    assert bool(said) is enabled
    assert all("no MLflow" in str(found.value) and "a new history" in str(found.value) for found in said)
