"""A rehearsal as a person reads it: in the terminal, or as one HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from trainyard.output import page
from trainyard.recorded import node_groups
from trainyard.recorded.model import UNKNOWN, Finding, RecordedResource, Secret
from trainyard.recorded.read import UnreadableInput, follow
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.graph import Step
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.reports.cost import summary
from trainyard.review.reports.page_parts import FILTERS, counts_of, money_bar, shares_of
from trainyard.review.reports.picture.layout import COLOURS, drawings
from trainyard.review.reports.picture.lettering import STYLES
from trainyard.review.reports.picture.read import picture_of
from trainyard.review.reports.picture.words import said_of
from trainyard.review.review import Outcome, Review, Unjudged


@dataclass(slots=True)
class Branch:
    """One component with what lies in it: counts by type, figures worth knowing, and the components inside."""

    name: str
    kind: str = ""  # class of the component: "GpuNodeGroups"
    counts: Counter[str] = field(default_factory=Counter)
    figures: list[str] = field(default_factory=list)
    branches: dict[str, Branch] = field(default_factory=dict)
    errors: int = 0
    warnings: int = 0

    @property
    def total(self) -> int:
        """Resources in this component and all inside."""
        return sum(self.counts.values()) + sum(branch.total for branch in self.branches.values())


def short_type(type_: str) -> str:
    """The type as people say it: `eks.NodeGroup` of `aws:eks/nodeGroup:NodeGroup`, `Secret` of
    `kubernetes:core/v1:Secret`."""
    parts = type_.split(":")
    if len(parts) != 3:
        return type_
    package, module, name = parts
    if package == "aws":
        space = module.split("/")[0]
        return name if space == "index" else f"{space}.{name}"
    if package == "pulumi":
        return f"{name} provider"
    return f"helm.{name}" if module.startswith("helm.sh") else name


def tree_of(rehearsal: Rehearsal) -> Branch:
    """The components as a tree, from the stack down."""
    root = Branch(rehearsal.stack, kind="stack")
    resources = Resources(rehearsal.resources)
    for resource in rehearsal.resources:
        branch = _branch(root, resource.component)
        if not resource.custom:
            inner = _branch(root, f"{resource.component}/{resource.name}" if resource.component else resource.name)
            inner.kind = resource.type.split(":")[-1]
        elif not resource.is_provider:
            branch.counts[short_type(resource.type)] += 1
            figure = _figure(resource, resources)
            if figure:
                branch.figures.append(figure)
    for finding in rehearsal.findings:
        branch = _branch(root, finding.component)
        if finding.level == "error":
            branch.errors += 1
        else:
            branch.warnings += 1
    return root


def _branch(root: Branch, path: str) -> Branch:
    branch = root
    for name in path.split("/") if path else ():
        branch = branch.branches.setdefault(name, Branch(name))
    return branch


def _figure(resource: RecordedResource, resources: Resources) -> str:
    """What a reader wants to know of the resources that matter: size, capacity, version."""

    def read(*path: str) -> Any:
        found = follow(resource.inputs, *path)
        return "?" if found is UNKNOWN or isinstance(found, Secret) else "" if found is None else found

    protected = ", protected" if resource.protect else ""
    match resource.type:
        case "aws:ec2/vpc:Vpc":
            return f"network {read('cidrBlock')}"
        case "aws:eks/cluster:Cluster":
            reach = "public and private" if read("vpcConfig", "endpointPublicAccess") is True else "private only"
            return f"cluster {read('name')}, Kubernetes {read('version')}, API {reach}"
        case node_groups.EKS_NODE_GROUP | node_groups.GKE_NODE_POOL:
            return _node_group_figure(resource, resources)
        case "aws:fsx/lustreFileSystem:LustreFileSystem":
            return f"Lustre {read('storageCapacity')} GiB, {read('deploymentType')}{protected}"
        case "aws:rds/instance:Instance":
            return f"{read('engine')} {read('engineVersion')}, {read('instanceClass')}{protected}"
        case "aws:s3/bucket:Bucket":
            return f"bucket {read('bucket')}{protected}"
        case "aws:budgets/budget:Budget":
            return f"budget {read('limitAmount')} {read('limitUnit')} {str(read('timeUnit')).lower()}"
        case "kubernetes:helm.sh/v3:Release":
            return f"chart {str(read('chart')).rsplit('/', 1)[-1]} {read('version')}"
    return ""


def _node_group_figure(resource: RecordedResource, resources: Resources) -> str:
    try:
        group = node_groups.node_group(resource, resources)
    except UnreadableInput as unreadable:
        return f"{resource.name}: {unreadable}"
    types = ", ".join(group.instance_types) or "launch template"
    return f"{group.name}: {group.min_nodes} to {group.max_nodes} nodes, {group.capacity}, {types}"


def gpus_of(plan: Mapping[str, Any]) -> int | None:
    """The most GPUs that the plan's node groups can hold, by the plan's own figures; None without clusters."""
    clusters = plan.get("clusters")
    if not clusters:
        return None
    pools = [pool for cluster in clusters for pool in cluster["pools"]]
    return sum(int(group["max_nodes"]) * int(pool["node"]["gpus"]) for pool in pools for group in pool["node_groups"])


def totals_of(review: Review) -> list[tuple[str, str]]:
    """Label and figure: resources, by provider, components, protected, GPUs, price, time of the first `up`."""
    rehearsal = review.rehearsal
    made = [resource for resource in rehearsal.resources if resource.is_made]
    by_package = Counter(resource.package for resource in made)
    components = sum(not resource.custom for resource in rehearsal.resources)
    rows = [
        ("resources", f"{len(made)}  ({', '.join(f'{name} {count}' for name, count in by_package.most_common())})"),
        ("components", str(components)),
        ("protected", str(sum(resource.protect for resource in made))),
    ]
    gpus = gpus_of(rehearsal.plan)
    if gpus is not None:
        rows.append(("GPUs", f"{gpus} at most"))
    if review.cost is not None:
        rows += summary(review.cost)
    stands, ends = rehearsal.minutes_until_proof, rehearsal.minutes
    proof = f", then {ends - stands:.0f} for the smoke jobs" if ends > stands else ""
    rows.append(("first up", f"{stands:.0f} minutes at least{proof}"))
    rows.append(("rehearsed in", f"{review.seconds['total']:.1f} s"))
    return rows


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings of one component that say the same of several places."""

    finding: Finding  # the first of them
    subjects: tuple[str, ...]  # "eks.NodeGroup train-spot scalingConfig.desired_sized"


