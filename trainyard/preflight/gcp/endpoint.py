"""Whether the cluster's API can be reached from here: tried where there is a cluster, reasoned about where not."""

from __future__ import annotations

from typing import Any, Final

from trainyard.account.gcp import ask
from trainyard.fleet.tunnel import reaches
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Lines, lines_of

NAME: Final = "endpoint"
_line = lines_of(NAME)

DOMAIN: Final = "gke.goog"
"""Below which the APIs of clusters have their names (GKE documentation, "About network isolation", 2026-11)."""


def check(subject: GcpSubject) -> Lines:
    """One line a cluster: the program comes in by the API's name, which answers to whom IAM lets in."""
    ground = subject.plan.ground
    listed = ask("container", "clusters", "list", f"--region={ground.region}", f"--project={ground.project}") or ()
    there = {str(each["name"]): each for each in listed}
    remedy = f"let https to *.{DOMAIN} through where a firewall stands between"
    for cluster in subject.plan.clusters:
        if cluster.name not in there:
            told = "it will answer by its name, from anywhere, to whom IAM lets in; whether a firewall here lets it"
            yield _line(cluster.name, Answer.UNKNOWN, f"{told} through is seen once it is there", remedy)
            continue
        host = _name_of(there[cluster.name])
        if not host:
            told = "its API has no name, and the program comes in by it"
            command = (
                f"gcloud container clusters update {cluster.name} --region={ground.region}"
                f" --project={ground.project} --enable-dns-access"
            )
            yield _line(cluster.name, Answer.FAILS, told, "switch it on", command)
        elif reaches(host, 443):
            yield _line(cluster.name, Answer.FINE, f"{host} answers from here")
        else:
            yield _line(cluster.name, Answer.FAILS, f"{host} does not answer from here", remedy)


def _name_of(cluster: Any) -> str:
    dns = (cluster.get("controlPlaneEndpointsConfig") or {}).get("dnsEndpointConfig") or {}
    return str(dns.get("endpoint", "")) if dns.get("allowExternalTraffic") else ""
