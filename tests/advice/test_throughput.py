"""Utilisation: the table is met, the rules between and beyond it hold."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.advice.published import drawn
from trainyard.advice import throughput
from trainyard.advice.architectures import shape
from trainyard.advice.hardware import gpus, machines
from trainyard.advice.throughput import COMPILED, bus_gb_per_s, count_factor, utilisation

TABLE = Path(throughput.__file__).with_name("mfu.csv")


def rows():
    with TABLE.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['gpu']}-{row['gpus']}-{row['params']}")
def test_the_model_of_the_table_stays_within_five_points_of_it(row):
    assert drawn(row) * 100 == pytest.approx(float(row["mfu_percent"]), abs=5)


@given(st.sampled_from(["A100-40GB", "A100-80GB", "H100"]), st.floats(125e6, 70e9))
def test_typical_is_the_table_on_one_node_and_torchtitans_share_of_it_on_many(gpu, params):
    of_table = utilisation(gpus()[gpu], params, 8).mfu.typical
    assert of_table == pytest.approx(throughput.curve(gpu, params))
    for count in (64, 512):
        expected = of_table * count_factor(count) * COMPILED
        assert utilisation(gpus()[gpu], params, count).mfu.typical == pytest.approx(expected)
    assert throughput.practice(8) == throughput.practice(1024) == throughput.practice(20_000) == 1


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_less_of_the_time_trains_on_more_gpus(few, more):
    less, much = throughput.goodput(max(few, more)), throughput.goodput(min(few, more))
    assert less.typical <= much.typical
    assert less.high == much.high == 1


def test_a_longer_sequence_costs_what_a_decoder_computes():
    """Half of the attention matrix: at 2,048 the table's own time, at 32k less than twice of it for 7B."""
    model = shape(6.7e9)
    assert model.flops_per_token(32_768) / model.flops_per_token(2_048) < 1.7
    assert throughput.attention_recounted(6.7e9, 2048) == pytest.approx(0.963, abs=0.003)


def test_count_factors_are_the_tables_own_ratios():
    (_, one), (_, at_128), (_, at_512) = throughput.count_factors()
    assert one == 1
    assert at_128 == pytest.approx(50 / 51)
    assert at_512 == pytest.approx(50 / 51 * 42 / 46)


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_more_gpus_are_never_better_used(few, more):
    assert count_factor(max(few, more)) <= count_factor(min(few, more))


@given(st.sampled_from(sorted(gpus())), st.floats(1e7, 1e12), st.integers(1, 4096))
def test_utilisation_is_a_range_below_the_peak(name, params, count):
    gpu = gpus()[name]
    if gpu.peak_tflops("bf16") is None and gpu.peak_tflops("fp16") is None:
        return
    got = utilisation(gpu, params, count)
    assert 0 < got.mfu.low <= got.mfu.typical <= got.mfu.high <= 0.9
    assert got.within == (count <= 512)
    assert got.measured == (name in {"A100-40GB", "A100-80GB", "H100"})


def test_a_gpu_without_measurements_is_wider_and_not_better_than_the_h100():
    known, unknown = (utilisation(gpus()[name], 7e9, 8).mfu for name in ("H100", "L40S"))
    assert unknown.typical < known.typical
    assert unknown.high / unknown.low > known.high / known.low


def test_the_network_between_nodes_bounds_the_bus():
    p4d, g6 = (next(item for item in machines("aws") if item.type == name) for name in ("p4d.24xlarge", "g6.12xlarge"))
    assert bus_gb_per_s(p4d, 1) == pytest.approx(234)  # 235 GB/s published for 8 A100
    assert 30 < bus_gb_per_s(p4d, 2) < 57  # 57 and 32 GB/s published for two and three p4d
    assert bus_gb_per_s(g6, 2) < bus_gb_per_s(g6, 1) == 10
