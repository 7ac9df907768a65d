"""One-line changes of the example stacks, each with what `--from` says of it: a share of each stack's.

`make matrix` compares all of every stack.
"""

import os
from types import SimpleNamespace

import pytest

from tests.conftest import EXAMPLES
from tests.rehearsal.change.changing import changed
from tests.rehearsal.change.matrix import edits, golden, lost_in_silence, said
from tests.rehearsal.works.mistakes import drop
from trainyard import cards
from trainyard.rehearsal.change.judge import judged

WHOLE = bool(os.environ.get("MATRIX"))
CHUNKS = 8
"""Parts in which all of a stack's changes run, so that several processes share them."""
SHARE = 12
"""Every so many changes of a stack are in the ordinary suite."""


def changes(stack):
    every = list(edits(stack))
    return every if WHOLE else every[EXAMPLES.index(stack) % SHARE :: SHARE]


@pytest.mark.parametrize("stack", EXAMPLES)
def test_every_change_has_its_golden_text(stack):
    assert list(golden(stack)) == list(edits(stack)), "python -m tests.rehearsal.change.matrix"
    assert len(edits(stack)) >= 60


def parts():
    """A stack and every so many of its changes: a share is one part, for which the stack is rehearsed once."""
    return [(stack, chunk) for stack in EXAMPLES for chunk in range(CHUNKS if WHOLE else 1)]


@pytest.mark.parametrize(("stack", "chunk"), parts())
def test_what_is_said_of_one_line_changes(stack, chunk, rehearsed, tmp_path):
    wanted, told = golden(stack), {}
    for name in changes(stack)[chunk :: CHUNKS if WHOLE else 1]:
        folder = tmp_path / str(len(told))
        folder.mkdir()
        told[name] = said(stack, edits(stack)[name], rehearsed(stack), folder)
    assert told == {name: wanted[name] for name in told}, f"python -m tests.rehearsal.change.matrix {stack}"


KINDS, OTHERS = (
    {card.type.rsplit(":", 1)[1] for card in cards.BY_TYPE.values() if card.stateful is stateful}
    for stateful in (True, False)
)
"""Kinds of what holds data, by the cards, and of what holds none. An Instance is both, by its service: `said` asks that
by the whole type."""


@pytest.mark.parametrize("stack", EXAMPLES)
def test_nothing_that_holds_data_goes_without_a_word(stack):
    """Of every change in the table: what holds data is replaced or deleted only with an error, or is left behind."""
    seen = 0
    for name, text in golden(stack).items():
        gone = [line.partition(" ")[2] for line in text.splitlines() if line.startswith(("replaced ", "deleted "))]
        if (KINDS - OTHERS) & {word for line in gone for part in line.split(", ") for word in part.split(" ")[1:2]}:
            seen += 1
            assert "error change-" in text or "change-left-behind" in text, f"{name}: {text}"
    assert seen >= 3


def test_what_would_go_in_silence_is_seen(rehearsed):
    """The table asks it of every step, not of the words that are told."""
    found = changed(rehearsed("demo"), drop("aws:s3/bucket:Bucket", "acme-demo-data"))
    review = SimpleNamespace(steps=found.steps, findings=judged(found))
    assert lost_in_silence(review) == []
    assert lost_in_silence(SimpleNamespace(steps=found.steps, findings=())) == ["acme-demo-data"]
