"""Pods: network, names, rights, devices and places that the API server weighs together.

Source: `ValidatePodSpec`, `ValidatePodTemplateSpec`, `validatePodDNSConfig`, `ValidateNodeSelector` and
`validatePodResourceClaims` of pkg/apis/core/validation of Kubernetes 1.35, as generally known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.quantities import quantity
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.kubernetes.container_inputs import containers
from trainyard.rehearsal.refusals.kubernetes.dns import DNS_LABEL, DNS_NAME, address
from trainyard.rehearsal.refusals.labels import LABEL_KEY, is_label_key

_SEARCH: Final = re.compile(r"(?=.{1,254}$)[a-zA-Z0-9_.]([a-zA-Z0-9_.-]*[a-zA-Z0-9_.])?")
_SYSCTL: Final = re.compile(r"(?=.{1,253}$)[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*")
_OF_HOST: Final = {
    "hostNetwork": ("net.",),
    "hostIPC": ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."),
}
"""Kernel parameters that belong to the node where a pod shares that with it."""
_MOST_NAME_SERVERS: Final = 3
_MOST_SEARCHES: Final = 32


def check(view: View, path: str, spec: Mapping[str, Any]) -> None:
    """Notes what the API server refuses of the pod specification at `path`, its containers' own inputs apart."""
    _names(view, path)
    _kernel(view, path)
    _affinity(view, path)
    _claims(view, path)
    _whole_pod(view, path)
    if view.flag(f"{path}.hostUsers") is False:
        for key in ("hostNetwork", "hostPID", "hostIPC"):
            if view.flag(f"{path}.{key}"):
                view.error("k8s-security", f"{path}.{key}", "given beside hostUsers false", allowed="one of them")
    for here, _ in containers(view, path):
        if view.text(f"{here}.securityContext.procMount") == "Unmasked" and view.lacks(f"{path}.hostUsers"):
            view.error("k8s-security", f"{here}.securityContext.procMount", "Unmasked", allowed="hostUsers false")
    if path != "spec" and view.entries(f"{path}.ephemeralContainers"):
        view.error("k8s-container", f"{path}.ephemeralContainers", "given in a template", allowed="none")
    if spec.get("overhead") and view.lacks(f"{path}.runtimeClassName"):
        view.error("k8s-resources", f"{path}.overhead", "given without a runtime class", allowed="runtimeClassName")
    gates: set[object] = set()
    for here, entry in view.items(f"{path}.schedulingGates"):
        name = entry.get("name")
        if name in gates and name is not UNKNOWN:
            view.error("k8s-duplicate", here, f"{show(name)} is given twice", allowed="each gate once")
        gates.add(name)
        if isinstance(name, str) and not is_label_key(name):
            view.error("k8s-name", f"{here}.name", f"got {show(name)}", allowed=LABEL_KEY)


def _names(view: View, path: str) -> None:
    servers = view.entries(f"{path}.dnsConfig.nameservers")
    if len(servers) > _MOST_NAME_SERVERS:
        view.error("k8s-dns", f"{path}.dnsConfig.nameservers", f"has {len(servers)} entries", allowed="at most 3")
    for index, item in enumerate(servers):
        if isinstance(item, str) and address(item) is None:
            here = f"{path}.dnsConfig.nameservers[{index}]"
            view.error("k8s-dns", here, f"got {show(item)}", allowed="an IP address")
    searches = view.entries(f"{path}.dnsConfig.searches")
    if len(searches) > _MOST_SEARCHES:
        view.error("k8s-dns", f"{path}.dnsConfig.searches", f"has {len(searches)} entries", allowed="at most 32")
    for index, item in enumerate(searches):
        if isinstance(item, str) and not _SEARCH.fullmatch(item):
            here = f"{path}.dnsConfig.searches[{index}]"
            view.error("k8s-dns", here, f"got {show(item)}", allowed="a domain such as svc.cluster.local")
    for here, entry in view.items(f"{path}.dnsConfig.options"):
        if entry.get("name") in (None, ""):
            view.error("k8s-dns", f"{here}.name", "is missing", allowed="an option such as ndots")
    for here, entry in view.items(f"{path}.hostAliases"):
        if isinstance(entry.get("ip"), str) and address(entry["ip"]) is None:
            view.error("k8s-dns", f"{here}.ip", f"got {show(entry['ip'])}", allowed="an IP address")
        for index, item in enumerate(listed(entry.get("hostnames"))):
            if isinstance(item, str) and not DNS_NAME.fullmatch(item):
                view.error("k8s-dns", f"{here}.hostnames[{index}]", f"got {show(item)}", allowed="a DNS name")


