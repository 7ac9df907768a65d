"""Mistakes in machines, as they are made: an image, a version, a class, a setting that its kind cannot run with."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, edit, put

NODES = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
DATABASE = "aws:rds/instance:Instance"
PARAMETERS = "aws:rds/parameterGroup:ParameterGroup"
CLUSTER = "aws:eks/cluster:Cluster"
TRAIN, SPOT_TEMPLATE = "gpu-nodes-train-spot", "gpu-nodes-train-spot-template"
ROOT = "blockDeviceMappings[0]"


def user_data(change: Callable[[str], str]) -> Change:
    """Changes what the nodes of the spot pool are told."""

    def into(inputs: dict[str, Any]) -> None:
        text = base64.b64decode(inputs["userData"]).decode()
        changed = change(text)
        assert changed != text
        inputs["userData"] = base64.b64encode(changed.encode()).decode()

    return edit(TEMPLATE, SPOT_TEMPLATE, into)


def told(old: str, new: str) -> Change:
    """Replaces a text in what the nodes are told."""
    return user_data(lambda text: text.replace(old, new))


def parameter(name: str, value: str, **more: Any) -> Change:
    """Sets the last parameter of the database."""
    last = {"name": name, "value": value, **more}
    return edit(PARAMETERS, "acme-demo-mlflow-parameters", put("parameters[4]", last))


def nodes(path: str, value: Any, name: str = TRAIN) -> Change:
    """Changes an input of a node group."""
    return edit(NODES, name, put(path, value))


MISTAKES = [
    Mistake(
        "parameter-of-no-such-word",
        "a log level of another program",
        edit("aws:rds/parameterGroup:ParameterGroup", "acme-demo-mlflow-parameters", put("parameters[1].value", "dml")),
        "machines-parameter",
    ),
    Mistake(
        "standard-image",
        "GPU nodes have the standard image",
        nodes("amiType", "AL2023_x86_64_STANDARD"),
        "machines-image-driver",
    ),
    Mistake(
        "bottlerocket-without-driver",
        "GPU nodes have Bottlerocket without NVIDIA's variant",
        nodes("amiType", "BOTTLEROCKET_x86_64"),
        "machines-image-driver",
    ),
    Mistake(
        "driver-for-nothing",
        "the system nodes have the image with the driver",
        nodes("amiType", "AL2023_x86_64_NVIDIA", "cluster-system"),
        "machines-image-driver",
    ),
    Mistake(
        "graviton",
        "the system nodes became Graviton, their image stayed",
        nodes("instanceTypes", ["m7g.xlarge"], "cluster-system"),
        "machines-image-architecture",
    ),
    Mistake(
        "one-graviton-of-three",
        "one of the CPU pool's types is Graviton",
        nodes("instanceTypes[2]", "m8g.2xlarge", "cluster-cpu"),
        "machines-image-architecture",
    ),
    Mistake(
        "arm-image",
        "the CPU pool has the image for Graviton",
        nodes("amiType", "AL2023_ARM_64_STANDARD", "cluster-cpu"),
        "machines-image-architecture",
    ),
    Mistake("al2", "the nodes stayed on Amazon Linux 2", nodes("amiType", "AL2_x86_64_GPU"), "machines-image-version"),
    Mistake("nodes-first", "the nodes were upgraded before the cluster", nodes("version", "1.36"), "machines-version"),
    Mistake("nodes-left", "one pool was left four versions behind", nodes("version", "1.31"), "machines-version"),
    Mistake(
        "release-of-another",
        "a release of the image is pinned that is of a newer Kubernetes",
        edit(NODES, TRAIN, put("version", DROP), put("releaseVersion", "1.36.2-20260714")),
        "machines-version",
    ),
    Mistake(
        "sda1",
        "the root volume is mapped under Ubuntu's name",
        edit(TEMPLATE, SPOT_TEMPLATE, put(f"{ROOT}.deviceName", "/dev/sda1")),
        "machines-root-device",
    ),
    Mistake(
        "small-root",
        "the root volume is smaller than the image",
        edit(TEMPLATE, "cluster-system-template", put(f"{ROOT}.ebs.volumeSize", 10)),
        "machines-root-device",
    ),
    Mistake(
        "bottlerocket-data",
        "Bottlerocket's system volume was enlarged, where no image lies",
        nodes("amiType", "BOTTLEROCKET_x86_64_NVIDIA"),
        "machines-root-device",
    ),
    Mistake(
        "shell", "user data is a plain script", user_data(lambda _: "#!/bin/bash\necho hello\n"), "machines-user-data"
    ),
    Mistake(
        "bootstrap",
        "user data calls the script of Amazon Linux 2",
        told("set -euo pipefail\n", "set -euo pipefail\n/etc/eks/bootstrap.sh acme\n"),
        "machines-user-data",
    ),
    Mistake(
        "api",
        "NodeConfig is of another version",
        told("node.eks.aws/v1alpha1", "node.eks.aws/v1"),
        "machines-user-data",
    ),
    Mistake("raid", "the local disks get a strategy that there is not", told("RAID0", "RAID5"), "machines-user-data"),
    Mistake("storage", "localStorage is misspelt", told("localStorage", "localStorages"), "machines-user-data"),
    Mistake(
        "containerd",
        "containerd's settings stand under another name",
        told("containerd:", "containerD:"),
        "machines-user-data",
    ),
    Mistake(
        "kubelet",
        "maxPods of kubelet is misspelt",
        told("spec:\n", "spec:\n  kubelet:\n    config:\n      maxPod: 110\n"),
        "machines-user-data",
    ),
    Mistake(
        "labels-as-map",
        "flags of kubelet are a map",
        told("spec:\n", "spec:\n  kubelet:\n    flags:\n      node-labels: a=b\n"),
        "machines-user-data",
    ),
    Mistake("indent", "NodeConfig is no YAML", told("      strategy:", "    strategy: :"), "machines-user-data"),
    Mistake(
        "family",
        "the parameters are of the version before",
        edit(PARAMETERS, "acme-demo-mlflow-parameters", put("family", "postgres16")),
        "machines-database-family",
    ),
    Mistake(
        "old-class",
        "the database runs on an old generation",
        edit(DATABASE, "acme-demo-mlflow", put("instanceClass", "db.m4.large")),
        "machines-database-class",
    ),
    Mistake(
        "no-such-size",
        "the database's class has a size that there is not",
        edit(DATABASE, "acme-demo-mlflow", put("instanceClass", "db.t4g.4xlarge")),
        "machines-database-class",
    ),
    Mistake(
        "ec2-class",
        "the database's class is an instance type",
        edit(DATABASE, "acme-demo-mlflow", put("instanceClass", "t4g.medium")),
        "machines-database-class",
    ),
    Mistake(
        "parameter",
        "a parameter is misspelt",
        parameter("max_conections", "200", applyMethod="pending-reboot"),
        "machines-parameter",
    ),
    Mistake(
        "static",
        "a parameter that needs a restart is to hold at once",
        parameter("max_connections", "200"),
        "machines-parameter",
    ),
    Mistake("unit", "a parameter has a unit", parameter("work_mem", "64MB"), "machines-parameter"),
    Mistake("switch", "a switch has a number", parameter("log_disconnections", "2"), "machines-parameter"),
    Mistake(
        "fifth-card",
        "the template has an EFA interface more than the type has cards",
        edit(
            TEMPLATE,
            SPOT_TEMPLATE,
            put("networkInterfaces[4]", {"interfaceType": "efa-only", "networkCardIndex": 4, "deviceIndex": 1}),
        ),
        "efa-count",
    ),
    Mistake(
        "type-without-fabric", "the pool's type has no EFA", nodes("instanceTypes", ["g6.xlarge"]), "efa-unsupported"
    ),
    Mistake(
        "release-by-version",
        "the release of the image is told by its Kubernetes version",
        nodes("releaseVersion", "1.35"),
        "machines-release",
    ),
    Mistake(
        "no-metadata",
        "the metadata service was switched off, for safety",
        edit(TEMPLATE, SPOT_TEMPLATE, put("metadataOptions.httpEndpoint", "disabled")),
        "machines-metadata",
    ),
    Mistake(
        "spot-in-reservation",
        "Spot nodes start in reservations only",
        edit(
            TEMPLATE,
            SPOT_TEMPLATE,
            put("capacityReservationSpecification", {"capacityReservationPreference": "capacity-reservations-only"}),
        ),
        "machines-reservation",
    ),
    Mistake(
        "hibernation",
        "nodes are to hibernate",
        edit(TEMPLATE, SPOT_TEMPLATE, put("hibernationOptions", {"configured": True})),
        "machines-hibernation",
    ),
    Mistake(
        "cold-root",
        "the root volume is of the cheapest kind",
        edit(TEMPLATE, SPOT_TEMPLATE, put(f"{ROOT}.ebs.volumeType", "sc1")),
        "machines-root-device",
    ),
    Mistake(
        "no-such-minor",
        "the database's minor version has a digit twice",
        edit(DATABASE, "acme-demo-mlflow", put("engineVersion", "17.66")),
        "machines-database-version",
    ),
    Mistake(
        "old-authority",
        "the database's certificate is of an authority that has ended",
        edit(DATABASE, "acme-demo-mlflow", put("caCertIdentifier", "rds-ca-2019")),
        "machines-database-certificate",
    ),
    Mistake(
        "short-insights",
        "advanced insights are kept for a week",
        edit(DATABASE, "acme-demo-mlflow", put("databaseInsightsMode", "advanced")),
        "machines-database-insights",
    ),
    Mistake(
        "no-capacity",
        "the region has no capacity of a type on that day",
        nodes("instanceTypes", ["p4de.24xlarge"]),
        None,
        "what a region has free changes by the hour, and no API tells it before",
    ),
]
