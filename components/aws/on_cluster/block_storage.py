"""The StorageClass of the platform's own volumes: gp3, encrypted with the environment's key, gone with their claim."""

from collections.abc import Mapping
from typing import TypedDict

import pulumi
import pulumi_kubernetes.storage.v1 as storage

from trainyard.components.k8s.objects import named
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.aws import BLOCK_STORAGE_CLASS


class BlockStorageArgs(TypedDict):
    """What `BlockStorage` needs."""

    key_arn: pulumi.Input[str]
    """KMS key of the volumes. The driver's role must be let use it."""
    tags: Mapping[str, str]
    """Tags of the volumes, which a driver makes and no provider tags."""


class BlockStorage(pulumi.ComponentResource):
    """One StorageClass."""

    storage_class: pulumi.Output[str]
    """Its name, which carries the dependency on it."""

    def __init__(self, name: str, args: BlockStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:BlockStorage", name, {}, opts)
        tags = {
            f"tagSpecification_{number}": f"{key}={value}"
            for number, (key, value) in enumerate(args["tags"].items(), 1)
        }
        made = storage.StorageClass(
            f"{name}-class",
            metadata={"name": BLOCK_STORAGE_CLASS},
            provisioner="ebs.csi.aws.com",
            parameters={"type": "gp3", "encrypted": "true", "kmsKeyId": args["key_arn"], **tags},
            reclaim_policy="Delete",
            # A volume is of one zone: it is made where its pod goes.
            volume_binding_mode="WaitForFirstConsumer",
            allow_volume_expansion=True,
            opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
        )
        self.storage_class = named(made, BLOCK_STORAGE_CLASS)
        register(self)
