"""Whether the cluster's API can be reached from here: tried where there is a cluster, reasoned about where not."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from trainyard.account.aws import Account, RefusedError
from trainyard.conventions.aws import tunnel_port
from trainyard.fleet.tunnel import reaches
from trainyard.plan.parts import ClusterPlan
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Line, Lines, lines_of

NAME: Final = "endpoint"
_line = lines_of(NAME)


def check(subject: AwsSubject, account: Account) -> Lines:
    """One line a cluster."""
    for cluster in subject.plan.clusters:
        yield _cluster(subject, cluster, account)


def _cluster(subject: AwsSubject, cluster: ClusterPlan, account: Account) -> Line:
    access = subject.plan.ground.control_plane(cluster.name).access
    if access.bastion is not None:
        port = tunnel_port(cluster.name)
        if reaches("127.0.0.1", port):
            return _line(cluster.name, Answer.FINE, f"a tunnel listens on 127.0.0.1:{port}")
        told = f"it is private, reached through the bastion; no tunnel is open at 127.0.0.1:{port} yet"
        command = f"trainyard tunnel {subject.stack}"
        return _line(
            cluster.name, Answer.UNKNOWN, told, "open one beside the first `up`: it waits for the bastion", command
        )
    try:
        address = account.call("eks", "describe_cluster", name=cluster.name)["cluster"]["endpoint"]
    except RefusedError as error:
        if not error.is_absence:
            raise
        return _line(cluster.name, Answer.UNKNOWN, *_before(subject, cluster))
    host = urlsplit(address).hostname or ""
    if reaches(host, 443):
        return _line(cluster.name, Answer.FINE, f"{host} answers from here")
    return _line(cluster.name, Answer.FAILS, f"{host} does not answer from here", _before(subject, cluster)[1])


def _before(subject: AwsSubject, cluster: ClusterPlan) -> tuple[str, str]:
    """What there is to say of a cluster that is not there yet, and what to see to."""
    if cluster.public_access_cidrs:
        cidrs = ", ".join(cluster.public_access_cidrs)
        return (
            f"it will answer to {cidrs} and nobody else",
            "run `pulumi up` from there: `curl https://checkip.amazonaws.com`",
        )
    access = subject.plan.ground.control_plane(cluster.name).access
    who = ", ".join((*access.networks, *access.security_groups))
    return f"it will be private, answering to {who}", "run `pulumi up` from there, joined to this VPC first"