def _kernel(view: View, path: str) -> None:
    seen: set[str] = set()
    for here, entry in view.items(f"{path}.securityContext.sysctls"):
        name = entry.get("name")
        if not isinstance(name, str):
            continue
        if not _SYSCTL.fullmatch(name):
            view.error(
                "k8s-sysctl", f"{here}.name", f"got {show(name)}", allowed="a parameter such as net.core.somaxconn"
            )
        if name in seen:
            view.error("k8s-sysctl", f"{here}.name", f"{show(name)} is given twice", allowed="each parameter once")
        seen.add(name)
        for key, heads in _OF_HOST.items():
            if view.flag(f"{path}.{key}") and name.replace("/", ".").startswith(heads):
                view.error("k8s-sysctl", f"{here}.name", f"{name} with {key}", allowed="none of the node's own")


def _affinity(view: View, path: str) -> None:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = f"{path}.affinity.nodeAffinity.{required}.nodeSelectorTerms"
    if view.value(terms) == []:
        view.error("k8s-affinity", terms, "is empty", allowed="at least one term")
    preferred = f"{path}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
    places = [here for here, _ in view.items(terms)] + [f"{here}.preference" for here, _ in view.items(preferred)]
    for place in places:
        for here, entry in view.items(f"{place}.matchFields"):
            key, values = entry.get("key"), entry.get("values")
            if isinstance(key, str) and key != "metadata.name":
                view.error("k8s-affinity", f"{here}.key", f"got {show(key)}", allowed="metadata.name")
            elif values is not UNKNOWN and (
                entry.get("operator") not in ("In", "NotIn", UNKNOWN) or len(listed(values)) != 1
            ):
                view.error("k8s-affinity", here, "has no one name", allowed="In or NotIn, and one value")
    for kind in ("podAffinity", "podAntiAffinity"):
        whole = f"{path}.affinity.{kind}"
        entries = list(view.items(f"{whole}.{required}"))
        entries += [
            (f"{here}.podAffinityTerm", view.mapping(f"{here}.podAffinityTerm"))
            for here, _ in view.items(f"{whole}.preferredDuringSchedulingIgnoredDuringExecution")
        ]
        for here, entry in entries:
            key = entry.get("topologyKey")
            if key == "":
                view.error("k8s-affinity", f"{here}.topologyKey", "is empty", allowed="a label of nodes")
            elif isinstance(key, str) and not is_label_key(key):
                view.error("k8s-affinity", f"{here}.topologyKey", f"got {show(key)}", allowed=LABEL_KEY)
            for name in ("matchLabelKeys", "mismatchLabelKeys"):
                if entry.get(name) and entry.get("labelSelector") is None:
                    view.error("k8s-affinity", f"{here}.{name}", "given without labelSelector", allowed="labelSelector")


def _claims(view: View, path: str) -> None:
    ways = ("resourceClaimName", "resourceClaimTemplateName")
    for here, entry in view.items(f"{path}.resourceClaims"):
        given = [key for key in ways if entry.get(key) not in (None, "")]
        if len(given) != 1 and UNKNOWN not in entry.values():
            view.error(
                "k8s-device-claim",
                here,
                f"has {' and '.join(given) or 'neither'}",
                allowed=f"one of {' or '.join(ways)}",
            )
        name = entry.get("name")
        if isinstance(name, str) and not DNS_LABEL.fullmatch(name):
            view.error("k8s-device-claim", f"{here}.name", f"got {show(name)}", allowed="must be a DNS label")


def _whole_pod(view: View, path: str) -> None:
    """Resources of the pod as a whole (KEP-2837): no less than its containers' together."""
    for part in ("requests", "limits"):
        for name, value in view.mapping(f"{path}.resources.{part}").items():
            here = f"{path}.resources.{part}.{name}"
            if name not in ("cpu", "memory") and not name.startswith("hugepages-"):
                view.error("k8s-resources", here, "is no resource of a whole pod", allowed="cpu, memory, hugepages-2Mi")
                continue
            whole = quantity(value)
            own = [
                quantity(view.mapping(f"{one}.resources.{part}").get(name))
                for one, _ in view.items(f"{path}.containers")
            ]
            known = [item for item in own if item is not None]
            if whole is None:
                continue
            least = sum(known) if part == "requests" else max(known, default=0.0)
            if least > whole and not math.isclose(least, whole):  # 100m and 200m make 300m
                told = "its containers request more together" if part == "requests" else "a container's limit is more"
                view.error("k8s-resources", here, f"got {value}, and {told}", allowed=f"at least {least:g}")
