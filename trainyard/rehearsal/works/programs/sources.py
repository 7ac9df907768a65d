"""The source of a function, where the program gives it as text: the module and the function that are asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trainyard.problems import nearest
from trainyard.recorded.model import has_unknown
from trainyard.rehearsal.context import View, show

RULE = "programs-handler"


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


def _is_file(asset: Any) -> bool:
    """Whether a part of an archive is one file, and no archive or folder of more."""
    return isinstance(asset, Mapping) and isinstance(asset.get("text"), str)
