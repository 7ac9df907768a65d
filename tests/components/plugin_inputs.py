"""Inputs of every component as a program in another language sends them: plain values under the schema's names."""

from __future__ import annotations

from typing import Any

from tests.pulumi_harness import ACCOUNT

KEY = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"
IMAGE = "pytorch/pytorch:2.13.0@sha256:" + "0" * 64
CHART = {"chart": "a-chart", "version": "1.2.3", "repository": "https://charts.example.com"}
SUBNETS = {"us-east-1a": "subnet-0a", "us-east-1b": "subnet-0b"}
CLIENTS = {"cluster": "sg-0c"}
ADDRESSES = {
    "own": ["10.0.0.0/16"],
    "nodes": ["10.0.0.0/19"],
    "services": "172.20.0.0/16",
    "controlPlane": ["10.0.224.0/23"],
    "apiService": "172.20.0.1/32",
    "resolvers": ["10.0.0.2/32"],
    "cloudServices": ["10.0.208.0/23"],
    "objectStore": ["52.216.0.0/15"],
    "identity": [{"cidr": "169.254.170.23/32", "port": 80}],
}
LUSTRE = {"subnetId": "subnet-0a", "capacityGib": 2400, "throughputMbpsPerTib": 250}

INPUTS: dict[str, dict[str, Any]] = {
    "AuditTrail": {
        "trailName": "acme",
        "administratorArns": [f"arn:aws:iam::{ACCOUNT}:role/deploy"],
        "accountId": ACCOUNT,
        "region": "us-east-1",
        "bucketArns": ["arn:aws:s3:::acme-data"],
        "accessLogBucket": "acme-logs",
        "retentionDays": 365,
        "lock": "governance",
        "lockDays": 90,
        "protect": True,
    },
    "BreakGlass": {
        "accountId": ACCOUNT,
        "region": "us-east-1",
        "userArns": [f"arn:aws:iam::{ACCOUNT}:user/on-call"],
        "clusterNames": ["acme"],
    },
    "Bucket": {
        "lifecycleRules": [
            {"id": "old", "supersededExpireDays": 30, "supersededKeepVersions": 3},
            {"id": "uploads", "abortUploadsDays": 7},
        ],
        "protect": True,
        "keyArn": KEY,
        "accessLogBucket": "acme-logs",
    },
    "BudgetAlerts": {
        "accountId": ACCOUNT,
        "keyArn": KEY,
        "budgetName": "acme",
        "scope": {"key": "project", "value": "acme"},
        "monthlyUsd": 50000,
        "actualPercents": [50, 80, 100],
        "forecastPercents": [100],
        "emails": ["platform@example.com"],
        "anomalyThresholdUsd": 500,
        "anomalyDetection": True,
        "activateCostTags": False,
        "costTagKeys": ["project"],
    },
    "Cluster": {
        "clusterName": "acme",
        "region": "us-east-1",
        "accountId": ACCOUNT,
        "kubernetesVersion": "1.35",
        "serviceCidr": "172.20.0.0/16",
        "subnetIds": list(SUBNETS.values()),
        "nodeSubnetIds": list(SUBNETS.values()),
        "publicAccessCidrs": [],
        "logTypes": ["audit"],
        "logRetentionDays": 365,
        "keyArn": KEY,
        "adminPrincipalArns": [f"arn:aws:iam::{ACCOUNT}:role/admin"],
        "addOns": [{"name": name} for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns")],
        "systemNodes": {"instanceTypes": ["m7i.xlarge"], "minNodes": 2, "maxNodes": 4, "diskGib": 100},
        "tags": {"project": "acme"},
        "deletionProtection": True,
    },
    "ClusterAutoscaler": {
        "chart": CHART,
        "clusterName": "acme",
        "region": "us-east-1",
        "nodeGroups": {"spot": ["train-spot-1a2b3c4"]},
        "imageTag": "v1.35.0",
        "scaleDownAfterMinutes": 15,
    },
    "Database": {
        "accountId": ACCOUNT,
        "vpcId": "vpc-0a",
        "subnetIds": list(SUBNETS.values()),
        "clientSecurityGroupIds": CLIENTS,
        "keyArn": KEY,
        "engineVersion": "17",
        "instanceClass": "db.t4g.medium",
        "storageGib": 50,
        "maxStorageGib": 200,
        "multiAz": True,
        "backupRetentionDays": 14,
        "deletionProtection": True,
        "protect": True,
    },
    "DnsFirewall": {"vpcId": "vpc-0a", "names": ["pypi.org", ".hf.co"], "others": "block"},
    "EgressProxy": {
        "image": IMAGE,
        "allow": ["pypi.org", ".hf.co"],
        "addresses": ADDRESSES,
        "direct": [".s3.us-east-1.amazonaws.com"],
        "teamNamespaces": {"vision": "team-vision"},
    },
    "EnvironmentKey": {
        "alias": "alias/acme",
        "purpose": "Everything",
        "accountId": ACCOUNT,
        "region": "us-east-1",
        "administratorArns": [f"arn:aws:iam::{ACCOUNT}:role/deploy"],
        "services": ["rds"],
        "bucketArns": ["arn:aws:s3:::acme-data-???????"],
        "logGroups": ["/aws/rds/*"],
        "roleArns": [f"arn:aws:iam::{ACCOUNT}:role/cluster-control-*"],
        "publishers": ["budgets.amazonaws.com"],
        "nodeVolumes": True,
        "protect": True,
    },
    "GpuEnablement": {
        "pools": ["train"],
        "devicePluginChart": CHART,
        "dcgmExporterChart": CHART,
        "devicePlugins": [{"name": "fabric", "chart": CHART, "values": {"replicas": 2}}],
    },
    "GpuNodeGroups": {
        "clusterName": "acme",
        "clusterSecurityGroupId": "sg-0c",
        "kubernetesVersion": "1.35",
        "nodeRoleArn": f"arn:aws:iam::{ACCOUNT}:role/node",
        "vpcId": "vpc-0a",
        "subnetIds": SUBNETS,
        "keyArn": KEY,
        "pools": [
            {
                "name": "train",
                "gpu": "A100-40GB",
                "gpusPerNode": 8,
                "efaInterfaces": 4,
                "networkCards": 4,
                "localNvmeGb": 8000,
                "rootDiskGib": 200,
                "nodeGroups": [
                    {
                        "name": "train-spot",
                        "capacity": "spot",
                        "instanceTypes": ["p4d.24xlarge"],
                        "minNodes": 0,
                        "maxNodes": 2,
                        "zones": ["us-east-1a"],
                        "placementGroup": True,
                    }
                ],
            }
        ],
        "tags": {"project": "acme"},
    },
    "Ingest": {
        "data": {
            "driver": "s3.csi.aws.com",
            "handle": "ingest-data",
            "mountOptions": ["prefix data/"],
            "accessMode": "ReadWriteMany",
            "capacityGib": 1024,
        },
        "cores": 4,
        "memoryGib": 16,
        "pods": 10,
    },
    "Kueue": {
        "chart": CHART,
        "cohort": "gpus",
        "flavors": [{"name": "train-spot", "capacity": "spot", "nodeLabels": {"ml.platform/pool": "train"}}],
        "queues": [
            {
                "team": "vision",
                "namespace": "team-vision",
                "clusterQueue": "vision",
                "localQueue": "vision",
                "quotas": [{"flavor": "train-spot", "gpus": 16}],
                "weight": 16,
            }
        ],
        "priorities": [{"name": "standard", "value": 1000, "description": "As usual"}],
        "podsReadyTimeoutMinutes": 30,
        "requeueLimit": 2,
        "nodes": [
            {
                "pool": "train",
                "cpu": 96,
                "memoryGib": 1152,
                "devices": {"nvidia.com/gpu": 8},
                "largestFlavorGpus": 16,
            }
        ],
    },
    "LustreFileSystem": {
        "lustre": LUSTRE,
        "accountId": ACCOUNT,
        "vpcId": "vpc-0a",
        "clientSecurityGroupIds": CLIENTS,
        "keyArn": KEY,
        "dataBucketName": "acme-data",
        "dataBucketArn": "arn:aws:s3:::acme-data",
        "protect": True,
    },
    "MlflowServer": {
        "namespace": "mlflow",
        "image": IMAGE,
        "replicas": 2,
        "workers": 2,
        "cpu": "1",
        "memory": "2Gi",
        "database": {
            "address": "database.example.internal",
            "port": 5432,
            "name": "mlflow",
            "username": "mlflow",
            "passwordProgram": {"source": "print()", "secret": "where", "intervalSeconds": 30},
            "cidrs": ["10.1.2.0/24"],
        },
        "artifactsUri": "s3://acme-artifacts/mlflow",
        "teamNamespaces": {"vision": "team-vision"},
    },
    "Network": {
        "cidr": "10.1.0.0/16",
        "zones": [
            {
                "name": zone,
                "publicCidr": f"10.1.{third}.0/24",
                "privateCidr": f"10.1.{third + 1}.0/24",
                "isolatedCidr": f"10.1.{third + 2}.0/24",
                "controlCidr": f"10.1.{third + 3}.0/24",
            }
            for zone, third in (("us-east-1a", 1), ("us-east-1b", 11))
        ],
        "natGateways": 2,
        "accountId": ACCOUNT,
        "gatewayEndpoints": ["s3"],
        "interfaceEndpoints": ["sts"],
        "region": "us-east-1",
        "publicBuckets": ["commoncrawl"],
        "flowLogRetentionDays": 365,
        "keyArn": KEY,
        "clusterNames": ["acme"],
    },
    "PodRole": {
        "clusterName": "acme",
        "clusterArn": f"arn:aws:eks:us-east-1:{ACCOUNT}:cluster/acme",
        "namespace": "team-vision",
        "serviceAccounts": ["trainer"],
        "policy": {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::acme-data/*"}],
        },
        "description": "Training pods",
    },
    "SecurityAlerts": {
        "keyArn": KEY,
        "emails": ["security@example.com"],
        "roleArns": {"break-glass": f"arn:aws:iam::{ACCOUNT}:role/break-glass"},
        "findings": True,
    },
    "SharedFileSystem": {
        "accountId": ACCOUNT,
        "vpcId": "vpc-0a",
        "subnetIds": SUBNETS,
        "clientSecurityGroupIds": CLIENTS,
        "directories": ["vision"],
        "keyArn": KEY,
        "protect": True,
    },
    "SmokeJob": {
        "pool": "train",
        "instance": "p5.48xlarge",
        "gpu": "H100",
        "gpusPerNode": 8,
        "gpuMemoryGib": 80,
        "nodes": 1,
        "cpu": 64,
        "memoryGib": 512,
        "sharedMemoryGib": 128,
        "namespace": "team-vision",
        "queue": "vision",
        "image": IMAGE,
        "timeoutS": 1200,
    },
    "StorageDrivers": {"region": "us-east-1", "s3Chart": CHART, "fsxChart": CHART},
    "StorageTiers": {
        "accountId": ACCOUNT,
        "vpcId": "vpc-0a",
        "clientSecurityGroupIds": CLIENTS,
        "keyArns": {"data": KEY, "checkpoints": KEY, "artifacts": KEY},
        "dataVersionDays": 90,
        "dataFolders": ["teams/vision/"],
        "scratchFolders": ["teams/vision/"],
        "checkpointExpireDays": 14,
        "checkpointKeepVersions": 3,
        "multipartCleanupDays": 7,
        "artifactRetentionDays": 90,
        "artifactTransitionDays": 30,
        "protect": True,
        "lustre": LUSTRE,
        "sharedFileSystemSubnetIds": SUBNETS,
        "sharedDirectories": ["vision"],
    },
    "TeamLogGroup": {"clusterName": "acme", "keyArn": KEY, "retentionDays": 365},
    "TeamLogs": {
        "namespaces": ["team-vision"],
        "logGroupName": "/trainyard/acme/team-logs",
        "region": "us-east-1",
        "image": IMAGE,
    },
    "TeamNamespaces": {
        "teams": [
            {
                "name": "vision",
                "namespace": "team-vision",
                "cpuOnlyCores": 20,
                "cpuOnlyMemoryGib": 80,
                "cpuOnlyPods": 100,
                "claims": 4,
                "claimsGib": 2048,
            }
        ]
    },
    "TeamVolumes": {
        "teams": [
            {
                "name": "vision",
                "namespace": "team-vision",
                "volumes": {
                    "data": {
                        "driver": "files.example.com",
                        "handle": "one",
                        "mountOptions": [],
                        "accessMode": "ReadWriteMany",
                        "capacityGib": 1200,
                    }
                },
            }
        ]
    },
    "ThreatDetection": {"runtime": True},
    "ImageCache": {
        "registries": [{"upstream": "quay.io", "prefix": "acme/quay", "credentialArn": "arn"}],
        "repositories": ["acme/quay/a/b"],
        "keyArn": KEY,
        "protect": True,
    },
    "TrainingRuntimes": {
        "jobsetChart": CHART,
        "trainerChart": CHART,
        "image": IMAGE,
        "mounts": {"data": "/data"},
        "maxRestarts": 5,
    },
}
