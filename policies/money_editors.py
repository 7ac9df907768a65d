"""Money: editors of managed training that stop when nobody works in them, and kernels that do not keep them awake."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.problems import count
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import as_number, is_set, number_at, text_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_WORKBENCH
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN, SCRIPT, SPACE, USER_PROFILE
from trainyard.rehearsal.works.managed.gcp.editors import TEMPLATE

_EDITORS: Final = {"jupyterLabAppSettings": "JupyterLab", "codeEditorAppSettings": "Code Editor"}
_SETTINGS: Final = {DOMAIN: "defaultUserSettings", USER_PROFILE: "userSettings", SPACE: "spaceSettings"}
_WORKBENCH_IDLE_S: Final = 10_800
"""What Workbench takes where nothing is said: three hours (`idle-timeout-seconds`, its documentation, 2026-11)."""
_COLAB_IDLE_S: Final = 10_800
"""What Colab Enterprise takes where nothing is said: 180 minutes ("Idle shutdown", as generally known, 2026-11)."""
_AUTOSTOP: Final = re.compile(r"auto[-_]?stop", re.IGNORECASE)
"""AWS's own script, which ends the whole editor (aws-samples, `auto-stop-idle` and `autostop.py`)."""
_MINUTES: Final = {
    "maxIdleMinutes": {
        "type": "number",
        "minimum": 1,
        "default": 120,
        "description": "Minutes without work after which an editor has to be stopped.",
    }
}


@resource_rule(
    "editor-never-stops",
    "Every editor is stopped when nobody works in it, and an open kernel or terminal does not count as work for ever.",
    types=(*_SETTINGS, TEMPLATE, GCP_WORKBENCH),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Set managed.idleMinutes and managed.kernelIdleMinutes within two hours.",
    config=_MINUTES,
)
def editor_never_stops(resource: RecordedResource, config: Config) -> Iterator[str]:
    """SageMaker takes an hour at least, and counts it from the end of the last kernel and terminal."""
    most = config["maxIdleMinutes"]
    if resource.type in _SETTINGS:
        yield from _studio(resource, most)
        return
    if resource.type == TEMPLATE:
        text = text_at(resource.inputs, "idleShutdownConfig", "idleTimeout")
        seconds = as_number(text.removesuffix("s")) if text else _COLAB_IDLE_S
    else:
        if value_at(resource.inputs, "desiredState") == "STOPPED":
            return
        said = value_at(resource.inputs, "gceSetup", "metadata", "idle-timeout-seconds")
        seconds = as_number(said) if said not in (None, "") else _WORKBENCH_IDLE_S
    if not seconds:
        yield "is never shut down"
    elif seconds > most * 60:
        yield f"is shut down after {count(round(seconds / 60), 'minute')}; at most {most:.0f} are allowed"


def _studio(resource: RecordedResource, most: float) -> Iterator[str]:
    """A domain says it of both editors; a profile or a space may only say otherwise."""
    settings = _SETTINGS[resource.type]
    for key, name in _EDITORS.items():
        idle = value_at(resource.inputs, settings, key, "appLifecycleManagement", "idleSettings")
        state = value_at(idle, "lifecycleManagement")
        if resource.type == DOMAIN and state != "ENABLED":
            yield f"{name} is never stopped: its idle settings are not ENABLED"
        elif state == "DISABLED":
            yield f"{name} is never stopped: its idle settings are DISABLED"
        longest = max(
            number_at(idle, "idleTimeoutInMinutes", default=0), number_at(idle, "maxIdleTimeoutInMinutes", default=0)
        )
        if longest > most:
            yield f"{name} may run {count(round(longest), 'minute')} without work; at most {most:.0f} are allowed"
    starts = (settings, "jupyterLabAppSettings", "defaultResourceSpec", "lifecycleConfigArn")
    if resource.type == DOMAIN and not is_set(resource.inputs, *starts):
        yield "no script ends idle kernels and terminals of JupyterLab, and an open one counts as work"


@stack_rule(
    "idle-kernels-kept",
    "The script that JupyterLab starts with ends kernels and terminals that nobody uses.",
    types=(DOMAIN, SCRIPT),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Set managed.kernelIdleMinutes within two hours.",
    config=_MINUTES,
)
def idle_kernels_kept(resources: Resources, config: Config) -> Iterator[StackViolation]:
    """Reads what the script writes down, not what it does. Of a domain's scripts one is what an editor starts with, and
    what the others are for is their author's; one that is not of the stack is believed."""
    path = "defaultUserSettings.jupyterLabAppSettings.defaultResourceSpec.lifecycleConfigArn"
    for domain in resources.of(DOMAIN):
        if is_set(domain.inputs, *path.split(".")):
            for script in resources.referred(domain, path, SCRIPT):
                for told in _keeps(script, config["maxIdleMinutes"]):
                    yield script, told


def _keeps(script: RecordedResource, most: float) -> Iterator[str]:
    try:
        text = base64.b64decode(text_at(script.inputs, "studioLifecycleConfigContent") or "", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        yield "cannot be read: its content is not base64 of a text"
        return
    if _AUTOSTOP.search(text):
        return
    for word, what in (("cull_idle_timeout", "kernels"), ("cull_inactive_timeout", "terminals")):
        found = re.search(rf"{word}\W{{1,4}}(\d+)", text)
        if found is None and word in text:
            continue  # a variable, whose value is not here
        seconds = int(found[1]) if found else 0
        if not seconds:
            yield f"ends no idle {what} ({word})"
        elif seconds > most * 60:
            yield f"ends idle {what} after {count(seconds // 60, 'minute')}; at most {most:.0f} are allowed"
    if re.search(r"cull_connected\W{1,4}false", text, re.IGNORECASE):
        yield "keeps a kernel for as long as somebody's tab is open (cull_connected)"


POLICIES: Final = (editor_never_stops, idle_kernels_kept)
"""Those of this module."""
