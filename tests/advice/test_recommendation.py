"""The ranking: what must hold for every request, what is refused, and what it says of itself."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.advice.asking import TODAY, ask
from trainyard.advice import Request, recommend, recommendation
from trainyard.advice.hardware import machines
from trainyard.advice.report.as_json import recommendation_as_json
from trainyard.advice.right_sizing import guides
from trainyard.problems import SettingsError

requests = st.builds(
    Request,
    today=st.just(TODAY),
    task=st.sampled_from(["language", "fine-tune", "lora"]),
    params=st.floats(1e7, 1e11),
    tokens=st.floats(1e7, 1e12),
    precision=st.sampled_from(["bf16", "fp16", "fp32"]),
    deadline_hours=st.floats(1, 3000),
    monthly_runs=st.none() | st.floats(0.1, 50),
    sweep=st.sampled_from([1, 1, 7, 50]),
    cloud=st.sampled_from(["aws", "gcp"]),
    max_nodes=st.none() | st.integers(1, 60),
    spot=st.none() | st.booleans(),
)
few = settings(max_examples=40, deadline=None)


@few
@given(requests, st.floats(1, 10))
def test_a_longer_deadline_never_costs_more(request, longer):
    sooner = recommend(request)
    later = recommend(dataclasses.replace(request, deadline_hours=min(request.deadline_hours * longer, 26_000)))
    if sooner.best is not None:
        assert later.best is not None
        assert later.best.cost_usd.typical <= sooner.best.cost_usd.typical * (1 + 1e-9)


@few
@given(requests, st.floats(1, 1e7), st.floats(1, 5))
def test_a_larger_budget_never_refuses_what_a_smaller_allows(request, budget, more):
    small = recommend(dataclasses.replace(request, budget_usd=budget))
    large = recommend(dataclasses.replace(request, budget_usd=budget * more))
    if small.best is not None:
        assert large.best is not None
        assert large.best.cost_usd.typical <= small.best.cost_usd.typical
        spend = small.best.monthly_usd or small.best.cost_usd
        assert spend.typical <= budget


@few
@given(requests)
def test_ranges_hold_their_typical_and_units_agree(request):
    result = recommend(request)
    assert bool(result.options) != bool(result.refusal)
    for option in result.options:
        assert 0 < option.hours.low <= option.hours.typical <= option.hours.high
        assert 0 < option.cost_usd.low <= option.cost_usd.typical <= option.cost_usd.high
        assert option.meets_deadline
        assert option.hours.typical <= result.deadline_hours
        assert option.may_be_late == (option.hours.high > result.deadline_hours)
        assert (option.monthly_usd is None) == (request.monthly_runs is None)
        if option.monthly_usd is not None:
            assert option.monthly_usd.typical == pytest.approx(option.cost_usd.typical * request.monthly_runs)
        if not option.price.months and request.sweep == 1:
            hourly = option.nodes * option.price.usd_per_hour.typical
            block = option.price.block
            paid = block.paid_hours(option.hours.typical) if block else option.hours.typical
            assert option.cost_usd.typical == pytest.approx(paid * hourly)
            assert paid >= option.hours.typical
        if request.max_nodes is not None:
            assert option.nodes * option.copies <= max(request.max_nodes, 1)
        if request.spot is not None:
            assert (option.capacity == "spot") == request.spot
        for driver in result.drivers:
            assert driver.factor_low <= 1 <= driver.factor_high


@few
@given(requests)
def test_the_same_request_gives_the_same_answer_as_valid_json(request):
    texts = [recommendation_as_json(recommend(request)) for _ in range(2)]
    assert texts[0] == texts[1]
    data = json.loads(texts[0])
    assert data["currency"] == "USD"
    assert (data["refusal"] is None) == bool(data["options"])


def test_more_memory_never_turns_a_request_infeasible(monkeypatch):
    before = {(point.machine.type, point.nodes, point.capacity) for point in ask(params=13e9).points}

    def larger(cloud):
        return tuple(
            dataclasses.replace(item, gpu_memory_gib=item.gpu_memory_gib * 1.3, memory_gib=item.memory_gib * 1.3)
            for item in machines(cloud)
        )

    monkeypatch.setattr(recommendation, "machines", larger)
    after = {(point.machine.type, point.nodes, point.capacity) for point in ask(params=13e9).points}
    assert before < after


@pytest.mark.parametrize("row", guides(), ids=lambda row: row.advice)
def test_the_guides_right_sizing_table_is_met(row):
    """Each GPU of the row trains a model of the row's size, and the ranking agrees or says that others cost less."""
    params = {0: 50e6, 100e6: 400e6, 1e9: 7e9, 10e9: 20e9}[row.above_params]
    result = ask(params=params, tokens=20 * params, deadline_hours=24 * 60)
    fitting = {point.machine.gpu.name for point in result.points}
    assert set(row.gpus) <= fitting
    assert row.advice in result.opinion
    if row.several:
        assert all(point.gpus > 1 for point in result.points if point.fit.strategy != "FSDP + offload")
        assert result.best.gpus > 1
    if params > 100e6:
        assert any(option.machine.gpu.name in row.gpus for option in result.options)
    else:
        assert any(point.gpus == 1 and point.machine.gpu.name in row.gpus for point in result.points)


