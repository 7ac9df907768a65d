"""Handlers of functions in Python, whose archive the program writes itself, and the variables that they read.

Source: AWS Lambda Developer Guide, "Define Lambda function handler in Python" (FILE.FUNCTION; a file that is not there
is `Runtime.ImportModuleError`), 2026-11.
"""

from __future__ import annotations

from trainyard.recorded.read import follow
from trainyard.recorded.types import FUNCTION
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs.sources import check_python, check_variables


def check(stack: Stack) -> None:
    """Every function that has no layers, which may bring the handler too."""
    for view in stack.of_type(FUNCTION):
        module, _, function = (view.text("handler") or "").rpartition(".")
        if module and (view.text("runtime") or "").startswith("python") and view.lacks("layers"):
            file = f"{module.replace('.', '/')}.py"
            assets = follow(view.inputs, "code", "assets")
            check_python(view, "handler", assets, file, function)
            if not view.blurred("environment.variables"):
                check_variables(view, "environment.variables", assets, file, view.mapping("environment.variables"))
