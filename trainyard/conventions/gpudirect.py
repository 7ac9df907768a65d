"""GPUDirect over TCP on Google Cloud: TCPX of A3 High and TCPXO of A3 Mega, as all parts must spell them.

The GPUs' traffic goes over ordinary interfaces (gVNIC), which a daemon of Google's (RxDM) drives: beside each training
container stands one, as root with two capabilities and three folders of the node. It is the only container of a
team's pod that may have these, and this is the one place that says how it looks: runtimes and smoke jobs are made of
it, the admission policies let exactly it by, and the pack of policies knows it by it.

Sources: container-engine-accelerators of 2026-06-11 (`gpudirect-tcpx/`, `gpudirect-tcpxo/` with the release notes of
2026-01-09, `nri_device_injector/`) and its release notes of TCPX of 2026-06-22, cluster-toolkit of 2026-06-25; read
2026-11-26. The containers and what they mount
are the recipes', as sidecars; but for the training container, into which GKE's device plugin mounts the plug-in's
folder itself (`cmd/nvidia_gpu` there, `-host-path`), so that it needs none of the node's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.conventions.pod_networks import pod_networks, tcp_networks

LIBRARIES: Final = "/usr/local/nvidia/lib64"
"""Where a container finds driver and plug-in of NCCL: what the installer writes on the node, read-only."""
_LIBRARIES_ON_NODE: Final = "/home/kubernetes/bin/nvidia/lib64"
DEVICES_PREFIX: Final = "devices.gke.io"
"""Prefix of a pod's annotations by which the device injector gives a container devices of the node: any there is."""
_DEVICES: Final = (*(f"/dev/nvidia{index}" for index in range(8)), "/dev/nvidiactl", "/dev/nvidia-uvm")
_NODE_FOLDERS: Final[Mapping[str, tuple[str, str]]] = {
    "nvidia-libraries": (_LIBRARIES_ON_NODE, LIBRARIES),
    "sys": ("/sys", "/hostsysfs"),
    "proc-sys": ("/proc/sys", "/hostprocsysfs"),
}
"""What a daemon mounts of the node, by the name of the volume: where it is there, and where in the container."""

MTU: Final = 8244
"""Bytes of a packet of their networks (cluster-toolkit)."""


