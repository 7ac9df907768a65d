"""For the client's manager: what they have, what it costs, what protects them, and what success is held to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.conventions import MANAGED_NAMES
from trainyard.cost.model import Share
from trainyard.monitoring.pages import target_text
from trainyard.monitoring.recordings import SUCCESS
from trainyard.problems import count
from trainyard.rehearsal.change.words import name_of
from trainyard.review.handover.measured import TITLE, without_monitoring
from trainyard.review.handover.model import Block, Drawn, Facts, Grid, Points, Section, Text, section
from trainyard.review.handover.stores import kept, stores
from trainyard.review.handover.subject import Subject
from trainyard.review.reports.page_parts import opening, sentence, shares_of
from trainyard.review.reports.picture.model import EDITORS
from trainyard.review.verdict import dollars

_MOST_SHARES = 8
"""Rows of a table of money for a manager: what is below them is small, and the engineer's part has all of it."""
_TENTH_OF_A_PERCENT = 0.001


def have(subject: Subject, *, title: str = "What you have") -> Section:
    """What there is, in a manager's words."""
    return section("have", title, (Facts(tuple(_have(subject))), _pools(subject)), "The environment at a glance.")


def gpus_at_most(subject: Subject) -> int | None:
    """GPUs of all node groups at their largest; None where a group cannot be read."""
    sizes = [pool.gpus for cluster in subject.picture.clusters for pool in cluster.pools if pool.gpu]
    return None if None in sizes else sum(size or 0 for size in sizes)


def _have(subject: Subject) -> Iterator[tuple[str, str]]:
    picture = subject.picture
    team_size = subject.planned("core", "team_size")
    if team_size:
        names = [str(team["name"]) for team in subject.planned_all("core", "teams")]
        people = count(team_size, "person") if team_size == 1 else f"{team_size} people"
        yield "For", f"{people} who train models, in {count(len(names), 'team')}: {_some(names)}"
    if picture.places:
        yield "Where", _some(picture.places)
    residency = subject.review.rehearsal.settings.get("residency")
    if isinstance(residency, str) and residency != "none":
        yield "Residency", f"data, images and records stay in {residency.upper()}"
    for cluster in picture.clusters:
        version = f", Kubernetes {cluster.version}" if cluster.version else ""
        yield "Cluster", f"{cluster.name}{version}"
    if subject.managed:
        seats = subject.managed.get("seats")
        editors = count(len(seats), "seat") if seats else count(len(subject.managed["editor_types"]), "size")
        name = MANAGED_NAMES[str(subject.planned("ground", "kind"))]
        yield "Training", f"managed training ({name}), with {editors} {'in' if seats else 'of'} its editors"
        yield "Sizes of jobs", _some(list(subject.managed.get("training_types") or ()), most=12)
    if picture.stores:
        yield (
            "Storage",
            _some([f"{name} ({store.kind})" for name, store in stores(subject) if store in picture.stores], most=12),
        )
    tracking = list(dict.fromkeys(service.name for service in picture.services if service.name != EDITORS))
    if tracking or subject.managed.get("tracking"):
        managed = "a managed MLflow server"
        if subject.planned("ground", "kind") == "gcp":
            managed = "Vertex AI Experiments, with a TensorBoard"
        yield "Experiments", f"recorded by {_some(tracking) if tracking else managed}"
    minutes, proven = subject.review.rehearsal.minutes_until_proof, subject.review.rehearsal.minutes
    if minutes >= 1:
        proof = f", and {proven - minutes:.0f} more until it is proven to train" if proven - minutes >= 1 else ""
        yield "Made in", f"{count(round(minutes), 'minute')} at least, by one command{proof}"


def _pools(subject: Subject) -> Grid:
    purposes = {
        str(pool["name"]): str(pool.get("purpose") or "")
        for cluster in subject.clusters
        for pool in cluster.get("pools") or ()
    }
    rows = []
    for cluster in subject.picture.clusters:
        for pool in cluster.pools:
            of_slices = bool(pool.chips_per_node) and not pool.gpu
            if not (pool.gpu or of_slices):
                continue
            ways = dict.fromkeys(group.capacity for group in pool.groups if group.capacity)
            most, unit = (pool.chips, " chips") if of_slices else (pool.gpus, "")
            at_most = f"{most:,}{unit}" if most is not None else "not known"
            rows.append((pool.name, purposes.get(pool.name, ""), pool.gpu or "TPU", at_most, ", ".join(ways)))
    return Grid(("pool", "for", "GPU", "GPUs at most", "bought"), tuple(rows), "Where jobs run", numbers=frozenset({3}))


