"""The source of a function, where the program gives it as text: the module, the function and the variables that are
asked for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.model import has_unknown
from trainyard.rehearsal.context import View, show

RULE = "programs-handler"
_GIVEN: Final = re.compile(r"AWS_|LAMBDA_|_|K_|FUNCTION_|GOOGLE_|GCP_|GCLOUD_|PYTHON|LC_|LD_")
"""How variables begin that the runtime has of its own (AWS Lambda Developer Guide, "Defined runtime environment
variables"; Cloud Run functions, "Configure environment variables", as generally known in 2026-11)."""
_ALSO_GIVEN: Final = ("HOME", "HOSTNAME", "LANG", "PATH", "PORT", "PWD", "SHLVL", "TMPDIR", "TZ", "USER")


def check_python(view: View, path: str, assets: Any, file: str, function: str) -> None:
    """Notes that a file, or a function at its top, is not there. Silent of an archive with parts that nobody has read.

    Args:
        view: what is told of.
        path: the input that asks for it.
        assets: the files of the archive, by name.
        file: the module's own.
        function: what is called.
    """
    if not isinstance(assets, Mapping) or has_unknown(assets) or not all(map(_is_file, assets.values())):
        return
    package = f"{file.removesuffix('.py')}/__init__.py"
    file = package if package in assets else file  # which Python takes first
    if file not in assets:
        there = sorted(str(name) for name in assets)
        view.error(
            RULE, path, f"the archive has no {file}: the function never starts", allowed=", ".join(there),
            hint=nearest(file, there),
        )  # fmt: skip
        return
    text = assets[file].get("text")
    if isinstance(text, str) and "import *" not in text and not re.search(rf"\b{re.escape(function)}\b", text):
        made = re.findall(r"^(?:async )?def (\w+)", text, re.MULTILINE)
        view.error(
            RULE, path, f"{file} has no {show(function)}: the function never starts", allowed=", ".join(made),
            hint=nearest(function, made),
        )  # fmt: skip


def check_variables(view: View, path: str, assets: Any, file: str, given: Collection[str]) -> None:
    """Notes a variable that the module must have (`os.environ["NAME"]`) and is not given.

    A name that the module says anywhere else, in a question whether it is there or with a default, is left alone.

    Args:
        view: what is told of.
        path: the input with the variables.
        assets: the files of the archive, by name.
        file: the module's own.
        given: the variables' names.
    """
    asset = assets.get(file) if isinstance(assets, Mapping) else None
    text = asset.get("text") if isinstance(asset, Mapping) else None
    if not isinstance(text, str) or "environ" not in text or "suppress" in text:
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.Try) for node in nodes):
        return  # what is missing may be meant to be
    asked = [name for node in nodes if (name := _asked(node))]
    said = [node.value for node in nodes if isinstance(node, ast.Constant)]
    for name in dict.fromkeys(asked):
        own = _GIVEN.match(name) is not None or name in _ALSO_GIVEN
        if name not in given and not own and said.count(name) == asked.count(name):
            view.error(
                RULE, path, f"{file} reads {show(name)} from its environment, and is not given it: it ends with a "
                "KeyError", allowed=name, hint=nearest(name, given),
            )  # fmt: skip


def _asked(node: ast.AST) -> str:
    """The name in `os.environ["NAME"]` or `environ["NAME"]` that is read; empty for anything else."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return ""
    of, key = node.value, node.slice
    is_environment = (isinstance(of, ast.Attribute) and of.attr == "environ") or (
        isinstance(of, ast.Name) and of.id == "environ"
    )
    return key.value if is_environment and isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _is_file(asset: Any) -> bool:
    """Whether a part of an archive is one file, and no archive or folder of more."""
    return isinstance(asset, Mapping) and isinstance(asset.get("text"), str)
