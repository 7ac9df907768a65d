"""Money: what holds managed training. Ceilings of jobs, editors that stop, a budget that sees them, no idle server."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from pulumi_policy import Severity

from trainyard.conventions.gcp import VERTEX_QUOTAS, vertex_quota
from trainyard.policies.ceilings import CUSTOM_ROLES, MEMBERS, RIGHTS, forced_tags, missing, vertex_senders
from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.policies.stack_settings import setting
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import as_number, is_set, list_at, mappings_at, number_at, text_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AWS_BUDGET
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN, SCRIPT, SPACE, USER_PROFILE
from trainyard.rehearsal.works.managed.aws.tracking import SERVER
from trainyard.rehearsal.works.managed.gcp.ceilings import OVERRIDE
from trainyard.rehearsal.works.managed.gcp.editors import TEMPLATE

WORKBENCH: Final = "gcp:workbench/instance:Instance"

_EDITORS: Final = {"jupyterLabAppSettings": "JupyterLab", "codeEditorAppSettings": "Code Editor"}
_SETTINGS: Final = {DOMAIN: "defaultUserSettings", USER_PROFILE: "userSettings", SPACE: "spaceSettings"}
_WORKBENCH_IDLE_S: Final = 10_800
"""What Workbench takes where nothing is said: three hours (`idle-timeout-seconds`, its documentation, 2026-11)."""
_COLAB_IDLE_S: Final = 10_800
"""Likewise Colab Enterprise: 180 minutes ("Idle shutdown", its documentation, as generally known, 2026-11)."""
_TAGGED: Final = ("TagKeyValue", "CostCategory")
"""Filters of a budget by what somebody wrote on things."""
_MINUTES: Final = {
    "maxIdleMinutes": {
        "type": "number",
        "minimum": 1,
        "default": 120,
        "description": "Minutes without work after which an editor has to be stopped.",
    }
}


@stack_rule(
    "jobs-without-ceilings",
    "Whoever may send jobs of managed training is held below ceilings that are asked when a job is sent.",
    types=(*RIGHTS, OVERRIDE, *CUSTOM_ROLES, *MEMBERS),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 AC-6", "ISO 27001:2022 A.8.6"),
    fix="Keep the roles of managed training as they are; name machines in managed.trainingTypes.",
)
def jobs_without_ceilings(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """On AWS conditions on type, longest run, subnets, key and tag; on Google Cloud closed quotas, in every region and
    on spot as on demand: IAM knows nothing there of what a job asks for."""
    for resource, sid, lacking in missing(resources):
        yield resource, f"statement {sid} sends jobs without a ceiling on {', '.join(lacking)}"
    senders = vertex_senders(resources)
    if not senders:
        return
    closed = {}
    for override in resources.of(OVERRIDE):
        metric = unquote(text_at(override.inputs, "metric") or "").rpartition("/")[2]
        if as_number(value_at(override.inputs, "overrideValue")) != 0:
            continue
        if is_set(override.inputs, "dimensions"):
            yield override, "closes the quota in some regions alone, and jobs may be sent to any"
        closed[metric] = override
    if not closed:
        yield senders[0], "lets people send jobs, and no quota of GPUs of Vertex AI is closed"
    for gpu in VERTEX_QUOTAS:
        pair = [vertex_quota(gpu, spot=spot) for spot in (False, True)]
        ours = [closed.get(metric) for metric in pair if metric is not None]
        if None in ours and any(ours):
            how = "on demand" if ours[0] is None else "on spot"
            yield next(each for each in ours if each), f"{gpu} is closed, and open {how}"


@resource_rule(
    "editor-never-stops",
    "Every editor is stopped when nobody works in it, and an open kernel or terminal does not count as work for ever.",
    types=(*_SETTINGS, TEMPLATE, WORKBENCH),
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
        yield f"is shut down after {seconds / 60:.0f} minutes; at most {most:.0f} are allowed"


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
            yield f"{name} may run {longest:.0f} minutes without work; at most {most:.0f} are allowed"
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
    for word, what in (("cull_idle_timeout", "kernels"), ("cull_inactive_timeout", "terminals")):
        found = re.search(rf"{word}\W{{1,4}}(\d+)", text)
        seconds = int(found[1]) if found else 0
        if not seconds:
            yield f"ends no idle {what} ({word})"
        elif seconds > most * 60:
            yield f"ends idle {what} after {seconds // 60} minutes; at most {most:.0f} are allowed"
    if re.search(r"cull_connected\W{1,4}false", text, re.IGNORECASE):
        yield "keeps a kernel for as long as somebody's tab is open (cull_connected)"


@resource_rule(
    "tracking-server-by-the-hour",
    "Runs are tracked by what costs nothing while nobody trains.",
    types=(SERVER,),
    severity=Severity.MEDIUM,
    controls=("ISO 27001:2022 A.8.6",),
    fix="Use the MLflow App of managed training, which is not paid for by the hour (mlflow.enabled).",
)
def tracking_server_by_the_hour(resource: RecordedResource, _: Config) -> Iterator[str]:
    """An App is in every region with Studio, but for those of China and of the United States' government (AWS
    announcement, December 2025), where a server is all there is."""
    region = text_at(resource.inputs, "region") or setting("region")
    if region.startswith(("cn-", "us-gov-")):
        return
    size = value_at(resource.inputs, "trackingServerSize", default="Small")
    about = "about 460 USD a month" if size == "Small" else "more than the 460 USD a month of a small one"
    yield f"a {size} server costs {about} whether anybody trains or not; an MLflow App costs nothing"


@stack_rule(
    "budget-blind-to-managed-training",
    "The budget of managed training counts what people start, not only what the stack made.",
    types=(DOMAIN, AWS_BUDGET, *RIGHTS),
    severity=Severity.HIGH,
    controls=("ISO 27001:2022 A.8.6", "NIST 800-53r5 SA-2"),
    fix="Keep the budget's filter by service.",
)
def budget_blind_to_managed_training(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Jobs and editors are people's, and carry a tag only where they have to: jobs by IAM, editors by their domain. A
    budget that filters by another one misses them; one for the service or the whole account does not."""
    domains = resources.of(DOMAIN)
    if not domains:
        raise NotApplicable("no managed training on AWS")
    budgets = [each for each in resources.of(AWS_BUDGET) if value_at(each.inputs, "budgetType") == "COST"]
    if not budgets or any(_sees_service(budget) for budget in budgets):
        return
    spread = all(value_at(domain.inputs, "tagPropagation") == "ENABLED" for domain in domains)
    tags = forced_tags(resources) if spread else set()
    if not any(_sees_tags(budget, tags) for budget in budgets):
        yield budgets[0], "counts a tag or another service alone: jobs and editors that people start are in no budget"


def _filters(budget: RecordedResource) -> list[tuple[str, list[str]]]:
    """Names and values of what the budget counts alone."""
    return [
        (str(value_at(each, "name")), [str(value) for value in list_at(each, "values")])
        for each in mappings_at(budget.inputs, "costFilters")
    ]


def _sees_service(budget: RecordedResource) -> bool:
    filters = dict(_filters(budget))
    return filters.keys().isdisjoint(_TAGGED) and any(
        "SageMaker" in each for each in filters.get("Service", ["SageMaker"])
    )


def _sees_tags(budget: RecordedResource, tags: set[str]) -> bool:
    """`user:project$research` is of the tag `project`."""
    filters = dict(_filters(budget))
    keys = {each.partition("$")[0].removeprefix("user:").lower() for each in filters.get("TagKeyValue", ())}
    return "CostCategory" not in filters and "Service" not in filters and bool(keys) and keys <= tags


POLICIES: Final = (
    jobs_without_ceilings,
    editor_never_stops,
    idle_kernels_kept,
    tracking_server_by_the_hour,
    budget_blind_to_managed_training,
)
"""Those of this module."""
