"""The topics of `explain STACK TOPIC`, and which of them there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from trainyard.recorded.hiding import names_shown, secrets_hidden
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.resources import Resources
from trainyard.review.works.model import Table


@dataclass(frozen=True, slots=True)
class Topic:
    """A question that is asked of a whole stack."""

    module: str  # with `tables(resources)`; imported when it is asked
    question: str  # that it answers, for --help and for the page


TOPICS: Final[Mapping[str, Topic]] = {
    "rights": Topic("trainyard.review.works.rights", "Who may do what in the cloud, as whom, and is it enough?"),
    "pods": Topic("trainyard.review.works.pods", "Where does each pod run, and why not elsewhere?"),
    "queues": Topic("trainyard.review.works.queues", "Who may run what, borrow from whom, and gets what back?"),
    "flows": Topic("trainyard.review.works.flows", "Who talks to whom, on which port, and what decides?"),
}
"""By the word that stands where a key of the plan does."""


def tables_of(topic: str, resources: Resources) -> tuple[Table, ...]:
    """The answer to a topic, without the texts of secret inputs.

    Raises:
        KeyError: there is no such topic.
        UnreadableInput: something that decides cannot be read.
    """
    module = import_module(TOPICS[topic].module)
    answer: Callable[[Resources], tuple[Table, ...]] = module.tables
    hidden = secrets_hidden(resources.all, names_shown(resources.all))
    try:
        return tuple(table.told_with(hidden) for table in answer(resources))
    except UnreadableInput as unreadable:
        raise UnreadableInput(unreadable.what, hidden(unreadable.reason)) from None
