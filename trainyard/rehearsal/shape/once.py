"""Whether what is judged is judged once: where a process judges many stacks, and nobody asks for each in full."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from trainyard.rehearsal.shape.renaming import Renaming
    from trainyard.rehearsal.shape.sound import Shape, Sound

SWITCH: Final = "TRAINYARD_JUDGE_EACH"
"""An environment variable: with any text in it every stack is judged in full."""

Answer = TypeVar("Answer")

_many: ContextVar[bool] = ContextVar("trainyard_judging_many", default=False)


def sound() -> Sound | None:
    """What this process remembers; None outside of `judging_many`, and where `SWITCH` is set."""
    if not _many.get() or os.environ.get(SWITCH):
        return None
    from trainyard.rehearsal.shape.sound import OF_THIS_PROCESS  # which a single stack does without

    return OF_THIS_PROCESS


@contextmanager
def judging_many(many: bool = True) -> Iterator[None]:
    """Says that the stacks judged within the block are some of many, which may be alike."""
    token = _many.set(many)
    try:
        yield
    finally:
        _many.reset(token)


def judged_once(
    shape: Shape | None,
    question: Hashable,
    judge: Callable[[], Answer],
    keep: Callable[[Answer, Renaming], Any | None],
    again: Callable[[Any, Renaming], Answer],
) -> Answer:
    """What `judge` says of a stack; of one that is like another, of which nothing was found, what it said of that.

    `keep` gives what is kept of an answer, None of one by which something was found; `again` makes the answer of it.
    """
    remembered = sound()
    if shape is None or remembered is None:
        return judge()
    kept = remembered.answer(shape, question)
    if kept is not None:
        return again(kept, shape.renaming)
    answer = judge()
    kept = keep(answer, shape.renaming)
    if kept is not None:
        remembered.add(shape, question, kept)
    return answer