def test_spot_costs_less_and_is_interrupted_more_often():
    spot, steady = ask(spot=True, params=7e9, tokens=1e11), ask(spot=False, params=7e9, tokens=1e11)
    assert spot.best.cost_usd.typical < steady.best.cost_usd.typical
    on_spot = next(point for point in spot.points if point.machine.type == "p5.48xlarge" and point.nodes == 4)
    on_demand = next(
        point
        for point in steady.points
        if (point.machine.type, point.nodes, point.capacity) == ("p5.48xlarge", 4, "on-demand")
    )
    assert on_spot.interruptions.expected.typical > on_demand.interruptions.expected.typical
    assert on_spot.interruptions.interval_minutes < on_demand.interruptions.interval_minutes
    assert on_spot.hours.typical > on_demand.hours.typical


def test_a_commitment_is_only_offered_where_it_pays():
    once = ask(spot=False, tokens=20e9)
    assert {point.capacity for point in once.points} == {"on-demand", "capacity-block"}
    often = ask(spot=False, tokens=20e9, monthly_runs=60, deadline_hours=72)
    reserved = [point for point in often.points if point.price.months]
    assert reserved
    for point in reserved:
        same = (point.machine.type, point.nodes, "on-demand")
        twin = next(item for item in often.points if (item.machine.type, item.nodes, item.capacity) == same)
        assert point.cost_usd.typical < twin.cost_usd.typical


def test_a_sweep_runs_as_many_trials_at_once_as_the_deadline_needs():
    result = ask(params=300e6, tokens=6e9, sweep=20, deadline_hours=8, spot=True)
    assert result.best.copies > 1
    assert result.best.hours.typical <= 8
    one = ask(params=300e6, tokens=6e9, deadline_hours=24, spot=True)
    alone = next(
        point for point in one.points if (point.machine, point.nodes) == (result.best.machine, result.best.nodes)
    )
    assert result.best.cost_usd.typical == pytest.approx(20 * alone.cost_usd.typical)
    assert result.best.cost_usd.low < 20 * alone.cost_usd.low  # early stopping


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"task": "tabular"}, "tabular training has no formula here"),
        ({"deadline_hours": 1, "params": 70e9, "tokens": 1e12}, "nothing in us-east-1 is done within 1 h"),
        ({"budget_usd": 1, "tokens": 1e12}, "costs at most 1 USD"),
        ({"region": "af-south-1", "params": 70e9, "max_nodes": 1}, "fits no allowed number of instances"),
        (
            {"architecture": "resnet-50", "task": "vision", "images": 1e6, "region": "me-central-1"},
            "was measured on A100-40GB, A100-80GB, H100 only",
        ),
    ],
)
def test_what_cannot_be_recommended_is_refused_with_the_reason(fields, text):
    result = ask(**fields)
    assert text in result.refusal
    assert result.options == ()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"architecture": "mixtral-8x7b"}, "mixture of experts"),
        ({"params": 100e9, "deadline_hours": 8000}, "above 70B parameters: the calibration ends there"),
        ({"params": 50e6}, "the calibration begins there"),
        ({"precision": "fp16"}, "the calibration is in bf16"),
        ({"sequence_length": 32_768}, "utilisation is lower on long ones"),
        ({"region": "eu-west-1"}, "prices are those of us-east-1"),
        ({"architecture": "vit-b-16", "task": "vision", "images": 1e6}, "the calibration has no images"),
    ],
)
def test_what_the_formulas_do_not_cover_is_flagged(fields, text):
    assert any(text in flag for flag in ask(**fields).flags)


