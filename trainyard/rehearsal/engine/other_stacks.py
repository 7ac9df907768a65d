"""The outputs of other stacks that a program refers to, as whoever rehearses it tells them.

Source: Pulumi documentation, "Stack outputs and references" (a full name is `organization/project/stack`; of a backend
that is no service the organization is the word `organization`) and "pulumi stack output" (`--json` writes `[secret]`
for a secret, 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trainyard.problems import Problem, SettingsError
from trainyard.recorded.model import UNKNOWN, Secret
from trainyard.user_files import read_json

_NO_SERVICE: Final = "organization"
_HIDDEN: Final = "[secret]"


def outputs_in(path: Path, shown: str) -> Mapping[str, Any]:
    """The outputs in a file that `pulumi stack output --json` wrote; of a secret only that it is one.

    Raises:
        SettingsError: the file cannot be read, or is no object of outputs.
    """
    found = read_json(path, shown)
    if not isinstance(found, dict):
        raise SettingsError([Problem(shown, "no object", "must be what `pulumi stack output --json` writes")])
    if isinstance(found.get("deployment"), dict):
        got = "a state, as `pulumi stack export` writes it"
        raise SettingsError([Problem(shown, got, "must be what `pulumi stack output --json` writes")])
    return {name: Secret(UNKNOWN) if value == _HIDDEN else value for name, value in found.items()}


def as_written(outputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Outputs as `outputs_in` reads them."""
    return {name: _HIDDEN if isinstance(value, Secret) else value for name, value in outputs.items()}


def outputs_of(name: str, told: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """What is told of the stack that a program calls so; None where nothing is, or of several that may be meant.

    The organization may be left out on either side: the program asks for that in which it is deployed, which is not
    known here.
    """
    if name in told:
        return told[name]
    alike = [outputs for other, outputs in told.items() if _may_be(name, other)]
    return alike[0] if len(alike) == 1 else None


def _may_be(one: str, other: str) -> bool:
    parts, others = (
        each[1:] if len(each) == 3 and each[0] == _NO_SERVICE else each for each in (one.split("/"), other.split("/"))
    )
    length = min(len(parts), len(others))
    return length > 1 and parts[-length:] == others[-length:]