def grouped(findings: Sequence[Finding]) -> list[tuple[str, list[FindingGroup]]]:
    """Findings by component, in their order; what is said of several places is said once."""
    groups: dict[str, dict[tuple[str, ...], list[Finding]]] = {}
    for finding in findings:
        said = (finding.level, finding.rule, finding.message, finding.allowed, finding.hint)
        groups.setdefault(finding.component or "the stack", {}).setdefault(said, []).append(finding)
    return [
        (component, [FindingGroup(same[0], tuple(filter(None, map(_subject, same)))) for same in told.values()])
        for component, told in groups.items()
    ]


def _subject(finding: Finding) -> str:
    return " ".join(part for part in (short_type(finding.type), finding.name, finding.path) if part)


def report(review: Review) -> RenderableType:
    """The whole report for a `rich` console."""
    rehearsal = review.rehearsal
    parts: list[RenderableType] = [_tree(tree_of(rehearsal)), Text()]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for label, figure in totals_of(review):
        table.add_row(Text(label, style="dim"), figure)
    parts += [Text("Totals", style="bold"), table]
    if rehearsal.critical_path:
        parts += [Text(), _path(rehearsal)]
    parts += [Text(), *_findings(rehearsal)]
    return Group(*parts)


def _tree(root: Branch) -> Tree:
    def label(branch: Branch) -> Text:
        text = Text(branch.name, style="bold")
        if branch.kind:
            text.append(f"  {branch.kind}", style="dim")
        text.append(f"  {branch.total}", style="cyan")
        if branch.errors:
            text.append(f"  {_count(branch.errors, 'error')}", style="bold red")
        if branch.warnings:
            text.append(f"  {_count(branch.warnings, 'warning')}", style="yellow")
        return text

    def grow(tree: Tree, branch: Branch) -> None:
        for figure in branch.figures:
            tree.add(Text(figure, style="green"))
        if branch.counts:
            tree.add(Text(", ".join(_times(type_, count) for type_, count in sorted(branch.counts.items())), "dim"))
        for name in sorted(branch.branches):
            inner = branch.branches[name]
            grow(tree.add(label(inner)), inner)

    tree = Tree(label(root), guide_style="dim")
    grow(tree, root)
    return tree


