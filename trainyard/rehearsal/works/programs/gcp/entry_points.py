"""Entry points of functions in Python, whose archive the program writes itself.

Source: Cloud Run functions, "Write event-driven functions" and "Source directory structure": `main.py` and the function
in it that `entryPoint` names; the build fails without, 2026-11.
"""

from __future__ import annotations

from typing import Any, Final

from trainyard.recorded.read import follow
from trainyard.recorded.types import GCP_FUNCTION
from trainyard.rehearsal.context import Stack, View
from trainyard.rehearsal.works.programs.sources import check_python, check_variables

_OBJECT: Final = "gcp:storage/bucketObject:BucketObject"
_FUNCTIONS: Final = (
    (GCP_FUNCTION, "buildConfig.", "source.storageSource.object", "environmentVariables", "serviceConfig."),
    ("gcp:cloudfunctions/function:Function", "", "sourceArchiveObject", "buildEnvironmentVariables", ""),
)


def check(stack: Stack) -> None:
    """Every function whose archive is recorded."""
    for type_, at, path, variables, where in _FUNCTIONS:
        for view in stack.of_type(type_):
            archive, entry = view.referred(f"{at}{path}", _OBJECT), view.text(f"{at}entryPoint")
            own = not view.lacks(f"{at}{variables}.GOOGLE_FUNCTION_SOURCE")
            if archive is not None and entry and (view.text(f"{at}runtime") or "").startswith("python") and not own:
                assets = follow(archive.inputs, "source", "assets")
                check_python(view, f"{at}entryPoint", assets, "main.py", entry)
                _variables(view, assets, where)


def _variables(view: View, assets: Any, at: str) -> None:
    """`at`: where a function says what it is given."""
    plain, secret = f"{at}environmentVariables", f"{at}secretEnvironmentVariables"
    if not view.blurred(plain) and not view.blurred(secret):
        given = {*view.mapping(plain), *(str(one.get("key")) for _, one in view.items(secret))}
        check_variables(view, plain, assets, "main.py", given)
