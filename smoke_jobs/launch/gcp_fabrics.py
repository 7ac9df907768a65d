"""How a pod gets at the fast network of Google Cloud's nodes, where no extended resource gives it.

==============  =====================  ================================================================================
fabric          machines               what a pod needs
==============  =====================  ================================================================================
``gib-dranet``  A3 Ultra, A4           a claim on the node's RDMA interfaces (DRANET); Google's plug-in in its image
``gib``         A3 Ultra, A4           the node's networks by annotation; the plug-in from the node's disk
``tcpxo``       A3 Mega                as `gib`, and a privileged daemon beside it
==============  =====================  ================================================================================

The last two mount folders of the node, which no namespace allows that enforces the Pod Security Standard `baseline` or
`restricted`: they are for a namespace of the platform's. Each takes the variables of Google's own script and ends where
the script is not there, so that NCCL never falls back to sockets unseen; which network it took, the worker's check
`transport` proves from NCCL's log. Without TCPXO a pair of A3 Mega falls from about 340 to 4 GB/s and says nothing.

Sources: GKE documentation of DRANET; cluster-toolkit of 2026-06-25 and gpu-recipes of 2026-08-12, read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainyard.conventions.pod_networks import GVNIC_NETWORK, pod_networks, rdma_networks

Manifest = dict[str, Any]

TRANSPORT: Final = "gpudirect"
"""What the worker calls all of them (`ddp/nccl_log.py`)."""

NICS: Final = 8
"""Fast interfaces of a node: of every machine above."""

_CLAIM: Final = "fabric"
_GIB, _GIB_ON_NODE = "/usr/local/gib", "/home/kubernetes/bin/gib"
_GIB_SCRIPT: Final = f"{_GIB}/scripts/set_nccl_env.sh"
_NVIDIA, _NVIDIA_ON_NODE = "/usr/local/nvidia/lib64", "/home/kubernetes/bin/nvidia/lib64"
TCPXO_SCRIPT: Final = f"{_NVIDIA}/nccl-env-profile.sh"
"""Google's own variables of NCCL over TCPXO, which its plug-in's checker wants."""
_APERTURES: Final = "/dev/aperture_devices"
_TCPXO_IMAGE: Final = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.21"
_TCPXO_DEVICES: Final = (
    *(f"/dev/nvidia{index}" for index in range(NICS)),
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/dmabuf_import_helper",
)


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


def _tcpxo(pod: Pod) -> None:
    devices = "".join(f"- path: {device}\n" for device in _TCPXO_DEVICES)
    pod.annotate(
        pod_networks([f"vpc{index + 1}" for index in range(NICS)]) | {"devices.gke.io/container.tcpxo-daemon": devices}
    )
    pod.mount("nvidia-libraries", _NVIDIA_ON_NODE, _NVIDIA)
    pod.mount("aperture-devices", _APERTURES, _APERTURES, read_only=False)
    pod.spec["volumes"] += [
        {"name": "sys", "hostPath": {"path": "/sys"}},
        {"name": "proc-sys", "hostPath": {"path": "/proc/sys"}},
    ]
    daemon = {
        "name": "tcpxo-daemon",
        "image": _TCPXO_IMAGE,
        "restartPolicy": "Always",  # beside the worker, and gone when it ends
        "command": ["/bin/sh", "-c"],
        "args": [
            "set -ex; chmod 755 /fts/entrypoint_rxdm_container.sh; "
            f"/fts/entrypoint_rxdm_container.sh --num_hops=2 --num_nics={NICS} --uid= --alsologtostderr"
        ],
        "env": [{"name": "LD_LIBRARY_PATH", "value": _NVIDIA}],
        "securityContext": {
            "runAsUser": 0,
            "runAsNonRoot": False,
            "capabilities": {"add": ["NET_ADMIN", "NET_BIND_SERVICE"]},
        },
        "volumeMounts": [
            {"name": "nvidia-libraries", "mountPath": _NVIDIA},
            {"name": "sys", "mountPath": "/hostsysfs"},
            {"name": "proc-sys", "mountPath": "/hostprocsysfs"},
        ],
    }
    pod.spec["initContainers"] = [*pod.spec.get("initContainers", []), daemon]
    pod.with_variables({"NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": _APERTURES}, TCPXO_SCRIPT)


FABRICS: Final[Mapping[str, Callable[[Pod], None]]] = {
    "gib-dranet": _gib_by_claim,
    "gib": _gib_by_networks,
    "tcpxo": _tcpxo,
}
"""What changes the pods of a job for a fabric."""

RDMA_FABRICS: Final = ("gib-dranet", "gib")
"""Those whose interfaces are RDMA adapters, which count what they carry."""