def costs(subject: Subject) -> Section:
    """What a month costs, against the budget."""
    cost, money = subject.review.cost, subject.review.verdict.money
    if cost is None or money is None:
        return section("costs", "What it costs", ())
    blocks: list[Block] = [Drawn("money")]
    for title, shares in shares_of(cost):
        blocks.append(_shares(title, shares))
    blocks.append(
        Points(
            tuple(
                f"{of_pool(entry.what, subject)}: {dollars(entry.usd)} USD a month ({dollars(entry.low_usd)} to "
                f"{dollars(entry.high_usd)})"
                for entry in sorted(cost.savings, key=lambda entry: -entry.usd)
                if entry.status == "counted"
            ),
            "Saved already, and counted",
        )
    )
    possible = sorted((entry for entry in cost.savings if entry.status == "possible"), key=lambda entry: -entry.usd)
    blocks.append(
        Points(
            tuple(
                f"{of_pool(entry.what, subject)}: {dollars(entry.usd)} USD a month; {entry.source}"
                for entry in possible[:4]
            ),
            "Could be saved, with one of the terms for each",
        )
    )
    if cost.unpriced:
        blocks.append(Points(tuple(f"{entry.what}: {entry.reason}" for entry in cost.unpriced), "In no figure"))
    return section(
        "costs",
        "What it costs",
        blocks,
        " ".join(filter(None, (sentence(opening(money.sentence)), _PRICES))),
    )


def of_pool(what: str, subject: Subject) -> str:
    """What a saving is of, by its pool and the way that it is bought instead of the node group's name."""
    name, colon, rest = what.partition(": ")
    for cluster in subject.picture.clusters:
        for pool in cluster.pools:
            for group in pool.groups:
                if colon and name_of(group.urn) == name:
                    return f"Pool {pool.name}{f', {group.capacity}' if group.capacity else ''}: {rest}"
    return what


_PRICES = "All figures are US dollars a month at list prices, before tax."


def _by_kind(shares: Sequence[Share]) -> list[Share]:
    """Components of one class as one share, by the class in words: a manager knows no names of resources."""
    found: dict[str, Share] = {}
    for share in shares:
        name = in_words(share.kind) if share.kind else share.name
        same = found.get(name)
        found[name] = Share(name, share.kind, same.usd + share.usd if same else share.usd)
    return list(found.values())


def in_words(kind: str) -> str:
    """`GPU node groups` of `GpuNodeGroups`."""
    first, *rest = re.findall(r"[A-Z][a-z0-9]*|[a-z0-9]+", kind) or [kind]
    return " ".join([_SPELT.get(first, first), *(_SPELT.get(word, word.lower()) for word in rest)])


_SPELT = {
    "Gpu": "GPU",
    "Dns": "DNS",
    "Efs": "EFS",
    "Eks": "EKS",
    "Gke": "GKE",
    "Api": "API",
    "Apis": "APIs",
    "Iam": "IAM",
    "Sql": "SQL",
    "Vpc": "VPC",
    "Gcs": "GCS",
}


def _shares(title: str, given: Sequence[Share]) -> Grid:
    """The largest shares, what is left in one row, and the sum."""
    shares = _by_kind(given) if title == "component" else list(given)
    ordered = sorted(shares, key=lambda share: (-share.usd.expected, -share.usd.ceiling, share.name))
    whole = sum(share.usd.expected for share in shares)
    shown = [
        share
        for share in ordered[:_MOST_SHARES]
        if title == "team" or share.usd.expected > whole * _TENTH_OF_A_PERCENT or share.usd.floor > 0
    ]
    rest = [share for share in ordered if share not in shown]
    budgets = title == "team" and any(share.budget_usd for share in shares)
    rows = [_row(share.name, [share], budgets=budgets) for share in shown]
    if rest:
        rows.append(_row(f"{count(len(rest), 'other')}", rest, budgets=budgets))
    rows.append(_row("together", list(shares), budgets=budgets))
    columns = (
        "part" if title == "component" else title,
        "while nothing runs",
        "expected",
        "at most",
        *(["its budget"] if budgets else []),
    )
    return Grid(
        columns,
        tuple(rows),
        "By part" if title == "component" else f"By {title}",
        numbers=frozenset(range(1, 5)),
        total=True,
    )


def _row(name: str, shares: Sequence[Share], *, budgets: bool) -> tuple[str, ...]:
    sums = [sum(getattr(share.usd, key) for share in shares) for key in ("floor", "expected", "ceiling")]
    given = [share.budget_usd for share in shares if share.budget_usd is not None]
    budget = [dollars(sum(given)) if given else "–"] if budgets else []
    return (name, *map(dollars, sums), *budget)


