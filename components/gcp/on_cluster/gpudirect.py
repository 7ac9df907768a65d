"""What nodes with fast ordinary interfaces need on the cluster before a pod can use them (TCPX, TCPXO).

Two agents on each node of the pools, privileged, as Google's recipes have them: one brings the plug-in of NCCL onto the
node, and prepares the node where the transport asks for it; the other gives containers devices of the node that a pod's
annotation names (`nri_device_injector`). The second gives any device to any container, so whoever may write such an
annotation is root of the node: the teams' namespaces refuse all but the daemon's (`components/k8s/node_daemon.py`), and
nobody else makes pods.

They stand in `kube-system`: GKE keeps the priority of a node's agents to it. Source: container-engine-accelerators,
2026-06-11, and its release notes; the first step runs in the plug-in's own image instead of Ubuntu's, which is one
image fewer (that it has `nsenter` is general knowledge of images of Ubuntu and Debian).
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import pulumi
import pulumi_kubernetes.apps.v1 as apps

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import POOL_LABEL
from trainyard.conventions.gpudirect import INJECTOR, INSTALLER_NAMESPACE, TRANSPORTS, installer

_PREPARE = """\
/sbin/iptables -C INPUT -p tcp -m tcp -j ACCEPT || /sbin/iptables -I INPUT -p tcp -m tcp -j ACCEPT
modprobe import-helper
for card in $(lspci -nn -D | grep '1ae0:0084' | cut -d ' ' -f 1); do
  mkdir -p "/dev/aperture_devices/$card"
  umount -R "/dev/aperture_devices/$card" || true
  mount --bind "$(readlink -f "/sys/bus/pci/devices/$card")" "/dev/aperture_devices/$card"
done
chmod -R a+r /dev/aperture_devices
chmod a+rw /dev/aperture_devices/*/resource*
"""
"""On the node itself: TCPXO's traffic is let in, and the folders of its cards in sysfs stand in one folder. That is
what the recipe hands over: the registers (`resource*`) to everybody, and all else that is in such a folder to root."""

_INSTALL = """\
set -ex
chmod 755 /scripts/container_entry.sh
/scripts/container_entry.sh install --install-nccl
new=/usr/local/nvidia/lib64/.{transport}
rm -rf "$new"
mkdir -p "$new"
cp -r /var/lib/{transport}/lib64/. "$new"
cd "$new"
find . ! -type d | while read -r file; do
  mkdir -p "../$(dirname "$file")"
  mv -f "$file" "../$file"
done
cd ..
rm -rf "$new"
"""
"""A library takes the place of the one before under its name: running jobs have that mapped, and would end with SIGBUS
where it was written over. It is done on standing nodes too: new pods have the daemon that goes with the new plug-in."""


class GpuDirectArgs(TypedDict):
    """What `GpuDirect` needs."""

    transport: str
    """tcpx or tcpxo."""
    pools: Sequence[str]
    """Pools whose nodes have the interfaces: values of the label `ml.platform/pool`."""
    plugin_image: str
    """Image that brings the transport's plug-in of NCCL."""
    injector_image: str
    """Image of the agent that gives containers devices, by digest."""
    pause_image: str
    """Image that does nothing, by digest: what is left of the installer when it has installed."""


class GpuDirect(pulumi.ComponentResource):
    """The agents of the nodes. `ready` lists what a pod with the daemon waits for."""

    def __init__(self, name: str, args: GpuDirectArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a transport that there is not, and for no pool."""
        super().__init__("trainyard:index:GpuDirect", name, {}, opts)
        if args["transport"] not in TRANSPORTS:
            raise ValueError(f"transport: got {args['transport']!r}; {' or '.join(TRANSPORTS)}")
        if not args["pools"]:
            raise ValueError("pools: got none; those whose nodes have the interfaces")
        before = prerequisites(opts)
        self.ready: list[pulumi.Resource] = [
            apps.DaemonSet(
                f"{name}-{short}",
                metadata={"name": called, "namespace": INSTALLER_NAMESPACE, "labels": {"k8s-app": called}},
                spec=_daemon_set(called, args["pools"], pod),
                opts=pulumi.ResourceOptions(parent=self, depends_on=before),
            )
            for short, called, pod in (
                ("installer", installer(args["transport"]), _installer(args)),
                ("injector", INJECTOR, _injector(args["injector_image"])),
            )
        ]
        register(self)


def _daemon_set(name: str, pools: Sequence[str], pod: Mapping[str, Any]) -> Any:
    labels = {"k8s-app": name}
    chosen = {"matchExpressions": [{"key": POOL_LABEL, "operator": "In", "values": sorted(pools)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [chosen]}}
    return {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "priorityClassName": "system-node-critical",
                "affinity": {"nodeAffinity": required},
                "tolerations": [{"operator": "Exists"}],
                "hostNetwork": True,
                "hostPID": True,
                **pod,
            },
        },
    }


def _installer(args: GpuDirectArgs) -> dict[str, Any]:
    transport, image = args["transport"], args["plugin_image"]
    asked = {"requests": {"cpu": "150m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}
    first: list[dict[str, Any]] = []
    if TRANSPORTS[transport].worker_folders:
        first.append(
            {
                "name": "prepare",
                "image": image,
                "command": ["nsenter", "-at", "1", "--", "sh", "-ec", _PREPARE],
                "resources": asked,
                "securityContext": {"privileged": True},
            }
        )
    first.append(
        {
            "name": "install",
            "image": image,
            "command": ["/bin/sh", "-c", _INSTALL.format(transport=transport)],
            "resources": asked,
            "securityContext": {"privileged": True},
            "volumeMounts": [
                {"name": "var-lib", "mountPath": "/var/lib"},
                {"name": "libraries", "mountPath": "/usr/local"},
            ],
        }
    )
    return {
        "initContainers": first,
        "containers": [
            {
                "name": "pause",
                "image": args["pause_image"],
                "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
                "securityContext": {
                    "runAsNonRoot": True,
                    "runAsUser": 65535,
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
        "volumes": [
            {"name": "var-lib", "hostPath": {"path": "/var/lib"}},
            {"name": "libraries", "hostPath": {"path": "/home/kubernetes/bin"}},
        ],
    }


def _injector(image: str) -> dict[str, Any]:
    return {
        "containers": [
            {
                "name": INJECTOR,
                "image": image,
                "resources": {"requests": {"cpu": "150m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
                "securityContext": {"privileged": True},
                "volumeMounts": [
                    {"name": "dev", "mountPath": "/dev"},
                    {"name": "nri", "mountPath": "/var/run/nri"},
                ],
            }
        ],
        "volumes": [
            {"name": "dev", "hostPath": {"path": "/dev"}},
            {"name": "nri", "hostPath": {"path": "/var/run/nri"}},
        ],
    }
