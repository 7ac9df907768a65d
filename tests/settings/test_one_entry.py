"""One entry of a YAML text is changed; what a person wrote around it stays, or nothing is changed."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.settings.one_entry import with_entry
from trainyard.user_files import parse_yaml

FLEET = """\
# ours
agency: {name: "Northwind", colour: '#0b5c58'}   # as on the letterhead

stacks:
  # the careful one
  acme-prod:
    wave: canary  # asked for by Ann
    frozen: a launch
  globex-prod: {wave: early, pin: 0.1.0}  # contract until June
# the end
"""


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("stacks", "acme-prod", "version"), "1.0.0", "    version: 1.0.0"),
        (("stacks", "acme-prod", "wave"), "rest", "    wave: rest  # asked for by Ann"),
        (
            ("stacks", "globex-prod", "version"),
            "1.0.0",
            "  globex-prod: {wave: early, pin: 0.1.0, version: 1.0.0}  # contract until June",
        ),
        (("stacks", "initech"), {"wave": "rest", "called": "Ünï: tech"}, "    called: 'Ünï: tech'"),
        (("index",), "https://x.example", "index: https://x.example"),
    ],
)
def test_the_rest_of_a_file_stays_to_the_letter(path: tuple[str, ...], value: Any, line: str) -> None:
    changed = with_entry(FLEET, path, value, "fleet.yaml")
    assert changed is not None
    assert line in changed.splitlines()
    before, after = FLEET.splitlines(), changed.splitlines()
    assert len([each for each in before if each not in after]) <= 1, changed
    assert [each for each in after if each in before] == [each for each in before if each in after], "in their order"
    found = parse_yaml(changed, "fleet.yaml")
    for key in path:
        found = found[key]
    assert found == value


@pytest.mark.parametrize(
    "text",
    ["", "# only a comment\n", "# no line end", "stacks: {}\n", "stacks:\n", "stacks: {b: {wave: rest}}\n", "a: 1"],
)
def test_mappings_are_made_where_there_are_none(text: str) -> None:
    changed = with_entry(text, ("stacks", "a"), {"wave": "rest"}, "fleet.yaml")
    assert changed is not None
    there = (parse_yaml(text, "fleet.yaml") or {}).get("stacks") or {}
    assert parse_yaml(changed, "fleet.yaml")["stacks"] == {**there, "a": {"wave": "rest"}}
    assert all(line in changed for line in text.splitlines() if line.startswith("#"))


@pytest.mark.parametrize("text", ["stacks: {}\n", "stacks:\n"])
def test_what_is_added_to_nothing_stands_in_lines(text: str) -> None:
    for name in ("a", "b"):
        text = str(with_entry(text, ("stacks", name), {"wave": "rest"}, "fleet.yaml"))
    assert text == "stacks:\n  a:\n    wave: rest\n  b:\n    wave: rest\n"


@pytest.mark.parametrize("text", ["{stacks: {b: {wave: rest}}}\n", "x: &x {wave: rest}\nstacks: *x\n"])
def test_a_layout_that_cannot_be_kept_changes_nothing(text: str) -> None:
    assert with_entry(text, ("stacks", "a", "wave"), "rest", "fleet.yaml") is None