def success(subject: Subject) -> Section:
    """The success metrics with their targets, and what measures them."""
    if not any(cluster.get("monitoring") for cluster in subject.clusters):
        return without_monitoring(subject)
    rows = tuple(
        (target.title, opening(target_text(target)), target.recording.what, _as_set(target.source))
        for target in SUCCESS
    )
    return section(
        "success",
        TITLE,
        (Grid(("metric", "target", "what is measured", "as it is set"), rows),),
        "The dashboard “Success metrics” of the environment shows each of them against its target.",
    )


def _as_set(source: str) -> str:
    """What a target is in its source's words, without the source, which nobody who decides has: `under 30 minutes for
    standard jobs`."""
    return source.partition(": ")[2] or source


def protection(subject: Subject) -> Section:
    """What keeps data, money and people safe, as the plan and the recorded resources say it."""
    return section(
        "protection",
        "What protects you",
        (Facts(tuple(_protection(subject))), kept(subject, "Your data")),
        "Each line was read from what the environment is made of, before it was made.",
    )


def _protection(subject: Subject) -> Iterator[tuple[str, str]]:
    policies = subject.review.policies
    if policies is not None:
        held = policies.policies - len({violation.policy for violation in policies.violations})
        yield "Policies", f"{held} of {policies.policies} hold, judged on every change before it is made"
    if subject.planned("core", "protect"):
        ends = "; `trainyard destroy` alone lets go of it" if subject.plan else ""
        yield "Deletion", f"what holds data cannot be deleted by an update{ends}"
    yield from _money_walls(subject)
    mode = subject.planned("core", "egress", "mode")
    if subject.managed and subject.planned("ground", "network", "nat_gateways") == 0:
        yield "Way out", "training jobs have none: they reach their buckets, and nothing on the internet"
    elif mode == "allowlist":
        allowed = [str(name) for name in subject.planned_all("core", "egress", "allow")]
        told = f"but {_some(allowed, most=8)}" if allowed else "at all"
        yield "Way out", f"jobs reach nothing on the internet {told}"
    elif mode == "internet":
        yield "Way out", "jobs reach the whole internet"
    for cluster in subject.picture.clusters:
        if cluster.reach:
            yield "API of the cluster", cluster.reach
    trail = subject.planned("ground", "audit", "trail")
    if isinstance(trail, Mapping):
        yield (
            "On record",
            f"every call to the account, kept {count(trail['retention_days'], 'day')}, the first "
            f"{count(trail['lock_days'], 'day')} of them locked against deletion",
        )
    if subject.planned("ground", "record", "by_stack"):
        yield (
            "On record",
            "every change in the project, every reading and writing of an object and every use of a key, kept "
            f"{count(subject.planned('ground', 'record', 'log_retention_days'), 'day')} in the region",
        )
    if subject.planned("ground", "audit", "watched"):
        yield "Watched", "a detector of the account looks for stolen credentials and strange traffic"
    if any(planned.get("drill") for planned in subject.clusters):
        yield "Checkpoints", "a drill restores one every week and raises an alert where it cannot"
    days = subject.planned("ground", "database", "backup_retention_days")
    if days:
        yield "Backups", f"the tracking database every day, kept {count(days, 'day')}"


def _money_walls(subject: Subject) -> Iterator[tuple[str, str]]:
    budget = subject.planned("core", "budget")
    if not isinstance(budget, Mapping):
        return
    emails = [str(email) for email in budget.get("alert_emails") or ()]
    percents = [f"{percent} %" for percent in budget.get("actual_percents") or ()]
    told = f"{_some(emails)} told at {_some(percents)}" if emails and percents else "nobody told"
    yield "Budget", f"{dollars(budget['monthly_usd'])} USD a month; {told}"
    for cluster in subject.clusters:
        ledger = cluster.get("ledger")
        if isinstance(ledger, Mapping) and ledger.get("hold"):
            hours = ledger.get("drain_after_hours")
            then = (
                f"what runs ends after {count(hours, 'hour')}" if hours is not None else "what runs goes on to its end"
            )
            yield "Teams' budgets", f"a team that has spent its month is held at its queue; {then}"
            break
    closed = subject.managed.get("closed_quotas")
    if closed:
        yield "Largest machine", "GPUs of any other kind than the sizes above have a quota of nothing"
    if subject.managed.get("deny_over_budget"):
        yield "Over budget", "nobody starts anything new; what runs goes on to its end"


def _some(names: Sequence[Any], most: int = 6) -> str:
    """Names with commas, and how many more there are."""
    shown = [str(name) for name in names[:most]]
    rest = len(names) - len(shown)
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def mood_of(subject: Subject) -> Text:
    """What stands in the way, in a box; nothing where nothing does."""
    verdict = subject.review.verdict
    return Text("" if verdict.state.mood == "good" else sentence(opening(verdict.headline)), verdict.state.mood)
