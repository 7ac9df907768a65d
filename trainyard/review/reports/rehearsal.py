"""What every report of a rehearsal tells: components, totals and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.problems import count
from trainyard.recorded import node_groups, types
from trainyard.recorded.model import UNKNOWN, Finding, RecordedResource, Secret
from trainyard.recorded.read import UnreadableInput, follow
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.graph import Step
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.review.reports.cost import summary
from trainyard.review.review import Review


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
        return f"{name} provider" if module == "providers" else name
    return f"helm.{name}" if module.startswith("helm.sh") else name


def tree_of(rehearsal: Rehearsal) -> Branch:
    """The components as a tree, from the stack down."""
    root = Branch(rehearsal.stack, kind="stack")
    resources = Resources(rehearsal.readable)
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
        case types.VPC:
            return f"network {read('cidrBlock')}"
        case types.EKS_CLUSTER:
            reach = "public and private" if read("vpcConfig", "endpointPublicAccess") is True else "private only"
            return f"cluster {read('name')}, Kubernetes {read('version')}, API {reach}"
        case node_groups.EKS_NODE_GROUP | node_groups.GKE_NODE_POOL:
            return _node_group_figure(resource, resources)
        case types.LUSTRE:
            return f"Lustre {read('storageCapacity')} GiB, {read('deploymentType')}{protected}"
        case types.DATABASE:
            return f"{read('engine')} {read('engineVersion')}, {read('instanceClass')}{protected}"
        case types.BUCKET:
            return f"bucket {read('bucket')}{protected}"
        case types.AWS_BUDGET:
            return f"budget {read('limitAmount')} {read('limitUnit')} {str(read('timeUnit')).lower()}"
        case types.HELM_RELEASE:
            return f"chart {str(read('chart')).rsplit('/', 1)[-1]} {read('version')}"
    return ""


def _node_group_figure(resource: RecordedResource, resources: Resources) -> str:
    try:
        group = node_groups.node_group(resource, resources)
    except UnreadableInput as unreadable:
        return f"{resource.name}: {unreadable}"
    machines = ", ".join(group.instance_types) or "launch template"
    return f"{group.name}: {group.min_nodes} to {group.max_nodes} nodes, {group.capacity}, {machines}"


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
    made = [resource for resource in rehearsal.resources if resource.is_made and not resource.read]
    by_package = Counter(resource.package for resource in made)
    components = sum(not resource.custom for resource in rehearsal.resources)
    rows = [
        ("resources", f"{len(made)}  ({', '.join(f'{name} {made}' for name, made in by_package.most_common())})"),
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
    rows.append(("first up", f"{count(round(stands), 'minute')} at least{proof}"))
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


def times(type_: str, count: int) -> str:
    """`3 Secret`, `Vpc`: so many resources of a type."""
    return type_ if count == 1 else f"{count}\N{NO-BREAK SPACE}{type_}"


def clock(seconds: float) -> str:
    """A duration as minutes and seconds: `12:05`."""
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d}"


def where(step: Step) -> str:
    """Component and name of a step."""
    return f"{step.component}/{step.name}" if step.component else step.name
