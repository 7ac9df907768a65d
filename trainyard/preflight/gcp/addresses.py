"""Whether the stack's addresses clash with networks of the project, or with those that shall reach its cluster."""

from __future__ import annotations

from ipaddress import IPv4Network, ip_network
from typing import Any, Final

from trainyard.account.gcp import ask
from trainyard.account.marks import marks_of
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Lines, lines_of

NAME: Final = "addresses"
_line = lines_of(NAME)


def check(subject: GcpSubject) -> Lines:
    """The VPC and the services' range, against who shall reach the API, then against every network of the project."""
    ground = subject.plan.ground
    plan = ground.network
    own = {"the VPC": IPv4Network(plan.cidr), "Kubernetes services": IPv4Network(plan.service_cidr)}
    for control_plane in ground.control_planes:
        for name, text in control_plane.api_networks:
            for what, cidr in own.items():
                if _overlap(cidr, text):
                    told = f"{what} ({cidr}) overlaps {text}, which shall reach the API: no answer finds its way back"
                    remedy = "choose another network.cidr; name this one in network.reservedCidrs"
                    yield _line(name, Answer.FAILS, told, remedy)
    if plan.shared is not None:
        return  # its ranges are the host's, who keeps them apart
    project = f"--project={ground.project}"
    ours = _own(subject)
    networks = [each for each in ask("compute", "networks", "list", project) or () if each["name"] not in ours]
    subnets = ask("compute", "networks", "subnets", "list", project) or ()
    clashes = 0
    for network in networks:
        found = [
            f"{what} ({cidr}) overlaps {text}"
            for text in _cidrs(network, subnets)
            for what, cidr in own.items()
            if _overlap(cidr, text)
        ]
        if not found:
            continue
        clashes += 1
        peers = [str(each["name"]) for each in network.get("peerings") or () if each.get("state") == "ACTIVE"]
        told = f"{found[0]}{f' and {len(found) - 1} more' if len(found) > 1 else ''} of network {network['name']}"
        if peers:
            told += f", which peering {peers[0]} joins to others: once this VPC is joined there too, it cannot be told"
            yield _line(
                network["name"],
                Answer.UNKNOWN,
                f"{told} from it",
                "choose another network.cidr before anything is made",
            )
        else:
            told += ", which is joined to nothing now: the two can never be"
            yield _line(network["name"], Answer.UNKNOWN, told, "choose another network.cidr where they shall be joined")
    if not clashes:
        cidrs = " and ".join(str(cidr) for cidr in own.values())
        yield _line("networks", Answer.FINE, f"{cidrs} overlap none of {len(networks)} networks there")


def _own(subject: GcpSubject) -> set[str]:
    """The network that the stack's own clusters stand in: it has no labels, and Pulumi ends its name by chance."""
    ground = subject.plan.ground
    marks = marks_of(ground.labels)
    return {
        str(each.get("network", ""))
        for each in ask("container", "clusters", "list", f"--region={ground.region}", f"--project={ground.project}")
        or ()
        if marks.items() <= (each.get("resourceLabels") or {}).items()
    }


def _overlap(cidr: IPv4Network, text: str) -> bool:
    other = ip_network(text, strict=False)
    return isinstance(other, IPv4Network) and cidr.overlaps(other)


def _cidrs(network: dict[str, Any], subnets: Any) -> list[str]:
    """The ranges of a network's subnets, those of pods and services too."""
    own = [each for each in subnets if str(each.get("network", "")).rpartition("/")[2] == network["name"]]
    found = [str(each["ipCidrRange"]) for each in own if each.get("ipCidrRange")]
    found += [str(one["ipCidrRange"]) for each in own for one in each.get("secondaryIpRanges") or ()]
    return found
