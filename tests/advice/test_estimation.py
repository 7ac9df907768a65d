"""An estimate on given hardware: what it assumes, refuses and warns of, and that nothing falls out of range."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.advice.asking import TODAY
from trainyard.advice import Request, Ways, estimate
from trainyard.advice.architectures import architectures, shape
from trainyard.advice.fit import Work
from trainyard.advice.hardware import machine_of_type, nodes_with
from trainyard.advice.hours import STARTUP_HOURS
from trainyard.advice.recommendation import recommend
from trainyard.problems import SettingsError


def on(gpu, gpus, ways=None, *, per_node=8, network=None, **fields):
    node, nodes, assumed = nodes_with(gpu, gpus, per_node=per_node, network_gbps=network)
    wanted = {"today": TODAY, "params": 7e9, "tokens": 1e11} | fields
    return estimate(Request(**wanted), node, nodes, ways or Ways(), assumed)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(1e7, 3e11),
    st.floats(1e-3, 1e4),
    st.sampled_from(["A100-80GB", "H100", "L4", "B200"]),
    st.sampled_from([1, 2, 8, 24, 64, 1000, 2048]),
    st.sampled_from(["language", "fine-tune", "lora", "qlora"]),
)
def test_hours_are_in_order_and_never_below_nothing(params, dataset_gb, gpu, gpus, task):
    answer = on(gpu, gpus, params=params, tokens=None, dataset_gb=dataset_gb, task=task)
    assert (answer.fit is None) == bool(answer.refusal)
    if answer.training_hours is not None:
        assert 0 < answer.training_hours.low <= answer.training_hours.typical <= answer.training_hours.high
        start = answer.hours.typical - answer.training_hours.typical
        assert start == pytest.approx(STARTUP_HOURS.typical, abs=1e-6 * answer.hours.typical + 1e-9)
        chosen = [verdict for verdict in answer.verdicts if verdict.name == answer.fit.name]
        assert chosen and chosen[0].fits, "the way that is taken is in the table"


def test_twice_the_tokens_take_twice_as_long():
    once, twice = (on("H100", 64, tokens=tokens).training_hours.typical for tokens in (1e11, 2e11))
    assert twice == pytest.approx(2 * once, rel=0.01)


def test_idle_gpus_are_paid_for():
    """128 sequences on 96 GPUs take two rounds, as on 64; a rounded step takes no second round."""
    work = Work(architectures()["llama-2-7b"], 2048, 1e9, 128 * 2048.0, 6, None, "bf16")
    assert work.busy_share(64) == work.busy_share(128) == 1
    assert work.busy_share(96) == pytest.approx(2 / 3)
    rounded = Work(architectures()["llama-2-7b"], 2048, 1e9, 4e6, 6, None, "bf16")
    assert rounded.busy_share(2048) == pytest.approx(4e6 / 2048 / 2048)
    assert rounded.busy_share(1024) == pytest.approx(4e6 / 2048 / 1024 / 2)


def test_lora_keeps_the_whole_backward_pass_of_attention():
    model = architectures()["llama-2-7b"]
    attention = model.flops_per_token(32_768) - 6 * model.params
    assert model.flops_per_token(32_768, weights=4) == pytest.approx(4 * model.params + attention)


def test_an_encoder_looks_both_ways():
    bert = architectures()["bert-large"]
    assert bert.flops_per_token(512) == pytest.approx(6 * bert.params + 12 * bert.layers * bert.hidden * 512)


def test_the_shape_of_a_mixture_of_experts_is_that_of_what_a_token_uses():
    mixture = shape(671e9, 37e9)
    assert (mixture.layers, mixture.hidden) == (shape(37e9).layers, shape(37e9).hidden)
    assert mixture.layers % 4 == 0
    dense = 12 * mixture.layers * mixture.hidden**2 + mixture.vocabulary * mixture.hidden
    assert dense == pytest.approx(37e9, rel=0.03)


def test_offers_carry_the_caveats_of_their_prices():
    machine = machine_of_type("aws", "p6-b200.48xlarge")
    answer = estimate(Request(today=TODAY, params=7e9, tokens=1e11), machine, 1)
    flags = " ".join(answer.flags)
    assert "older than 180 days" in flags
    assert "spot without a published interruption rate" in flags
    assert "capacity-block: bought ahead" in flags
    elsewhere = estimate(Request(today=TODAY, params=7e9, tokens=1e11, region="us-west-2"), machine, 1)
    assert any("on-demand prices are those of us-east-1" in flag for flag in elsewhere.flags)


@pytest.mark.parametrize(
    ("cloud", "name", "region", "said"),
    [
        ("aws", "p6-b200.48xlarge", "eu-central-1", "p6-b200.48xlarge is sold in"),
        ("aws", "a3-highgpu-8g", None, "--cloud gcp"),
        ("aws", "p4d.24xlage", None, "did you mean p4d.24xlarge"),
    ],
)
def test_an_instance_that_is_not_sold_there_is_refused(cloud, name, region, said):
    with pytest.raises(SettingsError) as caught:
        estimate(Request(today=TODAY, params=1e9, tokens=1e9, region=region), machine_of_type(cloud, name), 1)
    assert said in " ".join(f"{problem.allowed} {problem.hint}" for problem in caught.value.problems)


def test_a_gpu_whose_peak_is_not_known_is_refused():
    with pytest.raises(SettingsError, match="peak is not established"):
        nodes_with("RTX PRO 6000", 8)


def test_refusals_say_what_is_in_the_way():
    tensor = Ways(strategies=("TP + PP",))
    assert "takes NVLink" in on("L4", 8, tensor).refusal
    assert on("A100-80GB", 8, precision="fp8").refusal == "A100-80GB has no fp8"
    few = on("H100", 64, Ways(strategies=("FSDP",)), global_batch_tokens=16 * 2048)
    assert {verdict.reason for verdict in few.verdicts} == {"under a sequence a GPU"}


def test_a_network_that_is_taken_as_measured_has_no_strategies():
    fields = {"params": None, "tokens": None, "architecture": "resnet-50", "task": "vision", "images": 1e6}
    assert on("A100-80GB", 8, **fields).training_hours is not None
    with pytest.raises(SettingsError, match="taken as measured"):
        on("A100-80GB", 8, Ways(mfu=0.5), **fields)


def test_a_step_of_images_counts_images():
    fields = {"params": None, "tokens": None, "architecture": "vit-b-16", "task": "vision", "images": 1e6}
    answer = on("H100", 8, global_batch_tokens=1024, **fields)
    assert answer.workload.work.batch_tokens == 1024 * 197
    assert any("4,096 images a step" in line for line in on("H100", 8, **fields).assumptions)


def test_the_low_end_of_a_sweep_is_no_shorter_than_a_trial():
    result = recommend(Request(today=TODAY, params=1e9, tokens=2e10, sweep=27, deadline_hours=24, spot=True))
    for point in result.points:
        assert point.hours.low > STARTUP_HOURS.low
        assert point.hours.low >= point.hours.typical / math.ceil(27 / point.copies) / 10
        assert point.copies * point.gpus <= 512, "the default bound holds for all trials together"
