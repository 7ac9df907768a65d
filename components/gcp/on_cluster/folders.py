"""The folders of the file systems that teams share, made before anybody mounts one.

A team mounts its own folder, and a folder that is not there cannot be mounted. A pod of the platform's makes them, once
for every list of teams, where it mounts a file system from its top. It is no more than any other pod: whoever mounts
the top for it, GKE's driver or the kubelet, gives the top to its group first.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TypedDict

import pulumi
import pulumi_kubernetes.batch.v1 as batch
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.networking.v1 as networking

from trainyard.components.k8s.objects import add_on_namespace, named
from trainyard.components.k8s.pod_parts import restricted_container, system_toleration
from trainyard.components.k8s.quantities import gibibytes
from trainyard.components.k8s.volumes import replaced_when_it_must
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import SYSTEM_NODES, TRAINER_GID, TRAINER_UID

NAMESPACE = "shared-folders"

_MAKE = """\
import os, sys
for folder in sys.argv[2:]:
    path = os.path.join(sys.argv[1], folder)
    os.makedirs(path, mode=0o770, exist_ok=True)
    print("there:", path)
"""
_TOP = "/top"
_NOMINAL_CAPACITY_GIB = 1024


class FileSystemTopArgs(TypedDict):
    """A file system from its top, and the folders that it has to have."""

    name: str
    """scratch or home: what volume, claim and job are called."""
    driver: str
    """Name of the CSI driver."""
    handle: pulumi.Input[str]
    """What the driver knows the volume by."""
    attributes: Mapping[str, pulumi.Input[str]]
    """What the driver mounts by."""
    folders: Sequence[str]
    """Paths below the top: plain text, they name the job."""


class SharedFoldersArgs(TypedDict):
    """What `SharedFolders` needs."""

    image: str
    """Image with Python."""
    file_systems: Sequence[FileSystemTopArgs]
    """The file systems, at least one."""


class SharedFolders(pulumi.ComponentResource):
    """A namespace of the platform's, and a job a file system. `ready` lists what a job with a volume waits for."""

    namespace: str
    """Namespace of the jobs."""

    def __init__(self, name: str, args: SharedFoldersArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError without a file system, and for one of another name."""
        super().__init__("trainyard:index:SharedFolders", name, {}, opts)
        if not args["file_systems"]:
            raise ValueError("file_systems: got none; at least one")
        other = [top["name"] for top in args["file_systems"] if top["name"] not in ("scratch", "home")]
        if other:
            raise ValueError(f"file_systems: got {', '.join(other)}; scratch and home")
        self._name, self._image = name, args["image"]
        made = add_on_namespace(f"{name}-namespace", NAMESPACE, self, depends_on=prerequisites(opts))
        self._inside = named(made, NAMESPACE)
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        wall = networking.NetworkPolicy(
            f"{name}-wall",
            metadata={"name": "nothing-comes-or-goes", "namespace": self._inside},
            # A node mounts; the pod speaks to nobody.
            spec={"pod_selector": {}, "policy_types": ["Ingress", "Egress"]},
            opts=child,
        )
        child = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[wall]))
        self.ready: list[pulumi.Resource] = [self._make(top, child) for top in args["file_systems"]]
        self.namespace = NAMESPACE
        register(self)

    def _make(self, top: FileSystemTopArgs, opts: pulumi.ResourceOptions) -> batch.Job:
        what, prefix = top["name"], f"{self._name}-{top['name']}"
        # Lustre's driver gives the top to the pod's group itself. Filestore's leaves it to the kubelet, which does so
        # of a volume for one node whose type is said (gcp-filestore-csi-driver, docs/kubernetes/fsgroup.md,
        # 2026-06-24).
        mode = "ReadWriteOnce" if what == "home" else "ReadWriteMany"
        csi: core.CSIPersistentVolumeSourceArgsDict = {
            "driver": top["driver"],
            "volume_handle": top["handle"],
            "volume_attributes": top["attributes"],
        }
        if what == "home":
            csi["fs_type"] = "nfs"
        volume = core.PersistentVolume(
            f"{prefix}-volume",
            metadata={"name": f"{NAMESPACE}-{what}"},
            spec={
                "capacity": {"storage": gibibytes(_NOMINAL_CAPACITY_GIB)},
                "access_modes": [mode],
                "persistent_volume_reclaim_policy": "Retain",
                "volume_mode": "Filesystem",
                "claim_ref": {"namespace": self._inside, "name": what},
                "csi": csi,
            },
            opts=replaced_when_it_must(opts, "kubernetes:core/v1:PersistentVolume"),
        )
        claim = core.PersistentVolumeClaim(
            f"{prefix}-claim",
            metadata={"name": what, "namespace": self._inside},
            spec={
                "access_modes": [mode],
                "storage_class_name": "",
                "volume_mode": "Filesystem",
                "volume_name": named(volume, f"{NAMESPACE}-{what}"),
                "resources": {"requests": {"storage": gibibytes(_NOMINAL_CAPACITY_GIB)}},
            },
            opts=replaced_when_it_must(opts, "kubernetes:core/v1:PersistentVolumeClaim"),
        )
        # Another list of teams is another job: one that ran cannot be changed.
        text = sha256("\n".join([*top["folders"], self._image, _MAKE]).encode()).hexdigest()[:8]
        container: core.ContainerArgsDict = {
            **restricted_container(
                "folders",
                self._image,
                {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}},
            ),
            "command": ["python", "-c", _MAKE, _TOP, *top["folders"]],
            "volume_mounts": [{"name": "top", "mount_path": _TOP}],
        }
        return batch.Job(
            prefix,
            metadata={"name": f"{what}-{text}", "namespace": self._inside},
            spec={
                "backoff_limit": 4,
                "active_deadline_seconds": 1800,
                "template": {
                    "metadata": {"labels": {"app.kubernetes.io/name": NAMESPACE}},
                    "spec": {
                        "restart_policy": "Never",
                        "automount_service_account_token": False,
                        "enable_service_links": False,
                        "security_context": {
                            "run_as_non_root": True,
                            "run_as_user": TRAINER_UID,
                            "run_as_group": TRAINER_GID,
                            "fs_group": TRAINER_GID,
                            "fs_group_change_policy": "OnRootMismatch",
                            "seccomp_profile": {"type": "RuntimeDefault"},
                        },
                        "containers": [container],
                        "volumes": [{"name": "top", "persistent_volume_claim": {"claim_name": named(claim, what)}}],
                        "node_selector": dict(SYSTEM_NODES),
                        "tolerations": [system_toleration()],
                    },
                },
            },
            opts=opts,
        )
