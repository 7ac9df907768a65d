"""For the engineers: the picture, the network, who comes in, queues, alerts with runbooks, drills, the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from trainyard.conventions.monitoring import CHECKPOINT_DRILL, PLATFORM_NAMESPACES
from trainyard.monitoring.alerts import alerts_by_room
from trainyard.monitoring.model import Alert, page_name
from trainyard.monitoring.pages import ROOMS
from trainyard.monitoring.thresholds import Thresholds
from trainyard.problems import count
from trainyard.recorded.read import list_at, text_at, value_at
from trainyard.recorded.types import HELM_RELEASE, PROMETHEUS_RULE
from trainyard.rehearsal.change.differences import texts
from trainyard.review.handover.model import Block, Drawn, Facts, Grid, Points, Section, Text, section
from trainyard.review.handover.stores import kept
from trainyard.review.handover.subject import Subject
from trainyard.review.reports.picture.model import Network
from trainyard.review.reports.picture.told import entries, known, told
from trainyard.review.reports.rehearsal import clock, short_type, where
from trainyard.review.verdict import dollars


def picture(subject: Subject) -> Section:
    """The environment, drawn."""
    drawn = subject.picture.networks or subject.picture.clusters or subject.picture.stores
    blocks = (Drawn("picture"),) if drawn else ()
    lead = "Drawn from the resources themselves: networks, clusters with their pools, what is kept, and who owns what."
    return section("picture", "The environment", blocks, lead, wide=True)


def network(subject: Subject) -> Section:
    """Addresses, zones, the ways in and out."""
    rows = []
    for each in subject.picture.networks:
        own = bool(each.urn)  # of another program's network nobody knows these
        zones = [zone.name for zone in each.zones]
        nats = sum(zone.nat_gateways for zone in each.zones)
        rows += [
            ("Network", f"{each.name} {each.cidr}".strip()),
            ("Zones", ", ".join(zones)),
            ("Way out", count(nats, "NAT gateway") if nats else "no NAT gateway" if own else ""),
            ("Reached inside", ", ".join(each.endpoints)),
            ("Flow logs", f"{each.flow_logs} traffic" if each.flow_logs else "none" if own else ""),
        ]
    allowed = [str(name) for name in subject.planned_all("core", "egress", "allow")]
    if subject.planned("core", "egress", "mode") == "allowlist":
        rows.append(("Names allowed", ", ".join(allowed) or "none"))
    return section(
        "network",
        "Network",
        (
            Facts(tuple((label, value) for label, value in rows if value)),
            *map(_subnets, subject.picture.networks),
            Text(f"`trainyard explain {subject.stack} flows` tells every flow that is needed and every one left open."),
        ),
    )


def _subnets(network: Network) -> Grid:
    """A row a zone, a column a kind of subnet."""
    kinds = list(dict.fromkeys(subnet.reach or "range" for zone in network.zones for subnet in zone.subnets))
    rows = tuple(
        (
            zone.name,
            *(
                ", ".join(subnet.cidr for subnet in zone.subnets if (subnet.reach or "range") == kind) or "–"
                for kind in kinds
            ),
        )
        for zone in network.zones
    )
    return Grid(("zone", *kinds), rows, f"Subnets of {network.name}")


def access(subject: Subject) -> Section:
    """Who comes in, and how."""
    stack, rows = subject.stack, []
    for cluster in subject.picture.clusters:
        rows.append((f"API of {cluster.name}", ", ".join((cluster.reach or "not known", *cluster.facts))))
    for team in subject.planned_all("core", "teams"):
        who = [str(name) for name in team.get("principals") or ()]
        if who:
            rows.append((f"Team {team['name']}", ", ".join(who)))
    commands = []
    if subject.clusters:
        commands += [
            f"`trainyard kubeconfig {stack} -o FILE` writes the way to the cluster; "
            f"`trainyard tunnel {stack}` keeps it open where the API is private.",
            f"`trainyard open mlflow {stack}` opens the tracking server with a team's login.",
            f"`trainyard explain {stack} reach TEAM` tells what a team's pods and people can reach and do.",
        ]
    commands += [
        f"`trainyard explain {stack} rights` tells who may do what in the cloud, and which statement decides.",
        f"`trainyard explain {stack}` tells where every number of the plan is from.",
    ]
    return section("access", "Access", (Facts(tuple(rows)), Points(tuple(commands), "Ways in")))


def queues(subject: Subject) -> Section:
    """What each team owns, and how what it leaves idle is shared."""
    blocks: list[Block] = []
    teams = {str(team["name"]): team for team in subject.planned_all("core", "teams")}
    pools = list(dict.fromkeys(quota.pool for team in subject.picture.teams for quota in team.quotas or ()))
    slices = list(dict.fromkeys(pool for team in subject.picture.teams for pool, _ in team.slices))
    rows = []
    for team in subject.picture.teams:
        owned = dict.fromkeys(pools, 0.0)
        for quota in team.quotas or ():
            owned[quota.pool] += quota.gpus
        told = [f"{owned[pool]:g}" if team.quotas is not None else "not known" for pool in pools]
        told += [f"{dict(team.slices).get(pool, 0):g}" for pool in slices]
        planned = teams.get(team.name, {})
        budget = planned.get("monthly_budget_usd")
        rows.append(
            (
                team.name,
                str(planned.get("members") or "–"),
                *told,
                "yes" if team.lends else "no",
                dollars(budget) if budget else "–",
            )
        )
    of = (*(f"GPUs of {pool}" for pool in pools), *(f"chips of {pool}" for pool in slices))
    columns = ("team", "people", *of, "lends", "USD a month")
    numbers = frozenset({1, *range(2, 2 + len(pools)), 3 + len(pools)})
    blocks.append(Grid(columns, tuple(rows), "What each team owns", numbers=numbers))
    for cluster in subject.clusters:
        scheduling = cluster.get("scheduling")
        if not isinstance(scheduling, Mapping):
            continue
        priorities = tuple(
            (str(each["name"]), f"{each['value']:,}", str(each["description"]))
            for each in scheduling.get("priorities") or ()
        )
        blocks.append(Grid(("priority", "value", "for"), priorities, "Who goes first", numbers=frozenset({1})))
        flavors = tuple(
            (str(each["name"]), str(each["pool"]), str(each["capacity"]), f"{each['gpus']:,}")
            for each in scheduling.get("flavors") or ()
        )
        order = "In which order a job tries the ways to buy"
        blocks.append(Grid(("flavor", "pool", "capacity", "GPUs at most"), flavors, order, numbers=frozenset({3})))
    if rows:
        blocks.append(
            Text(f"`trainyard explain {subject.stack} queues` tells what each job would get, borrow and give back.")
        )
    lead = "What a team owns is its own; what it leaves idle, others use until it wants it back."
    return section("queues", "Queues and teams", blocks, lead)


def storage(subject: Subject) -> Section:
    """The tiers, with how long each keeps what."""
    planned = subject.planned("core", "storage")
    facts = []
    if isinstance(planned, Mapping):
        days = {
            "Overwritten data": planned.get("data_version_days"),
            "Superseded checkpoints": planned.get("checkpoint_expire_days"),
            "Superseded artifacts": planned.get("artifact_retention_days"),
        }
        facts = [(label, f"kept {count(value, 'day')}") for label, value in days.items() if value]
        newest = planned.get("checkpoint_keep_versions")
        facts += [("Newest checkpoints", f"{newest} of each stay, however old")] if newest else []
        shared = planned.get("data_access") == "shared"
        facts.append(("Data", "every team reads all of it" if shared else "each team reads its own"))
    mounts = [
        (f"Volume {claim}", f"mounted at {path}")
        for cluster in subject.clusters
        for claim, path in value_at(cluster, "smoke", "mounts", default=())
    ]
    return section(
        "storage",
        "Storage tiers",
        (kept(subject), Facts((*facts, *dict.fromkeys(mounts)))),
    )


def _recorded_alerts(subject: Subject) -> Iterator[Mapping[str, Any]]:
    """The alerting rules that the stack really makes."""
    for resource in subject.resources.of(PROMETHEUS_RULE):
        for group in entries(resource.inputs, "spec", "groups"):
            for rule in entries(group, "rules"):
                if known(None, text_at, rule, "alert"):
                    yield rule


def _thresholds(subject: Subject) -> Thresholds:
    """Those of the first cluster that is watched."""
    for cluster in subject.clusters:
        given = value_at(cluster, "monitoring", "thresholds", unknown=None)
        if isinstance(given, Mapping):
            told = {one.name: given[one.name] for one in fields(Thresholds) if one.name in given}
            if "budget_percents" in told:
                told["budget_percents"] = tuple(told["budget_percents"])
            return Thresholds(**told)
    return Thresholds()


def alerts(subject: Subject) -> Section:
    """Every alert that the stack makes, by room, and what to do about those that are critical."""
    recorded = {str(rule["alert"]): rule for rule in _recorded_alerts(subject)}
    blocks: list[Block] = []
    ours: dict[str, Alert] = {}
    chips = bool(subject.planned_all("ground", "tpu_pools"))
    for room, made in alerts_by_room(_thresholds(subject), PLATFORM_NAMESPACES, chips=chips).items():
        here = [alert for alert in made if alert.name in recorded]
        ours |= {alert.name: alert for alert in here}
        rows = tuple((alert.name, alert.severity, alert.title, page_name(alert.name)) for alert in here)
        blocks.append(Grid(("alert", "severity", "what is wrong", "runbook"), rows, ROOMS[room]))
    others = tuple(
        (name, *(str(value_at(rule, *path, default="–", unknown="?")) for path in _OF_OTHERS))
        for name, rule in recorded.items()
        if name not in ours
    )
    blocks.append(Grid(("alert", "severity", "what is wrong", "runbook"), others, "Others"))
    folder = next((str(found) for one in subject.clusters if (found := value_at(one, "monitoring", "runbooks"))), "")
    lead = f"The runbooks are below {folder}; what each critical alert asks for stands here too." if folder else ""
    critical = [alert for alert in ours.values() if alert.severity == "critical"]
    blocks += [
        Points(alert.runbook.act, f"{alert.name}: {alert.title}", ordered=True, lead=alert.runbook.means)
        for alert in critical
    ]
    return section("alerts", "Alerts and runbooks", blocks, lead)


_OF_OTHERS = (("labels", "severity"), ("annotations", "summary"), ("annotations", "runbook_url"))


def drills(subject: Subject) -> Section:
    """What is tried before it is needed: restoring a checkpoint, restoring the database, proving the GPUs."""
    rows: list[tuple[str, str]] = []
    steps: list[str] = []
    for cluster in subject.clusters:
        drill = cluster.get("drill")
        if isinstance(drill, Mapping):
            rows += [
                ("Checkpoints", f"a job of team {drill['team']} restores one at `{drill['schedule']}` (cron, UTC)"),
                ("It asks for", f"{drill['cpu']} cores and {drill['memory_gib']} GiB"),
                ("It has", f"{drill['deadline_s'] // 60} minutes"),
            ]
            label = f"app.kubernetes.io/name={CHECKPOINT_DRILL}"
            steps.append(f"`kubectl get cronjob --all-namespaces -l {label}` shows when it ran last.")
    days = subject.planned("ground", "database", "backup_retention_days")
    if days:
        rows.append(("Tracking database", f"backed up every day, kept {count(days, 'day')}"))
        steps.append(
            "Make the database anew from a backup once, before you need it: `docs/runbooks/tracking-database.md` "
            "says how."
        )
    jobs = [str(job["name"]) for cluster in subject.clusters for job in value_at(cluster, "smoke", "jobs", default=())]
    if jobs:
        rows.append(("Smoke jobs", f"{', '.join(jobs)}: run by every `pulumi up` that changes what they prove"))
    if jobs or subject.managed.get("smoke"):
        steps.append(f"`trainyard smoke {subject.stack}` proves at any time that the environment trains.")
    return section("drills", "Restore drill", (Facts(tuple(rows)), Points(tuple(steps), "How to try it")))


def teardown(subject: Subject) -> Section:
    """How the environment ends."""
    stack = subject.stack
    protected = sum(1 for resource in subject.resources.all if resource.is_made and resource.protect)
    rows = [("Protected", f"{count(protected, 'resource')} that no update can delete")] if protected else []
    steps: tuple[str, ...] = ()
    if subject.plan:
        on_aws = subject.planned("ground", "kind") == "aws"
        asked = "account" if on_aws else "project"
        stays = "data, artifacts, tracking and homes" if on_aws else "data, artifacts and tracking"
        rest = (
            "keeps nothing but the record of calls."
            if on_aws
            else "keeps nothing; versions of keys take 30 days to go, and can be taken back until then."
        )
        steps = (
            f"`trainyard destroy {stack} --dry-run` says what would stay, be lost and be deleted, in which order.",
            f"`trainyard destroy {stack}` drains the queues, keeps {stays}, deletes the "
            "rest and proves that nothing else is left that is paid for.",
            f"`trainyard destroy {stack} --keep none` {rest}",
            f"`trainyard destroy {stack} --prove-only` asks the {asked} again, and changes nothing.",
        )
    return section("teardown", "The end", (Facts(tuple(rows)), Points(steps, "Step by step", ordered=True)))


def first_up(subject: Subject) -> Section:
    """How long the first `pulumi up` takes, and what on."""
    path = subject.review.rehearsal.critical_path
    rows = tuple((where(step), short_type(step.type), clock(step.seconds), clock(step.finish)) for step in path)
    return section(
        "first-up",
        "The first up",
        (Grid(("resource", "type", "takes", "done at"), rows, numbers=frozenset({2, 3}), small=True),),
        "The longest chain of what waits for each other, in minutes and seconds: a lower bound.",
    )


def versions(subject: Subject) -> Section:
    """What is pinned."""
    rows = []
    for release in subject.resources.of(HELM_RELEASE):
        version = told(release.inputs, "version")
        if version:
            rows.append((told(release.inputs, "chart") or release.name, "chart", version))
    if subject.clusters:
        images = _pairs(subject.planned("core", "pins", "images"))
        rows += [(name, "image", _short_digest(str(image))) for name, image in _in_use(images, subject)]
    for cluster in subject.clusters:
        rows.insert(0, ("Kubernetes", "cluster", str(cluster.get("kubernetes_version"))))
    for plane in subject.planned_all("ground", "control_planes"):
        rows += [(str(one["name"]), "add-on", str(one["version"])) for one in known([], list_at, plane, "add_ons")]
    lead = "Each is pinned; an upgrade is a change like any other, rehearsed and judged before it is made."
    return section("versions", "Versions", (Grid(("what", "kind", "version"), tuple(rows), small=True),), lead)


def _in_use(images: Sequence[tuple[str, Any]], subject: Subject) -> Iterator[tuple[str, str]]:
    """Those of the pinned images that a resource names: the pins are of both clouds and of whatever could be switched
    on. The registry is not compared, since a cache of the account's own stands before many."""
    named = "\n".join(text for resource in subject.resources.all for _, text, _ in texts(resource.inputs))
    for name, image in images:
        registry, _, path = str(image).partition("/")
        if (path if "." in registry else str(image)) in named:
            yield name, str(image)


def _short_digest(image: str) -> str:
    """An image with as much of its digest as tells it from another."""
    name, at, digest = image.partition("@sha256:")
    return f"{name}{at}{digest[:12]}…" if digest else image


def _pairs(found: Any) -> list[tuple[str, Any]]:
    """What the plan writes as pairs, in their order."""
    if isinstance(found, Mapping):
        return list(found.items())
    return [(str(one[0]), one[1]) for one in found or () if len(one) == 2]
