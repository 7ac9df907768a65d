"""Where the shared test data is: beside the repository, and absent where the project stands alone."""

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def shared(*parts: str) -> Path:
    """The path of a shared data file; skips the calling test by name when it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs ../shared/{'/'.join(parts)}, which is not beside this clone")
    return path


def as_configuration(values: dict[str, Any]) -> dict[str, str]:
    """A stack file's keys as the engine hands them to a program: every value text. None takes a key out."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if value is not None
    }
