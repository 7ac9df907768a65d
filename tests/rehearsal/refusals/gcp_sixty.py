"""Sixty wrong values that an engineer writes into a stack on Google Cloud, one at a time, in the large example.

They were written before anything was known of what tells them. `None`: nothing does, and `WHY` says why nobody can.
"""

from __future__ import annotations

from typing import Any

from tests.rehearsal.refusals.builders import DROP

Row = tuple[str, str, Any]
"""`kind:name` of the resource, the input's path, its wrong value."""

CLUSTER, SQL, NAT = "Cluster:cluster-cluster", "DatabaseInstance:northwind-production-mlflow", "RouterNat:network-nat"
TRAIN, SPOT, DEV = (f"NodePool:gpu-nodes-{name}" for name in ("train-reserved", "train-spot", "dev-on-demand"))
SYSTEM, NODES, BUDGET = "NodePool:cluster-system", "Subnetwork:network-nodes", "Budget:budget-budget"
DATA, CHECKPOINTS, LOGS, ARTIFACTS = (
    f"Bucket:northwind-production-{name}" for name in ("data", "checkpoints", "logs", "artifacts")
)
KEY, RING, WEBHOOKS = (
    "CryptoKey:northwind-production-data",
    "KeyRing:northwind-production-keys",
    "Firewall:network-webhooks",
)
ELSEWHERE = "projects/northwind-ml/locations/europe-west4/keyRings/k/cryptoKeys/k"

SIXTY: list[Row] = [
    # network
    ("Network:network-vpc", "mtu", 1200),
    ("Network:network-vpc", "routingMode", "REGION"),
    (NODES, "ipCidrRange", "10.0.0.0"),
    (NODES, "region", "us-east5"),
    (NODES, "secondaryIpRanges[0].ipCidrRange", "10.2.0.0/22"),
    (NODES, "secondaryIpRanges[0].ipCidrRange", "10.0.0.0/15"),
    (NODES, "logConfig.metadata", "INCLUDE_ALL"),
    (NODES, "stackType", "IPV4"),
    (NODES, "privateIpGoogleAccess", "yes"),
    (NAT, "natIpAllocateOption", "AUTO"),
    (NAT, "minPortsPerVm", 48),
    (NAT, "region", "us-central1"),
    (NAT, "subnetworks[0].sourceIpRangesToNats[0]", "ALL"),
    (WEBHOOKS, "direction", "INBOUND"),
    (WEBHOOKS, "sourceRanges[0]", "10.0.33.0/28"),
    (WEBHOOKS, "allows[0].protocol", "tcpp"),
    (WEBHOOKS, "allows[0].ports[1]", "84430"),
    ("GlobalAddress:network-private-services", "purpose", "PEERING"),
    ("GlobalAddress:network-private-services", "address", "10.2.16.0"),
    ("Connection:network-private-services", "service", "servicenetworking"),
    ("RecordSet:google-apis-all", "type", "A"),
    ("RecordSet:google-apis-all", "name", "*.googleapis.com"),
    ("ManagedZone:google-apis-googleapis", "dnsName", "googleapis.com"),
    ("ManagedZone:google-apis-googleapis", "visibility", "internal"),
    # cluster
    (CLUSTER, "location", "us-east4-d"),
    (CLUSTER, "minMasterVersion", "1.29"),
    (CLUSTER, "networkingMode", "ROUTES"),
    (CLUSTER, "ipAllocationPolicy.clusterSecondaryRangeName", "pod"),
    (CLUSTER, "privateClusterConfig.masterIpv4CidrBlock", "10.0.0.0/28"),
    (CLUSTER, "releaseChannel.channel", "regular"),
    (CLUSTER, "workloadIdentityConfig.workloadPool", "northwind-ml.svc.id.google"),
    (CLUSTER, "databaseEncryption.keyName", ELSEWHERE),
    (CLUSTER, "monitoringConfig.enableComponents[0]", "SYSTEM"),
    (CLUSTER, "removeDefaultNodePool", DROP),
    # pools
    (TRAIN, "nodeConfig.machineType", "a3-ultra-8g"),
    (TRAIN, "nodeConfig.guestAccelerators[0].type", "nvidia-h200"),
    (TRAIN, "nodeConfig.guestAccelerators[0].count", 4),
    (TRAIN, "nodeConfig.reservationAffinity.consumeReservationType", "SPECIFIC"),
    (TRAIN, "nodeConfig.reservationAffinity.values", ["northwind-h200", "northwind-h200-b"]),
    (TRAIN, "nodeLocations", ["us-east4-a"]),
    (TRAIN, "networkConfig.acceleratorNetworkProfile", "roce"),
    (TRAIN, "nodeConfig.labels", {"ml.platform/pool": "train", "ml.platform/capacity": "reserved"}),
    (TRAIN, "nodeConfig.ephemeralStorageLocalSsdConfig.localSsdCount", 8),
    (TRAIN, "nodeConfig.diskType", "pd-ssd"),
    (SPOT, "nodeConfig.taints[0].effect", "NoSchedule"),
    (SPOT, "placementPolicy.type", "CLOSE"),
    (SPOT, "autoscaling.totalMaxNodeCount", DROP),
    (SPOT, "nodeConfig.resourceLabels.owner", "Ada@northwind.example"),
    (DEV, "nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion", "NEWEST"),
    (DEV, "nodeConfig.machineType", "g2-standard-10"),
    (DEV, "nodeLocations", ["us-east4-b"]),
    (SYSTEM, "upgradeSettings.maxSurge", 0),
    (SYSTEM, "nodeConfig.diskSizeGb", 5),
    # database, buckets, keys, money
    (SQL, "settings.tier", "db-custom-3-15360"),
    (SQL, "settings.backupConfiguration.location", "eu"),
    (SQL, "databaseVersion", "POSTGRES18"),
    (SQL, "settings.databaseFlags[0].name", "cloudsql.pgaudit"),
    (CHECKPOINTS, "location", "US"),
    (ARTIFACTS, "lifecycleRules[1].action.storageClass", "COOL"),
    (BUDGET, "thresholdRules[0].thresholdPercent", 50),
]

WHY: dict[tuple[str, str], str] = {
    (CLUSTER, "removeDefaultNodePool"): "a cluster may keep its first pool: a choice, which costs a node a zone",
    (
        SQL,
        "settings.backupConfiguration.location",
    ): "backups may lie in a multi-region: residency is the policies' word",
}
"""Those that nothing tells: 34 of the sixty were told when they were written, and 58 since."""
