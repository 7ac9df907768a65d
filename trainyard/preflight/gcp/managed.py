"""Quotas of Vertex AI, which has one in a region for every GPU and way to pay; a new project's are 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.account.gcp import CannotAskError, ask
from trainyard.catalog import gcp as catalog
from trainyard.conventions.gcp import VERTEX_CPUS, vertex_quota
from trainyard.plan.gcp.parts import ManagedPlan
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Line, Lines, lines_of

SERVICE: Final = "aiplatform.googleapis.com"
UNLIMITED: Final = -1

_line = lines_of("quotas")


def check(subject: GcpSubject) -> Lines:
    """The smoke job's GPU, without which `up` fails; then those of the other training types."""
    ground = subject.plan.ground
    if ground.managed is None:
        return
    try:
        listed: Any = ask(
            "beta", "quotas", "info", "list", f"--service={SERVICE}", f"--project={ground.project}",
            "--filter=metric:custom_model_training",
        )  # fmt: skip
        why = "the project lists no such quota in the region"
    except CannotAskError as error:
        listed, why = (), str(error)
    limits = dict(_limits(listed or (), ground.region))
    for metric, wanted, what_for, needed in _needs(ground.managed):
        yield _told(metric, wanted, what_for, needed, limits.get(metric), why, ground.region, ground.project)


def _limits(listed: Any, region: str) -> Iterator[tuple[str, tuple[float, str]]]:
    """By metric, what is allowed in the region, and the quota's id (Cloud Quotas API, `QuotaInfo`, 2026-11)."""
    for each in listed:
        metric = str(each.get("metric", "")).removeprefix(f"{SERVICE}/")
        for part in each.get("dimensionsInfos") or ():
            if region in (part.get("applicableLocations") or ()):
                details: Mapping[str, Any] = part.get("details") or {}
                yield metric, (float(details.get("value", 0)), str(each.get("quotaId", "")))


def _needs(managed: ManagedPlan) -> Iterator[tuple[str, int, str, bool]]:
    """By metric: how much is wanted, what for, and whether the stack fails without."""
    seen = set()
    smoke = managed.smoke.machine_type if managed.smoke is not None else None
    for type_ in dict.fromkeys((*((smoke,) if smoke else ()), *managed.training_types)):
        machine = next((item for item in catalog.instances() if item.type == type_), None)
        metric = vertex_quota(machine.gpu, spot=False) if machine is not None else None
        if machine is not None and metric is not None and metric not in seen:
            seen.add(metric)
            what_for = "the smoke job" if type_ == smoke else "a job"
            yield metric, machine.gpus, what_for, type_ == smoke
            if type_.startswith("n1-") and VERTEX_CPUS not in seen:
                seen.add(VERTEX_CPUS)
                yield VERTEX_CPUS, machine.vcpus, what_for, type_ == smoke


def _told(
    metric: str,
    wanted: int,
    what_for: str,
    needed: bool,
    found: tuple[float, str] | None,
    why: str,
    region: str,
    project: str,
) -> Line:
    if found is None:
        return _line(metric, Answer.UNKNOWN, f"{wanted} for {what_for}; {why}", "look it up in the console")
    value, quota_id = found
    if value == UNLIMITED or value >= wanted:
        return _line(
            metric, Answer.FINE, f"{wanted} for {what_for}, {'no limit' if value < 0 else f'{value:g} are allowed'}"
        )
    told = f"{wanted} for {what_for}, {value:g} are allowed"
    command = (
        f"gcloud beta quotas preferences create --service={SERVICE} --project={project} --quota-id={quota_id}"
        f" --preferred-value={wanted} --dimensions=region={region}"
    )
    if needed:
        return _line(metric, Answer.FAILS, told, "ask for more, which may take days", command)
    return _line(metric, Answer.UNKNOWN, f"{told}: who wants more waits", "ask for more where it is wanted", command)
