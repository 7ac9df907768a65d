"""Cut models: the layouts, what they hold, and when they are taken."""

from __future__ import annotations

import dataclasses

import pytest

from tests.advice.published import machine
from trainyard.advice import model_parallel
from trainyard.advice.architectures import architectures
from trainyard.advice.fit import Ways, Work
from trainyard.advice.model_parallel import Layout
from trainyard.advice.parallelism import choose

SEVENTY = architectures()["llama-2-70b"]


def work(batch=4e6, lora=None):
    return Work(SEVENTY, 4096, 1e12, batch, 4 if lora else 6, lora, "bf16")


def test_a_layout_uses_every_gpu_and_keeps_a_layer_inside_a_node():
    node = machine("A100-80GB", 8, 400)
    found = list(model_parallel.layouts(SEVENTY, node, 16))
    assert found
    for layout in found:
        assert layout.tensor * layout.stages * layout.replicas == 128
        assert layout.tensor in (2, 4, 8)
        assert layout.stages <= SEVENTY.layers
    assert not list(model_parallel.layouts(SEVENTY, machine("L40S", 8, 400), 16)), "no NVLink"


def test_states_are_megatrons_with_its_distributed_optimizer():
    """6 bytes a parameter of the GPU's part and 12 over the replicas."""
    layout = Layout(tensor=8, stages=1, replicas=16)
    held = model_parallel.model_bytes(SEVENTY, work().states, layout)
    assert held == pytest.approx(SEVENTY.params / 8 * (6 + 12 / 16))


def test_the_fullest_stage_holds_an_embedding_beside_its_layers():
    embedding = SEVENTY.vocabulary * SEVENTY.hidden
    share = model_parallel.params_per_gpu(SEVENTY, Layout(8, 4, 4))
    assert share == pytest.approx(((SEVENTY.params - 2 * embedding) / 4 + embedding) / 8)
    assert 32 * share > SEVENTY.params


def test_adapters_share_the_frozen_weights_out():
    layout = Layout(8, 1, 1)
    states = work(lora=16).states
    trained = states.trained * states.bytes_per_param
    assert model_parallel.model_bytes(SEVENTY, states, layout) == pytest.approx((trained + 2 * SEVENTY.params) / 8)


def test_more_micro_batches_make_the_bubble_smaller():
    node = machine("A100-80GB", 8, 400)
    ways = Ways(strategies=("TP + PP",), recompute=(True,), micro_batch=1)
    small, large = (choose(work(batch), node, 32, ways) for batch in (1e6, 16e6))
    assert small is not None and large is not None
    assert small.mfu.typical < large.mfu.typical


def test_a_model_is_cut_only_where_the_network_holds_sharding_up():
    slow, fast = machine("A100-80GB", 8, 400), machine("A100-80GB", 8, 3200)
    cut, whole = choose(work(), slow, 64), choose(work(), fast, 64)
    assert cut is not None and cut.tensor > 1
    assert cut.name.startswith(f"TP {cut.tensor}")
    assert whole is not None and whole.tensor == 1


def test_a_step_with_less_than_a_sequence_a_gpu_must_be_cut():
    node = machine("H100", 8, 3200)
    few = work(batch=64 * 4096)
    found = choose(few, node, 32)
    assert found is not None and found.tensor > 1
    assert choose(few, node, 32, Ways(strategies=("FSDP",))) is None


def test_a_larger_memory_never_makes_a_cut_model_slower():
    node = machine("A100-40GB", 8, 400)
    ways = Ways(strategies=("TP + PP",))
    small = choose(work(), node, 32, ways)
    large = choose(work(), dataclasses.replace(node, gpu_memory_gib=80), 32, ways)
    assert small is not None and large is not None
    assert large.mfu.typical >= small.mfu.typical * 0.98
