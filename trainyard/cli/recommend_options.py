"""Options that `trainyard recommend` and `trainyard estimate` share: what is trained, and reading quantities."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.project import fail_options
from trainyard.problems import Problem, SettingsError

if TYPE_CHECKING:
    from trainyard.advice import Request

WORK, HARDWARE, OUTPUT = "What is trained", "On what", "Output"
"""Panels of `--help`."""


def _option(name: str, metavar: str, help_: str, panel: str = WORK) -> Any:
    return typer.Option(name, metavar=metavar, help=help_, rich_help_panel=panel)


ParamsOption = Annotated[str | None, _option("--params", "N", "Parameters: 7e9, 7B, 300M.")]
ActiveParamsOption = Annotated[
    str | None, _option("--active-params", "N", "Of a mixture of experts: those a token uses.")
]
ArchitectureOption = Annotated[
    str | None, _option("--architecture", "NAME", "A known one: llama-3-8b, vit-l-16, resnet-50.")
]
LayersOption = Annotated[int | None, _option("--layers", "N", "With --hidden: the shape, else derived from --params.")]
HiddenOption = Annotated[int | None, _option("--hidden", "N", "Width of a layer.")]
VocabularyOption = Annotated[int | None, _option("--vocabulary", "N", "Tokens of the vocabulary; 50,257 by default.")]
TaskOption = Annotated[str, _option("--task", "TASK", "language, vision, tabular, fine-tune, lora or qlora.")]
TokensOption = Annotated[str | None, _option("--tokens", "N", "Tokens of one pass: 1e12, 300B.")]
DatasetSizeOption = Annotated[str | None, _option("--dataset-size", "SIZE", "Instead: size of the data, 200GB, 1.5TB.")]
ImagesOption = Annotated[str | None, _option("--images", "N", "Images of one pass, for vision: 1.28M.")]
EpochsOption = Annotated[float, _option("--epochs", "N", "Passes over the data.")]
SequenceOption = Annotated[int | None, _option("--sequence-length", "N", "Tokens of a sequence.")]
GlobalBatchOption = Annotated[
    str | None, _option("--global-batch", "N", "Tokens (vision: images) of a step; bounds the number of GPUs.")
]
PrecisionOption = Annotated[
    str, _option("--precision", "TYPE", "bf16, fp16, fp8 (mixed), bf16-true (all in 16 bits), tf32 or fp32.")
]
OptimizerOption = Annotated[str, _option("--optimizer", "NAME", "adamw, adamw-8bit, adafactor or sgd.")]
LoraRankOption = Annotated[int | None, _option("--lora-rank", "N", "Rank of the adapters; 16 by default.")]
CloudOption = Annotated[str, _option("--cloud", "CLOUD", "aws or gcp.", HARDWARE)]
RegionOption = Annotated[str | None, _option("--region", "REGION", "us-east-1 or us-central1 by default.", HARDWARE)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.", rich_help_panel=OUTPUT)]


class Reader:
    """Reads quantities and keeps what could not be read, so that every mistake is told at once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def read(self, key: str, text: str | None, reader: Callable[[str], float]) -> float | None:
        """The quantity; None where it is not given or wrong."""
        if text is None:
            return None
        try:
            return reader(text)
        except ValueError as error:
            self.problems.append(Problem(key, text, str(error)))
            return None

    def work(
        self,
        *,
        params: str | None,
        active_params: str | None,
        tokens: str | None,
        dataset_size: str | None,
        images: str | None,
        global_batch: str | None,
    ) -> dict[str, float | None]:
        """The quantities of what is trained, as fields of a `Request`."""
        from trainyard.cli.recommend_units import count, gigabytes

        return {
            "params": self.read("--params", params, count),
            "active_params": self.read("--active-params", active_params, count),
            "tokens": self.read("--tokens", tokens, count),
            "images": self.read("--images", images, count),
            "dataset_gb": self.read("--dataset-size", dataset_size, gigabytes),
            "global_batch_tokens": self.read("--global-batch", global_batch, count),
        }

    def fail_with(self, request: Request) -> None:
        """Ends the command where something could not be read, with what else is wrong.

        What only misses an option that could not be read is left out.
        """
        if not self.problems:
            return
        from trainyard.advice.request import check

        others: tuple[Problem, ...] = ()
        try:
            check(request)
        except SettingsError as error:
            keys = {problem.key for problem in self.problems}
            others = tuple(
                problem for problem in error.problems if problem.key not in keys and problem.got != "nothing"
            )
        fail_options(SettingsError([*self.problems, *others]))
