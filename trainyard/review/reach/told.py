"""Puts together what is told of a team."""

from __future__ import annotations

from trainyard.problems import nearest
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GKE_CLUSTER
from trainyard.rehearsal.works.flows.reach import Flows
from trainyard.rehearsal.works.rights.stack import Rights
from trainyard.review.reach.aws import in_aws
from trainyard.review.reach.cluster import people, queues, service_account_names, service_accounts, volumes
from trainyard.review.reach.gcp import in_gcp
from trainyard.review.reach.model import Reach, Section
from trainyard.review.reach.network import network


class UnknownTeam(Exception):  # noqa: N818 (a question that has no answer)
    """The stack has no such team. The text names those that it has."""


def reach_of(stack: str, resources: Resources, team: str) -> Reach:
    """What a team's pods and people can reach and do.

    Raises:
        UnknownTeam: the stack has no such team.
        UnreadableInput: something that decides cannot be read.
    """
    flows = Flows.recorded(resources)
    if team not in flows.teams:
        raise UnknownTeam(_no_such(stack, team, sorted(flows.teams)))
    pods = flows.teams[team].pods
    namespace = pods.namespace if pods else ""
    rights = Rights(resources)
    return Reach(
        stack,
        team,
        namespace,
        (
            network(flows, resources, team),
            _in_the_cloud(rights, resources, namespace),
            volumes(resources, namespace),
            queues(resources, namespace),
            people(rights, team),
            service_accounts(rights, resources, namespace),
        ),
    )


def _in_the_cloud(rights: Rights, resources: Resources, namespace: str) -> Section:
    in_cloud = in_gcp if resources.of(GKE_CLUSTER) else in_aws
    return in_cloud(rights, resources, namespace, service_account_names(resources, namespace))


def _no_such(stack: str, team: str, teams: list[str]) -> str:
    if not teams:
        return f"{stack} has no teams"
    asked = f"{stack} has no team {team!r}" if team else "name a team"
    meant = nearest(team, teams)
    return f"{asked}; its teams are {', '.join(teams)}" + (f" ({meant})" if meant else "")
