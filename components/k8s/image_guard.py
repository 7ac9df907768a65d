"""Refuses pods and jobs in team namespaces whose images are not of the registries that are allowed.

What runs in a team's namespace has the team's rights: its checkpoints, its tracking account. An image from anywhere is
anybody's code with those. An entry of the list is a registry, `registry.example.com`, or what stands below one,
`docker.io/pytorch` or `docker.io/pytorch/pytorch`; a name without a registry is Docker Hub's, as the container runtime
reads it. A job is refused when it is made, because its pods would be: a queue would admit it and its GPUs wait.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import pulumi
import pulumi_kubernetes.admissionregistration.v1 as admission

from trainyard.components.k8s.admission import in_team_namespaces
from trainyard.components.k8s.pod_expressions import present, text

POLICY = "{}-from-allowed-registries"
"""Name of the policy of a kind."""

KINDS = {
    # Ephemeral containers come through a subresource of their own; a pod's images may be changed while it runs.
    "pods": ("", ("pods", "pods/ephemeralcontainers"), "[object.spec]"),
    "jobs": ("batch", ("jobs",), "[object.spec.template.spec]"),
    "jobsets": ("jobset.x-k8s.io", ("jobsets",), "object.spec.replicatedJobs.map(j, j.template.spec.template.spec)"),
    # A TrainJob names the image of its trainer; whatever else there is stands in its runtime, which no team writes.
    "trainjobs": (
        "trainer.kubeflow.org",
        ("trainjobs",),
        f"({present('object.spec', 'trainer.image')} ? "
        "[dyn({'containers': [{'image': object.spec.trainer.image}]})] : [])",
    ),
}
"""By the plural of a kind: its group, what is asked of, and the specs of its pods in CEL."""


def image_guard(name: str, allowed: Sequence[pulumi.Input[str]], parent: pulumi.Resource) -> None:
    """Makes a policy for each kind and binds it to the namespaces of teams.

    An entry may be known only once the ground is there: the account's own registry.
    """
    entries = pulumi.Output.all(*allowed)
    told = entries.apply(message)
    for kind in KINDS:
        made = spec(kind, entries.apply(partial(expression, kind)), told)
        in_team_namespaces(f"{name}-{kind}-images", POLICY.format(kind), made, parent)


def spec(
    kind: str, holds: pulumi.Input[str], told: pulumi.Input[str]
) -> admission.ValidatingAdmissionPolicySpecArgsDict:
    """The policy of a kind: what must hold, and what its author is told where it does not."""
    group, resources, _ = KINDS[kind]
    return {
        "failure_policy": "Fail",
        "match_constraints": {
            "resource_rules": [
                {
                    "api_groups": [group],
                    "api_versions": ["*"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": list(resources),
                }
            ]
        },
        "validations": [{"expression": holds, "message": told, "reason": "Forbidden"}],
    }


def expression(kind: str, allowed: Iterable[str]) -> str:
    """Whether all images of an object are allowed. Raises ValueError for an entry that CEL would have to escape."""
    return f"{KINDS[kind][2]}.all(s, {_images('s')}.all(i, {_is_allowed(sorted(set(allowed)))}))"


def message(allowed: Iterable[str]) -> str:
    """What the author of an object is told."""
    return (
        f"Images in a team's namespace come from {', '.join(sorted(set(allowed)))}. "
        "The setting images.allowedRegistries adds to these."
    )


def _images(pod: str) -> str:
    """What a pod runs or mounts as images, each with its registry."""
    containers = " + ".join(
        f"(has({pod}.{kind}) ? {pod}.{kind}.filter(c, has(c.image)).map(c, c.image) : [])"
        for kind in ("containers", "initContainers", "ephemeralContainers")
    )
    mounted = f"{pod}.volumes.filter(v, {present('v', 'image.reference')}).map(v, v.image.reference)"
    volumes = f"(has({pod}.volumes) ? {mounted} : [])"
    return f"({containers} + {volumes}).map(i, {_whole('i')})"


def _whole(image: str) -> str:
    """An image with its registry: the first part is one where it has a dot or a port, or is localhost."""
    named = f"{image}.matches('^([^/]*[.:][^/]*|localhost)/')"
    return f"({named} ? {image} : ({image}.contains('/') ? 'docker.io/' + {image} : 'docker.io/library/' + {image}))"


def _is_allowed(entries: Sequence[str]) -> str:
    """Whether an image is of an entry: below it, or itself with a tag or digest, but no registry of another port."""
    ways = []
    for entry in entries:
        ends = ("/", ":", "@") if "/" in entry else ("/",)
        ways += [f"i.startsWith({text(entry + end)})" for end in ends]
    return f"({' || '.join(ways)})" if ways else "false"
