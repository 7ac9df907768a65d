"""The examples of the provider's documentation, as inputs: what it shows is right, so that no check may refuse it.

They stand in the docstrings of `pulumi_aws`. What an example computes of something else is unknown.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN

_EXAMPLE: Final = re.compile(r"```python\n(.*?)```", re.S)
_REGISTERED: Final = re.compile(r"_utilities\.register\(.*?resource_modules=\"\"\"\n(.*?)\"\"\"", re.S)


def sdk_folder() -> Path:
    """Where `pulumi_aws` is installed."""
    found = importlib.util.find_spec("pulumi_aws")
    if found is None or found.origin is None:
        raise LookupError("pulumi_aws is not installed")
    return Path(found.origin).parent


def types() -> dict[tuple[str, str], str]:
    """The resource types by module and class."""
    text = _REGISTERED.search((sdk_folder() / "__init__.py").read_text(encoding="utf-8"))
    if text is None:
        raise LookupError("pulumi_aws registers its types in another way")
    return {
        (entry["fqn"].rpartition(".")[2], name): token
        for entry in json.loads(text[1])
        for token, name in entry["classes"].items()
    }


def resources() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each resource of an example: its type and its inputs by wire name."""
    known = types()
    for file in sorted(sdk_folder().rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for example in dict.fromkeys(_EXAMPLE.findall(text)):
            try:
                tree = ast.parse(textwrap.dedent(example.encode().decode("unicode_escape", "ignore")))
            except SyntaxError:
                continue
            names = {
                statement.targets[0].id: statement.value
                for statement in tree.body
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
            }
            for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
                found = re.fullmatch(r"aws\.(\w+)\.(\w+)", ast.unparse(call.func))
                if found is not None and (token := known.get((found[1], found[2]))) is not None:
                    yield (
                        token,
                        {
                            wire(word.arg): _value(word.value, names)
                            for word in call.keywords
                            if word.arg not in (None, "opts")
                        },
                    )


def wire(name: str | None) -> str:
    """`vpc_id` as the engine has it: `vpcId`."""
    return re.sub(r"_+(\w)", lambda found: found[1].upper(), (name or "").strip("_"))


def _value(node: ast.expr, names: dict[str, ast.expr]) -> Any:
    if isinstance(node, ast.Dict):
        return {
            wire(str(key.value)): _value(value, names)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        }
    if isinstance(node, ast.List):
        return [_value(item, names) for item in node.elts]
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "json.dumps":
        try:
            return json.dumps(ast.literal_eval(node.args[0]))
        except (ValueError, SyntaxError):
            return UNKNOWN
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError):
        return UNKNOWN
