"""File systems, disks and registries of images."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, AutomaticName, Card, Free, Priced, Seconds, estimate, service_model

CARDS: Final = (
    Card(
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        Seconds(
            480,
            "estimate: under ten minutes as a rule and over it at times "
            "(aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow#112)",
            "2025-09-13",
        ),
        Free("the link is free; its requests are the bucket's"),
        taggable=True,
        stateful=False,
        id="dra-{hex:.17}",
        arn="association/{input:fileSystemId|fs-0}/{id}",
        model=service_model("fsx.CreateDataRepositoryAssociation", undescribed="deleteDataInFilesystem"),
    ),
    Card(
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        Seconds(
            365,
            "just over 6m00s in turbot/steampipe-plugin-aws#906 (SCRATCH); the provider's own test takes "
            "506 s with deletion (hashicorp/terraform-provider-aws#7074)",
            "2022-02-01",
        ),
        Priced("storage.lustre"),
        taggable=True,
        stateful=True,
        id="fs-{hex:.17}",
        arn="file-system/{id}",
        outputs={"dnsName": "{id}.fsx.{region}.{dns_suffix}", "mountName": "{hex:.8}"},
        model=service_model(
            "fsx.CreateFileSystem.LustreConfiguration",
            "fsx.CreateFileSystem",
            names={"dataReadCacheConfiguration.size": "SizeGiB"},
            undescribed="backupId finalBackupTags skipFinalBackup",
        ),
        key_input="kmsKeyId",
    ),
    Card(
        "aws:efs/accessPoint:AccessPoint",
        estimate(6),
        Free("a path of a file system"),
        taggable=True,
        stateful=False,
        id="fsap-{hex:.17}",
        arn="access-point/{id}",
        model=service_model("efs.CreateAccessPoint"),
    ),
    Card(
        "aws:efs/backupPolicy:BackupPolicy",
        API_CALL,
        Priced("storage.file_system_backup"),
        taggable=False,
        stateful=False,
    ),
    Card(
        "aws:efs/fileSystem:FileSystem",
        estimate(8),
        Priced("storage.file_system"),
        taggable=True,
        stateful=True,
        id="fs-{hex:.17}",
        arn="file-system/{id}",
        outputs={"dnsName": "{id}.efs.{region}.{dns_suffix}"},
        model=service_model("efs.CreateFileSystem", "efs.PutLifecycleConfiguration", undescribed="protection"),
        key_input="kmsKeyId",
    ),
    Card(
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        API_CALL,
        Free("a setting of a file system"),
        taggable=False,
        stateful=False,
    ),
    Card(
        "aws:efs/mountTarget:MountTarget",
        estimate(85, "one and a half minutes"),
        Free("mount targets are free; traffic between zones is billed with the VPC"),
        taggable=False,
        stateful=False,
        id="fsmt-{hex:.17}",
        model=service_model("efs.CreateMountTarget"),
    ),
    Card("aws:ebs/snapshot:Snapshot", API_CALL, None, taggable=True, stateful=True, id="snap-{hex:.17}"),
    Card(
        "aws:ebs/volume:Volume",
        API_CALL,
        Priced("compute.volume"),
        taggable=True,
        stateful=True,
        id="vol-{hex:.17}",
        key_input="kmsKeyId",
    ),
    Card(
        "aws:ecr/repository:Repository",
        API_CALL,
        None,
        taggable=True,
        stateful=True,
        id="{cloud_name}",
        outputs={
            "repositoryUrl": "{account}.dkr.ecr.{region}.{dns_suffix}/{cloud_name}",
            "registryId": "{account}",
        },
        model=service_model("ecr.CreateRepository", names={"name": "repositoryName"}, undescribed="forceDelete"),
        automatic_name=AutomaticName("name", 256, r"[a-z0-9]([a-z0-9._/-]*[a-z0-9])?"),
        key_input="encryptionConfigurations",
    ),
    Card(
        "aws:ecr/lifecyclePolicy:LifecyclePolicy",
        API_CALL,
        Free("a setting of a registry; what is stored is billed with the repository"),
        taggable=False,
        stateful=False,
        id="{input:repository|{name}}",
        model=service_model(
            "ecr.PutLifecyclePolicy", names={"repository": "repositoryName", "policy": "lifecyclePolicyText"}
        ),
    ),
)
