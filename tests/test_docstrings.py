"""A docstring can be understood without its neighbour: it says what it is about before it says anything of it."""

import ast
import re

import pytest

from tests.shared import ROOT

PARTS = ("components", "policies", "smoke_jobs", "stacks", "trainyard")
SENT = (
    "smoke_jobs/ddp/",
    "smoke_jobs/launch/start.py",
    "components/k8s/mlflow_runtime/",
    "components/gcp/managed/tracking_programs/",
)
"""Programs that run in pods: a word changed there starts new pods and runs smoke jobs again."""
FRAGMENT = re.compile(
    r"Of |As planned|(After|Before|With) which|(Its|Their|Whose) \w+\.$|`[^`]+`( and the like)?\.?$|In the contract\b"
    r"|(One|All) (of them|a \w+)\b|.*\blikewise\b",
    re.IGNORECASE | re.DOTALL,
)


def fragments(source):
    """The docstrings of `source` that say only what is so of something, not of what. Attributes' are among them."""
    for node in ast.walk(ast.parse(source)):
        for statement in getattr(node, "body", None) if isinstance(getattr(node, "body", None), list) else []:
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))) if FRAGMENT.match(text.strip()):
                    yield text


@pytest.mark.parametrize(
    "text",
    [
        "Of the subnets.",
        "By name, likewise.",
        "After which a current object goes.",
        "Its value.",
        "`fs-...`",
        "`91 %`.",
        "As planned.",
        "In the contract of the rehearsal.",
        "One a team.",
        "All of them, by name.",
    ],
)
def test_a_fragment_is_seen(text):
    assert list(fragments(f'class A:\n    a: int\n    """{text}"""\n')) == [text]


@pytest.mark.parametrize("text", ["Id of the VPC.", "All teams of the environment.", "The queues, one for each team."])
def test_a_whole_phrase_is_none(text):
    assert list(fragments(f'def a():\n    """{text}"""\n')) == []


@pytest.mark.parametrize("part", PARTS)
def test_no_docstring_is_a_fragment(part):
    files = [
        path
        for path in sorted((ROOT / part).rglob("*.py"))
        if path.relative_to(ROOT / part).parts[0] not in PARTS
        and not path.relative_to(ROOT).as_posix().startswith(SENT)
    ]
    assert files
    assert {str(path): found for path in files if (found := list(fragments(path.read_text(encoding="utf-8"))))} == {}
