"""One-line changes of the example stacks, each with what `--from` says of it: all of demo's, a share of the others'.

`make matrix` compares all of every stack.
"""

import os

import pytest

from tests.rehearsal.change.matrix import edits, golden, said

STACKS = ("demo", "large-aws", "uae-aws")
WHOLE = bool(os.environ.get("MATRIX"))
CHUNKS = 8
"""Parts in which a stack's changes run, so that several processes share them."""
SHARE = 12
"""Of the other stacks every so many changes is in the ordinary suite."""


def changes(stack):
    every = list(edits(stack))
    return every if WHOLE or stack == "demo" else every[::SHARE]


@pytest.mark.parametrize("stack", STACKS)
def test_every_change_has_its_golden_text(stack):
    assert list(golden(stack)) == list(edits(stack)), "python -m tests.rehearsal.change.matrix"
    assert len(edits(stack)) >= 60


def parts():
    """A stack and every so many of its changes: a share is one part, for which the stack is rehearsed once."""
    return [(stack, chunk) for stack in STACKS for chunk in range(CHUNKS if WHOLE or stack == "demo" else 1)]


@pytest.mark.parametrize(("stack", "chunk"), parts())
def test_what_is_said_of_one_line_changes(stack, chunk, rehearsed, tmp_path):
    wanted, told = golden(stack), {}
    for name in changes(stack)[chunk :: sum(each == stack for each, _ in parts())]:
        folder = tmp_path / str(len(told))
        folder.mkdir()
        told[name] = said(stack, edits(stack)[name], rehearsed(stack), folder)
    assert told == {name: wanted[name] for name in told}, f"python -m tests.rehearsal.change.matrix {stack}"


@pytest.mark.parametrize("stack", STACKS)
def test_nothing_that_holds_data_goes_without_a_word(stack):
    """Of every change in the table: what is protected or holds data is replaced or deleted only with an error."""
    for name, text in golden(stack).items():
        gone = [line for line in text.splitlines() if line.startswith(("replaced ", "deleted "))]
        data = ("Bucket,", "LustreFileSystem", "FileSystem,", " Cluster ", " Vpc ", "1 Instance (kms", "Key (")
        if any(word in line for line in gone for word in data):
            assert "error change-" in text, f"{name}: {text}"