@dataclass(frozen=True, slots=True)
class Transport:
    """One of the two, with the daemon that it needs."""

    name: str  # tcpx, tcpxo: also the setting's word and the launcher's fabric
    machine: str
    accelerator: str  # the machine's GPUs, as GKE calls them
    interfaces: int  # of a node, a network each
    capabilities: tuple[str, ...]  # that the daemon adds
    command: tuple[str, ...]
    arguments: tuple[str, ...]
    devices: tuple[str, ...]  # of the node, which the injector gives the daemon
    sockets: str  # folder that daemon and training container share; empty: they need none
    worker_folders: Mapping[str, str]  # of the node, that the training container mounts at the same path, by volume
    environment: Mapping[str, str]  # of the training container
    health_file: str = ""  # that the daemon writes when it has initialised; empty: it writes none

    @property
    def daemon(self) -> str:
        """Name of the daemon's container, and of its image in the catalogue."""
        return f"{self.name}-daemon"

    @property
    def plugin(self) -> str:
        """Name, in the catalogue, of the image that brings the plug-in of NCCL onto a node."""
        return f"{self.name}-plugin"

    @property
    def networks(self) -> list[str]:
        """Names on the cluster of a node's further networks, in the interfaces' order."""
        return tcp_networks(self.interfaces)

    @property
    def device_annotation(self) -> tuple[str, str]:
        """The annotation by which the daemon gets its devices, and its text: YAML, of which JSON is a part."""
        text = json.dumps([{"path": device} for device in self.devices], separators=(",", ":"))
        return f"{DEVICES_PREFIX}/container.{self.daemon}", text

    @property
    def pod_annotations(self) -> dict[str, str]:
        """What a pod says to have the networks, and its daemon the devices."""
        key, text = self.device_annotation
        return {**pod_networks(self.networks), key: text}

    @property
    def node_folders(self) -> dict[str, str]:
        """Folders of the node that the daemon alone mounts, by the name of the volume."""
        return {name: path for name, (path, _) in _NODE_FOLDERS.items()}

    @property
    def socket_volume(self) -> str:
        """Name of the volume in which daemon and training container meet; empty where they need none."""
        return f"{self.name}-socket" if self.sockets else ""

    def container(self, image: str) -> dict[str, Any]:
        """The daemon, as a sidecar: there before the training container starts, and gone when that ends."""
        mounts: list[dict[str, Any]] = [{"name": name, "mountPath": path} for name, (_, path) in _NODE_FOLDERS.items()]
        mounts[0]["readOnly"] = True  # what all GPU pods of the node load
        if self.sockets:
            mounts.append({"name": self.socket_volume, "mountPath": self.sockets})
        return {
            "name": self.daemon,
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "restartPolicy": "Always",
            "command": list(self.command),
            "args": list(self.arguments),
            "env": [
                {"name": "LD_LIBRARY_PATH", "value": LIBRARIES},
                *([{"name": "HEALTH_CHECK_LOG_FILE", "value": self.health_file}] if self.health_file else []),
            ],
            **({"startupProbe": _probe(self.health_file)} if self.health_file else {}),
            # What Google's manifests of Autopilot give it (2026-06-11), and four times that at most (own choice).
            "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "8Gi"}},
            "securityContext": {
                "runAsUser": 0,
                "runAsNonRoot": False,
                "capabilities": {"add": list(self.capabilities)},
            },
            "volumeMounts": mounts,
        }

    @property
    def volumes(self) -> list[dict[str, Any]]:
        """The volumes of a pod with the daemon."""
        folders = {**self.node_folders, **self.worker_folders}
        found: list[dict[str, Any]] = [{"name": name, "hostPath": {"path": path}} for name, path in folders.items()]
        return [*found, *([{"name": self.socket_volume, "emptyDir": {}}] if self.sockets else [])]

    @property
    def worker_mounts(self) -> list[dict[str, Any]]:
        """What the training container mounts of those."""
        mounts = [{"name": name, "mountPath": path} for name, path in self.worker_folders.items()]
        return [*mounts, *([{"name": self.socket_volume, "mountPath": self.sockets}] if self.sockets else [])]


def _probe(file: str) -> dict[str, Any]:
    """The training starts when the daemon has; five minutes, in which a new node gets its plug-in too."""
    return {"exec": {"command": ["cat", file]}, "periodSeconds": 5, "failureThreshold": 60}


_INTERFACES_8: Final = ",".join(f"eth{index}" for index in range(1, 9))
_TCPXO: Final[Mapping[str, str]] = {
    "NCCL_NET": "FasTrak",
    "LD_LIBRARY_PATH": LIBRARIES,
    "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices",
    "NCCL_FASTRAK_CTRL_DEV": "eth0",
    "NCCL_FASTRAK_IFNAME": _INTERFACES_8,
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_CROSS_NIC": "0",
    "NCCL_PROTO": "Simple,LL128",
    "NCCL_MIN_NCHANNELS": "4",
    "NCCL_TUNER_PLUGIN": "libnccl-tuner.so",
    "NCCL_TUNER_CONFIG_PATH": f"{LIBRARIES}/a3plus_tuner_config.textproto",
    "NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE": f"{LIBRARIES}/a3plus_guest_config.textproto",
    "NCCL_NVLSTREE_MAX_CHUNKSIZE": "131072",
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
    "NCCL_P2P_PCI_CHUNKSIZE": "524288",
    "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
    "NCCL_FASTRAK_NUM_FLOWS": "2",
    "NCCL_FASTRAK_USE_SNAP": "1",
    "NCCL_FASTRAK_PLUGIN_ACCEPT_TIMEOUT_MS": "600000",
    "NCCL_FASTRAK_ENABLE_CONTROL_CHANNEL": "0",
    "NCCL_BUFFSIZE": "8388608",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_FASTRAK_ENABLE_HOTPATH_LOGGING": "0",
    "NCCL_FASTRAK_USE_LLCM": "1",
    "NCCL_NVLS_ENABLE": "1",
}
"""The release notes' list for plug-in v1.0.15, with the folder that GKE mounts; `NCCL_NET` leaves NCCL no other
network: it ends where the plug-in, which calls itself so, is not there."""

