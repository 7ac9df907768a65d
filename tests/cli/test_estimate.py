"""`trainyard estimate`: what it prints for hardware that is given, and what it refuses."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from trainyard.cli.estimate import estimate

app = typer.Typer()
app.command()(estimate)

SEVEN = ["--params", "7B", "--tokens", "1T"]


def run(*options):
    return CliRunner().invoke(app, [str(option) for option in options])


def test_hours_and_memory_of_any_number_of_gpus():
    result = run(*SEVEN, "--gpu", "A100-80GB", "--gpus", 256)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "language: 7B parameters, 1T tokens · bf16 · 256 × A100-80GB"
    assert max(len(line.rstrip()) for line in lines) <= 100
    assert "GPU hours" in result.stdout
    assert any(line.startswith("FSDP, recompute") and line.rstrip().endswith("fits") for line in lines)
    assert any(line.startswith("DDP ") and "GiB over" in line for line in lines)


def test_an_instance_type_has_its_cost():
    result = run(*SEVEN, "--instance", "p4de.24xlarge", "--nodes", 32)
    assert result.exit_code == 0
    assert "32 × p4de.24xlarge" in result.stdout
    assert {"spot", "on-demand"} <= {line.split()[0] for line in result.stdout.splitlines() if line}


def test_what_does_not_fit_ends_with_one_and_says_by_how_much():
    result = run("--params", "7B", "--tokens", "1B", "--gpu", "A100-80GB")
    assert result.exit_code == 1
    assert "do not fit 1 A100-80GB" in " ".join(result.stdout.split())
    assert "54 GiB over" in result.stdout


def test_json_has_the_three_hours_and_a_verdict_for_every_way():
    data = json.loads(run(*SEVEN, "--gpu", "H100", "--gpus", 64, "--json", "-").stdout)
    assert data["fits"] is True
    assert data["training_hours"]["typical"] < data["hours"]["typical"]
    assert data["gpu_hours"]["typical"] == pytest.approx(64 * data["training_hours"]["typical"], rel=1e-4)
    strategies = {(row["strategy"], row["recompute"]) for row in data["memory"]}
    assert len(strategies) == 10
    refused = json.loads(run("--params", "70B", "--tokens", "1B", "--gpu", "L4", "--json", "-").stdout)
    assert refused["fits"] is False
    assert refused["hours"] is None
    assert "70B parameters do not fit 1 L4" in refused["refusal"]


def test_a_measured_share_of_the_peak_replaces_the_tables():
    given = [
        "--gpu",
        "H100",
        "--gpus",
        8,
        "--json",
        "-",
        "--params",
        "1B",
        "--tokens",
        "20B",
        "--sequence-length",
        2048,
    ]
    data = json.loads(run(*given, "--mfu", 0.5).stdout)
    assert data["fit"]["mfu"] == {"low": 0.5, "typical": 0.5, "high": 0.5}
    rate = data["fit"]["tokens_per_second"]["typical"]
    model = data["model"]
    per_token = 6 * model["active_params"] + 6 * model["layers"] * model["hidden"] * 2048
    assert rate == pytest.approx(8 * 989e12 * 0.5 / per_token, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "strategy"),
    [("ddp", "DDP"), ("zero-2", "ZeRO-2"), ("fsdp", "FSDP"), ("zero-3", "FSDP"), ("offload", "FSDP + offload")],
)
def test_a_strategy_narrows_the_ways(name, strategy):
    options = ["--gpu", "A100-80GB", "--gpus", 8, "--json", "-", "--params", "1B", "--tokens", "1B"]
    data = json.loads(run(*options, "--strategy", name, "--no-recompute", "--micro-batch", 2).stdout)
    assert [(row["strategy"], row["recompute"], row["micro_batch"]) for row in data["memory"]] == [(strategy, False, 2)]
    assert data["fit"]["strategy"] == strategy
    assert data["fit"]["micro_batch"] == 2


def test_a_smaller_optimizer_and_16_bit_states_take_less():
    def needed(*options):
        given = ["--gpu", "A100-80GB", "--strategy", "ddp", "--no-recompute", "--json", "-", "--tokens", "1B"]
        return json.loads(run("--params", "3B", *given, *options).stdout)["memory"][0]["states_gib"]

    full, eight_bit, pure = needed(), needed("--optimizer", "adamw-8bit"), needed("--precision", "bf16-true")
    assert full == pytest.approx(18 * 3e9 / 2**30, rel=1e-4)
    assert eight_bit == pytest.approx(12 * 3e9 / 2**30, rel=1e-4)
    assert pure == pytest.approx(8 * 3e9 / 2**30, rel=1e-4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--params", "7x", "--gpu", "H100"], "--params: got 7x; must be a number like 7e9"),
        ([*SEVEN], "give either --instance or --gpu"),
        ([*SEVEN, "--gpu", "H100", "--instance", "p5.48xlarge"], "give either --instance or --gpu"),
        ([*SEVEN, "--gpu", "H10"], "did you mean H100?"),
        ([*SEVEN, "--instance", "p5.24xlarge"], "must be a GPU instance type of aws"),
        ([*SEVEN, "--instance", "p5.48xlarge", "--gpus", 8], "--gpus: got 8; is for --gpu"),
        ([*SEVEN, "--gpu", "H100", "--nodes", 8], "--nodes: got 8; is for --instance"),
        ([*SEVEN, "--gpu", "H100", "--gpus", 12], "must be whole nodes of 8"),
        ([*SEVEN, "--gpu", "H100", "--mfu", 42], "must be a share between 0 and 1"),
        ([*SEVEN, "--gpu", "H100", "--strategy", "zero"], "must be one of ddp, zero-2"),
        ([*SEVEN, "--gpu", "H100", "--optimizer", "adam"], "did you mean adamw?"),
        ([*SEVEN, "--gpu", "H100", "--lora-rank", 8], "is for the tasks lora and qlora"),
        ([*SEVEN, "--gpu", "H100", "--layers", 8], "--hidden: got nothing; --layers and --hidden"),
    ],
)
def test_mistakes_are_named_and_end_with_two(options, said):
    result = run(*options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_all_mistakes_at_once():
    result = run("--params", "7x", "--tokens", "1T", "--precision", "int4", "--mfu", 2)
    assert result.stderr.startswith("error: 4 problems")
    for key in ("--params", "--precision", "--mfu", "--instance"):
        assert f"  {key}: got" in result.stderr
