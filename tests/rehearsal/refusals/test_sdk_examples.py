"""Examples on the pages of Google's SDK: what its authors try each night is right, and a finding says why it is none.

Of each example the resources are read as they are written; what it computes is not known. One page of many is looked
at here: `python -m tests.rehearsal.refusals.test_sdk_examples` looks at all of them, in two minutes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pulumi_gcp

from trainyard.recorded.model import UNKNOWN, Finding, RecordedResource
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.works.check import check_works

CONTEXT: Final = ValueContext(kubernetes_version="1.35", region="")
ONE_OF: Final = 31
PLACEHOLDERS: Final = frozenset(
    {
        "gcp-account", "gcp-form", "gcp-key", "gcp-key-location", "gcp-location", "gcp-member", "gcp-name",
        "gcp-project", "gcp-range", "gcp-role", "gcp-sql-name", "gcs-name",
    }
)  # fmt: skip
"""What is said of words that stand for somebody's own: `my-key`, `your-region`, `exampleKey`."""
ON_PURPOSE: Final = frozenset({"managed-runtime-made", "programs-over", "programs-switched-off"})
"""What an example shows: how something is switched off."""
LEFT: Final = frozenset(
    {"gcp-beside", "gcp-filestore", "gcp-subnet-purpose", "gcp-value", "gcs-folders", "gcs-ip-filter"}
)
"""What is said of a handful of examples that leave out what the API then asks for, or write an empty text for it."""


OF_AUTHORS: Final = ("labels", "annotations", "metadata", "tags", "variables")
"""How inputs end whose names are the author's own."""


def _camel(snake: str) -> str:
    first, *others = snake.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def _value(node: ast.expr, key: str = "") -> Any:
    """What is written; names below `key` are the author's own where that is a map."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = [
            (str(name.value), value)
            for name, value in zip(node.keys, node.values, strict=True)
            if isinstance(name, ast.Constant)
        ]
        own = key.lower().endswith(OF_AUTHORS)
        return {name if own or not re.fullmatch(r"[a-z0-9_]+", name) else _camel(name): _value(value, name)
                for name, value in pairs}  # fmt: skip
    return UNKNOWN


def _resources(code: str) -> Iterator[RecordedResource]:
    for node in ast.walk(ast.parse(code)):
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Attribute):
            continue
        assert isinstance(node, ast.Call)
        kind = getattr(getattr(pulumi_gcp, called.value.attr, None), called.attr, None)
        type_ = getattr(kind, "pulumi_type", None)
        if type_ is None or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        name = str(node.args[0].value)
        inputs = {
            _camel(each.arg): _value(each.value, each.arg) for each in node.keywords if each.arg and each.arg != "opts"
        }
        urn = f"urn:pulumi:page::page::{type_}::{name}"
        yield RecordedResource(urn, type_, name, "", "", True, "", inputs, id=f"{name}-1")


def examples(path: Path) -> Iterator[list[RecordedResource]]:
    """The examples of a page, each once."""
    for code in sorted(set(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))):
        lines = code.replace('\\"', '"').split("\n")
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        try:
            yield list(_resources("\n".join(line[indent:] for line in lines)))
        except SyntaxError:
            continue  # a text with quotation marks of its own, which a docstring writes in another way


def pages() -> list[Path]:
    """Every page of the SDK that makes something."""
    where = find_spec("pulumi_gcp")
    assert where is not None and where.origin is not None
    return sorted(path for path in Path(where.origin).parent.glob("*/*.py") if not path.name.startswith("_"))


def accused(paths: list[Path]) -> tuple[int, list[str]]:
    """How many examples there are, and what is said of those that are right."""
    seen, said = 0, list[str]()
    for path in paths:
        for resources in examples(path):
            seen += bool(resources)
            found: list[Finding] = [*check_values(resources, CONTEXT), *check_works(resources, CONTEXT)]
            said += [f"{path.name}: {each}" for each in found if each.rule not in PLACEHOLDERS | ON_PURPOSE | LEFT]
    return seen, said


def test_the_sdks_own_examples_are_not_accused() -> None:
    seen, said = accused(pages()[::ONE_OF])
    assert seen > 100
    assert said == []


if __name__ == "__main__":
    print(*accused(pages()), sep="\n")
