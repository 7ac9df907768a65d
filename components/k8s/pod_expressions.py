"""Questions about a pod's spec in CEL, the language of admission policies, for whoever writes one.

Each function takes the CEL name of a pod's spec (`object.spec`, or the variable of a macro) and gives an expression.
Optional fields are asked for with `has` first: reading one that is not there is an error, which refuses the object.
`quantity`, `sum` and `max` are the API server's own CEL libraries.
"""

from trainyard.conventions import ACCELERATOR_PREFIXES, CPU_ONLY_PRIORITY, POOL_LABEL, RESERVED_TAINTS

VOLUME_KINDS = ("configMap", "secret", "emptyDir", "projected", "downwardAPI", "persistentVolumeClaim")
"""Kinds of volumes that a team needs. The others reach a file system past its access points (`nfs`), make disks without
the right to claims (`ephemeral`), mount with the node's or the driver's credentials (`csi`, the clouds' disks), or are
the host's (`hostPath`)."""

LONGEST_GRACE_SECONDS = 600
"""Longest time from SIGTERM to SIGKILL: what a large checkpoint takes. Kueue gives a job's GPUs to the next once its
pods terminate; one that ignores the signal would keep them for as long as its grace period says."""


def text(value: str) -> str:
    """A text in CEL. Raises ValueError where it would need escaping; no name or label of Kubernetes does."""
    if "'" in value or "\\" in value:
        raise ValueError(f"{value!r} cannot stand in an expression")
    return f"'{value}'"


def present(root: str, path: str) -> str:
    """Whether there is something at a dotted path below what is there for sure."""
    steps = path.split(".")
    return " && ".join(f"has({root}.{'.'.join(steps[: end + 1])})" for end in range(len(steps)))


def listed(root: str, path: str) -> str:
    """A list at a dotted path; an empty one where there is none."""
    return f"({present(root, path)} ? {root}.{path} : [])"


def every_container(pod: str) -> str:
    """The containers of a pod of every kind. A patch of a pod may have none."""
    return f"({' + '.join(listed(pod, kind) for kind in ('containers', 'initContainers', 'ephemeralContainers'))})"


def uses_gpus(pod: str) -> str:
    """Whether a container asks for GPUs, slices of them or TPU chips. A request of 0 is none: it would pass for a GPU
    pod."""
    counted = " || ".join(f"r.startsWith({text(prefix)})" for prefix in ACCELERATOR_PREFIXES)
    asked = " || ".join(
        f"({present('c', f'resources.{kind}')} && "
        f"c.resources.{kind}.exists(r, ({counted}) && string(c.resources.{kind}[r]) != '0'))"
        for kind in ("limits", "requests")
    )
    return f"{every_container(pod)}.exists(c, {asked})"


def names_its_node(pod: str) -> str:
    """Whether it goes past the scheduler, and with it past every taint."""
    return f"(has({pod}.nodeName) && {pod}.nodeName != '')"


def tolerates_reserved_nodes(pod: str) -> str:
    """Whether it may stand on nodes that are not for pods without GPUs: GPU nodes, and the platform's own.

    A toleration without a key is one of every taint.
    """
    reserved = " || ".join(f"t.key.startsWith({text(prefix)})" for prefix in RESERVED_TAINTS)
    return f"{listed(pod, 'tolerations')}.exists(t, !has(t.key) || t.key == '' || {reserved})"


def claims_devices(pod: str) -> str:
    """Whether it takes devices by claims (dynamic resource allocation), which no queue here counts."""
    return f"({listed(pod, 'resourceClaims')}.size() > 0)"


def claims_by(pod: str, template: str) -> str:
    """Whether each of its claims is by one template."""
    named = f"has(c.resourceClaimTemplateName) && c.resourceClaimTemplateName == {text(template)}"
    return f"{listed(pod, 'resourceClaims')}.all(c, {named})"


PLAIN_VOLUME = " || ".join(f"has(v.{kind})" for kind in VOLUME_KINDS)
"""Whether a volume `v` is of these kinds."""


def has_plain_volumes(pod: str) -> str:
    """Whether all of its volumes are of the kinds that a team needs."""
    return f"{listed(pod, 'volumes')}.all(v, {PLAIN_VOLUME})"


def ends_in_time(pod: str) -> str:
    """Whether its grace period is no longer than a checkpoint needs."""
    field = "terminationGracePeriodSeconds"
    return f"(!has({pod}.{field}) || {pod}.{field} <= {LONGEST_GRACE_SECONDS})"


def outranks_the_platform(pod: str) -> str:
    """Whether it names a class with which the scheduler evicts the platform's own pods, or a node's agents, for it."""
    return f"(has({pod}.priorityClassName) && {pod}.priorityClassName.startsWith('system-'))"


def is_cpu_only(pod: str) -> str:
    """Whether it has the priority class that counts it against its team's part of the CPU pool."""
    return f"(has({pod}.priorityClassName) && {pod}.priorityClassName == {text(CPU_ONLY_PRIORITY)})"


def names_priority_of_its_kind(pod: str) -> str:
    """Whether the pod of a template names that class where it has no GPUs, and none at all where it has some."""
    unnamed = f"(!has({pod}.priorityClassName) || {pod}.priorityClassName == '')"
    return f"({uses_gpus(pod)} ? {unnamed} : {is_cpu_only(pod)})"


def accepts_pool(pod: str, pool: str) -> str:
    """Whether its node selector and required node affinity leave the nodes of a pool open to it."""
    label, name = text(POOL_LABEL), text(pool)
    selector = f"!(has({pod}.nodeSelector) && {label} in {pod}.nodeSelector) || {pod}.nodeSelector[{label}] == {name}"
    path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    meant = (
        f"e.key != {label} || (e.operator == 'In' ? {name} in e.values : "
        f"e.operator == 'NotIn' ? !({name} in e.values) : e.operator != 'DoesNotExist')"
    )
    terms = f"{pod}.{path}.nodeSelectorTerms.exists(t, !has(t.matchExpressions) || t.matchExpressions.all(e, {meant}))"
    return f"(({selector}) && (!({present(pod, path)}) || {terms}))"


def needs(pod: str, resource: str) -> str:
    """How much of a resource a node must have for a pod: a number, the largest of what is asked for.

    That is what its containers ask for together, each init container, and the pod as a whole.
    """
    together = f"{pod}.containers.map(c, {_amount('c', resource)}).sum()"
    first = f"{listed(pod, 'initContainers')}.map(c, {_amount('c', resource)})"
    return f"([{together}, {_amount(pod, resource)}] + {first}).max()"


def _amount(holder: str, resource: str) -> str:
    """What a container or a pod requests; its limit where it states no request, as the API server has it."""
    name, found = text(resource), "0.0"
    for kind in ("limits", "requests"):
        there = f"{present(holder, f'resources.{kind}')} && {name} in {holder}.resources.{kind}"
        amount = f"quantity(string({holder}.resources.{kind}[{name}])).asApproximateFloat()"
        found = f"({there} ? {amount} : {found})"
    return found
