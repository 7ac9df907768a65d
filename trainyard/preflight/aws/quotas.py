"""Whether the account's quotas leave room for all that the plan may start, beside what runs already.

Quotas of vCPUs are found by their names, since AWS splits them when a family is new. Nodes of a reservation need none:
the reservation itself is what counts. So does a Capacity Block, which counts nowhere (EC2 User Guide, "Capacity
Reservation limits" and "Capacity Blocks for ML", 2026-11).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.account.aws import Account, CannotAskError
from trainyard.catalog.instances import cpu_instance, instance
from trainyard.preflight.aws.counted import COUNTED, Counted, own_of
from trainyard.preflight.aws.families import Market, Quota, class_of, known_quota, quota_of
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Line, Lines, lines_of

NAME: Final = "quotas"
_line = lines_of(NAME)

_GONE: Final = ("terminated", "shutting-down", "stopped", "stopping")


@dataclass(frozen=True, slots=True)
class Need:
    """What one node group may start at most."""

    name: str
    types: tuple[str, ...]
    market: Market
    nodes: int

    @property
    def vcpus(self) -> int:
        """vCPUs with every node there, of the largest type that the group may take."""
        return self.nodes * max(map(vcpus_of, self.types))


def check(subject: AwsSubject, account: Account) -> Lines:
    """vCPUs by family and market, then what is counted in pieces."""
    yield from _reserved(subject)
    needs = list(needs_of(subject))
    try:
        listed = list(account.each("service-quotas", "list_service_quotas", "Quotas", ServiceCode="ec2"))
        running: Mapping[tuple[str, Market], int] | None = _running(subject, account)
        why: CannotAskError | None = None
    except CannotAskError as error:
        listed, running, why = [], None, error
    yield from _vcpus(subject, needs, listed, running, why)
    if why is not None:
        yield _line("VPCs, gateways, addresses, clusters, databases", Answer.UNKNOWN, str(why))
        return
    for counted in COUNTED:
        yield from _pieces(subject, account, counted, listed if counted.service == "ec2" else None)


def needs_of(subject: AwsSubject) -> Iterator[Need]:
    """What the plan may start of each family; nothing of what is reserved."""
    for cluster in subject.plan.clusters:
        for group in cluster.node_groups:
            if group.capacity != "reserved":
                market: Market = "spot" if group.capacity == "spot" else "on-demand"
                yield Need(group.name, group.instance_types, market, group.max_nodes)
        for name, nodes in (("system", cluster.system_nodes), ("cpu", cluster.cpu_pool)):
            if nodes is not None:
                yield Need(name, nodes.instance_types, "on-demand", nodes.max_nodes)
    for control_plane in subject.plan.ground.control_planes:
        if control_plane.access.bastion is not None:
            yield Need("bastion", (control_plane.access.bastion,), "on-demand", 1)


def vcpus_of(type_: str) -> int:
    """vCPUs of a type of the plan, which the catalogue has."""
    try:
        return instance(type_).vcpus
    except KeyError:
        return cpu_instance(type_).vcpus


def _reserved(subject: AwsSubject) -> Lines:
    for cluster in subject.plan.clusters:
        for group in cluster.node_groups:
            if group.capacity == "reserved" and group.reservation is not None:
                told = (
                    f"{group.max_nodes} nodes of {group.reservation.id} need no quota: what is reserved counts already"
                )
                yield _line(group.name, Answer.FINE, told)


def _vcpus(
    subject: AwsSubject,
    needs: list[Need],
    listed: list[Any],
    running: Mapping[tuple[str, Market], int] | None,
    why: CannotAskError | None,
) -> Lines:
    """One line a quota, with who shares it."""
    groups: dict[Quota, list[Need]] = defaultdict(list)
    for need in needs:
        found = {quota_of(type_, need.market, listed) or known_quota(type_, need.market) for type_ in need.types}
        for quota in found:
            if quota is None:
                told = (
                    f"{need.name} may start {need.vcpus} vCPUs; no quota of the account names {', '.join(need.types)}"
                )
                yield _line(
                    f"{need.market} {class_of(need.types[0])}", Answer.UNKNOWN, told, "look it up in the console"
                )
            else:
                groups[quota].append(need)
    for quota, sharing in sorted(groups.items(), key=lambda item: (item[0].code, item[0].name)):
        yield _quota_line(subject, quota, sharing, running, why)


def _quota_line(
    subject: AwsSubject,
    quota: Quota,
    sharing: list[Need],
    running: Mapping[tuple[str, Market], int] | None,
    why: CannotAskError | None,
) -> Line:
    wanted = sum(need.vcpus for need in sharing)
    who = ", ".join(f"{need.name} {need.nodes} × {need.vcpus // max(need.nodes, 1)}" for need in sharing)
    what = f"{quota.name} ({quota.code})"
    region = subject.plan.ground.region
    if quota.value is None or running is None:
        reason = str(why) if why is not None else "the account lists no such quota"
        command = f"aws service-quotas get-service-quota --service-code ec2 --quota-code {quota.code} --region {region}"
        return _line(what, Answer.UNKNOWN, f"{wanted} vCPUs are needed ({who}); {reason}", "look it up", command)
    own = {(class_of(type_), need.market) for need in sharing for type_ in need.types}
    busy = sum(vcpus for (class_, market), vcpus in running.items() if (class_, market) in own)
    told = f"{wanted} vCPUs are needed ({who}), {busy} run already, {quota.value:g} are allowed"
    if wanted + busy <= quota.value:
        return _line(what, Answer.FINE, told)
    return _line(
        what,
        Answer.FAILS,
        told,
        "ask for more, which may take days",
        increase("ec2", quota.code, wanted + busy, region),
    )


def increase(service: str, code: str, value: float, region: str) -> str:
    """A quota request, ready to be run."""
    return (
        f"aws service-quotas request-service-quota-increase --service-code {service} --quota-code {code}"
        f" --desired-value {value:g} --region {region}"
    )


def _running(subject: AwsSubject, account: Account) -> Mapping[tuple[str, Market], int]:
    """vCPUs that run in the region, by class and market, without a Capacity Block's and the stack's own."""
    found: Counter[tuple[str, Market]] = Counter()
    own = own_of(subject)
    for reservation in account.each("ec2", "describe_instances", "Reservations"):
        for each in reservation["Instances"]:
            if each["State"]["Name"] in _GONE or each.get("InstanceLifecycle") == "capacity-block" or own(each):
                continue
            market: Market = "spot" if each.get("InstanceLifecycle") == "spot" else "on-demand"
            cpus = each.get("CpuOptions") or {}
            vcpus = int(cpus.get("CoreCount", 0)) * int(cpus.get("ThreadsPerCore", 1))
            found[class_of(each["InstanceType"]), market] += vcpus or _listed_vcpus(each["InstanceType"])
    return found


def _listed_vcpus(type_: str) -> int:
    """vCPUs by the catalogue; 1 of a type that it lacks, which at least says that something runs."""
    try:
        return vcpus_of(type_)
    except KeyError:
        return 1


def _pieces(subject: AwsSubject, account: Account, counted: Counted, listed: list[Any] | None) -> Lines:
    """One line of what is counted in pieces, where the stack makes any."""
    wanted = counted.wanted(subject.resources)
    if not wanted:
        return
    region = account.region
    what = f"{counted.name} ({counted.code})"
    try:
        if listed is None:
            listed = list(
                account.each(
                    "service-quotas", "list_service_quotas", "Quotas", region=region, ServiceCode=counted.service
                )
            )
        found = next((each for each in listed if counted.code == each["QuotaCode"]), None)
        if found is None:
            asked = account.call(
                "service-quotas",
                "get_aws_default_service_quota",
                region=region,
                ServiceCode=counted.service,
                QuotaCode=counted.code,
            )
            found = asked["Quota"]
        there = counted.there(account, own_of(subject))
    except CannotAskError as error:
        yield _line(what, Answer.UNKNOWN, f"{wanted} are needed; {error}", error.remedy)
        return
    allowed = float(found["Value"])
    told = f"{wanted} are needed, {there} are there, {allowed:g} are allowed{counted.each}"
    if wanted + there <= allowed:
        yield _line(what, Answer.FINE, told)
        return
    command = increase(counted.service, counted.code, wanted + there, region)
    yield _line(what, Answer.FAILS, told, "ask for more, or take away what nobody needs", command)
