"""Names by which the pods of a JobSet find one another, wherever its programs are told one.

Source: JobSet, "Concepts" (a pod is called JOBSET-REPLICATEDJOB-JOBINDEX-PODINDEX, and found below the subdomain
`spec.network.subdomain`, which is the set's name unless it says another), jobset.x-k8s.io/v1alpha2 (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.read import known_texts
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster

_MOST: Final = 4096
"""The most pods of a set whose names are counted up."""


def check(cluster: Cluster) -> None:
    """Every name of a pod in what the programs of a JobSet are told."""
    for pod in cluster.pods:
        name = pod.view.text("metadata.name")
        if pod.view.text("kind") != "JobSet" or not name or pod.view.is_unknown("spec"):
            continue
        hosts = _hosts(pod.view, name) if not pod.view.blurred("spec.replicatedJobs") else set()
        if not hosts:
            continue
        subdomain = pod.view.text("spec.network.subdomain") or name
        pattern = re.compile(rf"(?<![\w.-])({re.escape(name)}-[a-z0-9-]+-\d+-\d+)\.([a-z0-9-]+)(?![\w-])")
        for container in pod.containers:
            for key in ("command", "args", "env"):
                for below, text in known_texts(container.body.get(key)):
                    path = f"{container.path}.{key}{below if below.startswith('[') else f'.{below}'}"
                    for host, within in pattern.findall(text) if name in text else ():
                        if host not in hosts and within != subdomain:
                            continue  # of a set whose name begins with this one's
                        if host not in hosts:
                            words = f"no pod of the set is called {show(host)}: nobody answers"
                            hint = nearest(host, hosts)
                            pod.view.error("programs-host", path, words, allowed=min(hosts), hint=hint)
                        elif within != subdomain:
                            words = f"{host} is found below {subdomain}, not below {show(within)}: nobody answers"
                            pod.view.error("programs-host", path, words, allowed=f"{host}.{subdomain}")


def _hosts(view: View, name: str) -> set[str]:
    """The names of a set's pods; none where one is not known."""
    found: set[str] = set()
    for path, job in view.items("spec.replicatedJobs"):
        spec = f"{path}.template.spec"
        counts = [
            view.number(where) if view.has(where) else 1
            for where in (f"{path}.replicas", f"{spec}.completions", f"{spec}.parallelism")
        ]
        known = [int(one) for one in counts if one is not None]
        title = job.get("name")
        if len(known) < len(counts) or not isinstance(title, str) or len(found) + known[0] * max(known[1:]) > _MOST:
            return set()
        found |= {f"{name}-{title}-{one}-{pod}" for one in range(known[0]) for pod in range(max(known[1:]))}
    return found
