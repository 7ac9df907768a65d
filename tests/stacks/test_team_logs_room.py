"""What the plan leaves on a node for the agent of the teams' logs is what the agent asks for."""

from collections.abc import Callable
from fractions import Fraction

from trainyard.conventions.quantities import MEBIBYTE, quantity
from trainyard.plan.aws.allocatable import TEAM_LOGS_CORES, TEAM_LOGS_MIB, allocatable
from trainyard.rehearsal.rehearse import Rehearsal


def test_the_agents_requests_are_those_of_the_recorded_daemon_set(rehearsed: Callable[[str], Rehearsal]) -> None:
    [agent] = [each for each in rehearsed("demo").resources if each.type == "kubernetes:apps/v1:DaemonSet"]
    requests = [each["resources"]["requests"] for each in agent.inputs["spec"]["template"]["spec"]["containers"]]
    cores, size = (sum(quantity(each[key]) or Fraction(0) for each in requests) for key in ("cpu", "memory"))
    assert (cores, size / MEBIBYTE) == (TEAM_LOGS_CORES, TEAM_LOGS_MIB)


def test_a_node_has_less_where_the_logs_are_kept() -> None:
    without, kept = allocatable("m7i.large", team_logs=False), allocatable("m7i.large", team_logs=True)
    assert (without.cores - kept.cores, without.mib - kept.mib) == (TEAM_LOGS_CORES, TEAM_LOGS_MIB)
