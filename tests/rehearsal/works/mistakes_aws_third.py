"""Twenty-five mistakes on AWS with a cluster, written before it was looked up what tells them.

20 were told at first sight, one of those by its price alone: the class of databases.
"""

from __future__ import annotations

from tests.rehearsal.works import aws_changes as aws
from tests.rehearsal.works.aws_changes import refer, reworded, user_data
from tests.rehearsal.works.mistakes import DROP, Mistake, drop, edit, in_json, put

LARGE = "large-aws"
DATABASE, GROUP = "globex-production-mlflow", "gpu-nodes-train-on-demand"
EFS, EFS_BACKUP = "aws:efs/fileSystem:FileSystem", "aws:efs/backupPolicy:BackupPolicy"
SUBNETS, KEEPS = "aws:rds/subnetGroup:SubnetGroup", "aws:ecr/lifecyclePolicy:LifecyclePolicy"
FLUENT_BIT = "images-globex-production-ecr-aws-observability-aws-for-fluent-bit"
PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"

MISTAKES = [
    # what AWS refuses
    Mistake(
        "a-class-that-the-region-has-not",
        "a class of databases that us-west-2 does not have",
        edit(aws.DATABASE, DATABASE, put("instanceClass", "db.m9g.large")),
        "machines-database-class",
        stack=LARGE,
    ),
    Mistake(
        "windows-that-overlap",
        "the database is backed up while it is maintained",
        edit(aws.DATABASE, DATABASE, put("maintenanceWindow", "sun:01:30-sun:02:30")),
        "refused:rds-window-overlap",
        stack=LARGE,
    ),
    Mistake(
        "a-throughput-of-another-kind",
        "Lustre is asked for a throughput of the first generation",
        edit(aws.LUSTRE, "globex-production-lustre", put("perUnitStorageThroughput", 200)),
        "refused:fsx-throughput",
        stack=LARGE,
    ),
    Mistake(
        "less-storage-than-a-step",
        "Lustre is asked for 3000 GiB",
        edit(aws.LUSTRE, "globex-production-lustre", put("storageCapacity", 3000)),
        "refused:fsx-capacity",
        stack=LARGE,
    ),
    Mistake(
        "a-node-group-of-two-architectures",
        "an Arm type stands among those of a group",
        edit(aws.NODES, "cluster-system", put("instanceTypes[1]", "m7g.2xlarge")),
        "machines-image-architecture",
        stack=LARGE,
    ),
    Mistake(
        "desired-above-the-most",
        "more nodes are wanted than there may be",
        edit(aws.NODES, "cluster-system", put("scalingConfig.desiredSize", 500)),
        "refused:eks-sizes",
        stack=LARGE,
    ),
    Mistake(
        "a-parameter-of-another-engine",
        "the database's parameters have one of MySQL",
        edit(
            aws.PARAMETERS,
            f"{DATABASE}-parameters",
            put("parameters[5]", {"name": "innodb_buffer_pool_size", "value": "1"}),
        ),
        "refused:rds-parameter",
        stack=LARGE,
    ),
    Mistake(
        "a-cluster-with-one-zone",
        "the control plane is given subnets of one zone",
        edit(
            aws.CLUSTER,
            "cluster-cluster",
            lambda it: it["vpcConfig"].update(subnetIds=it["vpcConfig"]["subnetIds"][:1]),
        ),
        "refused:eks-zones",
        stack=LARGE,
    ),
    # what is taken and does not work
    Mistake(
        "a-database-of-public-subnets",
        "the database's subnets are those of nodes",
        refer(SUBNETS, f"{DATABASE}-subnets", "subnetIds[0]", aws.SUBNET, "network-public-us-west-2a"),
        "flows-database",
        stack=LARGE,
    ),
    Mistake(
        "a-file-system-without-a-zone",
        "EFS has no mount target in one of the nodes' zones",
        drop(aws.MOUNT_TARGET, "globex-production-shared-us-west-2c"),
        "paths-no-mount-target",
        stack=LARGE,
    ),
    Mistake(
        "images-that-are-deleted",
        "the cache of images keeps one image, and a day",
        edit(
            KEEPS,
            FLUENT_BIT,
            put(
                "policy",
                '{"rules":[{"rulePriority":1,"selection":{"tagStatus":"any",'
                '"countType":"sinceImagePushed","countUnit":"days","countNumber":1},"action":{"type":"expire"}}]}',
            ),
        ),
        None,
        why="a cache fetches again what is pulled again: it costs time alone",
        stack=LARGE,
    ),
    Mistake(
        "a-path-of-nothing",
        "Lustre's data come from a folder that nobody fills",
        edit(
            aws.REPOSITORY_LINK,
            "globex-production-lustre-scratch",
            reworded("dataRepositoryPath", "scratch", "scratches"),
        ),
        "programs-directory",
        stack=LARGE,
    ),
    Mistake(
        "nodes-in-the-dark",
        "nodes of a group have no address of a name server: the template's network is public",
        edit(aws.NODES, "cluster-system", lambda it: it.update(subnetIds=["subnet-187b301289209c591"])),
        "flows-kubelet",
        stack=LARGE,
    ),
    Mistake(
        "a-nat-in-a-private-subnet",
        "a NAT gateway stands in a private subnet",
        refer(aws.NAT, "network-nat-us-west-2a", "subnetId", aws.SUBNET, "network-private-us-west-2a"),
        "paths-image-out-of-reach",
        stack=LARGE,
    ),
    Mistake(
        "a-route-to-anothers-gateway",
        "the private subnets go out by the internet gateway",
        edit(
            aws.ROUTE,
            "network-private-us-west-2a-out",
            put("natGatewayId", DROP),
            put("gatewayId", "igw-fafc8c6b0519b66e7"),
        ),
        "paths-image-out-of-reach",
        stack=LARGE,
    ),
    Mistake(
        "metadata-that-containers-cannot-reach",
        "metadata of nodes answer at all hops, and at none of pods",
        edit(aws.TEMPLATE, "cluster-system-template", put("metadataOptions.httpEndpoint", "disabled")),
        "machines-metadata",
        stack=LARGE,
    ),
    Mistake(
        "disks-that-are-not-joined",
        "local disks of GPU nodes are no longer joined to one",
        edit(aws.TEMPLATE, "gpu-nodes-train-on-demand-template", user_data("RAID0", "Mount")),
        "placement-scaling-tag",
        stack=LARGE,
    ),
    Mistake(
        "pods-of-another-account",
        "the driver of volumes is bound to an account of another name",
        edit(aws.IDENTITY, "cluster-ebs-ebs-csi-controller-sa", put("serviceAccount", "ebs-csi-controller")),
        "rights-binding-untrusted",
        stack=LARGE,
    ),
    Mistake(
        "home-without-its-owner",
        "a team's home is owned by somebody whom its access point is not",
        edit(
            aws.ACCESS_POINT,
            "globex-production-shared-home-foundation",
            put("rootDirectory.creationInfo.ownerUid", 0),
            put("rootDirectory.creationInfo.permissions", "0700"),
        ),
        "programs-mount",
        stack=LARGE,
    ),
    Mistake(
        "spread-where-it-belongs-together",
        "machines of one job are spread over the hardware",
        edit(PLACEMENT, "gpu-nodes-train-on-demand-placement", put("strategy", "spread")),
        "machines-placement",
        stack=LARGE,
    ),
    Mistake(
        "alerts-of-another-statistic",
        "silence is measured as an average of messages",
        edit(aws.ALARM, "watchdog-silent", put("metricName", "NumberOfNotificationsDelivered")),
        "programs-alarm",
        stack=LARGE,
    ),
    Mistake(
        "a-log-of-no-plane",
        "the audit log of the control plane is not written, and the query reads it",
        edit(aws.CLUSTER, "cluster-cluster", put("enabledClusterLogTypes", ["api", "scheduler"])),
        "reference-log-stream",
        stack=LARGE,
    ),
    Mistake(
        "prefixes-without-room",
        "the network plugin keeps more addresses warm than a subnet of nodes has",
        edit(
            aws.ADD_ON,
            "cluster-vpc-cni",
            in_json("configurationValues", lambda it: it.setdefault("env", {}).update(WARM_PREFIX_TARGET="one")),
        ),
        "refused:eks-addon-settings",
        stack=LARGE,
    ),
    Mistake(
        "an-admin-of-a-namespace",
        "administrators have their rights in one namespace that there is not",
        edit(
            aws.ENTRY_POLICY,
            "cluster-admin-platform-admin-ce910a",
            put("accessScope", {"type": "namespace", "namespaces": ["platforms"]}),
        ),
        "rights-nobody-deploys",
        stack=LARGE,
    ),
    Mistake(
        "a-cache-of-another-registry",
        "the cache of quay.io asks the registry of Kubernetes",
        edit(aws.CACHE, "images-globex-production-quay", put("upstreamRegistryUrl", "registry.k8s.io")),
        "programs-cached-image",
        stack=LARGE,
    ),
]
