"""Amazon's models of types that no environment here makes: what other people's programs give AWS is checked by them.

The table is read when the first such type comes, so that a stack of ours does not wait for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from trainyard import cards
from trainyard.cards.card import ServiceModel
from trainyard.catalog.tables import tree


@cache
def by_hand() -> Mapping[str, ServiceModel]:
    """The models that a person looked at, by resource type."""
    content = tree(files(__package__).joinpath("elsewhere.yaml"))
    return {type_: _model(entry) for type_, entry in content.items()}


@cache
def _by_name() -> Mapping[str, Mapping[str, Any]]:
    """What `generate` found for the provider's other types."""
    text = files("trainyard.rehearsal.refusals.data").joinpath("aws_calls.json").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Any]] = json.loads(text)["calls"]
    return found


def _model(entry: Mapping[str, Any]) -> ServiceModel:
    undescribed, caseless, unset = (tuple(entry.get(key) or ()) for key in ("undescribed", "caseless", "unset_by_zero"))
    return ServiceModel(tuple(entry["calls"]), entry.get("names") or {}, undescribed, caseless, unset)


@cache
def _of(type_: str) -> ServiceModel | None:
    found = by_hand().get(type_)
    if found is None and (entry := _by_name().get(type_)) is not None:
        found = replace(_model(entry), by_name=True)
    return found


def model_of(type_: str) -> ServiceModel | None:
    """What describes a type's inputs: its card, or the table where it has no card of its own."""
    if type_ in cards.BY_TYPE or not type_.startswith("aws:"):
        return cards.of(type_).model
    return _of(type_)
