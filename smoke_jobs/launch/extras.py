"""Packages of the distribution's extras: what is missing is named with the command that installs it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from trainyard.smoke_jobs.launch.job import LaunchError

SMOKE, GCP = "smoke", "gcp"
"""Extras of `pyproject.toml`: what the worker and AWS and Kubernetes need, and what Google Cloud needs."""


def imported(module: str, extra: str, purpose: str) -> Any:
    """A module of an extra, which is imported now. Raises LaunchError where it, or what it imports, is missing
    or broken."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise LaunchError(_needs(purpose, [error.name or module], extra)) from None
    except ImportError as error:
        raise LaunchError(f"{purpose} needs {module}, which is installed and cannot be imported: {error}") from None


def require(modules: Iterable[str], extra: str, purpose: str) -> None:
    """Raises LaunchError where one of the modules is missing here. Imports none of them: torch takes seconds."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise LaunchError(_needs(purpose, missing, extra))


def _needs(purpose: str, missing: list[str], extra: str) -> str:
    """What is missing, and the command that installs it; the same words wherever an extra is asked for."""
    return f"{purpose} needs {', '.join(missing)}, of the extra {extra!r}: pip install 'trainyard[{extra}]'"
