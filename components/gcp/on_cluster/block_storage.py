"""The StorageClass of the platform's own volumes: balanced disks, with the environment's key, gone with their claim."""

from collections.abc import Mapping
from typing import TypedDict

import pulumi
import pulumi_kubernetes.storage.v1 as storage

from trainyard.components.k8s.objects import named
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.gcp import BLOCK_STORAGE_CLASS

DRIVER = "pd.csi.storage.gke.io"


class DiskStorageArgs(TypedDict):
    """What `DiskStorage` needs."""

    key_id: pulumi.Input[str]
    """Key of the disks. The project's agent of Compute Engine must be let use it."""
    labels: Mapping[str, str]
    """Labels of the disks, which a driver makes and no provider labels."""


class DiskStorage(pulumi.ComponentResource):
    """One StorageClass."""

    storage_class: pulumi.Output[str]
    """Its name, which carries the dependency on it."""

    def __init__(self, name: str, args: DiskStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:DiskStorage", name, {}, opts)
        made = storage.StorageClass(
            f"{name}-class",
            metadata={"name": BLOCK_STORAGE_CLASS},
            provisioner=DRIVER,
            parameters={
                "type": "pd-balanced",
                "disk-encryption-kms-key": args["key_id"],
                "labels": ",".join(f"{key}={value}" for key, value in args["labels"].items()),
            },
            reclaim_policy="Delete",
            # A disk is of one zone: it is made where its pod goes.
            volume_binding_mode="WaitForFirstConsumer",
            allow_volume_expansion=True,
            opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
        )
        self.storage_class = named(made, BLOCK_STORAGE_CLASS)
        register(self)
