"""Security: what teams run comes from registries that somebody chose."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.guards import GUARD_TYPES, Guards
from trainyard.policies.image_attacks import hub_walls, walls
from trainyard.policies.rules import Config, StackViolation, stack_rule
from trainyard.policies.teams import team_namespaces
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_IMAGE_REPOSITORY, NAMESPACE


@stack_rule(
    "team-images-from-anywhere",
    "Pods of teams run images of allowed registries alone, whatever kind of container names them.",
    types=(NAMESPACE, GCP_IMAGE_REPOSITORY, *GUARD_TYPES),
    severity=Severity.HIGH,
    controls=("NIST 800-53r5 CM-7(5)", "NIST 800-53r5 SR-4(3)", "ISO 27001:2022 A.8.19"),
    fix="Leave the admission policy pods-from-allowed-registries as it is; images.allowedRegistries adds to its list.",
)
def team_images_from_anywhere(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """A guard counts that refuses images of an attacker's, is asked of every way to run one, and is bound to the team.

    A job is asked as well: a queue would admit it, and its GPUs wait for pods that are refused. Docker Hub is nobody's
    but everybody's; whoever allows the whole of it has chosen that, as he may choose any other registry of that kind.
    """
    teams = team_namespaces(resources)
    if not teams:
        return
    guards = Guards(resources)
    probes = hub_walls()
    chose_hub = {team.urn for team in teams if all(guards.hole(probe, team) for probe in probes)}
    caches = _caches(resources)
    tried = (walls(guards.literals, caches, hub_is_chosen=chosen) for chosen in (False, True))
    for strict, lax in zip(*tried, strict=True):
        wall_of = {team.urn: lax if team.urn in chose_hub else strict for team in teams}
        holes = [(team, hole) for team in teams if (hole := guards.hole(wall_of[team.urn], team)) is not None]
        if holes:
            culprit, why = holes[0][1]
            where = ", ".join(str(value_at(team.inputs, "metadata", "name")) for team, _ in holes)
            yield culprit or holes[0][0], f"nothing keeps out {strict.what} in {where}: {why}"


def _caches(resources: Resources) -> frozenset[str]:
    """Where whatever is published at a registry is pulled through Google's, by nobody's name but the cache's.

    A cache on AWS holds the repositories alone that a program makes.
    """
    found = set()
    for repository in resources.of(GCP_IMAGE_REPOSITORY):
        inputs = repository.inputs
        if value_at(inputs, "mode", unknown="") == "REMOTE_REPOSITORY":
            place, project = (value_at(inputs, key, unknown=None) for key in ("location", "project"))
            if isinstance(place, str) and isinstance(project, str):
                found.add(f"{place}-docker.pkg.dev/{project}/{value_at(inputs, 'repositoryId', unknown='')}")
    return frozenset(found)