_TCPX: Final[Mapping[str, str]] = {
    "NCCL_NET": "GPUDirectTCPX_v7",
    "LD_LIBRARY_PATH": LIBRARIES,
    "NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX": "/run/tcpx",
    "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": "eth1,eth2,eth3,eth4",
    "NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0",
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_ALGO": "Ring,Tree",
    "NCCL_PROTO": "Simple",
    "NCCL_CROSS_NIC": "0",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_P2P_PXN_LEVEL": "0",
    "NCCL_DYNAMIC_CHUNK_SIZE": "524288",
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
    "NCCL_P2P_PCI_CHUNKSIZE": "524288",
    "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
    "NCCL_BUFFSIZE": "4194304",
    "NCCL_NSOCKS_PERTHREAD": "4",
    "NCCL_SOCKET_NTHREADS": "1",
    "NCCL_GPUDIRECTTCPX_TX_BINDINGS": "eth1:8-21,112-125;eth2:8-21,112-125;eth3:60-73,164-177;eth4:60-73,164-177",
    "NCCL_GPUDIRECTTCPX_RX_BINDINGS": "eth1:22-35,126-139;eth2:22-35,126-139;eth3:74-87,178-191;eth4:74-87,178-191",
    "NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS": "500000",
}
"""The release notes' list for plug-in v3.1.12, with the folder that GKE mounts; the plug-in's name as NCCL's log has
it in a public account of a run on two A3 High with GKE of 2026-07-31, with this version."""

TRANSPORTS: Final[Mapping[str, Transport]] = {
    "tcpx": Transport(
        name="tcpx",
        machine="a3-highgpu-8g",
        accelerator="nvidia-h100-80gb",
        interfaces=4,
        capabilities=("NET_ADMIN",),
        command=("/bin/sh", "-c"),
        arguments=(
            # Its sockets are for training programs that are not root, too.
            "umask 0; exec /tcpgpudmarxd/build/app/tcpgpudmarxd --gpu_nic_preset a3vm --gpu_shmem_type fd "
            '--uds_path /run/tcpx --setup_param "--verbose 128 2 0"',
        ),
        devices=_DEVICES,
        sockets="/run/tcpx",
        worker_folders={},
        environment=_TCPX,
    ),
    "tcpxo": Transport(
        name="tcpxo",
        machine="a3-megagpu-8g",
        accelerator="nvidia-h100-mega-80gb",
        interfaces=8,
        capabilities=("NET_ADMIN", "NET_BIND_SERVICE"),
        command=("/bin/sh", "-c"),
        arguments=(
            "set -ex; chmod 755 /fts/entrypoint_rxdm_container.sh; "
            "exec /fts/entrypoint_rxdm_container.sh --num_hops=2 --num_nics=8 --uid= --alsologtostderr",
        ),
        devices=(*_DEVICES, "/dev/dmabuf_import_helper"),
        sockets="",
        worker_folders={"aperture-devices": "/dev/aperture_devices"},
        environment=_TCPXO,
        health_file="/run/health-check",  # best-practice.md there: no underscore in the name
    ),
}  # fmt: skip
"""Both, by their names."""

OF_MACHINE: Final[Mapping[str, Transport]] = {each.machine: each for each in TRANSPORTS.values()}
"""Both, by the machines that have them."""

INSTALLER_NAMESPACE: Final = "kube-system"
INJECTOR: Final = "device-injector"
"""Name of the DaemonSet that gives containers devices by a pod's annotation, and of its image in the catalogue."""


def installer(transport: str) -> str:
    """Name of the DaemonSet that brings a transport's plug-in onto its nodes."""
    return f"nccl-{transport}-installer"


def of_image(image: str) -> Transport | None:
    """The transport whose daemon an image is, from Google's repository or through a mirror of it."""
    name = image.partition("@")[0].rpartition(":")[0]
    return next(
        (each for each in TRANSPORTS.values() if name.endswith(f"gpudirect-{each.name}/tcpgpudmarxd-dev")), None
    )
