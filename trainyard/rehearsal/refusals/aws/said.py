"""Inputs that the provider's documentation says stand not beside each other, or need each other: of every type.

`generate` reads it from the docstrings of the provider's SDK; what a person has to decide stands in `together.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from trainyard.rehearsal.context import View, expand
from trainyard.rehearsal.refusals.aws.together import is_given
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

RULE: Final = "aws-inputs"
Row = tuple[str, str, Sequence[str]]
"""How (`pair`, `most`: at most one; `one`: exactly one; `least`: at least one), below which block, of which inputs."""


@cache
def _table() -> Mapping[str, Sequence[Row]]:
    text = files("trainyard.rehearsal.refusals.data").joinpath("aws_said.json").read_text(encoding="utf-8")
    found: Mapping[str, Sequence[Row]] = json.loads(text)["said"]
    return found


def said(view: View) -> None:
    """Every row about the type."""
    if not view.type.startswith("aws:"):
        return
    for how, at, names in _table().get(view.type, ()):
        for place in [""] if not at else [f"{path}." for path, _ in expand(view.inputs, at)]:
            if place and view.is_unknown(place.removesuffix(".")):
                continue
            given = [name for name in names if is_given(view, place + name)]
            if how != "least" and len(given) > 1:
                view.error(
                    RULE, place + given[1], f"is given beside {place}{given[0]}", allowed=f"one of {', '.join(names)}"
                )
            elif how in ("one", "least") and all(view.lacks(place + name) for name in names):
                view.error(
                    RULE, place + names[0], f"is missing, and so is {', '.join(names[1:])}", allowed="one of them"
                )


RULES: Final[Rules] = {said: (EVERY_TYPE,)}
