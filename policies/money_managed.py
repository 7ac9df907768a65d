"""Money: what holds managed training. Ceilings of jobs, a budget that sees them, no server by the hour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from pulumi_policy import Severity

from trainyard.conventions.gcp import VERTEX_QUOTAS, vertex_quota
from trainyard.policies.ceilings import CUSTOM_ROLES, MANAGED, MEMBERS, RIGHTS, forced_tags, missing, vertex_senders
from trainyard.policies.rules import Config, NotApplicable, StackViolation, resource_rule, stack_rule
from trainyard.policies.stack_settings import setting
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import as_number, is_set, list_at, mappings_at, text_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AWS_BUDGET, GCP_QUOTA_OVERRIDE, MLFLOW_SERVER
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN

_TAGGED: Final = ("TagKeyValue", "CostCategory")
"""Filters of a budget by what somebody wrote on things."""
_GPU_QUOTAS: Final = frozenset(vertex_quota(gpu, spot=spot) for gpu in VERTEX_QUOTAS for spot in (False, True))
"""Quotas that hold GPUs of custom training; an override of another service's closes none of them."""


@stack_rule(
    "jobs-without-ceilings",
    "Whoever may send jobs of managed training is held below ceilings that are asked when a job is sent.",
    types=(*RIGHTS, MANAGED, GCP_QUOTA_OVERRIDE, *CUSTOM_ROLES, *MEMBERS),
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
    for override in resources.of(GCP_QUOTA_OVERRIDE):
        metric = unquote(text_at(override.inputs, "metric") or "").rpartition("/")[2]
        if metric not in _GPU_QUOTAS or as_number(value_at(override.inputs, "overrideValue")) != 0:
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
    "tracking-server-by-the-hour",
    "Runs are tracked by what costs nothing while nobody trains.",
    types=(MLFLOW_SERVER,),
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
    tracking_server_by_the_hour,
    budget_blind_to_managed_training,
)
"""Those of this module."""