def _times(type_: str, count: int) -> str:
    return type_ if count == 1 else f"{count}\N{NO-BREAK SPACE}{type_}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def clock(seconds: float) -> str:
    """A duration as minutes and seconds: `12:05`."""
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d}"


def _where(step: Step) -> str:
    return f"{step.component}/{step.name}" if step.component else step.name


def _path(rehearsal: Rehearsal) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    table.add_column("takes", justify="right", no_wrap=True)
    table.add_column("done at", justify="right", no_wrap=True)
    table.add_column("type", no_wrap=True)
    table.add_column("resource", overflow="fold")
    for step in rehearsal.critical_path:
        table.add_row(clock(step.seconds), clock(step.finish), short_type(step.type), _where(step))
    title = Text("Critical path of the first up", style="bold")
    title.append("  (minutes; a lower bound: published times, nothing queues)", style="dim")
    return Group(title, table)


def _findings(rehearsal: Rehearsal) -> Iterator[RenderableType]:
    if not rehearsal.findings:
        yield Text("No findings: nothing here that the engine or a cloud would refuse.", style="green")
        return
    warnings = len(rehearsal.findings) - len(rehearsal.errors)
    title = Text("Findings", style="bold")
    title.append(f"  {_count(len(rehearsal.errors), 'error')}, {_count(warnings, 'warning')}", style="dim")
    yield title
    for component, group in grouped(rehearsal.findings):
        yield Text(component, style="bold")
        for same in group:
            finding = same.finding
            style = "red" if finding.level == "error" else "yellow"
            text = Text(f"{finding.level} ", style=style)
            text.append(f"{finding.rule}", style="dim")
            for subject in same.subjects:
                text.append(f"\n{subject}", style="bold")
            text.append(f"\n{finding.message}")
            for tail in (finding.allowed, finding.hint):
                if tail:
                    text.append(f"\n{tail}", style="cyan")
            yield Padding(text, (0, 0, 0, 2))


def as_html(outcome: Outcome) -> str:
    """The outcome as one self-contained page. A stack that was not judged has one too: its verdict, and why."""
    verdict = outcome.verdict
    parts: dict[str, Any] = {"review": None, "drawings": (), "problems": ()}
    if isinstance(outcome, Unjudged):
        parts["problems"] = [(mistake.problem, mistake.line) for mistake in outcome.mistakes]
    else:
        parts |= _parts_of(outcome)
    return page(
        Path(__file__).with_name("rehearsal.html.j2"),
        {**FILTERS, "clock": clock, "short_type": short_type, "where": _where},
        outcome=outcome,
        verdict=verdict,
        counts=counts_of(verdict),
        bar=money_bar(verdict.money) if verdict.money is not None else None,
        lettering=STYLES,
        colours=COLOURS,
        times=_times,
        **parts,
    )


def _parts_of(review: Review) -> dict[str, Any]:
    """What the page of a judged stack shows besides the verdict."""
    rehearsal = review.rehearsal
    expected = review.cost.total.expected if review.cost is not None else None
    wrong = Counter(finding.urn for finding in rehearsal.errors)
    wrong.update(violation.urn for violation in (review.policies.mandatory if review.policies is not None else ()))
    picture = picture_of(review.stack, rehearsal.resources, expected_usd=expected, wrong=wrong)
    return {
        "review": review,
        "drawings": drawings(picture),
        "picture_said": said_of(picture),
        "groups": grouped(rehearsal.findings),
        "shares": shares_of(review.cost),
        "longest": max((step.finish for step in rehearsal.critical_path), default=1.0),
        "totals": totals_of(review),
        "tree": tree_of(rehearsal),
    }
