"""How a pod gets at the fast network of Google Cloud's nodes, where no extended resource gives it.

==============  =====================  ================================================================================
fabric          machines               what a pod needs
==============  =====================  ================================================================================
``gib-dranet``  A3 Ultra, A4           a claim on the node's RDMA interfaces (DRANET); Google's plug-in in its image
``gib``         A3 Ultra, A4           the node's networks by annotation; the plug-in from the node's disk
``tcpx``        A3 High                the node's networks by annotation, and a daemon beside it
``tcpxo``       A3 Mega                as `tcpx`, and the folders of the node's network cards in sysfs
==============  =====================  ================================================================================

The last three mount folders of the node, which no namespace allows that enforces the Pod Security Standard `baseline`
or `restricted`. `gib` is for a namespace of the platform's; the other two are for the teams' namespaces of a stack
whose setting asks for them (`gcp.fastNetwork`), where admission policies let exactly this daemon by. Each leaves NCCL
one network and ends where its plug-in is not there, so that it never falls back to sockets unseen; which network it
took, the worker's check `transport` proves from NCCL's log. Without TCPXO a pair of A3 Mega falls from about 340 to
4 GB/s and says nothing.

Sources: GKE documentation of DRANET; cluster-toolkit of 2026-06-25 and gpu-recipes of 2026-08-12, read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from trainyard.conventions import gpudirect
from trainyard.conventions.pod_networks import GVNIC_NETWORK, pod_networks, rdma_networks

Manifest = dict[str, Any]

TRANSPORT: Final = "gpudirect"
"""What the worker calls all of them (`ddp/nccl_log.py`)."""

NICS: Final = 8
"""RDMA interfaces of a node: of every machine above that has some."""

_CLAIM: Final = "fabric"
_GIB, _GIB_ON_NODE = "/usr/local/gib", "/home/kubernetes/bin/gib"
_GIB_SCRIPT: Final = f"{_GIB}/scripts/set_nccl_env.sh"
TCPXO_SCRIPT: Final = f"{gpudirect.LIBRARIES}/nccl-env-profile.sh"
"""Google's own variables of NCCL over TCPXO, where no cluster of ours has them."""


def sourced(script: str, command: Sequence[str]) -> list[str]:
    """A command with the variables of a script, which has to be there."""
    # `.` of a file that is not there ends a POSIX shell, before anything trains over sockets.
    return ["sh", "-c", f'set -e; . {script}; exec "$@"', "smoke", *command]


@dataclass(slots=True)
class Pod:
    """The template of a job's pods, to be changed: `objects` have to be there besides."""

    name: str
    labels: Mapping[str, str]
    namespace: Any
    template: Manifest
    objects: list[Manifest]
    daemon_image: str = ""

    @property
    def spec(self) -> Manifest:
        """The pod's specification."""
        spec: Manifest = self.template["spec"]
        return spec

    @property
    def worker(self) -> Manifest:
        """The container that trains."""
        worker: Manifest = self.spec["containers"][0]
        return worker

    def annotate(self, annotations: Mapping[str, str]) -> None:
        """Adds annotations to the pods."""
        self.template["metadata"].setdefault("annotations", {}).update(annotations)

    def mount(self, name: str, on_node: str, path: str, *, read_only: bool = True) -> None:
        """Shows the worker a folder of the node."""
        self.spec["volumes"].append({"name": name, "hostPath": {"path": on_node}})
        more = {"readOnly": True} if read_only else {}
        self.worker["volumeMounts"].append({"name": name, "mountPath": path, **more})

    def with_variables(self, values: Mapping[str, str], script: str) -> None:
        """Starts the worker with variables, and with those of a script that has to be there."""
        self.worker["env"] += [{"name": name, "value": value} for name, value in values.items()]
        self.worker["command"] = sourced(script, self.worker["command"])


def _gib_by_claim(pod: Pod) -> None:
    metadata = {"name": pod.name, "labels": dict(pod.labels)}
    if pod.namespace is not None:
        metadata["namespace"] = pod.namespace
    exactly = {"deviceClassName": "mrdma.google.com", "allocationMode": "ExactCount", "count": NICS}
    requests = {"devices": {"requests": [{"name": _CLAIM, "exactly": exactly}]}}
    pod.objects.append(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": metadata,
            "spec": {"spec": requests},
        }
    )
    pod.spec["resourceClaims"] = [{"name": _CLAIM, "resourceClaimTemplateName": pod.name}]
    pod.worker["resources"] = {**pod.worker["resources"], "claims": [{"name": _CLAIM}]}
    pod.with_variables({"NCCL_NET": "gIB"}, _GIB_SCRIPT)


def _gib_by_networks(pod: Pod) -> None:
    pod.annotate(pod_networks([GVNIC_NETWORK, *rdma_networks(NICS)]))
    pod.mount("gib", _GIB_ON_NODE, _GIB)
    pod.with_variables({"NCCL_NET": "gIB"}, _GIB_SCRIPT)


def _over_tcp(transport: gpudirect.Transport, pod: Pod) -> None:
    """As the pool's runtime has it: the same daemon, volumes and variables (`conventions/gpudirect.py`)."""
    pod.annotate(transport.pod_annotations)
    pod.spec["volumes"] += transport.volumes
    pod.spec["initContainers"] = [*pod.spec.get("initContainers", []), transport.container(pod.daemon_image)]
    pod.worker["volumeMounts"] += transport.worker_mounts
    given = {variable["name"] for variable in pod.worker["env"]}
    pod.worker["env"] += [
        {"name": name, "value": value} for name, value in transport.environment.items() if name not in given
    ]


FABRICS: Final[Mapping[str, Callable[[Pod], None]]] = {
    "gib-dranet": _gib_by_claim,
    "gib": _gib_by_networks,
    **{name: partial(_over_tcp, transport) for name, transport in gpudirect.TRANSPORTS.items()},
}
"""What changes the pods of a job for a fabric."""

RDMA_FABRICS: Final = ("gib-dranet", "gib")
"""Those whose interfaces are RDMA adapters, which count what they carry."""