def test_a_model_that_must_be_cut_says_so():
    result = ask(params=400e9, tokens=20e9, deadline_hours=8000)
    cut = [point for point in result.points if point.fit.tensor > 1]
    assert cut
    assert all(any("tensor and pipeline parallelism: by formula" in flag for flag in point.flags) for point in cut)


def test_a_capacity_block_is_paid_by_the_day_and_never_split():
    blocks = [point for point in ask(spot=False, tokens=20e9).points if point.price.block]
    assert blocks
    for point in blocks:
        days = math.ceil(point.hours.typical / 24 - 1e-9)
        assert point.cost_usd.typical == pytest.approx(days * 24 * point.nodes * point.price.usd_per_hour.typical)
        assert point.nodes <= 64 and days <= 182
        assert any(flag.startswith("capacity-block: bought ahead") for flag in point.flags)
    assert not any(point.price.block for point in ask(sweep=4).points)


def test_spot_without_a_published_interruption_rate_is_ranked_only_when_asked_for():
    def unproven(result):
        return {point.machine.type for point in result.points if point.price.unproven}

    result = ask(params=7e9)
    assert unproven(result) == set()
    assert any(line.startswith("p6-b200.48xlarge spot") for line in result.left_out)
    asked = ask(params=7e9, spot=True)
    assert "p6-b200.48xlarge" in unproven(asked)
    assert not any(" spot, about" in line for line in asked.left_out)


def test_more_gpus_than_the_calibration_are_flagged():
    result = ask(params=7e9, tokens=1e12, max_nodes=100, global_batch_tokens=8e6)
    flags = [flag for point in result.points if point.gpus > 512 for flag in point.flags]
    assert any("the calibration ends at 512" in flag for flag in flags)
    assert all(point.gpus <= 512 for point in ask(params=7e9, tokens=1e12, global_batch_tokens=8e6).points)


def test_active_parameters_make_the_time_and_all_of_them_the_memory():
    dense, sparse = ask(params=13e9), ask(params=13e9, active_params=3e9)
    pair = [
        next(point for point in result.points if point.machine.type == "p5en.48xlarge" and point.nodes == 2)
        for result in (dense, sparse)
    ]
    assert pair[1].hours.typical < 0.5 * pair[0].hours.typical
    assert pair[1].fit.states_gib == pytest.approx(pair[0].fit.states_gib, rel=0.01)


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        ({"params": None}, ["--params"]),
        ({"params": -1}, ["--params"]),
        ({"tokens": None}, ["--tokens"]),
        ({"dataset_gb": 5, "tokens": 1e9}, ["--tokens"]),
        ({"architecture": "llama-9"}, ["--architecture"]),
        ({"architecture": "vit-b-16"}, ["--task"]),
        ({"task": "vision", "images": 1e6}, ["--architecture"]),
        ({"task": "poetry", "cloud": "azure", "precision": "int8"}, ["--task", "--precision", "--cloud"]),
        ({"region": "us-esat-1"}, ["--region"]),
        ({"cloud": "gcp", "region": "us-east-1"}, ["--region"]),
        (
            {"epochs": 0, "sweep": 0, "max_nodes": 0, "budget_usd": 0},
            ["--epochs", "--sweep", "--budget", "--max-nodes"],
        ),
        ({"active_params": 2e9}, ["--active-params"]),
        ({"deadline_hours": 1e6, "monthly_runs": -1}, ["--deadline", "--monthly-runs"]),
        ({"sequence_length": 1, "global_batch_tokens": 1}, ["--sequence-length", "--global-batch"]),
    ],
)
def test_every_mistake_of_a_request_is_named_by_its_option(fields, keys):
    with pytest.raises(SettingsError) as caught:
        ask(**fields)
    assert [problem.key for problem in caught.value.problems] == keys


def test_the_driver_is_the_figure_that_moves_the_cost_most():
    result = ask(spot=True)
    swings = [driver.swing for driver in result.drivers]
    assert swings == sorted(swings, reverse=True)
    by_size = ask(dataset_gb=200)
    assert "tokens in the data set" in {driver.name for driver in by_size.drivers}
