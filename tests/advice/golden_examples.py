"""The recommender's examples in the README, as they print. `make golden` writes them anew; a test holds them.

Today is fixed, so that the ages of prices do not change the text.
"""

from __future__ import annotations

import shlex
from datetime import date
from unittest import mock

from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.output import WIDTH

TODAY = date(2026, 11, 21)
FOLDER = ROOT / "tests" / "golden" / "recommend"

EXAMPLES = {
    "pretrain-7b": "recommend --params 7e9 --tokens 1e12 --deadline 30d --cloud aws",
    "small-model": "recommend --architecture gpt2-124m --tokens 10B --deadline 2d",
    "lora": "recommend --architecture llama-3-8b --task lora --tokens 50M --epochs 3 --deadline 12h",
    "fine-tune-gcp": "recommend --architecture llama-3-8b --task fine-tune --dataset-size 2GB --epochs 2 --deadline 2d "
    "--cloud gcp --no-spot",
    "vision": "recommend --architecture resnet-50 --task vision --images 1.28M --epochs 90 --deadline 1d",
    "uae": "recommend --architecture vit-l-16 --task vision --images 14M --epochs 30 --deadline 7d "
    "--region me-central-1",
    "sweep": "recommend --params 300M --tokens 6B --sweep 20 --deadline 7d --monthly-runs 4 --budget 20k",
    "compare": "recommend --params 7B --tokens 300B --monthly-runs 1 --compare",
    "refused": "recommend --params 400B --tokens 2T --deadline 60d",
    "estimate-instances": "estimate --params 7B --tokens 1T --instance p4de.24xlarge --nodes 32",
    "estimate-gpus": "estimate --params 65B --tokens 1.4T --gpu A100-80GB --gpus 2048",
    "estimate-qlora": "estimate --architecture llama-3-8b --task qlora --tokens 20M --gpu A10G",
    "estimate-too-large": "estimate --params 7B --tokens 1B --gpu A100-80GB",
}
"""Name of the file to what is typed after `trainyard`."""


def examples() -> dict[str, str]:
    """File name to text of every example, its command in the first line."""
    texts = {}
    for name, command in EXAMPLES.items():
        with (
            mock.patch("trainyard.cli.training_options.date") as clock,
            mock.patch("trainyard.output.ENDLESS", WIDTH),  # as a person sees them on a terminal
        ):
            clock.today.return_value = TODAY
            shown = CliRunner().invoke(app, shlex.split(command)).stdout
        lines = [f"$ trainyard {command}", *(line.rstrip() for line in shown.splitlines())]
        texts[f"{name}.txt"] = "\n".join(lines) + "\n"
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
