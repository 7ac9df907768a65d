"""Where a key stands in a stack file, also in one that is broken or made to break what reads it."""

from pathlib import Path

import pytest

from trainyard.review.source import line_of

STACK = """\
config:
  trainyard:client: acme
  trainyard:gpuPools:
    train:
      spot: { maxNodes: 3 }
  trainyard:awsAccountId: "123456789012"
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("client", 2),
        ("gpuPools.train.spot.maxNodes", 5),
        ("gpuPools.train.onDemand", 4),
        ("aws.accountId", 6),
        ("x", None),
    ],
)
def test_a_key_has_its_line(tmp_path: Path, key: str, line: int | None) -> None:
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(STACK)
    assert line_of(file, key) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("config:\n  trainyard:client: [a\n", 3),
        ("config:\n  trainyard:client: a\n  trainyard:client: b\n", 3),
        ("config:\n  trainyard:teams: " + "[" * 300_000, None),  # ended the process
        ("config: \x00\n", None),
    ],
    ids=["open", "twice", "deep", "no text"],
)
def test_a_file_that_cannot_be_read_has_the_line_where_reading_ended(
    tmp_path: Path, text: str, line: int | None
) -> None:
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(text)
    assert line_of(file, "client") == line
    assert line_of(tmp_path / "nowhere.yaml", "client") is None
