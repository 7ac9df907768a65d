"""Quotas that Cloud Quotas alone has, by family, tier or zone: TPU chips, Managed Lustre and Filestore.

It tells limits and nothing of what is used, so that a need within one may still not fit beside another environment's.

Source of the ids: what `gcloud beta quotas info` said of a project on 2026-08-11 (chips), Google's tutorial of Managed
Lustre for a GPU cluster (`Capacity`, in GiB, of a zone) and two public programs that ask for Filestore (2026); read
2026-11-26.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.account.gcp import CannotAskError, ask
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Line, Lines, lines_of

COMPUTE: Final = "compute.googleapis.com"
CHIPS: Final[Mapping[str, tuple[str, Mapping[str, str], str]]] = {
    "tpu-v6e-slice": (
        "TPUS-PER-TPU-FAMILY-per-project-region", {"tpu_family": "CT6E"}, "PREEMPTIBLE-TPU-V6E-per-project-region",
    ),
    "tpu-v5p-slice": ("TPU-V5P-per-project-region", {}, "PREEMPTIBLE-TPU-V5P-per-project-region"),
}  # fmt: skip
"""By generation: the quota of chips on demand with what it is by besides the region, and that of spot and flex-start.
Of v5e none is known."""

QUEUES: Final = "flex-start"
"""What waits where its quota is too small: the request is taken, and stays (provisioning models of Compute Engine)."""

UNLIMITED: Final = -1


@dataclass(frozen=True, slots=True)
class Need:
    """So much of one quota."""

    what: str
    service: str
    quota_id: str
    place: str  # region or zone
    by: Mapping[str, str]  # dimensions besides the place
    wanted: int
    unit: str
    waits: bool = False  # whether too little of it makes jobs wait, and fails nothing


def check(subject: GcpSubject) -> Lines:
    """What the stack needs of each at its most."""
    for need in [*_chips(subject), *_files(subject)]:
        yield _told(need, subject.plan.ground.project)


def _chips(subject: GcpSubject) -> Iterator[Need]:
    needs: dict[tuple[str, bool], int] = defaultdict(int)
    queued: dict[str, int] = defaultdict(int)
    ground = subject.plan.ground
    for pool in ground.tpu_pools:
        for each in pool.capacities:
            chips = each.slices * pool.chips_of_slice
            if each.capacity == QUEUES:
                queued[pool.accelerator] += chips
            elif each.capacity != "reserved":
                needs[pool.accelerator, each.capacity == "spot"] += chips
    for (accelerator, spot), wanted in needs.items():
        if accelerator in CHIPS:
            standard, by, preemptible = CHIPS[accelerator]
            what = f"{'spot' if spot else 'on-demand'} {accelerator}"
            quota_id, dimensions = (preemptible, {}) if spot else (standard, by)
            yield Need(what, COMPUTE, quota_id, ground.region, dimensions, wanted, "chips")
    for accelerator, wanted in queued.items():
        if accelerator in CHIPS:
            quota_id = CHIPS[accelerator][2]
            yield Need(f"{QUEUES} {accelerator}", COMPUTE, quota_id, ground.region, {}, wanted, "chips", waits=True)


def _files(subject: GcpSubject) -> Iterator[Need]:
    ground = subject.plan.ground
    if (lustre := ground.lustre) is not None:
        yield Need("Managed Lustre", "lustre.googleapis.com", "Capacity", lustre.zone, {}, lustre.capacity_gib, "GiB")
    if (files := ground.shared_files) is not None:
        yield Need(
            "Filestore", "file.googleapis.com", "EnterpriseStorageGibPerRegion", ground.region, {},
            files.capacity_gib, "GiB",
        )  # fmt: skip


def _told(need: Need, project: str) -> Line:
    line, told = lines_of("quotas"), f"{need.wanted:,} {need.unit} are needed at most"
    look_up = f"gcloud beta quotas info list --service={need.service} --project={project}"
    try:
        described: Any = ask(
            "beta", "quotas", "info", "describe", need.quota_id, f"--service={need.service}", f"--project={project}"
        )
        why = f"the project has no quota {need.quota_id} in {need.place}"
    except CannotAskError as error:
        described, why = None, str(error)
    limit = limit_of(described, need)
    if limit is None:
        return line(need.what, Answer.UNKNOWN, f"{told}; {why}", f"look up {need.quota_id}", look_up)
    allowed = "there is no limit" if limit == UNLIMITED else f"{limit:,.0f} are allowed"
    if limit == UNLIMITED or need.wanted <= limit:
        return line(need.what, Answer.FINE, f"{told}, {allowed}; what others use of it is not told")
    place = "zone" if need.place[-2] == "-" else "region"
    dimensions = ",".join(f"{key}={value}" for key, value in {place: need.place, **need.by}.items())
    request = (
        f"gcloud beta quotas preferences create --service={need.service} --project={project}"
        f" --quota-id={need.quota_id} --preferred-value={need.wanted} --dimensions={dimensions}"
    )
    if need.waits:
        told = f"{told}, {allowed}: more wait, or count against the quota on demand"
        return line(need.what, Answer.UNKNOWN, told, "ask for more where it is wanted", request)
    return line(need.what, Answer.FAILS, f"{told}, {allowed}", "ask for more, which may take days", request)


def limit_of(described: Any, need: Need) -> float | None:
    """What is allowed in the place: by its own entry, else by one that applies there, else by what all places have
    (Cloud Quotas API, `QuotaInfo.dimensionsInfos`)."""
    ranked: dict[int, float] = {}
    for part in (described or {}).get("dimensionsInfos") or ():
        dimensions: Mapping[str, Any] = part.get("dimensions") or {}
        value = (part.get("details") or {}).get("value")
        if value is None or any(dimensions.get(key) != wanted for key, wanted in need.by.items()):
            continue
        named = dimensions.get("zone") or dimensions.get("region")
        if named == need.place:
            ranked[0] = float(value)
        elif named is None and need.place in (part.get("applicableLocations") or ()):
            ranked.setdefault(1, float(value))
        elif named is None and not part.get("applicableLocations"):
            ranked.setdefault(2, float(value))
    return ranked[min(ranked)] if ranked else None
