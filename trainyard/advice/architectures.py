"""Shapes of models: the known ones (`architectures.csv`), and a shape for any number of parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from trainyard.advice.units import short
from trainyard.catalog.records import records

DEFAULT_VOCABULARY = 50_257
DEFAULT_SEQUENCE = 2048


PACKAGE = "trainyard.advice"
"""Beside whose modules the tables of measurements and shapes are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A model's shape. `layers` 0: not a transformer. `tokens_per_image` 0: not for images."""

    name: str
    task: str
    params: float
    active_params: float  # that a token passes through
    layers: int = 0
    hidden: int = 0
    vocabulary: int
    tokens_per_image: int = 0
    sequence_length: int = 0
    source: str
    causal: bool = True  # a token sees those before it only

    @property
    def largest_layer_params(self) -> float:
        """Parameters of the largest block that sharded training gathers at once: a layer or the embedding."""
        if not self.layers:
            return self.params
        embedding = float(self.vocabulary * self.hidden)
        return max(embedding, (self.params - embedding) / self.layers)

    def flops_per_token(self, sequence: int, *, weights: float = 6) -> float:
        """Training FLOPs of one token: `weights` a parameter (6; LoRA 4) and 6·L·h·s for attention, which LoRA keeps.

        The usual 12·L·h·s counts the half of the attention matrix that lies in the future, which kernels skip in a
        decoder; an encoder has no such half.
        """
        seen = 0.5 if self.causal else 1.0
        return weights * self.active_params + 12 * seen * self.layers * self.hidden * sequence


@lru_cache(maxsize=1)
def architectures() -> dict[str, Architecture]:
    """The known architectures by name."""
    return {item.name: item for item in records(Architecture, "architectures.csv", PACKAGE)}


def shape(
    params: float,
    active_params: float | None = None,
    *,
    layers: int | None = None,
    hidden: int | None = None,
    vocabulary: int | None = None,
) -> Architecture:
    """A decoder of that many parameters, with the proportions of the GPT-3 series.

    N = 12·L·h² + V·h with h/L from 64 (125M) to 128 (7B and above), the proportions of the GPT-3 paper's table;
    vocabulary 50,257. `layers` with `hidden`, or `vocabulary`, replace what would be derived. Only memory and the
    attention term depend on the shape.
    """
    words = vocabulary or DEFAULT_VOCABULARY
    if layers is None or hidden is None:
        layers, hidden = _proportions(active_params or params, words)
        source = "proportions of the GPT-3 series"
    else:
        source = "as given"
    return Architecture(
        name=f"{short(params)} parameters",
        task="language",
        params=params,
        active_params=active_params or params,
        layers=layers,
        hidden=hidden,
        vocabulary=words,
        sequence_length=DEFAULT_SEQUENCE,
        source=source,
    )


def _proportions(params: float, vocabulary: int) -> tuple[int, int]:
    """Layers, a multiple of four from twelve on as in the series, and width."""
    ratio = min(128.0, max(64.0, 64 + 64 * math.log(params / 125e6) / math.log(6.7e9 / 125e6))) if params > 1 else 64.0
    low, high = 16.0, 200_000.0
    for _ in range(60):
        middle = (low + high) / 2
        if 12 * middle**3 / ratio + vocabulary * middle < params:
            low = middle
        else:
            high = middle
    layers = max(1, round(low / ratio))
    if layers >= 12:
        layers = round(layers / 4) * 4
    # 12·L·h² + V·h = N for the width.
    width = (math.sqrt(vocabulary**2 + 48 * layers * params) - vocabulary) / (24 * layers)
    return layers, max(64, round(width / 64) * 64)
