"""The pages on security are true: the walls name resources that exist, policies of the pack, tests that are run."""

import ast
import re

import pytest

from tests.conftest import WHOLE
from tests.shared import ROOT
from trainyard.policies.pack import POLICIES

PAGE = (ROOT / "docs" / "explanation" / "walls.md").read_text(encoding="utf-8")
MODEL = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ATTACKS = ROOT / "tests" / "attacks"


RECORDED = {"## The walls\n": WHOLE, "## The walls on Google Cloud\n": "demo-gcp"}
"""By its heading, the stack in whose recording the types of a table are."""


def rows(heading):
    """The rows of a table of walls, as lists of cells."""
    table = PAGE.partition(heading)[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    header, _, *found = cells
    assert header == ["wall", "resources", "policies", "attacked in"]
    return found


WALLS = [(stack, row) for heading, stack in RECORDED.items() for row in rows(heading)]


def named(cell):
    found = re.findall(r"`([^`]+)`", cell)
    assert " ".join(f"`{name}`" for name in found) == cell, f"only names in backticks: {cell}"
    return found


def attacks_in(file):
    """Names of the tests of a file, those of classes with the class."""
    tree = ast.parse((ATTACKS / file).read_text(encoding="utf-8"))
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else []
        yield from (f"{node.name}::{one.name}" for one in inner if isinstance(one, ast.FunctionDef))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


@pytest.mark.parametrize(("stack", "row"), WALLS, ids=[row[0] for _, row in WALLS])
def test_every_wall_has_resources_policies_and_attacks_that_exist(stack, row, rehearsed):
    wall, resources, policies, attacks = row
    recorded = {resource.type.rpartition(":")[2] for resource in rehearsed(stack).resources}
    assert wall.strip()
    assert set(named(resources)) - recorded == set()
    assert set(named(policies)) - {policy.name for policy in POLICIES} == set()
    assert named(resources) and named(policies) and named(attacks)
    for attack in named(attacks):
        file, _, test = attack.partition("::")
        assert test in set(attacks_in(file)), attack


def test_no_wall_stands_twice():
    walls = [row[0] for _, row in WALLS]
    assert len(walls) == len(set(walls))


def test_every_file_of_attacks_is_named():
    assert {path.name for path in ATTACKS.glob("test_*.py")} == set(re.findall(r"`(test_\w+\.py)(?:::\w+)?`", PAGE))


def test_the_model_says_what_is_defended_what_is_not_and_where_each_wall_is():
    for heading in ("What is protected", "Who attacks", "The walls", "What is not defended, and why"):
        assert f"\n## {heading}\n" in MODEL
    assert "`docs/explanation/walls.md`" in MODEL


def test_the_model_is_two_pages():
    """Of some 600 words each, as a page of this width and size of print has them."""
    assert len(MODEL.split()) <= 1200
