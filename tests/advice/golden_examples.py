"""The recommender's examples in the README, as they print. `make golden` writes them anew; a test holds them.

Today is fixed, so that the ages of prices do not change the text.
"""

from __future__ import annotations

import shlex
from datetime import date
from unittest import mock

import typer
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.advice import Request, compare, recommend
from trainyard.cli.estimate import estimate as estimate_command
from trainyard.cli.recommend_text import as_text

TODAY = date(2026, 11, 21)
FOLDER = ROOT / "tests" / "golden" / "recommend"

EXAMPLES: dict[str, tuple[str, Request, bool]] = {
    "pretrain-7b": (
        "--params 7e9 --tokens 1e12 --deadline 30d --cloud aws",
        Request(today=TODAY, params=7e9, tokens=1e12, deadline_hours=720, cloud="aws"),
        False,
    ),
    "small-model": (
        "--architecture gpt2-124m --tokens 10B --deadline 2d",
        Request(today=TODAY, architecture="gpt2-124m", tokens=10e9, deadline_hours=48),
        False,
    ),
    "lora": (
        "--architecture llama-3-8b --task lora --tokens 50M --epochs 3 --deadline 12h",
        Request(today=TODAY, architecture="llama-3-8b", task="lora", tokens=50e6, epochs=3, deadline_hours=12),
        False,
    ),
    "fine-tune-gcp": (
        "--architecture llama-3-8b --task fine-tune --dataset-size 2GB --epochs 2 --deadline 2d --cloud gcp --no-spot",
        Request(
            today=TODAY,
            architecture="llama-3-8b",
            task="fine-tune",
            dataset_gb=2,
            epochs=2,
            deadline_hours=48,
            cloud="gcp",
            spot=False,
        ),
        False,
    ),
    "vision": (
        "--architecture resnet-50 --task vision --images 1.28M --epochs 90 --deadline 1d",
        Request(today=TODAY, architecture="resnet-50", task="vision", images=1.28e6, epochs=90, deadline_hours=24),
        False,
    ),
    "uae": (
        "--architecture vit-l-16 --task vision --images 14M --epochs 30 --deadline 7d --region me-central-1",
        Request(
            today=TODAY,
            architecture="vit-l-16",
            task="vision",
            images=14e6,
            epochs=30,
            deadline_hours=168,
            region="me-central-1",
        ),
        False,
    ),
    "sweep": (
        "--params 300M --tokens 6B --sweep 20 --deadline 7d --monthly-runs 4 --budget 20k",
        Request(today=TODAY, params=300e6, tokens=6e9, sweep=20, deadline_hours=168, monthly_runs=4, budget_usd=20e3),
        False,
    ),
    "compare": (
        "--params 7B --tokens 300B --monthly-runs 1 --compare",
        Request(today=TODAY, params=7e9, tokens=300e9, monthly_runs=1),
        True,
    ),
    "refused": (
        "--params 400B --tokens 2T --deadline 60d",
        Request(today=TODAY, params=400e9, tokens=2e12, deadline_hours=1440),
        False,
    ),
}


ESTIMATES: dict[str, str] = {
    "estimate-instances": "--params 7B --tokens 1T --instance p4de.24xlarge --nodes 32",
    "estimate-gpus": "--params 65B --tokens 1.4T --gpu A100-80GB --gpus 2048",
    "estimate-qlora": "--architecture llama-3-8b --task qlora --tokens 20M --gpu A10G",
    "estimate-too-large": "--params 7B --tokens 1B --gpu A100-80GB",
}
"""Of `trainyard estimate`."""


def _estimate_text(options: str) -> str:
    app = typer.Typer()
    app.command()(estimate_command)
    with mock.patch("trainyard.cli.estimate.date") as clock:
        clock.today.return_value = TODAY
        shown = CliRunner().invoke(app, shlex.split(options)).stdout
    return "\n".join(line.rstrip() for line in shown.splitlines()) + "\n"


def examples() -> dict[str, str]:
    """File name to text of every example, its command in the first line."""
    texts = {}
    for name, (options, request, with_comparison) in EXAMPLES.items():
        result = recommend(request)
        comparison = compare(result, {}) if with_comparison else None
        texts[f"{name}.txt"] = f"$ trainyard recommend {options}\n{as_text(result, comparison)}"
    for name, options in ESTIMATES.items():
        texts[f"{name}.txt"] = f"$ trainyard estimate {options}\n{_estimate_text(options)}"
    return texts


def write() -> None:
    """Writes the golden files anew and removes those of examples that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = examples()
    for old in FOLDER.glob("*.txt"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
