"""The answer to "may this principal do that": yes, no or not known, with what decides it in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an evaluator says of one request.

    `unknown` is said where something that nobody recorded decides: a managed policy whose text is not in the table.
    """

    answer: Answer
    words: str  # one sentence: the statement, rule or absence that decides
    urn: str = ""  # of the resource that holds it; empty where nothing does

    @property
    def allowed(self) -> bool:
        """Whether the answer is yes."""
        return self.answer == "yes"

    @property
    def refused(self) -> bool:
        """Whether the answer is no. What is not known is neither."""
        return self.answer == "no"

    def __str__(self) -> str:
        """The answer and what decides it."""
        return f"{self.answer}: {self.words}"
